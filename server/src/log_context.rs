//! Which run, session and trace the lines of the log belong to.

use std::future::Future;
use std::sync::{Arc, OnceLock};

use pml_protocol::{RunContext, SessionId, TraceContext};

tokio::task_local! {
    static CURRENT: LogContext;
}

/// The ids of what a task works on. Cheap to clone.
#[derive(Clone)]
pub struct LogContext {
    session: SessionId,
    trace: Option<TraceContext>,
    /// The id is known when the run begins.
    run: Arc<OnceLock<String>>,
}

impl LogContext {
    /// The ids of a request of a client.
    pub fn new(session: SessionId, trace: Option<TraceContext>) -> Self {
        Self {
            session,
            trace,
            run: Arc::default(),
        }
    }

    /// The ids of a run.
    pub fn of_run(run: &RunContext) -> Self {
        let context = Self::new(run.session(), run.trace().cloned());
        let _ = context.run.set(run.id().to_string());
        context
    }

    /// Does `work`, whose lines have these ids.
    pub async fn scope<T>(self, work: impl Future<Output = T>) -> T {
        CURRENT.scope(self, work).await
    }

    /// The run of the current task has begun.
    pub fn run_begins(run: &RunContext) {
        let _ = CURRENT.try_with(|current| current.run.set(run.id().to_string()));
    }

    /// The ids of the current task.
    pub fn current() -> Option<Self> {
        CURRENT.try_with(Self::clone).ok()
    }

    /// The trace.
    pub fn trace(&self) -> Option<&TraceContext> {
        self.trace.as_ref()
    }

    /// The names and values of the ids.
    pub fn fields(&self) -> impl Iterator<Item = (&'static str, String)> {
        let run = self.run.get().cloned();
        let trace = self.trace.as_ref();
        [
            ("run", run),
            ("session", Some(self.session.to_string())),
            ("trace_id", trace.map(|trace| trace.trace_id().to_string())),
            ("span_id", trace.map(|trace| trace.span_id().to_string())),
        ]
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
    }
}
