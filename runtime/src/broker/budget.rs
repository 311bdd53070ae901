//! Counts what a script requests and logs. The worker enforces the same limits; a compromised one does
//! not, so the broker counts again.

use pml_protocol::message::LOG_LINE_COST;
use pml_protocol::{ErrorKind, Failure, FailureKind, Hint, Limits, Request, RunError};

/// Bytes of arguments that wait for answers, and of answers that a worker has not read: a script
/// must not fill the broker's memory with either.
const MAX_IN_FLIGHT_BYTES: usize = 64 * 1024 * 1024;
/// Requests that wait for answers. The limit of calls is lower unless the operator raised it.
const MAX_PENDING: usize = 4096;

/// How much of its limits a run has used.
pub struct Budget {
    limits: Limits,
    /// Whether the run may talk to a test harness or a virtual clock.
    has_harness: bool,
    calls: u32,
    /// Requests that are not calls: searches, descriptions, stores, loads.
    lookups: u32,
    log_bytes: u64,
    in_flight_bytes: usize,
}

impl Budget {
    pub fn new(limits: Limits, has_harness: bool) -> Self {
        Self {
            limits,
            has_harness,
            calls: 0,
            lookups: 0,
            log_bytes: 0,
            in_flight_bytes: 0,
        }
    }

    /// Counts a line of the log. An error ends the run.
    pub fn log(&mut self, text: &str) -> Result<(), RunError> {
        self.log_bytes += text.len() as u64 + LOG_LINE_COST;
        let limit = self.limits.log_bytes;
        if self.log_bytes <= limit {
            return Ok(());
        }
        let message = format!("the script logged more than {limit} bytes");
        Err(RunError::new(ErrorKind::Output, message).with_hint(Hint::LogLess))
    }

    /// Counts a request, where `pending` others wait for answers. An error ends the run.
    pub fn request(&mut self, request: &Request, pending: usize) -> Result<(), RunError> {
        let limit = self.limits.calls;
        let (made, what) = match request {
            Request::Call { .. } => (&mut self.calls, "calls a tool"),
            // A test sends every step to the harness; the number of steps has no limit.
            Request::Harness { .. } if self.has_harness => return check_pending(pending),
            Request::Harness { .. } => {
                let message =
                    "the worker sent a message for a test harness, and this run is not a test";
                return Err(RunError::new(ErrorKind::Internal, message));
            }
            _ => (&mut self.lookups, "searches, stores and loads"),
        };
        if *made >= limit {
            let message = format!("the script {what} more often than its limit of {limit}");
            return Err(RunError::new(ErrorKind::Calls, message));
        }
        *made += 1;
        check_pending(pending)
    }

    /// Reserves memory for a request until [`Budget::release`]. An error fails the request, and the
    /// run goes on; the bytes are reserved all the same until the failure is delivered.
    pub fn reserve(&mut self, bytes: usize) -> Result<(), Failure> {
        self.in_flight_bytes += bytes;
        if self.in_flight_bytes <= MAX_IN_FLIGHT_BYTES {
            return Ok(());
        }
        let message =
            "the arguments of the calls under way exceed 64 MiB; await some of them first";
        Err(Failure::new(FailureKind::Arguments, message).with_hint(Hint::CatchTheError))
    }

    /// Returns the memory of a request.
    pub fn release(&mut self, bytes: usize) {
        self.in_flight_bytes = self.in_flight_bytes.saturating_sub(bytes);
    }

    /// Whether the worker reads so slowly that no further answer is queued for it.
    pub fn is_backed_up(unsent_bytes: usize) -> bool {
        unsent_bytes > MAX_IN_FLIGHT_BYTES
    }
}

fn check_pending(pending: usize) -> Result<(), RunError> {
    if pending < MAX_PENDING {
        return Ok(());
    }
    let message = format!("the script has more than {MAX_PENDING} requests under way");
    Err(RunError::new(ErrorKind::Calls, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget() -> Budget {
        let limits = Limits {
            calls: 2,
            log_bytes: 100,
            ..Limits::default()
        };
        Budget::new(limits, false)
    }

    fn describe() -> Request {
        Request::Describe {
            tool: "a:b".to_owned(),
        }
    }

    #[test]
    fn calls_and_lookups_have_the_same_limit_each() {
        let mut budget = budget();
        assert!(budget.request(&describe(), 0).is_ok());
        assert!(budget.request(&describe(), 0).is_ok());
        let error = budget.request(&describe(), 0).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Calls);
    }

    #[test]
    fn empty_log_lines_are_not_free() {
        let mut budget = budget();
        let logged = (0..10).find_map(|_| budget.log("").err());
        assert_eq!(logged.unwrap().kind, ErrorKind::Output);
    }

    #[test]
    fn memory_is_free_again_when_a_request_is_answered() {
        let mut budget = budget();
        assert!(budget.reserve(MAX_IN_FLIGHT_BYTES).is_ok());
        assert!(budget.reserve(1).is_err());
        budget.release(1);
        budget.release(MAX_IN_FLIGHT_BYTES);
        assert!(budget.reserve(1).is_ok());
    }

    #[test]
    fn a_harness_message_of_a_run_without_a_harness_is_an_internal_error() {
        let message = serde_json::value::RawValue::from_string("1".to_owned()).unwrap();
        let error = budget()
            .request(&Request::Harness { message }, 0)
            .unwrap_err();
        assert_eq!(error.kind, ErrorKind::Internal);
    }
}
