//! The graph of tool use: what follows which tool, what feeds it, and what an intent will need.
//!
//! A [`Model`] is made from the tools of a configuration and from past runs. It predicts the next tool of a
//! run and suggests a plan for an intent, each with a calibrated probability. The crate reads and writes
//! nothing by itself, except for the sets of samples of [`evaluate`].

#![forbid(unsafe_code)]

pub mod confidence;
pub mod evaluate;
mod features;
mod history;
mod model;
mod plan;
mod prior;
mod regression;
mod sequences;
mod tool;
mod toolbox;
mod training;
mod words;

pub use model::{ACT_PRECISION, Model, NextTool, PROPOSE_PRECISION, Plan, Tier};
pub use prior::Parameters;
pub use tool::{Argument, Episode, Field, Source, Step, Tool};
pub use training::intent_hash;
