//! What is pinned: a tool as its server describes it, and the server itself.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

/// What a server says about one of its tools.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolDefinition {
    /// The display name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The description; may be empty.
    #[serde(default)]
    pub description: String,
    /// The JSON Schema of the arguments.
    pub input_schema: Value,
    /// The JSON Schema of the result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// Hints about the effects of a call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Value>,
}

impl ToolDefinition {
    /// The digest of the definition, whatever the order of its keys is.
    pub fn digest(&self, name: &str) -> Digest {
        let whole = json!({
            "name": name,
            "title": self.title,
            "description": self.description,
            "inputSchema": self.input_schema,
            "outputSchema": self.output_schema,
            "annotations": self.annotations,
        });
        Digest::of(&sorted(whole).to_string())
    }

    /// The definition with sorted keys, as the file has it.
    pub(super) fn sorted(self) -> Self {
        Self {
            input_schema: sorted(self.input_schema),
            output_schema: self.output_schema.map(sorted),
            annotations: self.annotations.map(sorted),
            ..self
        }
    }
}

/// Which program or address a server is, as the configuration writes it: with variables, so that the
/// file is the same on every machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ServerIdentity {
    /// A program with its arguments. A package and its version are among them.
    Program {
        /// The program.
        command: String,
        /// Its arguments.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        args: Vec<String>,
        /// The folder that it is started in, if the entry names one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cwd: Option<String>,
    },
    /// An address.
    Address {
        /// The URL.
        url: String,
    },
}

impl fmt::Display for ServerIdentity {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Program { command, args, cwd } => {
                out.write_str(command)?;
                args.iter().try_for_each(|arg| write!(out, " {arg}"))?;
                match cwd {
                    Some(cwd) => write!(out, " (in {cwd})"),
                    None => Ok(()),
                }
            }
            Self::Address { url } => out.write_str(url),
        }
    }
}

/// A SHA-256 digest, written as `sha256:` and 64 hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Digest(String);

impl Digest {
    fn of(text: &str) -> Self {
        let digest = Sha256::digest(text);
        let digits: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        Self(format!("sha256:{digits}"))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The same value with the keys of all objects in order.
pub fn sorted(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let entries = map.into_iter().map(|(key, value)| (key, sorted(value)));
            let mut entries: Vec<_> = entries.collect();
            entries.sort_by(|one, other| one.0.cmp(&other.0));
            Value::Object(entries.into_iter().collect())
        }
        Value::Array(values) => Value::Array(values.into_iter().map(sorted).collect()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn definition() -> ToolDefinition {
        ToolDefinition {
            title: None,
            description: "Reads.".to_owned(),
            input_schema: json!({ "type": "object", "title": "x" }),
            output_schema: None,
            annotations: None,
        }
    }

    #[test]
    fn the_digest_follows_every_part_and_not_the_order_of_keys() {
        let one = definition().digest("read");
        let mut reordered = definition();
        reordered.input_schema = json!({ "title": "x", "type": "object" });
        assert_eq!(reordered.digest("read"), one);
        assert_eq!(one.as_str().len(), "sha256:".len() + 64);
        let changes: [fn(&mut ToolDefinition); 5] = [
            |tool| tool.title = Some(String::new()),
            |tool| tool.description.push(' '),
            |tool| tool.input_schema["title"] = json!("y"),
            |tool| tool.output_schema = Some(json!({})),
            |tool| tool.annotations = Some(json!({ "readOnlyHint": true })),
        ];
        for change in changes {
            let mut other = definition();
            change(&mut other);
            assert_ne!(other.digest("read"), one, "{other:?}");
        }
        assert_ne!(definition().digest("write"), one);
    }
}
