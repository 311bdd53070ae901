//! Counts what a script requests and logs. The worker enforces the same limits; a compromised one does
//! not, so the broker counts again.

use pml_fair_budget::FairBudget;
use pml_protocol::message::LOG_LINE_COST;
use pml_protocol::{
    ErrorKind, Failure, FailureKind, FairShareKey, Hint, Limits, Request, RunError, StreamRequest,
};

/// Bytes of arguments that wait for answers, and of answers that a worker has not read: a script
/// must not fill the broker's memory with either.
const MAX_IN_FLIGHT_BYTES: usize = 64 * 1024 * 1024;
/// The same for all runs of the process together. One client gets half of it at most.
const MAX_TOTAL_BYTES: usize = 256 * 1024 * 1024;
/// Bytes of the arguments of one request. Parsed, they can take many times that.
const MAX_ARGUMENT_BYTES: usize = 4 * 1024 * 1024;
/// Requests that wait for answers. The limit of calls is lower unless the operator raised it.
const MAX_PENDING: usize = 4096;

/// Checkpoints that a run makes or asks for. Each is written to disk.
const MAX_CHECKPOINTS: u32 = 10_000;

/// Requests for pieces of streams that a run makes. What a stream brings is bounded by its calls.
const MAX_PIECES: u32 = 10_000_000;

/// What the budgets of all runs hold, by client.
static TOTAL_BYTES: FairBudget<FairShareKey> = FairBudget::new(MAX_TOTAL_BYTES);

/// How much of its limits a run has used.
pub struct Budget {
    limits: Limits,
    /// The client of the run.
    share: FairShareKey,
    /// Whether the run may talk to a test harness or a virtual clock.
    has_harness: bool,
    calls: u32,
    /// Requests that are not calls: searches, descriptions, stores, loads.
    lookups: u32,
    checkpoints: u32,
    pieces: u32,
    log_bytes: u64,
    in_flight_bytes: usize,
    /// Bytes of answers that the worker has not read.
    unread_bytes: usize,
}

