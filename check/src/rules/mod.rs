//! The rules, one file for each kind of mistake.

mod floating_promises;
mod globals;
mod imports;
mod tool_reference;
mod tools;

use pml_catalog::Catalog;

use crate::finding::Finding;
use crate::parsed_script::ParsedScript;

/// The findings of all rules, sorted by position.
pub fn all(script: &ParsedScript<'_>, catalog: Option<&Catalog>) -> Vec<Finding> {
    let mut findings = imports::check(script);
    findings.extend(globals::check(script));
    findings.extend(floating_promises::check(script));
    if let Some(catalog) = catalog {
        findings.extend(tools::check(script, catalog));
    }
    findings.sort_by_key(|finding| (finding.start, finding.rule));
    findings
}
