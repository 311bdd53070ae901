//! Tools that test a client's timeouts and retries: one is slow, one fails before it succeeds.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

use rmcp::model::ProgressNotificationParam;
use rmcp::service::{RequestContext, RoleServer};
use serde::{Deserialize, Serialize};

/// Longest wait in milliseconds.
const MAX_MS: u64 = 600_000;
/// Highest number of keys whose failures are counted.
const MAX_KEYS: usize = 100_000;

/// Arguments of `slow`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SlowRequest {
    ms: u64,
    #[serde(default = "SlowRequest::default_steps")]
    steps: u32,
}

impl SlowRequest {
    fn default_steps() -> u32 {
        1
    }
}

/// Result of `slow`.
#[derive(Serialize)]
pub struct SlowResult {
    waited: u64,
}

/// Runs `slow`: waits, and reports progress after each step if the client sent a progress token.
pub async fn slow(
    request: &SlowRequest,
    context: &RequestContext<RoleServer>,
) -> Result<SlowResult, String> {
    if request.ms > MAX_MS || !(1..=1000).contains(&request.steps) {
        return Err(format!(
            "`ms` is at most {MAX_MS}, and `steps` from 1 to 1000"
        ));
    }
    let step = Duration::from_millis(request.ms) / request.steps;
    for done in 1..=request.steps {
        tokio::select! {
            () = tokio::time::sleep(step) => {}
            () = context.ct.cancelled() => return Err("cancelled".to_owned()),
        }
        if let Some(token) = context.meta.get_progress_token() {
            let progress = ProgressNotificationParam::new(token, f64::from(done))
                .with_total(f64::from(request.steps));
            // Fails if the client is gone, which ends the server anyway.
            let _ = context.peer.notify_progress(progress).await;
        }
    }
    Ok(SlowResult { waited: request.ms })
}

/// Arguments of `flaky`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlakyRequest {
    key: String,
    failures: u32,
}

/// Result of `flaky`.
#[derive(Debug, PartialEq, Serialize)]
pub struct FlakyResult {
    attempts: u32,
}

/// The `flaky` tool: counts the calls for each key, and fails the first of them.
#[derive(Default)]
pub struct Flaky {
    attempts: Mutex<HashMap<String, u32>>,
}

impl Flaky {
    /// Runs `flaky`.
    pub fn call(&self, request: FlakyRequest) -> Result<FlakyResult, String> {
        let mut attempts = self
            .attempts
            .lock()
            .unwrap_or_else(|poison| poison.into_inner());
        if attempts.len() == MAX_KEYS && !attempts.contains_key(&request.key) {
            return Err(format!("{MAX_KEYS} keys were used already"));
        }
        let count = attempts.entry(request.key).or_default();
        *count += 1;
        match *count > request.failures {
            true => Ok(FlakyResult { attempts: *count }),
            false => Err(format!(
                "failure {count} of {}; try again",
                request.failures
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flaky_tool_fails_the_given_number_of_times_for_each_key() {
        let flaky = Flaky::default();
        let call = |key: &str| {
            flaky.call(FlakyRequest {
                key: key.to_owned(),
                failures: 2,
            })
        };
        assert!(call("a").unwrap_err().contains("failure 1 of 2"));
        assert!(call("b").is_err());
        assert!(call("a").is_err());
        assert_eq!(call("a"), Ok(FlakyResult { attempts: 3 }));
    }
}
