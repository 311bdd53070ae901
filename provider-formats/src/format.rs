//! The forms of calls, and the answers in each.

use std::fmt;
use std::str::FromStr;

use crate::call::Answer;
use crate::{anthropic, anthropic_xml, gemini, json, openai};

/// The form of calls and answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// OpenAI's chat completions: `tool_calls`, and messages of the role `tool`.
    OpenAi,
    /// OpenAI's responses: `function_call` and `function_call_output`.
    OpenAiResponses,
    /// Anthropic's messages: `tool_use` and `tool_result`.
    Anthropic,
    /// Calls as XML in the text of an answer: `<invoke name="…">`.
    AnthropicXml,
    /// Gemini's parts: `functionCall` and `functionResponse`.
    Gemini,
    /// `{ "tool": "server:tool", "args": { … } }`, one or a list of them.
    Json,
}

impl Format {
    /// All forms, in the order in which they are listed.
    pub const ALL: [Self; 6] = [
        Self::OpenAi,
        Self::OpenAiResponses,
        Self::Anthropic,
        Self::AnthropicXml,
        Self::Gemini,
        Self::Json,
    ];

    /// The name of the form.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::OpenAiResponses => "openai-responses",
            Self::Anthropic => "anthropic",
            Self::AnthropicXml => "anthropic-xml",
            Self::Gemini => "gemini",
            Self::Json => "json",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|format| format.as_str() == text);
        found.ok_or_else(|| {
            let names = Self::ALL.map(Self::as_str).join(", ");
            format!("there is no format `{text}`; the formats are {names}")
        })
    }
}

/// The answers in the form that the provider takes as the next message, or part of it.
pub fn answers(format: Format, answers: &[Answer<'_>]) -> String {
    let value = match format {
        Format::OpenAi => openai::answers(answers),
        Format::OpenAiResponses => openai::response_answers(answers),
        Format::Anthropic => anthropic::answers(answers),
        Format::AnthropicXml => return anthropic_xml::answers(answers),
        Format::Gemini => gemini::answers(answers),
        Format::Json => json::answers(answers),
    };
    format!("{value:#}\n")
}
