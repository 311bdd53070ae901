//! Imports: a script may import `pml` and its exports. A test file may also import `pml/test` and
//! files.

use std::path::Path;

use pml_nearest::{quoted_list, typo_of};
use pml_script::api::NAMES;
use pml_script::{API_SPECIFIER, TEST_API_SPECIFIER, import_refusal, is_relative, source_of};
use swc_core::common::Span;
use swc_core::ecma::ast::{
    CallExpr, Callee, ImportDecl, ImportSpecifier, ModuleDecl, ModuleExportName, ModuleItem,
};
use swc_core::ecma::visit::{Visit, VisitWith};

use crate::finding::{Finding, Rule};
use crate::literal;
use crate::parsed_script::ParsedScript;

/// Reports imports that a script cannot have.
pub fn check(script: &ParsedScript<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for item in &script.module.body {
        let ModuleItem::ModuleDecl(declaration) = item else {
            continue;
        };
        if let Some((source, span)) = source_of(declaration) {
            let specifier = source.value.to_string_lossy();
            findings.extend(refuse(script, &specifier, span));
        }
        if let ModuleDecl::Import(import) = declaration
            && import.src.value.as_str() == Some(API_SPECIFIER)
        {
            findings.extend(unknown_names(script, import));
        }
    }
    let mut dynamic = Dynamic {
        script,
        findings: Vec::new(),
    };
    script.module.visit_with(&mut dynamic);
    findings.extend(dynamic.findings);
    findings
}

fn refuse(script: &ParsedScript<'_>, specifier: &str, span: Span) -> Option<Finding> {
    let is_test = script.name.contains(".test.");
    let message = match specifier {
        API_SPECIFIER => return None,
        TEST_API_SPECIFIER if is_test => return None,
        TEST_API_SPECIFIER => {
            format!(
                "\"{TEST_API_SPECIFIER}\" can be imported only by a test file, such as `a.test.ts`"
            )
        }
        _ if is_test && is_relative(specifier) => {
            let folder = Path::new(script.name).parent()?;
            let is_module = [".ts", ".js"].iter().any(|end| specifier.ends_with(end));
            let with_extension = [".ts", ".js"]
                .into_iter()
                .find(|end| folder.join(format!("{specifier}{end}")).is_file());
            match (folder.join(specifier).is_file(), with_extension) {
                (true, _) if is_module => return None,
                (true, _) => format!(
                    "the import of \"{specifier}\" is refused: a test imports files that end in .ts or .js"
                ),
                (false, Some(end)) => format!(
                    "there is no file \"{specifier}\"; write the extension as well: \"{specifier}{end}\""
                ),
                (false, None) => format!("there is no file \"{specifier}\" beside the test"),
            }
        }
        other => import_refusal(other, is_test),
    };
    Some(script.finding(Rule::UnreachableImport, span, message))
}

fn unknown_names(script: &ParsedScript<'_>, import: &ImportDecl) -> Vec<Finding> {
    let mut findings = Vec::new();
    for specifier in &import.specifiers {
        if let ImportSpecifier::Default(default) = specifier
            && !import.type_only
        {
            let name = &default.local.sym;
            let message = format!(
                "\"{API_SPECIFIER}\" has no default export; write `import * as {name} from \"{API_SPECIFIER}\"`"
            );
            findings.push(script.finding(Rule::UnreachableImport, default.span, message));
            continue;
        }
        let ImportSpecifier::Named(named) = specifier else {
            continue;
        };
        let (name, span) = match &named.imported {
            Some(ModuleExportName::Ident(name)) => (name.sym.to_string(), name.span),
            Some(ModuleExportName::Str(name)) => {
                (name.value.to_string_lossy().into_owned(), name.span)
            }
            None => (named.local.sym.to_string(), named.local.span),
        };
        // An import that is used only as a type is erased. The list of types is not known here.
        if named.is_type_only
            || import.type_only
            || NAMES.contains(&name.as_str())
            || is_type(&name)
        {
            continue;
        }
        let meant = typo_of(&name, NAMES);
        let hint = match meant {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!("it has {}", quoted_list(&NAMES, "and")),
        };
        let message = format!("\"{API_SPECIFIER}\" has no `{name}`; {hint}");
        let mut finding = script.finding(Rule::UnreachableImport, span, message);
        finding.fix =
            meant.map(|meant| script.fix(span, meant, format!("import `{meant}` instead")));
        findings.push(finding);
    }
    findings
}

/// Types of the API_SPECIFIER begin with a capital letter, and no values do except `ToolError`.
fn is_type(name: &str) -> bool {
    name.starts_with(|c: char| c.is_uppercase())
}

/// Finds `import("…")`.
struct Dynamic<'a, 'b> {
    script: &'a ParsedScript<'b>,
    findings: Vec<Finding>,
}

impl Visit for Dynamic<'_, '_> {
    fn visit_call_expr(&mut self, call: &CallExpr) {
        if let Callee::Import(_) = call.callee
            && let Some(argument) = call
                .args
                .first()
                .filter(|argument| argument.spread.is_none())
            && let Some(specifier) = literal::text(&argument.expr)
        {
            self.findings
                .extend(refuse(self.script, &specifier, call.span));
        }
        call.visit_children_with(self);
    }
}
