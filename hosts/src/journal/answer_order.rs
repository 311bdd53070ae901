//! The order in which a resumed script gets its answers.
//!
//! A script is deterministic if it gets the same answers and timers in the same order. An answer of the
//! journal waits until all answers before it were delivered, and until the virtual clock has reached
//! the time at which it was delivered first. An answer that is new waits until those of the journal
//! are delivered, and until the script has made every request again that was under way when the
//! earlier execution ended: each of them followed from what came before it. A timer that had not fired
//! by then waits for the same.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker, ready};
use std::time::Duration;

use crate::replay_clock::ClockMoment;
use crate::timer_gate::{PassingAnswer, TimerGate};

/// Recorded times are whole milliseconds. Reading the clock moves it by less than this.
const SLACK_MS: f64 = 0.5;

/// How long an answer waits if nothing happens at all: a script that does not do what it did the first
/// time must not hang. Longer than a busy machine leaves a worker without CPU time, because an answer that
/// is released too early lets the script go another way.
const STALL: Duration = Duration::from_secs(15);

/// The order of answers.
pub struct AnswerOrder {
    state: Mutex<State>,
    gate: TimerGate,
}

struct State {
    /// The virtual time, as the script reports it.
    now: f64,
    /// The place of the answer that is delivered next, from 1.
    next: u32,
    /// The last place in the journal; zero in a first execution.
    last: u32,
    /// Requests of the journal that no execution was given an answer to, and that are not made again yet.
    unanswered: usize,
    /// Answers of the journal that wait, by place: their time, and the waiting future.
    held: BTreeMap<u32, (f64, Option<Waker>)>,
    /// Requests that the journal has no answer to, in flight or answered.
    live: usize,
    live_wakers: Vec<Waker>,
}

impl AnswerOrder {
    /// The order of a run whose journal has answers up to place `last`, and `unanswered` other requests.
    pub fn new(start_ms: u64, last: u32, unanswered: usize) -> Self {
        Self {
            state: Mutex::new(State {
                now: start_ms as f64,
                next: 1,
                last,
                unanswered,
                held: BTreeMap::new(),
                live: 0,
                live_wakers: Vec::new(),
            }),
            gate: TimerGate::default(),
        }
    }

    /// The virtual time in whole milliseconds.
    pub fn now_ms(&self) -> u64 {
        // The cast saturates: a negative time becomes zero.
        self.lock().now as u64
    }

    /// Whether answers of the journal are still to be delivered.
    pub fn is_replaying(&self) -> bool {
        self.lock().is_replaying()
    }

    /// Counts a request that the journal has no answer to, until the guard is dropped.
    pub fn begin_live(&self) -> LiveGuard<'_> {
        self.lock().live += 1;
        LiveGuard(self)
    }

    /// What new answers pass on their way to the script.
    pub fn gate(&self) -> &TimerGate {
        &self.gate
    }

    /// The script has made `count` of the unanswered requests of the journal again, or skips them.
    pub fn asked_again(&self, count: usize) {
        let mut state = self.lock();
        state.unanswered = state.unanswered.saturating_sub(count);
        state.wake_live();
    }

    /// Returns when the script has done all that the journal has: a timer that is due only now had not
    /// fired before.
    pub async fn replayed(&self) {
        self.or_stall(poll_fn(|context| {
            let mut state = self.lock();
            if state.is_replaying() {
                state.live_wakers.push(context.waker().clone());
                return Poll::Pending;
            }
            Poll::Ready(())
        }))
        .await;
    }

    /// Waits for the turn of a new answer, and returns its place. The answer goes to the script when the
    /// guard is dropped.
    pub async fn live_turn(&self) -> (u32, PassingAnswer<'_>) {
        self.or_stall(poll_fn(|context| {
            let mut state = self.lock();
            if state.is_replaying() {
                state.live_wakers.push(context.waker().clone());
                return Poll::Pending;
            }
            let passing = ready!(self.gate.poll_pass(context));
            let place = state.next;
            state.next += 1;
            Poll::Ready((place, passing))
        }))
        .await
    }

    /// Waits for the turn of an answer of the journal.
    pub async fn journal_turn(&self, place: u32, clock_ms: u64) {
        self.or_stall(poll_fn(|context| {
            let mut state = self.lock();
            let time = clock_ms as f64;
            if place > state.next || (place == state.next && time > state.now + SLACK_MS) {
                let waker = Some(context.waker().clone());
                state.held.insert(place, (time, waker));
                return Poll::Pending;
            }
            state.held.remove(&place);
            state.deliver(place);
            Poll::Ready(())
        }))
        .await;
    }

    /// The place of the last answer that was delivered.
    pub fn delivered(&self) -> u32 {
        self.lock().next - 1
    }

    /// The answers up to this place are not asked for: the script continues behind a checkpoint.
    pub fn skip_to(&self, place: u32) {
        self.lock().deliver(place);
    }

    /// Notes a message of the script's clock, and returns how many requests in flight have an answer
    /// that waits for the clock or for another answer.
    pub fn advance(&self, moment: ClockMoment) -> usize {
        let mut state = self.lock();
        match moment {
            ClockMoment::Clock(now) => {
                state.now = now;
                state.wake_next();
            }
            ClockMoment::Idle(timer) => state.idle(timer),
            ClockMoment::Due(_) => {}
        }
        state.held_requests()
    }

    /// Runs a wait, and breaks it up if the script makes no progress.
    async fn or_stall<T>(&self, wait: impl Future<Output = T>) -> T {
        let mut wait = std::pin::pin!(wait);
        loop {
            let before = self.lock().next;
            match tokio::time::timeout(STALL, &mut wait).await {
                Ok(done) => return done,
                Err(_elapsed) => {
                    let mut state = self.lock();
                    if state.next == before {
                        state.release_first();
                    }
                }
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Every change is one step.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn is_replaying(&self) -> bool {
        self.next <= self.last || self.unanswered > 0
    }

    fn deliver(&mut self, place: u32) {
        self.next = self.next.max(place.saturating_add(1));
        self.wake_next();
        self.wake_live();
    }

    /// Wakes what waits for the end of the journal.
    fn wake_live(&mut self) {
        if !self.is_replaying() {
            self.live_wakers.drain(..).for_each(Waker::wake);
        }
    }

    /// Wakes the answers whose turn has come.
    fn wake_next(&mut self) {
        for (place, (time, waker)) in &mut self.held {
            if *place > self.next || (*place == self.next && *time > self.now + SLACK_MS) {
                break;
            }
            if let Some(waker) = waker.take() {
                waker.wake();
            }
        }
    }

    /// The script waits for an answer or for its next timer. An answer that is due before the timer is
    /// delivered; without a timer, nothing else can happen.
    fn idle(&mut self, timer: Option<f64>) {
        let Some((place, (time, _))) = self.held.first_key_value() else {
            if timer.is_none() && self.is_replaying() && self.live > 0 {
                self.release_first();
            }
            return;
        };
        let is_turn = *place <= self.next;
        if timer.is_none() || (is_turn && timer.is_some_and(|timer| *time < timer - SLACK_MS)) {
            self.release_first();
        }
    }

    /// Delivers the first answer that waits, whatever it waits for.
    fn release_first(&mut self) {
        match self.held.first_key_value() {
            Some((place, (time, _))) => {
                self.next = self.next.max(*place);
                self.now = self.now.max(*time);
                self.wake_next();
            }
            None => {
                self.unanswered = 0;
                self.deliver(self.last);
            }
        }
    }

    fn held_requests(&self) -> usize {
        // An answer whose waker was taken is on its way.
        let held = self.held.values().filter(|(_, waker)| waker.is_some());
        match self.is_replaying() {
            true => held.count() + self.live,
            false => held.count(),
        }
    }
}

/// A request that the journal has no answer to.
pub struct LiveGuard<'a>(&'a AnswerOrder);

impl Drop for LiveGuard<'_> {
    fn drop(&mut self) {
        self.0.lock().live -= 1;
    }
}

