//! The imports that a script may write.

use swc_core::common::Span;
use swc_core::ecma::ast::{
    ImportDecl, ImportSpecifier, Module, ModuleDecl, ModuleItem, Str, TsModuleRef,
};

use crate::rejection::{Located, RejectionKind};
use crate::transpile::Form;

/// The specifier of the script API.
pub const API_SPECIFIER: &str = "pml";

/// The specifier of the test API.
pub const TEST_API_SPECIFIER: &str = "pml/test";

/// Whether a specifier is a path relative to the importing file.
pub fn is_relative(specifier: &str) -> bool {
    specifier.starts_with("./") || specifier.starts_with("../")
}

/// Why any other specifier is refused.
pub fn import_refusal(specifier: &str, in_test: bool) -> String {
    if in_test {
        return format!(
            "the import of \"{specifier}\" is refused: a test can import \"{API_SPECIFIER}\", \"{TEST_API_SPECIFIER}\" \
             and files by their path, such as \"./audit.ts\""
        );
    }
    let advice = match specifier {
        TEST_API_SPECIFIER => "; `pml test` runs the files that may have it",
        _ => "",
    };
    format!(
        "the import of \"{specifier}\" is refused: a script can import \"{API_SPECIFIER}\" and nothing else{advice}"
    )
}

/// Refuses imports before anything runs, so that the error can name the line. Types may come from
/// anywhere: they are erased.
pub(crate) fn check(module: &Module, form: Form) -> Result<(), Located> {
    for item in &module.body {
        let ModuleItem::ModuleDecl(declaration) = item else {
            continue;
        };
        if let ModuleDecl::TsExportAssignment(export) = declaration {
            return Err(Located {
                kind: RejectionKind::Syntax,
                message: "`export =` is not supported; write `export default`".to_owned(),
                at: export.span.lo,
            });
        }
        if let Some((specifier, at)) = source_of(declaration)
            && !may_import(form, &specifier.value.to_string_lossy())
        {
            return Err(Located {
                kind: RejectionKind::Import,
                message: import_refusal(&specifier.value.to_string_lossy(), is_test(form)),
                at: at.lo,
            });
        }
    }
    Ok(())
}

fn may_import(form: Form, specifier: &str) -> bool {
    specifier == API_SPECIFIER
        || (is_test(form) && (specifier == TEST_API_SPECIFIER || is_relative(specifier)))
}

fn is_test(form: Form) -> bool {
    form != Form::Script
}

/// The module that a declaration imports values from. `None` for types, which are erased.
pub fn source_of(declaration: &ModuleDecl) -> Option<(&Str, Span)> {
    match declaration {
        ModuleDecl::Import(import) if !takes_only_types(import) => Some((&import.src, import.span)),
        ModuleDecl::ExportAll(export) if !export.type_only => Some((&export.src, export.span)),
        ModuleDecl::ExportNamed(export) if !export.type_only => {
            export.src.as_deref().map(|src| (src, export.span))
        }
        ModuleDecl::TsImportEquals(import) if !import.is_type_only => match &import.module_ref {
            TsModuleRef::TsExternalModuleRef(module) => Some((&module.expr, import.span)),
            TsModuleRef::TsEntityName(_) => None,
        },
        _ => None,
    }
}

fn takes_only_types(import: &ImportDecl) -> bool {
    let is_type = |specifier: &ImportSpecifier| matches!(specifier, ImportSpecifier::Named(named) if named.is_type_only);
    import.type_only || (!import.specifiers.is_empty() && import.specifiers.iter().all(is_type))
}
