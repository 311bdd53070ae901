//! The memory of the arguments of all calls under way, for all runs together.

use std::time::Duration;

use pml_gateway::json_size::parsed_bytes;
use pml_protocol::{Failure, FailureKind};
use tokio::sync::{Semaphore, SemaphorePermit};

/// Kilobytes of parsed arguments.
const TOTAL_KIB: usize = 256 * 1024;
/// Arguments of this length are not counted: the limit of concurrent calls bounds them.
const SMALL_TEXT: usize = 16 * 1024;
/// How long a call waits for memory.
const MAX_WAIT: Duration = Duration::from_secs(10);

static FREE_KIB: Semaphore = Semaphore::const_new(TOTAL_KIB);

/// Reserves the memory of the arguments in `text` until the returned value is dropped. Waits while the
/// calls of other runs hold it.
///
/// # Errors
/// There is none for ten seconds.
pub async fn reserve(text: &str) -> Result<Option<SemaphorePermit<'static>>, Failure> {
    if text.len() <= SMALL_TEXT {
        return Ok(None);
    }
    let kib = (parsed_bytes(text.as_bytes()) / 1024).clamp(1, TOTAL_KIB);
    let permits = FREE_KIB.acquire_many(u32::try_from(kib).unwrap_or(u32::MAX));
    match tokio::time::timeout(MAX_WAIT, permits).await {
        Ok(Ok(permits)) => Ok(Some(permits)),
        _ => {
            let message = "the arguments of all calls under way hold 256 MiB: call again later";
            let mut failure = Failure::new(FailureKind::Calls, message);
            failure.retryable = true;
            Err(failure)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn large_arguments_wait_for_each_other_and_small_ones_do_not() {
        let nulls = format!("[{}null]", "null,".repeat(800_000));
        let mut held = Vec::new();
        let refused = loop {
            match reserve(&nulls).await {
                Ok(permit) => held.push(permit),
                Err(failure) => break failure,
            }
        };
        assert!((2..8).contains(&held.len()), "{}", held.len());
        assert_eq!(
            (refused.kind, refused.retryable),
            (FailureKind::Calls, true)
        );
        assert!(matches!(reserve("{}").await, Ok(None)));
        held.pop();
        assert!(reserve(&nulls).await.is_ok());
    }
}
