//! What a script can ask of the world outside its isolate.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// A request of a script. Arguments and values stay JSON text: no layer between the script and the
/// gateway has to parse them, unless it is the layer's task.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Request {
    /// `searchTools`: the tools that fit a query, best first.
    Search {
        /// The query in words.
        query: String,
        /// At most this many hits.
        limit: u32,
        /// The lowest score that counts as a hit.
        threshold: Option<f64>,
    },
    /// `callTool`: one call of one tool.
    Call {
        /// `server:tool`
        tool: String,
        /// An object of named arguments.
        args: Box<RawValue>,
    },
    /// `describeTool`: everything that is known about one tool.
    Describe {
        /// `server:tool`
        tool: String,
    },
    /// Resources and prompts of a server.
    #[serde(rename = "offer")]
    Resource {
        /// The server's name in the configuration.
        server: String,
        /// What of it is wanted.
        #[serde(rename = "offer")]
        request: ResourceRequest,
    },
    /// A message of the test harness or of the virtual clock. Only the hosts that run tests, record
    /// or replay understand it.
    Harness {
        /// JSON of `test-runner` or of [`crate::VirtualClock`]'s timers.
        message: Box<RawValue>,
    },
    /// `store`: keeps a value for later scripts of the same session.
    Store {
        /// The script's name for the value.
        key: String,
        /// The value as JSON.
        value: Box<RawValue>,
    },
    /// `load`: the value under a key or a result handle, as a list of one; an empty list if there is
    /// none.
    Load {
        /// A key of `store`, or the handle of a result that was too large to show.
        key: String,
    },
}

/// What a server has besides tools.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResourceRequest {
    /// `listResources`
    ListResources,
    /// `readResource`
    ReadResource {
        /// The resource's URI.
        uri: String,
    },
    /// `listPrompts`
    ListPrompts,
    /// `getPrompt`
    GetPrompt {
        /// The prompt's name.
        name: String,
        /// An object of named arguments.
        args: Box<RawValue>,
    },
}

impl Request {
    /// The bytes that the request occupies in the broker until it is answered.
    pub fn size(&self) -> usize {
        match self {
            Self::Search { query, .. } => query.len(),
            Self::Call { tool, args } => tool.len() + args.get().len(),
            Self::Describe { tool } => tool.len(),
            Self::Resource { server, request } => {
                server.len()
                    + match request {
                        ResourceRequest::ListResources | ResourceRequest::ListPrompts => 0,
                        ResourceRequest::ReadResource { uri } => uri.len(),
                        ResourceRequest::GetPrompt { name, args } => name.len() + args.get().len(),
                    }
            }
            Self::Harness { message } => message.get().len(),
            Self::Store { key, value } => key.len() + value.get().len(),
            Self::Load { key } => key.len(),
        }
    }
}
