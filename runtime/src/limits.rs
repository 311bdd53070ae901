//! How much a run may use.
//!
//! The contract, for every field: the run ends within half a second of crossing it, with the
//! kind named here, and the next run is not affected. Whoever asks for a run can lower what the
//! operator allows ([`Limits::lowered`]) and never raise it.

use serde::{Deserialize, Serialize};

const MIB: u64 = 1024 * 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Time on the clock, from the moment the worker has the script: `timeout`.
    pub wall_ms: u64,
    /// Processor time of the whole worker, compiling and collecting included: `cpu`.
    pub cpu_ms: u64,
    /// V8's heap: `memory`.
    pub heap_bytes: u64,
    /// Array buffers, which V8 does not count as heap: `memory`.
    pub buffer_bytes: u64,
    /// Tool calls and searches, each: `calls`.
    pub calls: u32,
    /// Calls under way at once. More of them wait; this one ends nothing.
    pub concurrent_calls: u32,
    /// Time of one tool call, from its dispatch. The call fails, the run goes on.
    pub tool_ms: u64,
    /// Characters of the result as JSON: `output`.
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

/// What a caller wishes for one run; absent means "as the operator set it".
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Wishes {
    pub wall_ms: Option<u64>,
    pub cpu_ms: Option<u64>,
    pub heap_bytes: Option<u64>,
    pub calls: Option<u32>,
    pub output_chars: Option<u64>,
}

impl Limits {
    /// The smallest heap in which V8 starts reliably.
    pub const MIN_HEAP_BYTES: u64 = 8 * MIB;

    /// These limits, each lowered to the wish where the wish is lower.
    #[must_use]
    pub fn lowered(self, wishes: &Wishes) -> Self {
        fn lower<T: Ord + Copy>(limit: T, wish: Option<T>) -> T {
            wish.map_or(limit, |wish| wish.min(limit))
        }
        Self {
            wall_ms: lower(self.wall_ms, wishes.wall_ms),
            cpu_ms: lower(self.cpu_ms, wishes.cpu_ms),
            heap_bytes: lower(self.heap_bytes, wishes.heap_bytes).max(Self::MIN_HEAP_BYTES),
            calls: lower(self.calls, wishes.calls),
            output_chars: lower(self.output_chars, wishes.output_chars),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wish_lowers_a_limit_and_never_raises_it() {
        let operator = Limits::default();
        let wishes = Wishes {
            wall_ms: Some(500),
            cpu_ms: Some(60_000),
            ..Wishes::default()
        };
        let limits = operator.lowered(&wishes);
        assert_eq!(limits.wall_ms, 500);
        assert_eq!(limits.cpu_ms, operator.cpu_ms);
        assert_eq!(limits.calls, operator.calls);
    }

    #[test]
    fn a_heap_too_small_for_v8_becomes_the_smallest_that_works() {
        let wishes = Wishes {
            heap_bytes: Some(1),
            ..Wishes::default()
        };
        let limits = Limits::default().lowered(&wishes);
        assert_eq!(limits.heap_bytes, Limits::MIN_HEAP_BYTES);
    }
}
