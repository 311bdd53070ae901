//! Definitions of tools, as a model is offered them.

use std::fmt;
use std::str::FromStr;

use serde_json::{Value, json};

use crate::{anthropic, gemini, openai};

/// A tool.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ToolDefinition<'a> {
    /// The name that the provider allows; see [`crate::ToolNames`].
    pub name: &'a str,
    /// What the tool does.
    pub description: &'a str,
    /// The schema of its arguments.
    pub input_schema: &'a Value,
}

/// The form of definitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DefinitionFormat {
    /// `tools` of OpenAI's chat completions.
    OpenAi,
    /// `tools` of Anthropic's messages.
    Anthropic,
    /// `tools` of Gemini.
    Gemini,
    /// The result of `tools/list`.
    Mcp,
}

impl DefinitionFormat {
    /// All forms, in the order in which they are listed.
    pub const ALL: [Self; 4] = [Self::OpenAi, Self::Anthropic, Self::Gemini, Self::Mcp];

    /// The name of the form.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Mcp => "mcp",
        }
    }
}

impl fmt::Display for DefinitionFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for DefinitionFormat {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|format| format.as_str() == text);
        found.ok_or_else(|| {
            let names = Self::ALL.map(Self::as_str).join(", ");
            format!("there is no format `{text}`; the formats are {names}")
        })
    }
}

/// The tools in the form of a provider.
pub fn definitions(format: DefinitionFormat, tools: &[ToolDefinition<'_>]) -> Value {
    let each = |definition: fn(&ToolDefinition<'_>) -> Value| -> Vec<Value> {
        tools.iter().map(definition).collect()
    };
    match format {
        DefinitionFormat::OpenAi => each(openai::definition).into(),
        DefinitionFormat::Anthropic => each(anthropic::definition).into(),
        DefinitionFormat::Gemini => json!([{ "functionDeclarations": each(gemini::definition) }]),
        DefinitionFormat::Mcp => json!({ "tools": each(|tool| json!({
            "name": tool.name, "description": tool.description, "inputSchema": tool.input_schema })) }),
    }
}
