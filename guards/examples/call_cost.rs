//! What guards cost a call: `cargo run -p pml-guards --example call_cost`.

use std::time::{Duration, Instant};

use pml_guards::{Answer, CallKey, GuardedCall, Guards, GuardsConfig, History, RunShape};
use pml_protocol::EffectClass;
use serde_json::{Value, json};

const CALLS: u32 = 20_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let small = json!({ "path": "src/main.rs", "limit": 20, "query": "fn main", "all": true });
    let large = json!({ "rows": vec![json!({ "id": 7, "text": "some words of a row" }); 500] });
    for preset in ["default", "strict"] {
        // Of `strict` without the guards that would block equal calls.
        let config = json!({ "preset": preset, "runaway": "warn", "retry": "warn" });
        let config: GuardsConfig = serde_json::from_value(config)?;
        let guards = Guards::new(&config)?;
        for (name, arguments) in [("4 arguments", &small), ("500 rows", &large)] {
            let calls = if name == "500 rows" {
                CALLS / 100
            } else {
                CALLS
            };
            println!(
                "{preset:8} {name:12} {:?} per call",
                time(&guards, arguments, calls)
            );
        }
    }
    Ok(())
}

/// The time of one call with its answer.
fn time(guards: &Guards, arguments: &Value, calls: u32) -> Duration {
    let (history, run) = (History::default(), RunShape::default());
    let schema = json!({ "type": "object" });
    let (mut arguments, mut value) = (arguments.clone(), json!({ "ok": true, "lines": 3 }));
    let began = Instant::now();
    for _ in 0..calls {
        let mut notes = Vec::new();
        let (shape, _in_flight) = run.begin();
        let key = CallKey::new("s:t", &arguments);
        let mut call = GuardedCall {
            tool: "s:t",
            effect: EffectClass::Read,
            has_own_key: false,
            is_offer: false,
            input_schema: &schema,
            arguments: &mut arguments,
            key,
            history: &history,
            shape: pml_guards::CallShape { chain: 1, ..shape },
            is_dry_run: false,
        };
        // What they say does not matter here.
        let _ = guards.before(&mut call, &mut notes);
        let _ = guards.lookups(&call);
        let mut answer = Answer {
            tool: "s:t",
            key,
            value: &mut value,
            took: Duration::ZERO,
            history: &history,
            contract: &|_| Ok(()),
        };
        let _ = guards.after(&mut answer, &mut notes);
    }
    began.elapsed() / calls
}
