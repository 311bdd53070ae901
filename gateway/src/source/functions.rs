//! Entries with functions. Their source needs a sandbox, which the gateway has not: the program
//! brings it.

use std::sync::Arc;

use async_trait::async_trait;

use super::tool_source::{Opening, ToolSource};
use crate::config::Functions;
use crate::transport::StartError;

/// Hears that the functions of an entry changed.
pub type ChangedFunctions = Box<dyn Fn() + Send + Sync>;

/// Opens the sources of entries with `functions`.
#[async_trait]
pub trait FunctionSources: Send + Sync {
    /// Opens the source of an entry. It calls `changed` when its functions are others than it listed.
    ///
    /// # Errors
    /// A sentence with the reason and what to do.
    async fn open(
        &self,
        functions: &Functions,
        changed: ChangedFunctions,
    ) -> Result<Arc<dyn ToolSource>, String>;
}

pub(super) async fn open(
    functions: &Functions,
    opening: &Opening<'_>,
) -> Result<Arc<dyn ToolSource>, StartError> {
    let Some(sources) = &opening.context.functions else {
        let reason = "this program has no sandbox to run them in".to_owned();
        return Err(StartError::Functions { reason });
    };
    let changed = opening.changed.clone();
    let opened = sources
        .open(functions, Box::new(move || changed.announce()))
        .await;
    opened.map_err(|reason| StartError::Functions { reason })
}
