//! The answers of the broker, given to the script in the order in which they arrive.
//!
//! deno_core polls the future of an op once more after the op was submitted. An answer that has arrived by
//! then would overtake those that arrived before it and belong to ops which were submitted later. The
//! broker writes down the order in which it sends answers, and a resumed run, whose answers are there
//! at once, must see the same order as the first execution.

use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use pml_ops::BrokerGone;
use pml_protocol::ToolResult;

/// The requests of a script that have no answer, and the answers that it has not taken.
#[derive(Default)]
pub struct Answers(RefCell<State>);

#[derive(Default)]
struct State {
    unanswered: HashMap<u32, Option<Waker>>,
    arrived: VecDeque<Arrived>,
}

struct Arrived {
    id: u32,
    answer: ToolResult,
    waker: Option<Waker>,
}

impl Answers {
    /// The answer to the request with this id. Must be called before the answer can arrive.
    pub fn expect(self: &Rc<Self>, id: u32) -> ExpectedAnswer {
        self.0.borrow_mut().unanswered.insert(id, None);
        ExpectedAnswer {
            answers: self.clone(),
            id,
        }
    }

    /// An answer has arrived. It is dropped if the script no longer waits for it.
    pub fn arrive(&self, id: u32, answer: ToolResult) {
        let mut state = self.0.borrow_mut();
        let Some(waker) = state.unanswered.remove(&id) else {
            return;
        };
        state.arrived.push_back(Arrived { id, answer, waker });
        if state.arrived.len() == 1 {
            state.wake_first();
        }
    }

    /// Whether a request is unanswered.
    pub fn has_unanswered(&self) -> bool {
        !self.0.borrow().unanswered.is_empty()
    }
}

impl State {
    fn wake_first(&mut self) {
        if let Some(waker) = self
            .arrived
            .front_mut()
            .and_then(|first| first.waker.take())
        {
            waker.wake();
        }
    }
}

/// Waits for its answer, and for all that arrived before it to be taken.
pub struct ExpectedAnswer {
    answers: Rc<Answers>,
    id: u32,
}

impl Future for ExpectedAnswer {
    type Output = Result<ToolResult, BrokerGone>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut state = self.answers.0.borrow_mut();
        if let Some(first) = state.arrived.pop_front_if(|first| first.id == self.id) {
            state.wake_first();
            return Poll::Ready(Ok(first.answer));
        }
        let waker = Some(context.waker().clone());
        if let Some(waiting) = state.unanswered.get_mut(&self.id) {
            *waiting = waker;
            return Poll::Pending;
        }
        match state
            .arrived
            .iter_mut()
            .find(|arrived| arrived.id == self.id)
        {
            Some(arrived) => {
                arrived.waker = waker;
                Poll::Pending
            }
            None => Poll::Ready(Err(BrokerGone)),
        }
    }
}

impl Drop for ExpectedAnswer {
    fn drop(&mut self) {
        let mut state = self.answers.0.borrow_mut();
        state.unanswered.remove(&self.id);
        let id = self.id;
        state.arrived.retain(|arrived| arrived.id != id);
        state.wake_first();
    }
}

#[cfg(test)]
mod tests {
    use pml_protocol::to_result;

    use super::*;

    fn poll(expected: &mut ExpectedAnswer) -> Option<String> {
        let mut context = Context::from_waker(Waker::noop());
        match Pin::new(expected).poll(&mut context) {
            Poll::Ready(answer) => Some(answer.ok()?.ok()?.get().to_owned()),
            Poll::Pending => None,
        }
    }

    #[test]
    fn answers_are_taken_in_the_order_in_which_they_arrived() {
        let answers = Rc::new(Answers::default());
        let (mut first, mut second) = (answers.expect(1), answers.expect(2));
        answers.arrive(2, to_result(&"b"));
        answers.arrive(1, to_result(&"a"));
        assert!(!answers.has_unanswered());
        assert_eq!(poll(&mut first), None, "it came later");
        assert_eq!(poll(&mut second).as_deref(), Some("\"b\""));
        assert_eq!(poll(&mut first).as_deref(), Some("\"a\""));
    }

    #[test]
    fn an_answer_that_is_not_taken_holds_up_no_other() {
        let answers = Rc::new(Answers::default());
        let (first, mut second) = (answers.expect(1), answers.expect(2));
        answers.arrive(1, to_result(&"a"));
        answers.arrive(2, to_result(&"b"));
        drop(first);
        assert_eq!(poll(&mut second).as_deref(), Some("\"b\""));
        answers.arrive(7, to_result(&"nothing asked for this"));
        assert!(!answers.has_unanswered());
    }
}
