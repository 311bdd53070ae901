//! Calls that are made before a script makes them: the answers stay the same, and nothing but reads is
//! made.

use std::time::{Duration, Instant};

use pml_protocol::{Limits, SpeculationStats};
use serde_json::{Value, json};

use bed::{Bed, effects};
use scripts::Scripts;

mod bed;
mod scripts;

/// Scripts of the corpus.
const SCRIPTS: usize = 320;

#[tokio::test(flavor = "multi_thread")]
async fn the_answer_of_a_script_is_the_same_with_and_without_speculation() {
    let plain = Bed::new(false, &effects());
    let speculating = Bed::new(true, &effects());
    let seed = std::env::var("PML_SPECULATION_SEED").ok();
    let seed = seed.and_then(|seed| seed.parse().ok()).unwrap_or(21);
    let mut scripts = Scripts::seeded(seed);
    let (mut total, mut with_taken) = (SpeculationStats::default(), 0);
    for number in 0..SCRIPTS {
        let source = scripts.script();
        let ((expected, none), (seen, stats)) =
            tokio::join!(plain.seen(&source), speculating.seen(&source));
        assert_eq!(none, SpeculationStats::default());
        if seen != expected {
            // A race of the script itself may be decided otherwise on a busy machine.
            let mut others = Vec::new();
            for _ in 0..4 {
                others.push(plain.seen(&source).await.0);
            }
            let again = speculating.seen(&source).await.0;
            let is_unstable = others.contains(&seen);
            assert!(
                is_unstable || again == expected,
                "script {number} of seed {seed}:\n{source}\nwith: {seen:#?}\nwithout: {expected:#?}"
            );
        }
        total.started += stats.started;
        total.taken += stats.taken;
        total.dropped += stats.dropped;
        with_taken += usize::from(stats.taken > 0);
    }
    println!("{total:?}, in {with_taken} of {SCRIPTS} scripts");
    assert!(with_taken > SCRIPTS / 3, "{with_taken} scripts: {total:?}");
    assert!(total.dropped * 4 < total.started, "{total:?}");
}

const EIGHT: &str = "const out = []; for (const key of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']) \
     out.push((await tools.s.read({ key, ms: 100 })).key); return out.join('')";

#[tokio::test]
async fn reads_in_a_row_are_made_at_once_and_each_is_made_once() {
    let bed = Bed::new(true, &effects());
    let mut best = Duration::MAX;
    // The best of some: the machine may be busy.
    for _ in 0..5 {
        best = best.min(reads_in_a_row(&bed).await);
    }
    assert!(best < Duration::from_millis(700), "{best:?}");
}

async fn reads_in_a_row(bed: &Bed) -> Duration {
    bed.call("s:reset").await;
    let began = Instant::now();
    let outcome = bed.run(EIGHT).await;
    let took = began.elapsed();
    assert_eq!(outcome.result.unwrap().get(), "\"abcdefgh\"");
    let expected = SpeculationStats {
        started: 8,
        taken: 8,
        dropped: 0,
    };
    assert_eq!(outcome.stats.speculation, Some(expected));
    assert_eq!(bed.received().len(), 8);
    assert_eq!(outcome.calls.len(), 8);
    took
}

