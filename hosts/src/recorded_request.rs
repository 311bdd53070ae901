//! A request of a script, as a recording writes it.

use pml_protocol::{Request, ResourceRequest};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

/// A recorded request. Two requests are the same if their [`RecordedRequest::key`]s are: the order
/// of keys in the arguments does not count.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum RecordedRequest {
    /// A tool call.
    Call {
        /// `server:tool`
        tool: String,
        /// The arguments.
        args: Value,
    },
    /// A search.
    Search {
        /// The query in words.
        query: String,
        /// At most this many hits.
        limit: u32,
        /// The lowest score.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        threshold: Option<f64>,
    },
    /// A description of a tool.
    Describe {
        /// `server:tool`
        tool: String,
    },
    /// A value of the session. Only journals have it: a replay of a recording loads what it has stored.
    Load {
        /// The script's name for the value, or a handle.
        key: String,
    },
    /// A question before a task of a plan. Only journals have it: a replay of a recording asks no person.
    ApproveTask {
        /// The id of the task.
        task: String,
        /// Its tool; `None` for code.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tool: Option<String>,
        /// The question.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        question: Option<String>,
    },
    /// The list of resources.
    ListResources {
        /// The server's name in the configuration.
        server: String,
    },
    /// A resource.
    ReadResource {
        /// The server's name in the configuration.
        server: String,
        /// Its URI.
        uri: String,
    },
    /// The list of prompts.
    ListPrompts {
        /// The server's name in the configuration.
        server: String,
    },
    /// A prompt.
    GetPrompt {
        /// The server's name in the configuration.
        server: String,
        /// Its name.
        name: String,
        /// The arguments.
        args: Value,
    },
}

impl RecordedRequest {
    /// The recorded form of a request; `None` for those that are not recorded: a replay of the script
    /// repeats its stored values and clock messages.
    pub fn of(request: &Request) -> Option<Self> {
        Some(match request {
            Request::Call { tool, args, .. } => Self::Call {
                tool: tool.clone(),
                args: parse(args),
            },
            Request::Search {
                query,
                limit,
                threshold,
            } => Self::Search {
                query: query.clone(),
                limit: *limit,
                threshold: *threshold,
            },
            Request::Describe { tool } => Self::Describe { tool: tool.clone() },
            Request::Resource { server, request } => Self::of_resource(server, request),
            // A replay refuses what is not recorded.
            _ => return None,
        })
    }

    fn of_resource(server: &str, request: &ResourceRequest) -> Self {
        let server = server.to_owned();
        match request {
            ResourceRequest::ListResources => Self::ListResources { server },
            ResourceRequest::ReadResource { uri } => Self::ReadResource {
                server,
                uri: uri.clone(),
            },
            ResourceRequest::ListPrompts => Self::ListPrompts { server },
            ResourceRequest::GetPrompt { name, args } => Self::GetPrompt {
                server,
                name: name.clone(),
                args: parse(args),
            },
        }
    }

    /// The name of the request in messages: ``call of `fs:read_file` ``.
    pub fn title(&self) -> String {
        match self {
            Self::Call { tool, .. } => format!("call of `{tool}`"),
            Self::Search { query, .. } => format!("search for \"{query}\""),
            Self::Describe { tool } => format!("description of `{tool}`"),
            Self::Load { key } => format!("value of \"{key}\""),
            Self::ApproveTask { task, .. } => format!("approval of task `{task}`"),
            Self::ListResources { server } => format!("list of the resources of `{server}`"),
            Self::ReadResource { server, uri } => format!("resource {uri} of `{server}`"),
            Self::ListPrompts { server } => format!("list of the prompts of `{server}`"),
            Self::GetPrompt { server, name, .. } => format!("prompt `{name}` of `{server}`"),
        }
    }

    /// The server whose data the answer is; `None` if it is not of one server.
    pub fn server(&self) -> Option<&str> {
        match self {
            Self::Call { tool, .. } | Self::Describe { tool } => {
                tool.split_once(':').map(|(server, _)| server)
            }
            Self::ListResources { server }
            | Self::ReadResource { server, .. }
            | Self::ListPrompts { server }
            | Self::GetPrompt { server, .. } => Some(server),
            Self::Search { .. } | Self::Load { .. } | Self::ApproveTask { .. } => None,
        }
    }

    /// The part that is compared value by value when no recorded request is the same.
    pub fn details(&self) -> Value {
        match self {
            Self::Call { args, .. } | Self::GetPrompt { args, .. } => args.clone(),
            // A struct of plain fields always becomes JSON.
            other => serde_json::to_value(other).unwrap_or_default(),
        }
    }

    /// The canonical text of the request: equal for equal requests.
    pub fn key(&self) -> String {
        let value = serde_json::to_value(self).unwrap_or_default();
        canonical(value).to_string()
    }
}

/// The arguments of a request are valid JSON: others were refused before.
fn parse(json: &RawValue) -> Value {
    serde_json::from_str(json.get()).unwrap_or_default()
}

/// Sorted keys, and `1.0` as `1`: JavaScript does not distinguish them.
fn canonical(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<(String, Value)> = map
                .into_iter()
                .map(|(key, value)| (key, canonical(value)))
                .collect();
            entries.sort_by(|a, b| a.0.cmp(&b.0));
            Value::Object(entries.into_iter().collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(canonical).collect()),
        Value::Number(number) => match number.as_f64() {
            // Exactly representable, so the cast loses nothing.
            Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() < 9e15 => {
                Value::from(float as i64)
            }
            _ => Value::Number(number),
        },
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn call(args: Value) -> RecordedRequest {
        RecordedRequest::Call {
            tool: "a:b".to_owned(),
            args,
        }
    }

    #[test]
    fn the_order_of_keys_and_the_form_of_numbers_do_not_count() {
        let one = call(json!({ "a": 1, "b": { "x": [1.0, 2.5], "y": null } }));
        let same = call(json!({ "b": { "y": null, "x": [1, 2.5] }, "a": 1 }));
        assert_eq!(one.key(), same.key());
        assert_ne!(one.key(), call(json!({ "a": 1, "b": {} })).key());
        assert_ne!(one.key(), call(json!({ "a": "1" })).key());
    }

    #[test]
    fn different_requests_have_different_keys() {
        let describe = RecordedRequest::Describe {
            tool: "a:b".to_owned(),
        };
        assert_ne!(describe.key(), call(json!({})).key());
    }
}
