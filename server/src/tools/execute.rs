//! `execute_code`: one script.

use std::sync::Arc;

use pml_runtime::{Limits, RunOptions, Script, Wishes};
use pml_session::Client;
use rmcp::model::JsonObject;
use serde::Deserialize;
use tokio::sync::mpsc;

use super::arguments::{self, Whole};
use super::{LARGE, off_loop};
use crate::approval::Line;
use crate::guests::Guest;
use crate::house::House;
use crate::notices::Notices;
use crate::reply::Reply;
use crate::work::Step;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    code: String,
    timeout_ms: Option<Whole>,
    cpu_ms: Option<Whole>,
    memory_mb: Option<Whole>,
    max_output_chars: Option<Whole>,
}

impl Arguments {
    /// A client can ask for less than the operator allows, never for more.
    fn limits(&self, operator: &Limits) -> Limits {
        // A model that has to fill in something writes a zero.
        let number = |whole: Option<Whole>| whole.map(|Whole(number)| number).filter(|n| *n > 0);
        operator.lowered(&Wishes {
            wall_ms: number(self.timeout_ms),
            cpu_ms: number(self.cpu_ms),
            heap_bytes: number(self.memory_mb).map(|mib| mib.saturating_mul(1024 * 1024)),
            output_chars: number(self.max_output_chars),
            ..Wishes::default()
        })
    }
}

pub async fn execute(
    house: House,
    guest: Arc<Guest>,
    arguments: Option<JsonObject>,
    mut notices: Notices,
    can_ask: bool,
    steps: mpsc::Sender<Step>,
) -> Reply {
    let arguments: Arguments = match arguments::read(arguments) {
        Ok(arguments) => arguments,
        Err(mistake) => return Reply::failure(guest.outlet().text(&mistake)),
    };
    let limits = arguments.limits(house.limits());
    let approver = Arc::new(Line::new(steps, can_ask));
    let run = guest.client.run(&limits, approver, notices.of_tools());
    let script = Script {
        name: "script.ts".to_owned(),
        source: arguments.code,
        args: Vec::new(),
    };
    let outcome = house
        .pool()
        .run_with(
            script,
            RunOptions {
                party: Some(guest.party.clone()),
                ..RunOptions::default()
            },
            Client::runtime_limits(limits),
            Arc::new(run),
            &mut |event| notices.note(&event),
        )
        .await;
    notices.finish().await;
    house.learn(guest.client.session().take_observed());
    tracing::info!(
        ok = outcome.ok,
        kind = outcome.error.as_ref().map(|error| error.kind.to_string()),
        wall_ms = outcome.stats.wall_ms,
        calls = outcome.calls.len(),
        "a script ended"
    );
    let outlet = guest.outlet().clone();
    let is_large = outcome
        .result
        .as_ref()
        .is_some_and(|result| result.get().len() > LARGE);
    let tell = move || Reply::run(&outlet.outcome(outcome, &limits));
    if is_large {
        return off_loop(tell).await;
    }
    tell()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_client_can_lower_limits_and_not_raise_them() {
        let operator = Limits::default();
        let arguments: Arguments = serde_json::from_value(json!({
            "code": "", "timeout_ms": 10, "cpu_ms": 999_999, "memory_mb": u64::MAX, "max_output_chars": 7,
        }))
        .unwrap();
        let limits = arguments.limits(&operator);
        assert_eq!(limits.wall_ms, 10);
        assert_eq!(limits.cpu_ms, operator.cpu_ms);
        assert_eq!(limits.heap_bytes, operator.heap_bytes);
        assert_eq!(limits.output_chars, 7);
    }
}
