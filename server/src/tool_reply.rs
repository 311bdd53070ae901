//! The reply of one of our tools. Every constructor takes scrubbed values, so nothing else can be
//! sent.

use pml_protocol::{Stats, TraceContext};
use pml_reply::{Block, RunReply};
use pml_scrub::Scrubbed;
use rmcp::ErrorData;
use rmcp::model::{CallToolResult, ContentBlock, ErrorCode, MetaObject};
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// The key of the run's statistics in `_meta`: a client can show them, and a model does not pay for
/// them.
const STATS: &str = "pml/stats";

/// The key in `_meta` of the handle by which a client without a connection finds its session again.
pub const SESSION: &str = "pml/session";

/// The reply to one `tools/call`.
pub struct ToolReply {
    content: Vec<ContentBlock>,
    failed: bool,
    stats: Option<Stats>,
    /// The span of the call, for a client that traces.
    trace: Option<String>,
}

impl ToolReply {
    /// The reply to a script: one text, and the media that the script returned.
    pub fn run(reply: &RunReply) -> Self {
        Self {
            stats: Some(reply.stats()),
            ..Self::with_blocks(reply.to_json(), reply)
        }
    }

    /// The reply to a call: the value alone, unless there is more to say.
    pub fn call(reply: &RunReply) -> Self {
        let text = match reply.result() {
            Some(value) => text_of(value),
            None => reply.to_json(),
        };
        Self::with_blocks(text, reply)
    }

    /// A reply of one text.
    pub fn text(text: Scrubbed<String>) -> Self {
        Self {
            content: vec![ContentBlock::text(text.into_inner())],
            failed: false,
            stats: None,
            trace: None,
        }
    }

    /// The reply to a call that failed.
    pub fn failure(text: Scrubbed<String>) -> Self {
        Self {
            failed: true,
            ..Self::text(text)
        }
    }

    fn with_blocks(text: String, reply: &RunReply) -> Self {
        let mut content = vec![ContentBlock::text(text)];
        content.extend(reply.blocks().iter().filter_map(content_of));
        Self {
            content,
            failed: !reply.is_ok(),
            stats: None,
            trace: None,
        }
    }

    /// The same reply with one more text: a warning about the call.
    #[must_use]
    pub fn with_warning(mut self, text: Scrubbed<String>) -> Self {
        self.content.push(ContentBlock::text(text.into_inner()));
        self
    }

    /// Whether the call failed.
    pub fn is_failure(&self) -> bool {
        self.failed
    }

    /// The same reply, which names its span in `_meta`.
    #[must_use]
    pub fn with_trace(self, trace: &TraceContext) -> Self {
        let trace = Some(trace.traceparent());
        Self { trace, ..self }
    }

    /// The reply in the form of MCP. `handle` is that of the session, for a client that has to bring it
    /// back.
    pub fn into_result(self, handle: Option<&str>) -> CallToolResult {
        let mut result = match self.failed {
            true => CallToolResult::error(self.content),
            false => CallToolResult::success(self.content),
        };
        let mut meta = MetaObject::new();
        if let Some(stats) = self.stats {
            meta.insert(STATS.to_owned(), json!(stats));
        }
        if let Some(handle) = handle {
            meta.insert(SESSION.to_owned(), json!(handle));
        }
        if let Some(trace) = self.trace {
            meta.set_traceparent(trace);
        }
        result.meta = (!meta.is_empty()).then_some(meta);
        result
    }
}

/// A string as its text, anything else as JSON.
fn text_of(value: &Scrubbed<Box<RawValue>>) -> String {
    let json = value.get();
    serde_json::from_str(json).unwrap_or_else(|_| json.to_owned())
}

fn content_of(block: &Block) -> Option<ContentBlock> {
    match block {
        Block::Image(media) => Some(ContentBlock::image(
            media.data.as_str(),
            media.mime_type.as_str(),
        )),
        Block::Audio(media) => Some(ContentBlock::audio(
            media.data.as_str(),
            media.mime_type.as_str(),
        )),
        Block::Described(described) => serde_json::from_value((**described).clone()).ok(),
        Block::Bytes { described, blob } => {
            let mut whole = (**described).clone();
            whole["resource"]["blob"] = Value::String((**blob).clone());
            serde_json::from_value(whole).ok()
        }
    }
}

/// A JSON-RPC error with a message of ours.
pub fn refusal(code: ErrorCode, message: Scrubbed<String>) -> ErrorData {
    ErrorData::new(code, message.into_inner(), None)
}
