//! The pace of notices to a client about changed tools.

use std::time::Duration;

use tokio::time::Instant;

/// Between two notices, and the longest pause if the tools never stop changing.
const MIN_PAUSE: Duration = Duration::from_secs(1);
const MAX_PAUSE: Duration = Duration::from_secs(60);
/// The pause is reset when the last notice is older than this.
const CALM: Duration = Duration::from_secs(120);

/// Limits how often a client is notified: every notice makes it list the tools again, and a model may
/// read them. The first notice is immediate.
#[derive(Debug, Default)]
pub struct NoticePace {
    /// When the last notice was due, and the pause after it.
    last: Option<(Instant, Duration)>,
}

impl NoticePace {
    /// Waits until a notice may be sent. The pause doubles with every notice.
    ///
    /// # Cancel safety
    /// A wait that is dropped counts as no notice.
    pub async fn wait(&mut self) {
        let pause = match self.last {
            Some((at, pause)) if at.elapsed() <= CALM => {
                tokio::time::sleep_until(at + pause).await;
                (pause * 2).min(MAX_PAUSE)
            }
            _ => MIN_PAUSE,
        };
        self.last = Some((Instant::now(), pause));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn notices_without_an_end_become_rare_and_the_first_one_is_immediate() {
        let (began, mut pace) = (Instant::now(), NoticePace::default());
        pace.wait().await;
        assert_eq!(began.elapsed(), Duration::ZERO);
        let mut notices = 1;
        while began.elapsed() < Duration::from_secs(600) {
            pace.wait().await;
            notices += 1;
        }
        assert!(notices < 20, "{notices}");
        tokio::time::sleep(CALM * 2).await;
        let calm = Instant::now();
        pace.wait().await;
        assert_eq!(calm.elapsed(), Duration::ZERO);
    }
}
