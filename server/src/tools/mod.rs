//! The three tools of the server, a file each.

mod arguments;
mod call;
mod execute;
mod search;

use std::sync::Arc;

pub use call::call;
pub use execute::execute;
use pml_hosts::IfUnasked;
use rmcp::model::JsonObject;
pub use search::search;
use tokio::sync::mpsc;

use crate::client_session::ClientSession;
use crate::notifications::Notifications;
use crate::state::ServerState;
use crate::tool_reply::ToolReply;
use crate::tool_task::TaskEvent;

/// A reply that is made from more bytes than this is scrubbed off the event loop, which it would block:
/// hostile text takes about a millisecond per kilobyte.
const LARGE_REPLY_BYTES: usize = 16 * 1024;

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
}

/// Receives the approval requests of a call.
pub type TaskEvents = mpsc::Sender<TaskEvent>;

/// Makes a reply from `bytes` bytes of results, logs and errors. A large one is made off the event
/// loop, which serves other clients meanwhile. A client has few such replies in the making; further
/// ones wait, without a thread.
async fn make_reply(
    session: &ClientSession,
    bytes: usize,
    make: impl FnOnce() -> ToolReply + Send + 'static,
) -> ToolReply {
    if bytes <= LARGE_REPLY_BYTES {
        return make();
    }
    let permit = session.reply_permit().await;
    let reply = tokio::task::spawn_blocking(move || {
        // Held by the thread and not by the request, which the client may cancel.
        let _permit = permit;
        make()
    });
    let reply = reply.await;
    reply.unwrap_or_else(|_| ToolReply::failure("the reply could not be made".into()))
}
