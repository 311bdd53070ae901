//! The sandboxes of functions, and the sources of the entries that have some.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use pml_gateway::config::Functions;
use pml_gateway::{ChangedFunctions, FunctionSources, ToolSource};
use pml_runtime::{LazyPool, PoolOptions};

use crate::function_source::FunctionSource;

/// Opens the sources of entries with functions. Functions run in pools of their own, one for each depth:
/// functions that wait for the functions that they call may hold all places of theirs, and the deepest
/// ones wait for none.
pub struct FunctionPools {
    pools: Arc<Pools>,
}

pub(crate) struct Pools {
    options: PoolOptions,
    by_depth: Mutex<Vec<Arc<LazyPool>>>,
}

impl FunctionPools {
    /// Pools with these options, each started by the first function at its depth.
    pub fn new(options: PoolOptions) -> Self {
        Self {
            pools: Arc::new(Pools {
                options,
                by_depth: Mutex::default(),
            }),
        }
    }
}

impl Pools {
    /// The pool of functions with this many around them.
    pub fn at(&self, depth: usize) -> Arc<LazyPool> {
        // A pool is added in one step.
        let mut pools = self.by_depth.lock().unwrap_or_else(PoisonError::into_inner);
        while pools.len() <= depth {
            pools.push(LazyPool::new(self.options.clone()));
        }
        pools[depth].clone()
    }
}

#[async_trait]
impl FunctionSources for FunctionPools {
    async fn open(
        &self,
        functions: &Functions,
        changed: ChangedFunctions,
    ) -> Result<Arc<dyn ToolSource>, String> {
        let source = FunctionSource::open(functions.clone(), self.pools.clone(), changed).await?;
        Ok(Arc::new(source))
    }
}