impl Budget {
    pub fn new(limits: Limits, has_harness: bool, share: FairShareKey) -> Self {
        Self {
            limits,
            share,
            has_harness,
            calls: 0,
            lookups: 0,
            checkpoints: 0,
            pieces: 0,
            log_bytes: 0,
            in_flight_bytes: 0,
            unread_bytes: 0,
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
            Request::Call { .. } | Request::Stream(StreamRequest::Open { .. }) => {
                (&mut self.calls, "calls a tool")
            }
            Request::Stream(_) => {
                self.pieces += 1;
                if self.pieces > MAX_PIECES {
                    let message =
                        format!("the script reads more than {MAX_PIECES} pieces of streams");
                    return Err(RunError::new(ErrorKind::Calls, message));
                }
                return check_pending(pending);
            }
            // A test sends every step to the harness; the number of steps has no limit.
            Request::Harness { .. } if self.has_harness => return check_pending(pending),
            Request::Harness { .. } => {
                let message =
                    "the worker sent a message for a test harness, and this run is not a test";
                return Err(RunError::new(ErrorKind::Internal, message));
            }
            Request::ApproveTask { .. } => {
                let message = "the worker sent a question that only plans ask";
                return Err(RunError::new(ErrorKind::Internal, message));
            }
            Request::Checkpoint { .. } => {
                self.checkpoints += 1;
                if self.checkpoints > MAX_CHECKPOINTS {
                    let message =
                        format!("the script makes more than {MAX_CHECKPOINTS} checkpoints");
                    return Err(RunError::new(ErrorKind::Calls, message));
                }
                return check_pending(pending);
            }
            _ => (&mut self.lookups, "searches, stores, loads and runs plans"),
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
    pub fn reserve(&mut self, request: &Request) -> Result<usize, (usize, Failure)> {
        let bytes = request.size();
        let fits = TOTAL_BYTES.fits(&self.share, bytes);
        self.in_flight_bytes += bytes;
        TOTAL_BYTES.hold(&self.share, bytes);
        let is_call = matches!(
            request,
            Request::Call { .. }
                | Request::Resource { .. }
                | Request::Stream(_)
                | Request::Workflow { .. }
        );
        let (kind, message) = if is_call && bytes > MAX_ARGUMENT_BYTES {
            let message = "the arguments of one call exceed 4 MiB; pass less, or several parts";
            (FailureKind::Arguments, message)
        } else if self.in_flight_bytes > MAX_IN_FLIGHT_BYTES {
            let message =
                "the arguments of the calls under way exceed 64 MiB; await some of them first";
            (FailureKind::Arguments, message)
        } else if !fits {
            let message = "the calls of this client's scripts hold their share of 256 MiB, at most \
                           128 MiB; await some of them first, or try again later";
            (FailureKind::Calls, message)
        } else {
            return Ok(bytes);
        };
        let mut failure = Failure::new(kind, message).with_hint(Hint::CatchTheError);
        failure.retryable = kind == FailureKind::Calls;
        Err((bytes, failure))
    }

    /// Returns the memory of a request.
    pub fn release(&mut self, bytes: usize) {
        let bytes = bytes.min(self.in_flight_bytes);
        self.in_flight_bytes -= bytes;
        TOTAL_BYTES.release(&self.share, bytes);
    }

    /// Counts the bytes of answers that wait until the worker reads them.
    pub fn set_unread(&mut self, bytes: usize) {
        if bytes != self.unread_bytes {
            TOTAL_BYTES.hold(&self.share, bytes);
            TOTAL_BYTES.release(&self.share, self.unread_bytes);
            self.unread_bytes = bytes;
        }
    }

    /// Whether the worker reads so slowly, or the runs of its client hold so much, that no further
    /// answer of `bytes` is queued for it.
    pub fn is_backed_up(&self, bytes: usize) -> bool {
        self.unread_bytes > MAX_IN_FLIGHT_BYTES || !TOTAL_BYTES.fits(&self.share, bytes)
    }
}

impl Drop for Budget {
    fn drop(&mut self) {
        TOTAL_BYTES.release(&self.share, self.in_flight_bytes + self.unread_bytes);
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
        budget_of(FairShareKey::new())
    }

    fn budget_of(share: FairShareKey) -> Budget {
        let limits = Limits {
            calls: 2,
            log_bytes: 100,
            ..Limits::default()
        };
        Budget::new(limits, false, share)
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

    fn call(bytes: usize) -> Request {
        let args = serde_json::value::RawValue::from_string(format!("\"{}\"", "x".repeat(bytes)));
        Request::call("a:b", args.unwrap())
    }

    // One test: the total is a value of the process.
    #[test]
    fn a_client_fills_its_share_of_the_memory_and_not_that_of_the_others() {
        let mut one = budget();
        assert!(one.reserve(&call(MAX_ARGUMENT_BYTES - 100)).is_ok());
        let (bytes, failure) = one.reserve(&call(MAX_ARGUMENT_BYTES)).unwrap_err();
        assert!(failure.message.contains("4 MiB"), "{failure:?}");
        one.release(bytes);
        let large = call(MAX_ARGUMENT_BYTES - 100);
        let refused = (0..64).find_map(|_| one.reserve(&large).err());
        assert!(refused.unwrap().1.message.contains("64 MiB"));

        // The other runs of a greedy client, and those of another one.
        let greedy = one.share.clone();
        let mut others: Vec<Budget> = (0..3).map(|_| budget_of(greedy.clone())).collect();
        for other in &mut others {
            other.set_unread(MAX_IN_FLIGHT_BYTES / 2);
        }
        let mut last = budget_of(greedy);
        let refused = (0..8).find_map(|_| last.reserve(&large).err()).unwrap().1;
        assert_eq!(
            (refused.kind, refused.retryable),
            (FailureKind::Calls, true)
        );
        assert!(last.is_backed_up(1 << 20));
        let mut modest = budget();
        assert!((0..8).all(|_| modest.reserve(&large).is_ok()));
        assert!(!modest.is_backed_up(1 << 20));
        drop((one, others, modest));
        assert!(last.reserve(&large).is_ok());
        assert!(!last.is_backed_up(1 << 20));
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
