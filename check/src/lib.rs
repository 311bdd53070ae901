//! Static checks of a script: syntax, unknown tools, arguments that do not fit the tool's schema,
//! unavailable imports and globals, promises that are not awaited.
//!
//! Only certain mistakes are reported. A value that is not a literal in the script may be anything,
//! so it is never a mistake.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod api_bindings;
mod finding;
mod literal;
mod parsed_script;
pub mod report;
mod rules;
mod validate;

pub use finding::{Finding, Fix, Position, Rule};
pub use rules::FlowRules;

use std::sync::Arc;

use pml_catalog::Catalog;
use pml_script::nesting;

/// The mistakes of a script, in the order of their positions. Without a catalog, tools and their
/// arguments are not checked. A `name` with `.test.` in it is a test file.
///
/// ```
/// let findings = pml_check::check("a.ts", "await fetch('https://example.test')", None);
/// assert_eq!(findings[0].rule, pml_check::Rule::UnknownGlobal);
/// ```
pub fn check(name: &str, source: &str, catalog: Option<&Arc<Catalog>>) -> Vec<Finding> {
    check_flows(name, source, catalog, None)
}

/// [`check`], and the calls that `flows` refuses after earlier ones.
pub fn check_flows(
    name: &str,
    source: &str,
    catalog: Option<&Arc<Catalog>>,
    flows: Option<&Arc<dyn FlowRules>>,
) -> Vec<Finding> {
    if !nesting::is_bounded(source) {
        return vec![Finding::of_file(
            "the script is too large to check; read its data with a tool instead",
        )];
    }
    let (name, source) = (name.to_owned(), source.to_owned());
    let (catalog, flows) = (catalog.cloned(), flows.cloned());
    let checked = nesting::on_large_stack(move || {
        parsed_script::with(&name, &source, |script| match script {
            Ok(script) => rules::all(script, catalog.as_deref(), flows.as_deref()),
            Err(finding) => vec![finding],
        })
    });
    checked.unwrap_or_else(|| {
        vec![Finding::of_file(
            "checking the script takes too long; simplify it",
        )]
    })
}

#[cfg(test)]
mod tests;
