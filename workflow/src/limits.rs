//! How large a plan may be.

/// The bounds of a plan. A plan over one of them is refused before anything runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlanLimits {
    /// Bytes of the text.
    pub bytes: usize,
    /// JSON values in the plan, after YAML aliases are expanded.
    pub values: usize,
    /// Tasks.
    pub tasks: usize,
    /// Items of one `for_each`.
    pub items: usize,
    /// Tasks in the longest chain of dependencies.
    pub depth: usize,
    /// Dependencies in all.
    pub edges: usize,
    /// Tasks and items that run at once. A plan can lower it.
    pub concurrency: usize,
}

impl Default for PlanLimits {
    fn default() -> Self {
        Self {
            bytes: 16 * 1024 * 1024,
            values: 1_000_000,
            tasks: 10_000,
            items: 10_000,
            depth: 1_000,
            edges: 200_000,
            concurrency: 64,
        }
    }
}
