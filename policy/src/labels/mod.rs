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
//! let mut run = Flow::default();
//! run.read("web:fetch", &rules.source(&tool("web:fetch"), None));
//! let refused = run.check("mail:send", &rules.sink(&tool("mail:send"), None)).unwrap_err();
//! assert_eq!(refused.path, "web:fetch → run → mail:send");
//! ```
//!
//! - [`Label`]: integrity and confidentiality.
//! - [`LabelsConfig`] and [`LabelRules`]: what tools read and accept, by `pml.labels` and by default.
//! - [`Flow`]: the label of a run or session, with the tools that it comes from.

mod config;
mod flow;
mod label;
mod rules;

pub use config::{LabelMode, LabelsConfig, SinkWord, SourceWord};
pub use flow::{Flow, RefusedFlow};
pub use label::Label;
pub use rules::{LabelRules, Sink};
