//! A script that runs for another run: the code of a task, or a function that is called as a tool.

use std::sync::Arc;

use pml_protocol::{Limits, Outcome, RunContext, RunFlow, ToolHost, VirtualClock};

use super::pool::Pool;
use super::run_loop::{OnEvent, RunOptions, Script};

/// A run with the identity of its parent, and with limits, a label and a control of its own: what
/// suspends or ends it does not end its parent.
pub struct ChildRun<'a> {
    /// The run that it is made for. Its clock stands while that of the child does.
    pub parent: &'a RunContext,
    /// What the child has read when it begins, and reads.
    pub flow: RunFlow,
    /// The script.
    pub script: Script,
    /// How much it may use.
    pub limits: Limits,
    /// Answers its requests.
    pub host: Arc<dyn ToolHost>,
    /// Its time and randomness, if they are not the real ones.
    pub clock: Option<(VirtualClock, [u8; 32])>,
}

impl ChildRun<'_> {
    /// Runs the script in a worker of `pool`, which must not be the one that the parent has a worker of:
    /// parents that wait for their children may hold all of its places.
    ///
    /// # Cancel safety
    /// Dropping the future ends the run and kills its worker.
    pub async fn run(self, pool: &Pool, on_event: &mut OnEvent<'_>) -> Outcome {
        let parent = self.parent;
        let mut context = RunContext::with_id(
            parent.id().clone(),
            parent.session(),
            parent.tenant().clone(),
            parent.principal().clone(),
        );
        if let Some(trace) = parent.trace() {
            context = context.with_trace(trace.clone());
        }
        let child_clock = context.clock().clone();
        let (clock, entropy) = self.clock.unzip();
        let options = RunOptions {
            context: Some(
                context
                    .with_fair_share(parent.fair_share().clone())
                    .with_flow(self.flow),
            ),
            clock,
            entropy,
            ..RunOptions::default()
        };
        let run = pool.run_with(self.script, options, self.limits, self.host, on_event);
        tokio::select! {
            outcome = run => outcome,
            // While a person is asked about a call of the child, the time of its parent stands as well.
            () = parent.clock().follow(&child_clock) => std::future::pending().await,
        }
    }
}
