//! Finds mistakes in a script without running it: syntax, tools that do not exist, arguments that
//! do not fit, imports and globals that a script does not have, promises that nobody awaits.
//!
//! Only what is certain is told. A value that is not written out in the script may be anything,
//! so nothing is said about it.

mod api;
mod finding;
mod judge;
mod literal;
mod names;
mod nesting;
pub mod report;
mod rules;
mod script;

pub use finding::{Finding, Fix, Place, Rule};

use std::sync::Arc;

use pml_catalog::Catalog;

/// Everything that is wrong with a script, in the order of its lines. Without a catalog nothing
/// is said about tools.
pub fn check(name: &str, source: &str, catalog: Option<&Arc<Catalog>>) -> Vec<Finding> {
    if !nesting::is_bounded(source) {
        return vec![Finding::of_file(
            "the script is too large to be checked; keep data behind a tool",
        )];
    }
    let (name, source) = (name.to_owned(), source.to_owned());
    let catalog = catalog.cloned();
    let checked = nesting::on_large_stack(move || {
        script::with(&name, &source, |script| match script {
            Ok(script) => rules::all(script, catalog.as_deref()),
            Err(finding) => vec![finding],
        })
    });
    checked.unwrap_or_else(|| {
        vec![Finding::of_file(
            "the script cannot be checked in reasonable time; write it in a simpler way",
        )]
    })
}

#[cfg(test)]
mod tests;
