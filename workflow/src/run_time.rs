//! The time limit of a plan.

use std::time::Duration;

use pml_protocol::RunClock;
use tokio::time::{Instant, sleep};

/// Returns when the clock of a run has gone for this time: while a person is asked, it stands.
pub(crate) async fn run_time(clock: &RunClock, limit: Duration) {
    let (mut left, mut pauses) = (limit, clock.pauses());
    loop {
        let stands = *pauses.borrow_and_update() > 0;
        let since = Instant::now();
        tokio::select! {
            () = sleep(left), if !stands => return,
            // The clock has the sender, so it is there as long as this future.
            _ = pauses.changed() => {}
        }
        if !stands {
            left = left.saturating_sub(since.elapsed());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_time_of_a_parent_stands_while_its_child_does() {
        let (parent, child) = (RunClock::default(), RunClock::default());
        let started = Instant::now();
        let second = Duration::from_secs(1);
        let work = async {
            sleep(second).await;
            let pause = child.pause();
            sleep(5 * second).await;
            drop(pause);
            std::future::pending::<()>().await;
        };
        tokio::select! {
            () = parent.follow(&child) => {}
            () = work => {}
            () = run_time(&parent, 3 * second) => {}
        }
        assert_eq!(started.elapsed(), 8 * second);
    }
}
