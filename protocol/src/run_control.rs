//! How a host ends or suspends the run that its requests belong to.

use std::sync::Arc;

use tokio::sync::watch;

use crate::outcome::RunError;

/// Ends a run from within its request pipeline. Cheap to clone; clones are the same control.
#[derive(Debug, Clone)]
pub struct RunControl {
    state: Arc<watch::Sender<ControlState>>,
}

/// What the pipeline wants of a run.
#[derive(Debug, Default)]
pub struct ControlState {
    end: Option<RunError>,
    suspended: Vec<(u64, RunError)>,
    count: u64,
}

impl Default for RunControl {
    fn default() -> Self {
        Self {
            state: Arc::new(watch::Sender::new(ControlState::default())),
        }
    }
}

impl RunControl {
    /// Ends the run with this error. The first one stands.
    pub fn end(&self, error: RunError) {
        self.state.send_if_modified(|state| {
            let is_first = state.end.is_none();
            state.end.get_or_insert(error);
            is_first
        });
    }

    /// A request waits for something that this process cannot wait for: a person who answers tomorrow,
    /// or an outcome that someone has to look up. When all open requests of a run do, the run ends
    /// with the error of one of them, and is resumed when there is an answer.
    #[must_use = "the request is suspended until the guard is dropped"]
    pub fn suspend(&self, error: RunError) -> SuspendGuard {
        let mut id = 0;
        self.state.send_modify(|state| {
            state.count += 1;
            id = state.count;
            state.suspended.push((id, error));
        });
        SuspendGuard {
            control: self.clone(),
            id,
        }
    }

    /// The state, as it changes.
    pub fn watch(&self) -> watch::Receiver<ControlState> {
        self.state.subscribe()
    }
}

impl ControlState {
    /// The error that the run is to end with.
    pub fn end(&self) -> Option<&RunError> {
        self.end.as_ref()
    }

    /// How many requests are suspended.
    pub fn suspended(&self) -> usize {
        self.suspended.len()
    }

    /// The error of the request that was suspended first.
    pub fn suspension(&self) -> Option<&RunError> {
        self.suspended.first().map(|(_, error)| error)
    }
}

/// A suspended request. It goes on when this is dropped.
#[derive(Debug)]
pub struct SuspendGuard {
    control: RunControl,
    id: u64,
}

impl Drop for SuspendGuard {
    fn drop(&mut self) {
        let id = self.id;
        self.control
            .state
            .send_modify(|state| state.suspended.retain(|(known, _)| *known != id));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::ErrorKind;

    #[test]
    fn the_first_suspension_names_the_reason_and_a_dropped_one_counts_no_more() {
        let control = RunControl::default();
        let state = control.watch();
        let first = control.suspend(RunError::new(ErrorKind::Unknown, "first"));
        let second = control.suspend(RunError::new(ErrorKind::Waiting, "second"));
        assert_eq!(state.borrow().suspended(), 2);
        drop(first);
        assert_eq!(state.borrow().suspension().unwrap().message, "second");
        drop(second);
        assert!(state.borrow().suspension().is_none());
    }

    #[test]
    fn the_first_end_stands() {
        let control = RunControl::default();
        control.end(RunError::new(ErrorKind::Cancelled, "first"));
        control.end(RunError::new(ErrorKind::Internal, "second"));
        assert_eq!(control.watch().borrow().end().unwrap().message, "first");
    }
}
