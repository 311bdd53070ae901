//! Information flow: what a run has read, and where that may go.

mod label;

pub use label::Label;
