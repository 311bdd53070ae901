//! Several calls at once, with the results in the order of the calls.

use std::sync::atomic::{AtomicBool, Ordering};

use futures::StreamExt;
use serde_json::Value;

use super::error::{CallError, CallErrorKind};
use super::path::CallValue;
use super::scope::RunScope;
use crate::gateway::Inner;

/// How a batch is run.
#[derive(Debug, Clone, Copy, Default)]
pub struct BatchOptions {
    /// Calls at the same time; as many as the run may make when not set.
    pub concurrency: Option<usize>,
    /// After the first error no further call is started; those running go on to their end.
    pub stop_on_error: bool,
}

impl Inner {
    pub(crate) async fn call_batch(
        &self,
        scope: &RunScope,
        calls: Vec<(String, Value)>,
        options: BatchOptions,
    ) -> Vec<Result<CallValue, CallError>> {
        let failed = AtomicBool::new(false);
        let at_once = options.concurrency.unwrap_or(calls.len()).max(1);
        futures::stream::iter(calls)
            .map(|(id, arguments)| {
                let failed = &failed;
                async move {
                    if options.stop_on_error && failed.load(Ordering::Acquire) {
                        return Err(CallError::lasting(
                            CallErrorKind::Cancelled,
                            &id,
                            "not called: an earlier call of the batch failed",
                        ));
                    }
                    let result = self.call(scope, &id, arguments).await;
                    if result.is_err() {
                        failed.store(true, Ordering::Release);
                    }
                    result
                }
            })
            .buffered(at_once)
            .collect()
            .await
    }
}
