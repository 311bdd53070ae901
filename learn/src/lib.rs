//! The graph of tool use: what follows which tool, what feeds it, and what an intent will need.
//!
//! A [`Model`] is made from the tools of a configuration and from past runs. It predicts the next tool of a
//! run and suggests a plan for an intent, each with a calibrated probability. The crate reads and writes
//! nothing by itself, except for the sets of samples of [`evaluate`].

#![forbid(unsafe_code)]

mod arguments;
pub mod confidence;
pub mod evaluate;
mod features;
mod graph;
mod history;
mod model;
mod plan;
mod prior;
mod regression;
mod sequences;
mod suggestion;
mod tool;
mod toolbox;
mod trace;
mod training;
mod words;

pub use arguments::{ArgumentFunctions, Filled, FilledArgument, Origin};
pub use graph::{GraphEdge, GraphTool, ToolGraph};
pub use model::{ACT_PRECISION, Model, NextTool, PROPOSE_PRECISION};
pub use prior::Parameters;
pub use suggestion::{Plan, Task, Tier};
pub use tool::{Argument, Episode, Field, Source, Step, Tool};
pub use trace::{Trace, TracedCall, TracedRun};
pub use training::intent_hash;
