//! The rules, one file for each kind of mistake.

mod floating_promises;
mod globals;
mod imports;
mod refused_flows;
mod tool_reference;
mod tools;

pub use refused_flows::FlowRules;

use pml_catalog::Catalog;

use crate::finding::Finding;
use crate::parsed_script::ParsedScript;

/// The findings of all rules, sorted by position.
pub fn all(
    script: &ParsedScript<'_>,
    catalog: Option<&Catalog>,
    flows: Option<&dyn FlowRules>,
) -> Vec<Finding> {
    let mut findings = imports::check(script);
    findings.extend(globals::check(script));
    findings.extend(floating_promises::check(script));
    if let Some(catalog) = catalog {
        findings.extend(tools::check(script, catalog));
    }
    if let Some(flows) = flows {
        findings.extend(refused_flows::check(script, flows));
    }
    findings.sort_by_key(|finding| (finding.start, finding.rule));
    findings
}
