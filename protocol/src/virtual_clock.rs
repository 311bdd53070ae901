//! Deterministic time and randomness for recordings, replays and tests.

use serde::{Deserialize, Serialize};

/// A virtual clock and a seed: the same script with the same answers sees the same times and the
/// same random numbers.
///
/// The clock starts at `time_ms` and stands still while the script computes or waits for tools; a
/// timer moves it to the moment the timer was set for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct VirtualClock {
    /// Seeds `Math.random` and `crypto`.
    pub seed: u32,
    /// Milliseconds since 1970.
    pub time_ms: u64,
}

/// What a timer does on a [`VirtualClock`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimerMode {
    /// It takes real time.
    #[default]
    Real,
    /// It fires as soon as nothing else is left to do: where every answer is known beforehand there
    /// is nothing to wait for.
    Skipped,
    /// It is skipped up to a virtual time, and takes real time after it: a resumed run catches up with
    /// the time at which it was interrupted.
    CatchUp {
        /// The virtual time in milliseconds since 1970.
        until_ms: u64,
        /// The real time that later timers have waited before.
        slept_ms: u64,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_serialized_names_are_those_of_recordings() {
        let clock = VirtualClock {
            seed: 7,
            time_ms: 1_000,
        };
        let text = serde_json::to_string(&clock).unwrap();
        assert_eq!(text, r#"{"seed":7,"timeMs":1000}"#);
        assert_eq!(serde_json::from_str::<VirtualClock>(&text).unwrap(), clock);
    }
}
