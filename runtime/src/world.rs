//! What a script gets from the world besides tools: time and chance.

use serde::{Deserialize, Serialize};

/// A world that can be had again: the same script with the same answers sees the same numbers
/// and the same times.
///
/// The clock begins at `time_ms` and stands still while the script computes or waits for tools; a
/// timer moves it to the moment the timer was set for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct World {
    /// Decides every number of `Math.random` and `crypto`.
    pub seed: u32,
    /// Milliseconds since 1970.
    pub time_ms: u64,
}

/// What a timer of a script does in a [`World`] of its own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sleep {
    /// It takes its time, as everywhere.
    #[default]
    Real,
    /// It fires as soon as nothing else is left to do: where every answer is known beforehand
    /// there is nothing to wait for.
    Skipped,
}
