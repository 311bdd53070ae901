//! Tools that try the patience of a client: one takes its time, one fails before it works.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

use rmcp::model::ProgressNotificationParam;
use rmcp::service::{RequestContext, RoleServer};
use serde::{Deserialize, Serialize};

const MAX_MS: u64 = 600_000;
/// More keys are not remembered.
const MAX_KEYS: usize = 100_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Slow {
    ms: u64,
    #[serde(default = "Slow::default_steps")]
    steps: u32,
}

impl Slow {
    fn default_steps() -> u32 {
        1
    }
}

#[derive(Serialize)]
pub struct Waited {
    waited: u64,
}

/// Waits, and reports its progress after each step to a client that wants to know.
pub async fn slow(wanted: &Slow, context: &RequestContext<RoleServer>) -> Result<Waited, String> {
    if wanted.ms > MAX_MS || !(1..=1000).contains(&wanted.steps) {
        return Err(format!(
            "`ms` is at most {MAX_MS}, and `steps` from 1 to 1000"
        ));
    }
    let step = Duration::from_millis(wanted.ms) / wanted.steps;
    for done in 1..=wanted.steps {
        tokio::select! {
            () = tokio::time::sleep(step) => {}
            () = context.ct.cancelled() => return Err("cancelled".to_owned()),
        }
        if let Some(token) = context.meta.get_progress_token() {
            let progress = ProgressNotificationParam::new(token, f64::from(done))
                .with_total(f64::from(wanted.steps));
            // A client that is gone is not told.
            let _ = context.peer.notify_progress(progress).await;
        }
    }
    Ok(Waited { waited: wanted.ms })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attempt {
    key: String,
    failures: u32,
}

#[derive(Debug, PartialEq, Serialize)]
pub struct Succeeded {
    attempts: u32,
}

/// Fails as often as it is told, for each key anew.
#[derive(Default)]
pub struct Flaky {
    attempts: Mutex<HashMap<String, u32>>,
}

impl Flaky {
    pub fn call(&self, attempt: Attempt) -> Result<Succeeded, String> {
        let mut attempts = self
            .attempts
            .lock()
            .unwrap_or_else(|poison| poison.into_inner());
        if attempts.len() == MAX_KEYS && !attempts.contains_key(&attempt.key) {
            return Err(format!("{MAX_KEYS} keys were used already"));
        }
        let count = attempts.entry(attempt.key).or_default();
        *count += 1;
        match *count > attempt.failures {
            true => Ok(Succeeded { attempts: *count }),
            false => Err(format!(
                "failure {count} of {}; try again",
                attempt.failures
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flaky_tool_fails_as_often_as_it_is_told_for_each_key() {
        let flaky = Flaky::default();
        let call = |key: &str| {
            flaky.call(Attempt {
                key: key.to_owned(),
                failures: 2,
            })
        };
        assert!(call("a").unwrap_err().contains("failure 1 of 2"));
        assert!(call("b").is_err());
        assert!(call("a").is_err());
        assert_eq!(call("a"), Ok(Succeeded { attempts: 3 }));
    }
}