#[cfg(test)]
mod tests {
    use std::pin::{Pin, pin};
    use std::task::Context;

    use super::*;

    fn poll<T>(future: Pin<&mut impl Future<Output = T>>) -> Poll<T> {
        future.poll(&mut Context::from_waker(Waker::noop()))
    }

    fn place(turn: Poll<(u32, PassingAnswer<'_>)>) -> Option<u32> {
        match turn {
            Poll::Ready((place, _passing)) => Some(place),
            Poll::Pending => None,
        }
    }

    #[tokio::test]
    async fn answers_come_in_the_order_of_the_journal_and_new_ones_after_them() {
        let order = AnswerOrder::new(1_000, 2, 0);
        let mut second = pin!(order.journal_turn(2, 1_000));
        let mut new = pin!(order.live_turn());
        assert!(poll(second.as_mut()).is_pending());
        assert!(poll(new.as_mut()).is_pending());
        assert!(poll(pin!(order.journal_turn(1, 1_000))).is_ready());
        assert!(poll(new.as_mut()).is_pending());
        assert!(poll(second.as_mut()).is_ready());
        assert_eq!(place(poll(new.as_mut())), Some(3));
    }

    #[tokio::test]
    async fn new_answers_and_timers_wait_for_the_requests_that_were_under_way() {
        let order = AnswerOrder::new(1_000, 1, 1);
        let mut new = pin!(order.live_turn());
        let mut timer = pin!(order.replayed());
        assert!(poll(pin!(order.journal_turn(1, 1_000))).is_ready());
        assert!(poll(new.as_mut()).is_pending());
        assert!(poll(timer.as_mut()).is_pending());
        order.asked_again(1);
        assert_eq!(place(poll(new.as_mut())), Some(2));
        assert!(poll(timer.as_mut()).is_ready());
    }

    #[tokio::test]
    async fn an_answer_waits_for_the_timers_before_it() {
        let order = AnswerOrder::new(1_000, 1, 0);
        let mut late = pin!(order.journal_turn(1, 1_100));
        assert!(poll(late.as_mut()).is_pending());
        assert_eq!(order.advance(ClockMoment::Idle(Some(1_050.0))), 1);
        assert!(poll(late.as_mut()).is_pending());
        order.advance(ClockMoment::Clock(1_100.002));
        assert!(poll(late.as_mut()).is_ready());
    }

    #[tokio::test]
    async fn a_script_that_asks_for_something_else_is_not_stuck() {
        let order = AnswerOrder::new(1_000, 9, 1);
        let mut third = pin!(order.journal_turn(3, 1_000));
        assert!(poll(third.as_mut()).is_pending());
        order.advance(ClockMoment::Idle(None));
        assert!(poll(third.as_mut()).is_ready());
        let _live = order.begin_live();
        let mut new = pin!(order.live_turn());
        assert!(poll(new.as_mut()).is_pending());
        order.advance(ClockMoment::Idle(None));
        assert!(poll(new.as_mut()).is_ready());
    }

    #[tokio::test]
    async fn answers_before_a_checkpoint_are_skipped() {
        let order = AnswerOrder::new(1_000, 5, 0);
        order.skip_to(4);
        assert!(poll(pin!(order.journal_turn(5, 1_000))).is_ready());
        assert_eq!(place(poll(pin!(order.live_turn()))), Some(6));
    }
}
