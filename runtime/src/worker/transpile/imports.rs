//! The one import a script may write.

use swc_core::common::Span;
use swc_core::ecma::ast::{Module, ModuleDecl, ModuleItem, Str};

use super::{Located, RejectionKind};

/// The specifier that leads to the API.
pub(in crate::worker) const API: &str = "pml";

/// What is said of any other.
pub(in crate::worker) fn refusal(specifier: &str) -> String {
    format!(
        "the import of \"{specifier}\" is refused: a script can import \"{API}\" and nothing else"
    )
}

/// Static imports are known before anything runs, so the complaint can name the line.
pub fn check(module: &Module) -> Result<(), Located> {
    for item in &module.body {
        let ModuleItem::ModuleDecl(declaration) = item else {
            continue;
        };
        if let Some((specifier, at)) = source_of(declaration)
            && specifier.value.as_str() != Some(API)
        {
            return Err(Located {
                kind: RejectionKind::Import,
                message: refusal(&specifier.value.to_string_lossy()),
                at: at.lo,
            });
        }
    }
    Ok(())
}

fn source_of(declaration: &ModuleDecl) -> Option<(&Str, Span)> {
    match declaration {
        ModuleDecl::Import(import) => Some((&import.src, import.span)),
        ModuleDecl::ExportAll(export) => Some((&export.src, export.span)),
        ModuleDecl::ExportNamed(export) => export.src.as_deref().map(|src| (src, export.span)),
        _ => None,
    }
}
