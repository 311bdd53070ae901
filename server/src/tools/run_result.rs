//! The result of an earlier run: one that waited for an approval, or that a restart interrupted.

use std::sync::Arc;
use std::time::Duration;

use pml_protocol::RunId;
use rmcp::ErrorData;
use tokio::time::Instant;

use crate::client_session::ClientSession;
use crate::state::ServerState;
use crate::tasks::{StoredTasks, TaskState};
use crate::tool_reply::ToolReply;

/// How often the store is asked. Another process may execute the run.
const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// The longest that a client is kept waiting: most give up after a minute.
const MAX_WAIT: Duration = Duration::from_secs(30);

/// What a client reads about a run that waits.
pub fn hint(id: &RunId) -> String {
    format!(
        "The run goes on when somebody has answered. Then execute_code with {{ \"run\": \"{id}\" }} gives its result; do not send the code again."
    )
}

/// The reply of a run, as the direct reply would have been. A run that has not ended is waited for, up to
/// `time` and [`MAX_WAIT`]; after that, the reply says what it waits for.
pub async fn wait(
    state: &ServerState,
    session: Arc<ClientSession>,
    id: &str,
    time: Duration,
) -> ToolReply {
    let Some(tasks) = StoredTasks::new(state, session.clone()) else {
        let message = "runs are not kept here: `pml.runs.durable` is false, or the store cannot be used (see the log)";
        return ToolReply::failure(message.into());
    };
    let deadline = Instant::now() + time.min(MAX_WAIT);
    match result(&tasks, id, deadline).await {
        Ok(reply) => reply,
        Err(error) => ToolReply::failure(session.replies().text(&error.message).await),
    }
}

async fn result(tasks: &StoredTasks, id: &str, deadline: Instant) -> Result<ToolReply, ErrorData> {
    loop {
        let view = tasks.get_run(id).await?;
        match view.state {
            TaskState::Completed | TaskState::Failed => return tasks.reply(&view.run).await,
            TaskState::Cancelled => return Ok(ToolReply::failure("the run was cancelled".into())),
            TaskState::Working | TaskState::InputRequired => {}
        }
        if Instant::now() + POLL_INTERVAL > deadline {
            return Ok(ToolReply::failure(view.message));
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}
