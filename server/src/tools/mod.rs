//! The tools of the server, a file each.

mod arguments;
mod call;
mod execute;
mod redactions;
mod run_end;
mod run_result;
mod search;
mod workflow;

use std::sync::Arc;

pub use call::call;
pub use execute::{check_arguments as check_execute_arguments, execute};
use pml_hosts::IfUnasked;
use pml_protocol::TraceContext;
use rmcp::model::JsonObject;
pub use search::search;
use tokio::sync::mpsc;
pub use workflow::workflow;

use crate::client_session::ClientSession;
use crate::notifications::Notifications;
use crate::state::ServerState;
use crate::tasks::TaskStart;
use crate::tool_task::TaskEvent;

/// A call of one of our tools, and the client that made it.
pub struct ToolCall {
    pub state: ServerState,
    pub session: Arc<ClientSession>,
    pub arguments: Option<JsonObject>,
    pub notifications: Notifications,
    /// Whether the client can ask a person.
    pub can_ask: bool,
    /// What happens to a call that a server marks as destructive, if the client cannot ask.
    pub if_unasked: IfUnasked,
    /// How a run begins that is a task of MCP, or can become one.
    pub task: Option<TaskStart>,
    /// What the run of the call is a part of.
    pub trace: Option<TraceContext>,
}

/// Receives the approval requests of a call.
pub type TaskEvents = mpsc::Sender<TaskEvent>;
