//! Keeps the order of answers and timers the same for the host and for the script.
//!
//! An answer takes a moment from the host to the script. A timer that fires in that moment comes before
//! the answer in the script, and after it in what the host writes down; a replay would then take another
//! branch. So a script announces a timer that is due while requests are in flight (`Due`). The host
//! closes the gate: the answers that it has written down are on their way, and all others wait. The timer
//! fires when the host has replied, and the message that it has fired (`Clock`) opens the gate.

use std::future::poll_fn;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// Lets answers pass while no timer is about to fire.
#[derive(Debug, Default)]
pub struct TimerGate {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    is_closed: bool,
    /// Answers that have passed the gate and are not yet on their way to the script.
    passing: usize,
    wakers: Vec<Waker>,
}

impl TimerGate {
    /// Passes the gate with an answer, or registers the task to be woken when the gate opens.
    pub fn poll_pass(&self, context: &Context<'_>) -> Poll<PassingAnswer<'_>> {
        let mut state = self.lock();
        if state.is_closed {
            state.wakers.push(context.waker().clone());
            return Poll::Pending;
        }
        state.passing += 1;
        Poll::Ready(PassingAnswer(self))
    }

    /// Waits until the gate is open, and passes it with an answer.
    pub async fn pass(&self) -> PassingAnswer<'_> {
        poll_fn(|context| self.poll_pass(context)).await
    }

    /// Closes the gate at once, and returns when all answers that have passed it are on their way.
    pub fn close(&self) -> impl Future<Output = ()> + Send + '_ {
        self.lock().is_closed = true;
        poll_fn(|context| {
            let mut state = self.lock();
            if state.passing == 0 {
                return Poll::Ready(());
            }
            state.wakers.push(context.waker().clone());
            Poll::Pending
        })
    }

    /// Opens the gate.
    pub fn open(&self) {
        let mut state = self.lock();
        if state.is_closed {
            state.is_closed = false;
            state.wakers.drain(..).for_each(Waker::wake);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Every change is one step.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An answer that has passed the gate. It is dropped in the same step in which the answer goes to the
/// script.
#[derive(Debug)]
pub struct PassingAnswer<'a>(&'a TimerGate);

impl Drop for PassingAnswer<'_> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.passing -= 1;
        if state.passing == 0 {
            state.wakers.drain(..).for_each(Waker::wake);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use super::*;

    #[test]
    fn a_timer_waits_for_the_answers_before_it_and_the_others_wait_for_the_timer() {
        let gate = TimerGate::default();
        let mut context = Context::from_waker(Waker::noop());
        let Poll::Ready(before) = gate.poll_pass(&context) else {
            panic!("the gate is open");
        };
        let mut closed = pin!(gate.close());
        assert!(closed.as_mut().poll(&mut context).is_pending());
        assert!(gate.poll_pass(&context).is_pending());
        drop(before);
        assert!(closed.as_mut().poll(&mut context).is_ready());
        assert!(gate.poll_pass(&context).is_pending());
        gate.open();
        assert!(gate.poll_pass(&context).is_ready());
    }
}
