//! Exponential backoff between starts of a failing server.

use std::time::Duration;

const FIRST: Duration = Duration::from_millis(250);
const MAX: Duration = Duration::from_secs(30);

/// The pause after `failures` failures in a row: doubles each time, with jitter between half and all
/// of it, so that servers which failed together do not restart together.
pub fn pause(failures: u32) -> Duration {
    if failures == 0 {
        return Duration::ZERO;
    }
    let doublings = (failures - 1).min(16);
    let whole = FIRST.saturating_mul(1 << doublings).min(MAX);
    whole.mul_f64(0.5 + fastrand::f64() / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_within_their_jitter_and_stay_bounded() {
        assert_eq!(pause(0), Duration::ZERO);
        for failures in 1..100 {
            let whole = FIRST.saturating_mul(1 << (failures - 1).min(16)).min(MAX);
            for _ in 0..20 {
                let pause = pause(failures);
                assert!(
                    pause >= whole / 2 && pause <= whole,
                    "{failures}: {pause:?}"
                );
            }
        }
    }
}
