//! Imports: `pml`, what it exports, and nothing else. A file of tests may also import what it
//! tests.

use std::path::Path;

use pml_script::source_of;
use swc_core::common::Span;
use swc_core::ecma::ast::{
    CallExpr, Callee, ImportDecl, ImportSpecifier, ModuleDecl, ModuleExportName, ModuleItem,
};
use swc_core::ecma::visit::{Visit, VisitWith};

use crate::finding::{Finding, Rule};
use crate::script::Script;
use crate::{literal, names};
use pml_script::api::NAMES;

const API: &str = "pml";
const TEST_API: &str = "pml/test";

pub fn check(script: &Script<'_>) -> Vec<Finding> {
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
            && import.src.value.as_str() == Some(API)
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

fn refuse(script: &Script<'_>, specifier: &str, span: Span) -> Option<Finding> {
    let is_test = script.name.contains(".test.");
    let is_file = specifier.starts_with("./") || specifier.starts_with("../");
    let message = match specifier {
        API => return None,
        TEST_API if is_test => return None,
        TEST_API => {
            format!("\"{TEST_API}\" can be imported only by a file of tests, such as `a.test.ts`")
        }
        _ if is_test && is_file => {
            let folder = Path::new(script.name).parent()?;
            let is_module = [".ts", ".js"].iter().any(|end| specifier.ends_with(end));
            let with_end = [".ts", ".js"]
                .into_iter()
                .find(|end| folder.join(format!("{specifier}{end}")).is_file());
            match (folder.join(specifier).is_file(), with_end) {
                (true, _) if is_module => return None,
                (true, _) => format!(
                    "the import of \"{specifier}\" is refused: a test imports files that end in .ts or .js"
                ),
                (false, Some(end)) => format!(
                    "there is no file \"{specifier}\"; write the ending as well: \"{specifier}{end}\""
                ),
                (false, None) => format!("there is no file \"{specifier}\" beside the test"),
            }
        }
        other if is_test => format!(
            "the import of \"{other}\" is refused: a test can import \"{API}\", \"{TEST_API}\" and \
             files by their path, such as \"./audit.ts\""
        ),
        other => format!(
            "the import of \"{other}\" is refused: a script can import \"{API}\" and nothing else"
        ),
    };
    Some(script.finding(Rule::UnreachableImport, span, message))
}

fn unknown_names(script: &Script<'_>, import: &ImportDecl) -> Vec<Finding> {
    let mut findings = Vec::new();
    for specifier in &import.specifiers {
        if let ImportSpecifier::Default(default) = specifier
            && !import.type_only
        {
            let name = &default.local.sym;
            let message = format!(
                "\"{API}\" has no default export; write `import * as {name} from \"{API}\"`"
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
        // A name that is used only as a type is dropped; which ones are types is not known here.
        if named.is_type_only
            || import.type_only
            || NAMES.contains(&name.as_str())
            || is_type(&name)
        {
            continue;
        }
        let meant = names::typo_of(&name, NAMES);
        let hint = match meant {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!("it has {}", names::list(&NAMES, "and")),
        };
        let message = format!("\"{API}\" has no `{name}`; {hint}");
        let mut finding = script.finding(Rule::UnreachableImport, span, message);
        finding.fix =
            meant.map(|meant| script.fix(span, meant, format!("import `{meant}` instead")));
        findings.push(finding);
    }
    findings
}

/// Types of pml begin with a capital letter, as no other of its names but one does.
fn is_type(name: &str) -> bool {
    name.starts_with(|c: char| c.is_uppercase())
}

struct Dynamic<'a, 'b> {
    script: &'a Script<'b>,
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
