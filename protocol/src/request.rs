//! What a script can ask of the world outside its isolate.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::failure::{Failure, FailureKind};

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
        /// The version of the tool that the script was written for: what it wrote behind `@`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        version: Option<String>,
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
    /// `checkpoint`: keeps a value over a resume, or returns the one that is kept, as a list of one.
    Checkpoint {
        /// The script's name for the value.
        key: String,
        /// The value as JSON; `None` to ask for it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        value: Option<Box<RawValue>>,
        /// The script's virtual clock.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        clock_ms: Option<f64>,
    },
    /// `load`: the value under a key or a result handle, as a list of one; an empty list if there is
    /// none.
    Load {
        /// A key of `store`, or the handle of a result that was too large to show.
        key: String,
    },
    /// `runWorkflow`: runs a plan whose calls are those of the script.
    Workflow {
        /// The plan: an object, or a text of JSON or YAML.
        plan: Box<RawValue>,
        /// An object of inputs.
        input: Box<RawValue>,
    },
    /// `streamTool`: a call whose result arrives in pieces.
    Stream(StreamRequest),
    /// A task of a plan asks a person before it starts. The answer is `null`, or a failure of kind `denied`. Plans
    /// make this request; a worker must not.
    ApproveTask {
        /// The id of the task.
        task: String,
        /// Its tool; `None` for code.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tool: Option<String>,
        /// The question in the words of the plan.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        question: Option<String>,
    },
}

/// One step of a stream. The script asks for every piece, so a slow script slows the stream.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StreamRequest {
    /// Begins a call. The answer is the number of the stream.
    Open {
        /// `server:tool`
        tool: String,
        /// An object of named arguments.
        args: Box<RawValue>,
    },
    /// The next pieces of a stream.
    Next {
        /// The number of the stream.
        stream: u32,
    },
    /// The script needs no more of a stream: its call is cancelled.
    Close {
        /// The number of the stream.
        stream: u32,
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

/// What a request reaches outside of pml.
#[derive(Debug)]
pub enum Target<'a> {
    /// A tool of a server.
    Tool {
        /// `server:tool`
        tool: &'a str,
        /// Its arguments.
        args: &'a RawValue,
    },
    /// Resources or prompts of a server.
    Resources {
        /// The server's name.
        server: &'a str,
        /// What of it is wanted.
        request: &'a ResourceRequest,
    },
    /// Nothing but what pml knows itself.
    Local,
}

/// The id of a tool, and the version behind it: `server:tool@2`. The name of a server may have an `@`, that
/// of a tool has none.
pub fn split_version(id: &str) -> (&str, Option<&str>) {
    let name = id.find(':').unwrap_or(id.len());
    match id[name..].find('@') {
        Some(at) => (&id[..name + at], Some(&id[name + at + 1..])),
        None => (id, None),
    }
}

impl Request {
    /// A call of a tool, with a version behind its id or without.
    pub fn call(tool: &str, args: Box<RawValue>) -> Self {
        let (id, version) = split_version(tool);
        Self::Call {
            tool: id.to_owned(),
            version: version.map(str::to_owned),
            args,
        }
    }

    /// The longest tool id, server name or key.
    pub const MAX_ID_BYTES: usize = 512;
    const MAX_URI_BYTES: usize = 64 * 1024;
    /// 500 characters of up to 4 bytes.
    const MAX_QUERY_BYTES: usize = 2_000;
    const MAX_HITS: u32 = 50;

    /// Bounds the names and numbers of a request. The script's side has checked them; a compromised
    /// worker may send anything.
    ///
    /// # Errors
    ///
    /// A request that the script's side would not have sent.
    pub fn sanitize(&mut self) -> Result<(), Failure> {
        let is_id = |name: &str| name.len() <= Self::MAX_ID_BYTES;
        let fits = match self {
            Self::Search { query, limit, .. } => {
                query.truncate(query.floor_char_boundary(Self::MAX_QUERY_BYTES));
                *limit = (*limit).clamp(1, Self::MAX_HITS);
                true
            }
            Self::Call {
                tool,
                version,
                args,
            } => {
                let (id, behind) = split_version(tool);
                if let Some(behind) = behind {
                    (*version, *tool) = (Some(behind.to_owned()), id.to_owned());
                }
                let is_object = args.get().trim_start().starts_with('{');
                let is_version = version.as_deref().is_none_or(is_id);
                if tool.is_empty() || !is_id(tool) || !is_version || !is_object {
                    return Err(Failure::new(
                        FailureKind::Tool,
                        "a call needs a tool id such as server:tool and an object of named arguments",
                    ));
                }
                true
            }
            Self::Describe { tool } => {
                tool.truncate(split_version(tool).0.len());
                is_id(tool)
            }
            Self::Load { key: name } => is_id(name),
            Self::Store { key, .. } | Self::Checkpoint { key, .. } => is_id(key),
            Self::Resource { server, request } => {
                is_id(server)
                    && match request {
                        ResourceRequest::ReadResource { uri } => uri.len() <= Self::MAX_URI_BYTES,
                        ResourceRequest::GetPrompt { name, .. } => is_id(name),
                        ResourceRequest::ListResources | ResourceRequest::ListPrompts => true,
                    }
            }
            Self::Stream(StreamRequest::Open { tool, args }) => {
                !tool.is_empty() && is_id(tool) && args.get().trim_start().starts_with('{')
            }
            Self::Workflow { input, .. } => input.get().trim_start().starts_with('{'),
            Self::ApproveTask { task, tool, .. } => {
                is_id(task) && tool.as_deref().is_none_or(is_id)
            }
            Self::Harness { .. } | Self::Stream(_) => true,
        };
        match fits {
            true => Ok(()),
            false => Err(Failure::new(
                FailureKind::Arguments,
                format!(
                    "a name has at most {} bytes, a URI 64 KiB",
                    Self::MAX_ID_BYTES
                ),
            )),
        }
    }