#[tokio::test]
async fn reads_of_a_listed_folder_start_with_the_list() {
    let bed = Bed::new(true, &effects());
    let source = "const out = []; for (const key of (await tools.s.list({})).keys) \
         out.push((await tools.s.read({ key })).key); return out";
    let (seen, stats) = bed.seen(source).await;
    assert_eq!(seen.result.unwrap(), r#"["k1","k2","k3"]"#);
    assert_eq!((stats.started, stats.taken), (4, 4));
}

#[tokio::test]
async fn only_tools_that_the_operator_calls_reading_are_called_ahead_whatever_a_server_claims() {
    let source = "await tools.s.broken({ key: 'x' }); await tools.s.write({ key: 'y' }); return 1";
    let reads = "await tools.s.broken({ key: 'x' }); await tools.s.read({ key: 'y' }); return 1";
    // Nothing is classified; every tool of the server claims to read.
    let bed = Bed::with(true, &json!({}), &["--sneaky"], Limits::default());
    for source in [source, reads] {
        let (_, stats) = bed.seen(source).await;
        assert_eq!(stats, SpeculationStats::default());
        assert_eq!(bed.received(), ["broken x"]);
    }
    // A write ends what is foreseen, also where reads are classified.
    let bed = Bed::with(true, &effects(), &["--sneaky"], Limits::default());
    let source = "const a = await callTool('s:broken', { key: 'x' }); if (!a.success) throw a.error;\n\
         await tools.s.write({ key: 'y' }); await tools.s.read({ key: 'z' }); return 1";
    let (_, stats) = bed.seen(source).await;
    assert!(stats.started <= 1, "{stats:?}");
    assert!(
        bed.received().iter().all(|line| line == "broken x"),
        "{:?}",
        bed.received()
    );
}

#[tokio::test]
async fn a_tool_that_was_redefined_is_not_called_ahead_any_more() {
    let bed = Bed::new(true, &effects());
    let source = "await tools.s.read({ key: 'a' }); return (await tools.s.read({ key: 'b' })).key";
    assert_eq!(bed.seen(source).await.1.taken, 2);
    bed.call("s:redefine").await;
    let is_new = async || {
        let tool = bed.gateway.describe("s:read").await.unwrap();
        tool.description == "Reads, and says who asked"
    };
    let deadline = Instant::now() + Duration::from_secs(20);
    while !is_new().await && Instant::now() < deadline {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let (seen, stats) = bed.seen(source).await;
    assert_eq!(stats, SpeculationStats::default());
    assert_eq!(seen.result.as_deref(), Some("\"b\""));
}

#[tokio::test]
async fn budgets_hold_with_speculation() {
    let limited = Limits {
        calls: 3,
        ..Limits::default()
    };
    let mut budget = effects();
    budget["policy"] = json!({ "budget": { "calls": 3 } });
    let mut of_tool = effects();
    of_tool["policy"] = json!({ "budget": { "tools": { "s:read": 3 } } });
    for (pml, limits) in [
        (effects(), limited),
        (budget, Limits::default()),
        (of_tool, Limits::default()),
    ] {
        let plain = Bed::with(false, &pml, &[], limits);
        let speculating = Bed::with(true, &pml, &[], limits);
        let (expected, _) = plain.seen(EIGHT).await;
        let (seen, stats) = speculating.seen(EIGHT).await;
        assert!(expected.error.is_some(), "{expected:?}");
        assert_eq!(seen.error, expected.error);
        assert_eq!(speculating.received().len(), 3, "{stats:?}");
    }
    // Where the time of calls is limited, a call that is not used would take it from others.
    let mut timed = effects();
    timed["policy"] = json!({ "budget": { "time": "1m" } });
    let (_, stats) = Bed::new(true, &timed).seen(EIGHT).await;
    assert_eq!(stats.taken, 0);
}

#[tokio::test]
async fn a_call_that_needs_approval_is_not_made_ahead() {
    let mut pml = effects();
    pml["policy"] = json!({ "ask": ["s:read"] });
    let bed = Bed::new(true, &pml);
    let (seen, stats) = bed
        .seen("await tools.s.list({}); return await tools.s.read({ key: 'a' })")
        .await;
    assert!(seen.error.unwrap().contains("approval"));
    assert_eq!(bed.received(), ["list"]);
    assert_eq!(stats.taken, 1);
}

#[tokio::test]
async fn what_was_read_before_a_write_is_not_given_to_a_later_read() {
    let bed = Bed::new(true, &effects());
    // The first read of `b` throws before it is made, and the handler writes.
    let source = "const out = [await tools.s.read({ key: 'a' })];\n\
         try { null.x; await tools.s.read({ key: 'b' }) } catch { await tools.s.write({ key: 'b', value: 7 }) }\n\
         return (await tools.s.read({ key: 'b' })).value";
    assert_eq!(bed.seen(source).await.0.result.as_deref(), Some("7"));
    let source = "const read = () => tools.s.read({ key: 'b' });\n\
         await tools.s.write({ key: 'b', value: 8 });\nreturn (await read()).value";
    assert_eq!(bed.seen(source).await.0.result.as_deref(), Some("8"));
}

#[tokio::test]
async fn what_is_not_taken_is_dropped_and_counted() {
    let bed = Bed::new(true, &effects());
    let source =
        "await tools.s.broken({ key: 'x', ms: 60 }); await tools.s.read({ key: 'a' }); return 1";
    let (seen, stats) = bed.seen(source).await;
    assert!(seen.error.unwrap().contains("broken x"));
    assert_eq!((stats.taken, stats.dropped), (0, stats.started));
    assert_eq!(stats.started, 2);
}

fn command(pml: &Value, flags: &[&str]) -> (Value, Vec<Value>) {
    let folder = tempfile::tempdir().unwrap();
    let server = crate::support::repository().join("tests/speculation/server.py");
    let log = folder.path().join("log");
    let config = json!({ "mcpServers": { "s": { "command": "python3", "args": [server, log] } }, "pml": pml });
    let (file, trace) = (
        folder.path().join("mcp.json"),
        folder.path().join("trace.json"),
    );
    std::fs::write(&file, config.to_string()).unwrap();
    let output = crate::support::pml()
        .args(["run", "--json", "--config"])
        .arg(&file)
        .args(flags)
        .arg("--trace")
        .arg(&trace)
        .args([
            "-e",
            "await tools.s.read({ key: 'a' }); await tools.s.read({ key: 'b' }); return 1",
        ])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let envelope = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
    let trace: Value = serde_json::from_slice(&std::fs::read(trace).unwrap()).unwrap();
    let spans = trace["traceEvents"].as_array().unwrap().iter();
    (
        envelope,
        spans
            .filter(|span| span["cat"] == "speculation")
            .cloned()
            .collect(),
    )
}

#[test]
fn the_envelope_and_the_trace_show_speculation_and_it_can_be_turned_off() {
    let (envelope, spans) = command(&effects(), &[]);
    assert_eq!(envelope["ok"], true, "{envelope:#}");
    let stats = &envelope["stats"]["speculation"];
    assert!(stats["started"].as_u64() >= Some(1), "{envelope:#}");
    assert_eq!(spans.len() as u64, stats["started"].as_u64().unwrap());
    assert_eq!(spans[0]["args"]["taken"], true, "{spans:?}");

    let mut off = effects();
    off["speculate"] = json!("off");
    for (pml, flags) in [
        (&effects(), vec!["--no-speculate"]),
        (&off, vec![]),
        (&effects(), vec!["--record", "r.json"]),
        (&effects(), vec!["--dry-run"]),
    ] {
        let (envelope, spans) = command(pml, &flags);
        assert_eq!(envelope["ok"], true, "{flags:?} {envelope:#}");
        assert_eq!(envelope["stats"].get("speculation"), None, "{flags:?}");
        assert!(spans.is_empty(), "{flags:?}");
    }
}
