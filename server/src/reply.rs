//! What a tool of ours answers. Every constructor takes scrubbed values, so nothing else can be
//! sent.

use pml_runtime::Stats;
use pml_scrub::Scrubbed;
use pml_session::{Answer, Block};
use rmcp::ErrorData;
use rmcp::model::{CallToolResult, ContentBlock, ErrorCode, MetaObject};
use serde_json::{Value, json};

/// Where the numbers of a run go: a client can show them, and a model does not pay for them.
const STATS: &str = "pml/stats";

/// The answer to one call.
pub struct Reply {
    content: Vec<ContentBlock>,
    failed: bool,
    stats: Option<Stats>,
}

impl Reply {
    /// The end of a script: one text, and what the script returned beside text.
    pub fn run(answer: &Answer) -> Self {
        Self::with_blocks(answer.to_json(), answer)
    }

    /// The answer of a tool: its value and nothing around it, unless there is more to say.
    pub fn call(answer: &Answer) -> Self {
        let text = match answer.result() {
            Some(value) => text_of(value),
            None => answer.to_json(),
        };
        Self::with_blocks(text, answer)
    }

    pub fn text(text: Scrubbed<String>) -> Self {
        Self {
            content: vec![ContentBlock::text(text.into_inner())],
            failed: false,
            stats: None,
        }
    }

    pub fn failure(text: Scrubbed<String>) -> Self {
        Self {
            failed: true,
            ..Self::text(text)
        }
    }

    fn with_blocks(text: String, answer: &Answer) -> Self {
        let mut content = vec![ContentBlock::text(text)];
        content.extend(answer.blocks().iter().filter_map(content_of));
        Self {
            content,
            failed: !answer.is_ok(),
            stats: answer.stats(),
        }
    }

    pub fn into_result(self) -> CallToolResult {
        let mut result = match self.failed {
            true => CallToolResult::error(self.content),
            false => CallToolResult::success(self.content),
        };
        if let Some(stats) = self.stats {
            let mut meta = MetaObject::new();
            meta.insert(STATS.to_owned(), json!(stats));
            result.meta = Some(meta);
        }
        result
    }
}

fn text_of(value: &Scrubbed<Value>) -> String {
    match &**value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
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

/// An error of the protocol, in words of ours.
pub fn refusal(code: ErrorCode, message: Scrubbed<String>) -> ErrorData {
    ErrorData::new(code, message.into_inner(), None)
}
