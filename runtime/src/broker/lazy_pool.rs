//! A pool that starts when the first code runs.

use std::sync::{Arc, LazyLock};

use super::pool::{Pool, PoolOptions};

type Start = Box<dyn FnOnce() -> Arc<Pool> + Send>;

/// Sandboxes for code that may never run: of plans, or of functions. Until some does, no process is started.
pub struct LazyPool(LazyLock<Arc<Pool>, Start>);

impl LazyPool {
    /// A pool with these options, started by the first code.
    pub fn new(options: PoolOptions) -> Arc<Self> {
        let start = move || Arc::new(Pool::new(options));
        Arc::new(Self(LazyLock::new(Box::new(start))))
    }

    /// A pool that runs already.
    pub fn running(pool: Arc<Pool>) -> Arc<Self> {
        Arc::new(Self(LazyLock::new(Box::new(move || pool))))
    }

    /// The pool. The first caller starts it.
    pub fn get(&self) -> &Pool {
        &self.0
    }
}
