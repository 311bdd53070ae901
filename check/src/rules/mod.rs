//! What is looked for, a file for each kind of mistake.

mod floating;
mod globals;
mod imports;
mod tools;
mod written;

use pml_catalog::Catalog;

use crate::finding::Finding;
use crate::script::Script;

pub fn all(script: &Script<'_>, catalog: Option<&Catalog>) -> Vec<Finding> {
    let mut findings = imports::check(script);
    findings.extend(globals::check(script));
    findings.extend(floating::check(script));
    if let Some(catalog) = catalog {
        findings.extend(tools::check(script, catalog));
    }
    findings.sort_by_key(|finding| (finding.start, finding.rule));
    findings
}
