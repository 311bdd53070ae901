//! The clock of a script's own world, as `js/42_timers.js` tells it, and answers that wait for it.
//!
//! While a run is recorded, a timer may fire before an answer comes: a script that gives a tool
//! 100 ms goes another way then. In a replay every answer is there at once; so that the script
//! goes the same way, an answer that came after a timer is held back until that timer has fired.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use pml_runtime::World;
use serde::Deserialize;

/// A recorded moment is a whole number of milliseconds, and looks at the clock move it by less.
const SLACK_MS: f64 = 0.5;

/// What a world says of its clock, in milliseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Moment {
    /// A timer has moved the clock to here.
    Clock(f64),
    /// Nothing but an answer or the next timer can bring the script on; it fires at this time, if
    /// there is one. The reply is how many answers are held back.
    Idle(Option<f64>),
}

/// The clock, and those who wait for it.
pub struct Clock {
    state: Mutex<State>,
}

struct State {
    now: f64,
    /// By the time they are due, then in the order in which they were asked for.
    held: BTreeMap<(u64, u64), Option<Waker>>,
    count: u64,
}

impl Clock {
    pub fn new(world: World) -> Self {
        Self {
            state: Mutex::new(State {
                now: world.time_ms as f64,
                held: BTreeMap::new(),
                count: 0,
            }),
        }
    }

    pub fn now(&self) -> f64 {
        self.lock().now
    }

    /// Returns when the clock has moved on by so much, or when nothing else can happen any more.
    /// `None` waits for the latter.
    pub async fn wait(&self, after_ms: Option<u64>) {
        let place = {
            let mut state = self.lock();
            // A time is positive, and a cast of one that is not gives the nearest that is.
            let due = after_ms.map_or(u64::MAX, |after| (state.now as u64).saturating_add(after));
            state.count += 1;
            let place = (due, state.count);
            state.held.insert(place, None);
            place
        };
        poll_fn(|context| match self.lock().held.get_mut(&place) {
            Some(waker) => {
                *waker = Some(context.waker().clone());
                Poll::Pending
            }
            None => Poll::Ready(()),
        })
        .await;
    }

    /// How many answers are held back after this.
    pub fn hear(&self, moment: Moment) -> usize {
        let mut state = self.lock();
        match moment {
            Moment::Clock(now) => {
                state.now = now;
                while let Some(entry) = state.held.first_entry() {
                    if entry.key().0 as f64 > now + SLACK_MS {
                        break;
                    }
                    release(entry.remove());
                }
            }
            // At the same time as the timer is after it: that is how the moment was recorded.
            Moment::Idle(next) => {
                if let Some(entry) = state.held.first_entry()
                    && next.is_none_or(|next| (entry.key().0 as f64) < next - SLACK_MS)
                {
                    release(entry.remove());
                }
            }
        }
        state.held.len()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Every change is one step.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn release(waker: Option<Waker>) {
    if let Some(waker) = waker {
        waker.wake();
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::Context;

    use super::*;

    fn clock() -> Clock {
        Clock::new(World {
            seed: 1,
            time_ms: 1_000,
        })
    }

    #[test]
    fn an_answer_comes_after_the_timer_it_came_after() {
        let clock = clock();
        let mut late = pin!(clock.wait(Some(100)));
        let mut context = Context::from_waker(Waker::noop());
        assert!(late.as_mut().poll(&mut context).is_pending());
        assert_eq!(clock.hear(Moment::Idle(Some(1_100.004))), 1);
        assert!(late.as_mut().poll(&mut context).is_pending());
        assert_eq!(clock.hear(Moment::Clock(1_100.004)), 0);
        assert!(late.as_mut().poll(&mut context).is_ready());
    }

    #[test]
    fn a_recording_cannot_name_a_moment_that_breaks_the_clock() {
        let clock = clock();
        let mut late = pin!(clock.wait(Some(u64::MAX)));
        let mut context = Context::from_waker(Waker::noop());
        assert!(late.as_mut().poll(&mut context).is_pending());
        for now in [f64::NAN, -1.0, 1e300] {
            clock.hear(Moment::Clock(now));
        }
        assert!(late.as_mut().poll(&mut context).is_ready());
    }

    #[test]
    fn an_answer_that_no_timer_is_left_for_comes_when_nothing_else_can() {
        let clock = clock();
        let mut late = pin!(clock.wait(Some(100)));
        let mut never = pin!(clock.wait(None));
        let mut context = Context::from_waker(Waker::noop());
        assert!(late.as_mut().poll(&mut context).is_pending());
        assert!(never.as_mut().poll(&mut context).is_pending());
        // A timer that is set for later than it was comes after the answer.
        assert_eq!(clock.hear(Moment::Idle(Some(1_500.0))), 1);
        assert!(late.as_mut().poll(&mut context).is_ready());
        assert_eq!(clock.hear(Moment::Idle(Some(1_500.0))), 1);
        assert_eq!(clock.hear(Moment::Idle(None)), 0);
        assert!(never.as_mut().poll(&mut context).is_ready());
    }
}
