//! Runs without servers: what a run asked and was told is written down ([`Recorder`]), told again
//! ([`Replay`]), completed ([`Extension`]), or made up without sending anything ([`DryRun`]).
//!
//! Each is a [`pml_runtime::ToolHost`] that wraps or replaces another, so a script cannot tell
//! which one it has.

mod asked;
mod clock;
mod difference;
mod dry_run;
mod error;
mod example;
mod extension;
mod file;
mod fixtures;
mod kept;
mod nearest;
mod recorder;
mod recording;
mod replay;
mod scrubbing;
mod shelf;

pub use asked::Asked;
pub use clock::Moment;
pub use dry_run::{DryRun, Observed, Planned, Source, Sources};
pub use error::ReplayError;
pub use example::example_of;
pub use extension::Extension;
pub use fixtures::Fixtures;
pub use kept::Kept;
pub use recorder::Recorder;
pub use recording::{Entry, Recording, Told};
pub use replay::Replay;
