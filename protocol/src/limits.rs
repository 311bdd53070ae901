//! How much a run may use.
//!
//! The contract of every field that names an error kind: the run ends within half a second of
//! crossing the limit, with that kind, and the next run is not affected. A caller can lower what the
//! operator allows ([`Limits::lowered`]) and never raise it.

use serde::{Deserialize, Serialize};

const MIB: u64 = 1024 * 1024;

/// The limits of one run.
///
/// ```
/// use pml_protocol::{Limits, RequestedLimits};
///
/// let asked = RequestedLimits { wall_ms: Some(500), ..RequestedLimits::default() };
/// assert_eq!(Limits::default().lowered(&asked).wall_ms, 500);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Wall-clock time, from the moment the worker has the script: `timeout`.
    pub wall_ms: u64,
    /// CPU time of the whole worker, compilation and garbage collection included: `cpu`.
    pub cpu_ms: u64,
    /// V8's heap: `memory`.
    pub heap_bytes: u64,
    /// Array buffers, which V8 does not count as heap: `memory`.
    pub buffer_bytes: u64,
    /// Tool calls and searches, each: `calls`.
    pub calls: u32,
    /// Calls in flight at once. Further calls queue; the run does not end. This limit and the next
    /// one are kept by layers of the host, not by the run loop.
    pub concurrent_calls: u32,
    /// Time of one tool call, from its dispatch. The call fails and the run goes on. Where a server
    /// has a limit of its own, the lower one applies.
    pub tool_ms: u64,
    /// Characters of the result as JSON. What happens to a larger one is decided where the reply is
    /// made: `output`, or a handle.
    pub output_chars: u64,
    /// Bytes of everything logged: `output`.
    pub log_bytes: u64,
    /// Bytes of the script itself: refused before it runs.
    pub source_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            wall_ms: 30_000,
            cpu_ms: 5_000,
            heap_bytes: 128 * MIB,
            buffer_bytes: 64 * MIB,
            calls: 100,
            concurrent_calls: 64,
            tool_ms: 30_000,
            output_chars: 24_000,
            log_bytes: MIB,
            source_bytes: MIB,
        }
    }
}

/// Limits that a caller asks for; `None` is the operator's limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RequestedLimits {
    /// See [`Limits::wall_ms`].
    pub wall_ms: Option<u64>,
    /// See [`Limits::cpu_ms`].
    pub cpu_ms: Option<u64>,
    /// See [`Limits::heap_bytes`].
    pub heap_bytes: Option<u64>,
    /// See [`Limits::calls`].
    pub calls: Option<u32>,
    /// See [`Limits::output_chars`].
    pub output_chars: Option<u64>,
}

impl Limits {
    /// The smallest heap in which V8 starts reliably.
    pub const MIN_HEAP_BYTES: u64 = 8 * MIB;

    /// These limits, each lowered to the requested one where that is lower.
    #[must_use]
    pub fn lowered(self, requested: &RequestedLimits) -> Self {
        fn lower<T: Ord + Copy>(limit: T, asked: Option<T>) -> T {
            asked.map_or(limit, |asked| asked.min(limit))
        }
        Self {
            wall_ms: lower(self.wall_ms, requested.wall_ms),
            cpu_ms: lower(self.cpu_ms, requested.cpu_ms),
            heap_bytes: lower(self.heap_bytes, requested.heap_bytes).max(Self::MIN_HEAP_BYTES),
            calls: lower(self.calls, requested.calls),
            output_chars: lower(self.output_chars, requested.output_chars),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_requested_limit_lowers_and_never_raises() {
        let operator = Limits::default();
        let requested = RequestedLimits {
            wall_ms: Some(500),
            cpu_ms: Some(60_000),
            ..RequestedLimits::default()
        };
        let limits = operator.lowered(&requested);
        assert_eq!(limits.wall_ms, 500);
        assert_eq!(limits.cpu_ms, operator.cpu_ms);
        assert_eq!(limits.calls, operator.calls);
    }

    #[test]
    fn a_heap_too_small_for_v8_becomes_the_smallest_that_works() {
        let requested = RequestedLimits {
            heap_bytes: Some(1),
            ..RequestedLimits::default()
        };
        let limits = Limits::default().lowered(&requested);
        assert_eq!(limits.heap_bytes, Limits::MIN_HEAP_BYTES);
    }
}
