//! What a script asked, as a recording writes it down.

use pml_runtime::Offer;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

/// A request of a script. Two requests are the same when they are equal: the order of the keys in
/// the arguments does not count.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Asked {
    Call {
        tool: String,
        args: Value,
    },
    Search {
        query: String,
        limit: u32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        threshold: Option<f64>,
    },
    Describe {
        tool: String,
    },
    ListResources {
        server: String,
    },
    ReadResource {
        server: String,
        uri: String,
    },
    ListPrompts {
        server: String,
    },
    GetPrompt {
        server: String,
        name: String,
        args: Value,
    },
}

impl Asked {
    pub fn call(tool: &str, args: &RawValue) -> Self {
        Self::Call {
            tool: tool.to_owned(),
            args: parse(args),
        }
    }

    pub fn search(query: &str, limit: u32, threshold: Option<f64>) -> Self {
        Self::Search {
            query: query.to_owned(),
            limit,
            threshold,
        }
    }

    pub fn describe(tool: &str) -> Self {
        Self::Describe {
            tool: tool.to_owned(),
        }
    }

    pub fn offer(server: &str, offer: &Offer) -> Self {
        let server = server.to_owned();
        match offer {
            Offer::ListResources => Self::ListResources { server },
            Offer::ReadResource { uri } => Self::ReadResource {
                server,
                uri: uri.clone(),
            },
            Offer::ListPrompts => Self::ListPrompts { server },
            Offer::GetPrompt { name, args } => Self::GetPrompt {
                server,
                name: name.clone(),
                args: parse(args),
            },
        }
    }

    /// What a message calls it: `call of fs:read_file`.
    pub fn title(&self) -> String {
        match self {
            Self::Call { tool, .. } => format!("call of `{tool}`"),
            Self::Search { query, .. } => format!("search for \"{query}\""),
            Self::Describe { tool } => format!("description of `{tool}`"),
            Self::ListResources { server } => format!("list of the resources of `{server}`"),
            Self::ReadResource { server, uri } => format!("resource {uri} of `{server}`"),
            Self::ListPrompts { server } => format!("list of the prompts of `{server}`"),
            Self::GetPrompt { server, name, .. } => format!("prompt `{name}` of `{server}`"),
        }
    }

    /// The part that is compared piece by piece when no recorded request is the same.
    pub fn details(&self) -> Value {
        match self {
            Self::Call { args, .. } | Self::GetPrompt { args, .. } => args.clone(),
            // A struct of plain fields always becomes JSON.
            other => serde_json::to_value(other).unwrap_or_default(),
        }
    }

    /// A text that is the same for the same request, however it was written down.
    pub fn key(&self) -> String {
        let value = serde_json::to_value(self).unwrap_or_default();
        canonical(value).to_string()
    }
}

/// What is no JSON was refused before it got here.
fn parse(json: &RawValue) -> Value {
    serde_json::from_str(json.get()).unwrap_or_default()
}

/// Keys in order, and `1.0` as `1`: JavaScript knows no difference.
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

    fn call(args: Value) -> Asked {
        Asked::Call {
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
        let describe = Asked::describe("a:b");
        assert_ne!(describe.key(), call(json!({})).key());
    }
}
