//! Tools, tool calls and their answers in the forms of model providers.
//!
//! A program that talks to a model offers it tools ([`definitions`]), gets calls back ([`parse`]), executes
//! them and returns their answers ([`answers`]). Each provider has forms of its own for the three; a file of
//! this crate per provider has all of them. Ids of tools are `server:tool`, which providers do not allow:
//! [`ToolNames`] translates.
//!
//! ```
//! use pml_provider_formats::{Answer, Format, answers, parse};
//! use serde_json::json;
//!
//! let emitted = r#"{"content":[{"type":"tool_use","id":"t1","name":"fs__read","input":{"path":"a"}}]}"#;
//! let batch = parse(emitted, None)?;
//! assert_eq!((batch.format, batch.calls[0].name.as_str()), (Format::Anthropic, "fs__read"));
//!
//! let answered = [Answer { call: &batch.calls[0], result: Ok(json!("text")) }];
//! assert!(answers(batch.format, &answered).contains(r#""tool_use_id": "t1""#));
//! # Ok::<(), pml_provider_formats::ParseError>(())
//! ```

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod anthropic;
mod anthropic_xml;
mod call;
mod definition;
mod format;
mod gemini;
mod json;
mod openai;
mod parse;
mod tool_names;

pub use call::{Answer, Arguments, Batch, ModelCall};
pub use definition::{DefinitionFormat, ToolDefinition, definitions};
pub use format::{Format, answers};
pub use parse::{MAX_CALLS, ParseError, parse};
pub use tool_names::{ToolNames, UnknownName};
