//! The host's view of a script's virtual clock, as `js/42_timers.js` reports it, and the answers that
//! wait for it.
//!
//! While a run is recorded, a timer may fire before an answer comes, and a script that gives a tool
//! 100 ms takes another branch then. In a replay every answer is there at once. For the script to take
//! the same branch, an answer that came after a timer is held back until that timer has fired.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use pml_protocol::{Failure, FailureKind, HostFuture, ToolResult, VirtualClock, to_result};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::timer_gate::TimerGate;

/// Recorded times are whole milliseconds. Reading the clock moves it by less than this.
const SLACK_MS: f64 = 0.5;

/// A message of a virtual clock, in milliseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ClockMoment {
    /// A timer has moved the clock to this time.
    Clock(f64),
    /// The script waits for an answer or for its next timer, which fires at this time, if there is
    /// one.
    Idle(Option<f64>),
    /// A timer is due at this time. It fires when the host has replied; see `TimerGate`.
    Due(f64),
}

/// A virtual clock as the host knows it, and the answers that wait for it.
pub struct ReplayClock {
    state: Mutex<State>,
}

struct State {
    now: f64,
    /// By due time, then in the order of the requests.
    held: BTreeMap<(u64, u64), Option<Waker>>,
    count: u64,
}

impl ReplayClock {
    pub fn new(start: VirtualClock) -> Self {
        Self {
            state: Mutex::new(State {
                now: start.time_ms as f64,
                held: BTreeMap::new(),
                count: 0,
            }),
        }
    }

    pub fn now(&self) -> f64 {
        self.lock().now
    }

    /// Returns when the clock has moved by this much, or when nothing else can happen. `None` waits
    /// for the latter.
    pub async fn wait(&self, after_ms: Option<u64>) {
        let key = {
            let mut state = self.lock();
            // The cast saturates: a negative time becomes zero.
            let due = after_ms.map_or(u64::MAX, |after| (state.now as u64).saturating_add(after));
            state.count += 1;
            let key = (due, state.count);
            state.held.insert(key, None);
            key
        };
        poll_fn(|context| match self.lock().held.get_mut(&key) {
            Some(waker) => {
                *waker = Some(context.waker().clone());
                Poll::Pending
            }
            None => Poll::Ready(()),
        })
        .await;
    }

    /// Moves the clock, and returns how many answers are still held back.
    pub fn advance(&self, moment: ClockMoment) -> usize {
        let mut state = self.lock();
        match moment {
            ClockMoment::Clock(now) => {
                state.now = now;
                while let Some(entry) = state.held.first_entry() {
                    if entry.key().0 as f64 > now + SLACK_MS {
                        break;
                    }
                    release(entry.remove());
                }
            }
            // An answer due at the time of a timer comes after it: that is how it was recorded.
            ClockMoment::Idle(next) => {
                if let Some(entry) = state.held.first_entry()
                    && next.is_none_or(|next| (entry.key().0 as f64) < next - SLACK_MS)
                {
                    release(entry.remove());
                }
            }
            ClockMoment::Due(_) => {}
        }
        state.held.len()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Every change is one step.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Answers a message of a virtual clock with the number of answers that are held back.
///
/// # Errors
///
/// [`FailureKind::Denied`] for the message of a test, which this run is not.
pub fn answer_clock_message(
    message: &RawValue,
    advance: impl FnOnce(ClockMoment) -> usize,
) -> ToolResult {
    to_result(&advance(clock_moment(message)?))
}

/// Answers a message of a virtual clock whose timers take real time: answers pass `gate`. A timer that
/// is due fires when `before_timer` has ended and the gate is closed.
pub fn answer_live_clock<'a>(
    message: &RawValue,
    gate: &'a TimerGate,
    before_timer: impl Future<Output = ()> + Send + 'a,
    advance: impl FnOnce(ClockMoment) -> usize,
) -> HostFuture<'a, ToolResult> {
    let moment = match clock_moment(message) {
        Ok(moment) => moment,
        Err(failure) => return Box::pin(std::future::ready(Err(failure))),
    };
    let held = to_result(&advance(moment));
    match moment {
        ClockMoment::Due(_) => {
            return Box::pin(async move {
                before_timer.await;
                gate.close().await;
                held
            });
        }
        // The time has been noted: answers that pass now came after the timer.
        ClockMoment::Clock(_) => gate.open(),
        ClockMoment::Idle(_) => {}
    }
    Box::pin(std::future::ready(held))
}

fn clock_moment(message: &RawValue) -> Result<ClockMoment, Failure> {
    serde_json::from_str(message.get())
        .map_err(|_| Failure::new(FailureKind::Denied, "this run is not a test"))
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

    fn clock() -> ReplayClock {
        ReplayClock::new(VirtualClock {
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
        assert_eq!(clock.advance(ClockMoment::Idle(Some(1_100.004))), 1);
        assert!(late.as_mut().poll(&mut context).is_pending());
        assert_eq!(clock.advance(ClockMoment::Clock(1_100.004)), 0);
        assert!(late.as_mut().poll(&mut context).is_ready());
    }

    #[test]
    fn no_recorded_time_breaks_the_clock() {
        let clock = clock();
        let mut late = pin!(clock.wait(Some(u64::MAX)));
        let mut context = Context::from_waker(Waker::noop());
        assert!(late.as_mut().poll(&mut context).is_pending());
        for now in [f64::NAN, -1.0, 1e300] {
            clock.advance(ClockMoment::Clock(now));
        }
        assert!(late.as_mut().poll(&mut context).is_ready());
    }

    #[test]
    fn an_answer_without_a_timer_left_comes_when_the_script_is_idle() {
        let clock = clock();
        let mut late = pin!(clock.wait(Some(100)));
        let mut never = pin!(clock.wait(None));
        let mut context = Context::from_waker(Waker::noop());
        assert!(late.as_mut().poll(&mut context).is_pending());
        assert!(never.as_mut().poll(&mut context).is_pending());
        // A timer that is set for later than it was comes after the answer.
        assert_eq!(clock.advance(ClockMoment::Idle(Some(1_500.0))), 1);
        assert!(late.as_mut().poll(&mut context).is_ready());
        assert_eq!(clock.advance(ClockMoment::Idle(Some(1_500.0))), 1);
        assert_eq!(clock.advance(ClockMoment::Idle(None)), 0);
        assert!(never.as_mut().poll(&mut context).is_ready());
    }
}
