//! Information flow: what a run has read, and where that may go.
//!
//! A run is a process whose only channels are ours, so one label per run is sound: what it reads raises the
//! label, and what it sends is checked against the tool that receives it.
//!
//! ```
//! use pml_policy::authorize::{Hints, ToolFacts};
//! use pml_policy::labels::{Flow, LabelRules, LabelsConfig};
//!
//! let config = r#"{ "mode": "enforce", "sources": { "web:*": "untrusted" } }"#;
//! let rules = LabelRules::new(serde_json::from_str::<LabelsConfig>(config).unwrap());
//! let tool = |id: &str| ToolFacts { id: id.into(), effect: "guarded".into(), hints: Hints::default() };
//! let run = Flow::of("web:fetch", &rules.source(&tool("web:fetch"), None));
//! let refused = rules.sink(&tool("mail:send"), None).accepts("mail:send", &run).unwrap_err();
//! assert_eq!(refused.path, "web:fetch → run → mail:send");
//! ```
//!
//! - [`Label`]: integrity and confidentiality.
//! - [`LabelsConfig`] and [`LabelRules`]: what tools read and accept, by `pml.labels` and by default.
//! - [`Flow`]: the label of a run or session, with the tools that it comes from.
//! - [`Sink`]: what a tool accepts.

mod config;
mod rules;
mod sink;

pub use config::{LabelMode, LabelsConfig, SinkWord, SourceWord};
pub use pml_protocol::{Flow, Label};
pub use rules::LabelRules;
pub use sink::{RefusedFlow, Sink};
