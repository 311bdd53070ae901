//! Pipelines of child runs: a function calls tools through one of its own.

use std::sync::Arc;

use pml_protocol::{EffectClass, Limits, RequestedLimits, ToolHost};

use super::error::CallError;
use crate::ToolId;

/// Makes the request pipeline of a child of a run.
pub trait ChildPipelines: Send + Sync {
    /// The pipeline of one call of a function of this class.
    ///
    /// # Errors
    /// The function is one of those that the run is in already, or functions are called too deep.
    fn child(
        &self,
        function: &ToolId,
        class: EffectClass,
        requested: &RequestedLimits,
    ) -> Result<ChildPipeline, CallError>;
}

/// The pipeline of one child run.
pub struct ChildPipeline {
    /// Answers its requests.
    pub host: Arc<dyn ToolHost>,
    /// How much it may use: what its parent may, lowered to what was requested.
    pub limits: Limits,
    /// How many functions are around it.
    pub depth: usize,
}
