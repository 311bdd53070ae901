//! A call of one of our tools, as a task that may need approval before it has a reply.

use std::future::Future;
use std::sync::Arc;

use pml_hosts::{ApprovalRequest, Decision};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use crate::state::InFlightGuard;
use crate::tasks::TaskRun;
use crate::tool_reply::ToolReply;

/// What a task reports.
pub enum TaskEvent {
    /// The run has begun, and can become a task of MCP.
    Begun(Arc<TaskRun>),
    /// The task continues when a person has answered.
    NeedsApproval(ApprovalRequest, oneshot::Sender<Decision>),
    /// The task has ended.
    Done(ToolReply),
}

/// A task in flight. Dropping it aborts the task, and its script with it, like a cancellation.
pub struct ToolTask {
    events: mpsc::Receiver<TaskEvent>,
    task: JoinHandle<()>,
    /// The handle of its session, for a client without a connection.
    session_handle: Option<String>,
    /// The run that can become a task of MCP, once it has begun.
    run: Option<Arc<TaskRun>>,
    _in_flight: InFlightGuard,
}

impl ToolTask {
    /// `work` gets a sender for its approval requests.
    pub fn start<F>(
        in_flight: InFlightGuard,
        work: impl FnOnce(mpsc::Sender<TaskEvent>) -> F,
    ) -> Self
    where
        F: Future<Output = ToolReply> + Send + 'static,
    {
        let (sender, events) = mpsc::channel(4);
        let done = sender.clone();
        let work = work(sender);
        let task = tokio::spawn(async move {
            let reply = work.await;
            // Without a receiver, the request was cancelled.
            let _ = done.send(TaskEvent::Done(reply)).await;
        });
        Self {
            events,
            task,
            session_handle: None,
            run: None,
            _in_flight: in_flight,
        }
    }

    /// The same task, whose reply gives the client the handle of its session.
    #[must_use]
    pub fn with_session_handle(mut self, handle: Option<String>) -> Self {
        self.session_handle = handle;
        self
    }

    /// The handle of its session, if the client needs one.
    pub fn session_handle(&self) -> Option<&str> {
        self.session_handle.as_deref()
    }

    /// The run that can become a task of MCP, once it has begun.
    pub fn run(&self) -> Option<&Arc<TaskRun>> {
        self.run.as_ref()
    }

    /// Waits until the run has begun; `None` if it never does.
    pub async fn begun(&mut self) -> Option<Arc<TaskRun>> {
        match self.events.recv().await {
            Some(TaskEvent::Begun(run)) => Some(run),
            _ => None,
        }
    }

    /// The next event but the begin of the run; `None` if the task panicked.
    ///
    /// # Cancel safety
    ///
    /// An event that is not returned is returned by the next call.
    pub async fn next(&mut self) -> Option<TaskEvent> {
        loop {
            match self.events.recv().await {
                Some(TaskEvent::Begun(run)) => self.run = Some(run),
                event => return event,
            }
        }
    }
}

impl Drop for ToolTask {
    fn drop(&mut self) {
        self.task.abort();
    }
}