    /// What the request reaches outside of pml, which decides whether a person is asked.
    pub fn target(&self) -> Target<'_> {
        match self {
            Self::Call { tool, args, .. } => Target::Tool { tool, args },
            Self::Resource { server, request } => Target::Resources { server, request },
            Self::Search { .. }
            | Self::Describe { .. }
            | Self::Harness { .. }
            | Self::Store { .. }
            | Self::Checkpoint { .. }
            | Self::Load { .. }
            // Their calls are requests of their own.
            | Self::Workflow { .. }
            | Self::Stream(_)
            // It reaches a person, and no server.
            | Self::ApproveTask { .. } => Target::Local,
        }
    }

    /// The bytes that the request occupies in the broker until it is answered.
    pub fn size(&self) -> usize {
        match self {
            Self::Search { query, .. } => query.len(),
            Self::Call { tool, args, .. } => tool.len() + args.get().len(),
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
            Self::Checkpoint { key, value, .. } => {
                key.len() + value.as_ref().map_or(0, |value| value.get().len())
            }
            Self::Load { key } => key.len(),
            Self::Workflow { plan, input } => plan.get().len() + input.get().len(),
            Self::Stream(StreamRequest::Open { tool, args }) => tool.len() + args.get().len(),
            Self::Stream(StreamRequest::Next { .. } | StreamRequest::Close { .. }) => 0,
            Self::ApproveTask {
                task,
                tool,
                question,
            } => {
                let length = |text: &Option<String>| text.as_ref().map_or(0, String::len);
                task.len() + length(tool) + length(question)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn parse(json: &Value) -> Request {
        serde_json::from_value(json.clone()).unwrap()
    }

    #[test]
    fn the_serialized_names_are_part_of_the_protocol() {
        for json in [
            json!({ "search": { "query": "read a file", "limit": 3, "threshold": 0.5 } }),
            json!({ "search": { "query": "read a file", "limit": 3, "threshold": null } }),
            json!({ "call": { "tool": "fs:read", "args": { "path": "a" } } }),
            json!({ "describe": { "tool": "fs:read" } }),
            json!({ "offer": { "server": "fs", "offer": "list_resources" } }),
            json!({ "offer": { "server": "fs", "offer": { "read_resource": { "uri": "a:b" } } } }),
            json!({ "offer": { "server": "fs", "offer": "list_prompts" } }),
            json!({ "offer": { "server": "fs", "offer": { "get_prompt": { "name": "a", "args": {} } } } }),
            json!({ "harness": { "message": { "idle": null } } }),
            json!({ "store": { "key": "a", "value": [1] } }),
            json!({ "load": { "key": "a" } }),
            json!({ "checkpoint": { "key": "a", "value": [1], "clock_ms": 1.5 } }),
            json!({ "checkpoint": { "key": "a" } }),
            json!({ "workflow": { "plan": { "tasks": [] }, "input": {} } }),
            json!({ "stream": { "open": { "tool": "a:b", "args": {} } } }),
            json!({ "stream": { "next": { "stream": 1 } } }),
            json!({ "stream": { "close": { "stream": 1 } } }),
            json!({ "approve_task": { "task": "a", "tool": "a:b", "question": "now?" } }),
            json!({ "approve_task": { "task": "a" } }),
        ] {
            assert_eq!(serde_json::to_value(parse(&json)).unwrap(), json);
        }
    }

    #[test]
    fn arguments_keep_the_text_of_the_script() {
        let text = r#"{"call":{"tool":"a:b","args":{"n": 1.0e2}}}"#;
        match serde_json::from_str(text).unwrap() {
            Request::Call { args, .. } => assert_eq!(args.get(), r#"{"n": 1.0e2}"#),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_size_counts_every_text_of_a_request() {
        for (json, size) in [
            (
                json!({ "search": { "query": "four", "limit": 3, "threshold": null } }),
                4,
            ),
            (json!({ "call": { "tool": "a:b", "args": {} } }), 5),
            (
                json!({ "offer": { "server": "fs", "offer": "list_prompts" } }),
                2,
            ),
            (
                json!({ "offer": { "server": "fs", "offer": { "get_prompt": { "name": "abc", "args": {} } } } }),
                7,
            ),
            (json!({ "store": { "key": "a", "value": [1] } }), 4),
            (json!({ "load": { "key": "a" } }), 1),
            (json!({ "workflow": { "plan": "{}", "input": {} } }), 6),
            (
                json!({ "stream": { "open": { "tool": "a:b", "args": {} } } }),
                5,
            ),
            (json!({ "stream": { "next": { "stream": 7 } } }), 0),
        ] {
            assert_eq!(parse(&json).size(), size, "{json}");
        }
    }
}
