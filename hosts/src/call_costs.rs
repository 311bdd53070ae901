//! What calls cost, as the operator says (`pml.workflows.costs`).

use std::sync::Arc;

use pml_gateway::policy::globs::ToolGlob;

/// The cost of one call, by tool. The first glob that fits counts. Cheap to clone.
///
/// ```
/// use pml_hosts::CallCosts;
///
/// let costs = CallCosts::new([("web:*".parse()?, 0.002)]);
/// assert_eq!(costs.of("web:fetch"), Some(0.002));
/// assert_eq!(costs.of("fs:read_file"), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct CallCosts(Arc<[(ToolGlob, f64)]>);

impl CallCosts {
    /// The costs of the tools that the globs name.
    pub fn new(costs: impl IntoIterator<Item = (ToolGlob, f64)>) -> Self {
        Self(costs.into_iter().collect())
    }

    /// The cost of one call of a tool; `None` if the operator named none.
    pub fn of(&self, tool: &str) -> Option<f64> {
        let found = self.0.iter().find(|(glob, _)| glob.matches(tool));
        found.map(|(_, cost)| *cost)
    }
}
