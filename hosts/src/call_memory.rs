//! The memory of the arguments of all calls under way, for all runs together.

use std::time::Duration;

use pml_fair_budget::{FairBudget, Reservation};
use pml_gateway::json_size::parsed_bytes;
use pml_protocol::{Failure, FailureKind, FairShareKey};

/// Bytes of parsed arguments. One client gets half of it at most.
const TOTAL_BYTES: usize = 256 * 1024 * 1024;
/// Arguments of this length are not counted: the limit of concurrent calls bounds them.
const SMALL_TEXT: usize = 16 * 1024;
/// How long a call waits for memory.
const MAX_WAIT: Duration = Duration::from_secs(10);

static ARGUMENTS: FairBudget<FairShareKey> = FairBudget::new(TOTAL_BYTES);

/// Reserves the memory of the arguments in `text` until the returned value is dropped. Waits while
/// other calls of the same client hold its share.
///
/// # Errors
/// There is none for ten seconds.
pub async fn reserve(
    client: &FairShareKey,
    text: &str,
) -> Result<Option<Reservation<FairShareKey>>, Failure> {
    if text.len() <= SMALL_TEXT {
        return Ok(None);
    }
    let reserved = ARGUMENTS.reserve(client, parsed_bytes(text.as_bytes()));
    match tokio::time::timeout(MAX_WAIT, reserved).await {
        Ok(reserved) => Ok(Some(reserved)),
        Err(_) => {
            let message = "the arguments of this client's calls hold their share of 256 MiB, at most \
                           128 MiB: await some calls first, or call again later";
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
    async fn a_client_with_large_arguments_waits_for_itself_and_not_the_others() {
        let nulls = format!("[{}null]", "null,".repeat(400_000));
        let (greedy, other) = (FairShareKey::new(), FairShareKey::new());
        let mut held = Vec::new();
        let refused = loop {
            match reserve(&greedy, &nulls).await {
                Ok(reserved) => held.push(reserved),
                Err(failure) => break failure,
            }
        };
        assert!((2..6).contains(&held.len()), "{}", held.len());
        assert_eq!(
            (refused.kind, refused.retryable),
            (FailureKind::Calls, true)
        );
        let began = tokio::time::Instant::now();
        assert!(matches!(reserve(&other, &nulls).await, Ok(Some(_))));
        assert!(matches!(reserve(&greedy, "{}").await, Ok(None)));
        assert_eq!(began.elapsed(), Duration::ZERO);
        held.pop();
        assert!(reserve(&greedy, &nulls).await.is_ok());
    }
}
