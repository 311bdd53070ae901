//! The hostile corpus: every script below `tests/hostile/` is run. Its outcome must be well formed,
//! of the expected kind and in time, memory must stay bounded, and the next run must be unaffected.
//!
//! A script begins with comments that state the expected outcome:
//!
//! ```text
//! // kind: cpu                 the kind of error, or `ok`; `a|b` where V8 may end either way
//! // result: [1,2]             optional: the exact result of an `ok`
//! // body-only                 optional: these comments are removed before the run
//! ```

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use pml_hosts::{StaticHost, stack};
use pml_protocol::{
    Failure, FailureKind, HostFuture, Limits, Outcome, Request, RunContext, ToolHost, ToolResult,
    to_result,
};
use pml_runtime::{Event, Pool, Script};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::support::{pool, printed, repository, run_in};

const MIB: u64 = 1024 * 1024;
const THREADS: usize = 2;
const MIN_SCRIPTS: usize = 120;

/// How long after the wall limit an outcome may arrive.
const MARGIN: Duration = Duration::from_secs(1);

/// Memory of a worker besides the heap and the array buffers of its script: the program, V8's own
/// structures, the headroom that V8 gets to unwind, copies of messages.
const WORKER_OVERHEAD: u64 = 300 * MIB;

fn limits() -> Limits {
    Limits {
        heap_bytes: 64 * MIB,
        buffer_bytes: 32 * MIB,
        ..Limits::default()
    }
}

impl Case {
    /// Limits under which the expected one is exceeded first, even if a worker gets only a tenth of
    /// a core: the other time limit is set high.
    fn limits(&self) -> Limits {
        let expects = |kind: &str| self.kinds.contains(kind);
        let (wall_ms, cpu_ms) = match (expects("timeout"), expects("cpu")) {
            (true, false) => (1_500, 20_000),
            (true, true) => (1_500, 1_000),
            (false, true) if self.kinds.len() == 1 => (60_000, 300),
            (false, true) => (60_000, 2_000),
            (false, false) => (15_000, 10_000),
        };
        Limits {
            wall_ms,
            cpu_ms,
            ..limits()
        }
    }
}

/// A run that fails if a script before it left anything behind.
const ORDINARY: &str = r#"
import { callTool } from "pml";
const left = Object.keys(globalThis).concat(Object.keys(Object.prototype), Object.keys(Array.prototype));
for (const name of ["leftover", "stolen", "Deno", "eval"]) if (name in globalThis) left.push(name);
if (args.length) left.push("args");
const answer = await callTool("demo:echo", { text: "ordinary" });
console.log("ordinary");
return { left, answer, sorted: [3, 1, 2].sort(), json: JSON.stringify({ a: [1] }) };
"#;

struct Case {
    name: String,
    kinds: BTreeSet<String>,
    result: Option<Value>,
    source: String,
}

fn read(path: &Path, root: &Path) -> Case {
    let text = std::fs::read_to_string(path).expect("a script of the corpus is text");
    let name = path
        .strip_prefix(root)
        .expect("the script lies below the corpus")
        .display()
        .to_string();
    let mut kinds = BTreeSet::new();
    let mut result = None;
    let mut body_only = false;
    let mut header = 0;
    for line in text.split_inclusive('\n') {
        let Some(comment) = line.trim_end().strip_prefix("// ") else {
            break;
        };
        if let Some(list) = comment.strip_prefix("kind: ") {
            kinds = list.split('|').map(str::to_owned).collect();
        } else if let Some(json) = comment.strip_prefix("result: ") {
            result = Some(serde_json::from_str(json).expect("`// result:` holds JSON"));
        } else if comment == "body-only" {
            body_only = true;
        } else {
            break;
        }
        header += line.len();
    }
    assert!(
        !kinds.is_empty(),
        "{name} has no `// kind:` in its first line"
    );
    let source = if body_only { &text[header..] } else { &text };
    Case {
        kinds,
        result,
        source: source.to_owned(),
        name,
    }
}

fn corpus() -> Vec<Case> {
    let root = repository().join("tests/hostile");
    let mut paths: Vec<PathBuf> = std::fs::read_dir(&root)
        .expect("the corpus is there")
        .flat_map(|folder| {
            let folder = folder.expect("a folder can be listed").path();
            std::fs::read_dir(folder).expect("the corpus is folders of scripts")
        })
        .map(|script| script.expect("a script can be listed").path())
        .collect();
    paths.sort();
    paths.iter().map(|path| read(path, &root)).collect()
}

fn tools() -> Arc<dyn ToolHost> {
    let host = StaticHost::empty()
        .with("demo:echo", "gives back its arguments", |args| async {
            Ok(args)
        })
        .with("demo:sleep", "answers after a minute", |_| async {
            tokio::time::sleep(Duration::from_secs(60)).await;
            Ok(Value::Null)
        })
        .with("demo:fail", "always fails", |_| async {
            Err(Failure::new(FailureKind::Tool, "it always fails"))
        })
        .with("demo:poison", "answers with awkward keys", |_| async {
            Ok(json!({ "__proto__": { "leftover": 1 }, "then": 1, "constructor": null, "failure": 1 }))
        });
    Arc::new(host)
}

/// Runs a script. Returns the outcome and the time since its worker received the script.
async fn run(pool: &Pool, limits: Limits, source: &str) -> (Outcome, Duration) {
    let script = Script {
        name: "hostile.ts".to_owned(),
        source: source.to_owned(),
        args: Vec::new(),
    };
    let mut started = Instant::now();
    let outcome = pool
        .run(
            script,
            limits,
            stack::limited(tools(), &limits),
            &mut |event| {
                if let Event::Started = event {
                    started = Instant::now();
                }
            },
        )
        .await;
    (printed(outcome, &limits), started.elapsed())
}

fn kind(outcome: &Outcome) -> String {
    match &outcome.error {
        Some(error) => error.kind.to_string(),
        None => "ok".to_owned(),
    }
}

/// All violations in one outcome.
fn violations(case: &Case, outcome: &Outcome, time: Duration) -> Vec<String> {
    let mut wrong = Vec::new();
    let kind = kind(outcome);
    if !case.kinds.contains(&kind) {
        let message = outcome.error.as_ref().map(|error| error.message.as_str());
        let text: String = message.unwrap_or_default().chars().take(200).collect();
        wrong.push(format!("ended as {kind} ({text}), not {:?}", case.kinds));
    }
    if let Some(expected) = &case.result {
        let result = outcome
            .result
            .as_ref()
            .map_or("null", |result| result.get());
        let found: Value = serde_json::from_str(result).unwrap_or(Value::Null);
        if found != *expected {
            let text: String = result.chars().take(300).collect();
            wrong.push(format!("gave {text}, not {expected}"));
        }
    }
    let limits = case.limits();
    let allowed = Duration::from_millis(limits.wall_ms) + MARGIN;
    if time > allowed {
        wrong.push(format!("answered after {time:?}, allowed are {allowed:?}"));
    }
    let cpu_ms = outcome.stats.cpu_ms;
    let allowed = (limits.cpu_ms + 500) as f64;
    if cpu_ms > allowed {
        wrong.push(format!(
            "used {cpu_ms} ms of CPU time, allowed are {allowed}"
        ));
    }
    let peak = outcome.stats.peak_rss_bytes;
    let allowed = limits.heap_bytes + limits.buffer_bytes + WORKER_OVERHEAD;
    if peak > allowed {
        wrong.push(format!(
            "held {} MiB, allowed are {}",
            peak / MIB,
            allowed / MIB
        ));
    }
    wrong.extend(malformed(outcome, &case.source));
    wrong
}

/// Why an outcome is malformed, if it is.
fn malformed(outcome: &Outcome, source: &str) -> Option<String> {
    if outcome.ok == outcome.error.is_some() {
        return Some("is neither a success nor a failure".to_owned());
    }
    let envelope = match serde_json::to_string(outcome) {
        Ok(envelope) => envelope,
        Err(error) => return Some(format!("cannot be written as JSON: {error}")),
    };
    if serde_json::from_str::<Outcome>(&envelope).is_err() {
        return Some("cannot be read back".to_owned());
    }
    for secret in [
        env!("CARGO_MANIFEST_DIR"),
        "/.cargo/",
        "ext:pml",
        "ext:deno",
    ] {
        if envelope.contains(secret) && !source.contains(secret) {
            return Some(format!("reveals {secret}"));
        }
    }
    let error = outcome.error.as_ref()?;
    let lines = source.lines().count().max(1) as u32;
    if error.line.is_some_and(|line| line > lines) {
        return Some(format!("blames line {:?} of {lines}", error.line));
    }
    let said = error.message.len() + error.stack.as_ref().map_or(0, String::len);
    if error.message.is_empty() {
        return Some("has an error without a message".to_owned());
    }
    (said > 64 * 1024).then(|| format!("describes its error in {said} bytes"))
}

fn spoiled(outcome: &Outcome) -> Option<String> {
    let expected = json!({
        "left": [],
        "answer": { "success": true, "result": { "text": "ordinary" } },
        "sorted": [1, 2, 3],
        "json": "{\"a\":[1]}",
    });
    let result = outcome
        .result
        .as_ref()
        .map_or("null", |result| result.get());
    let clean = serde_json::from_str::<Value>(result).is_ok_and(|found| found == expected)
        && outcome.logs.len() == 1
        && outcome.calls.len() == 1;
    (!clean).then(|| format!("spoiled the next run: {} {result}", kind(outcome)))
}

#[test]
fn every_hostile_script_ends_as_expected_and_leaves_nothing_behind() {
    // PML_HOSTILE=a,b runs the scripts whose path contains a or b, and prints each.
    let only = std::env::var("PML_HOSTILE").ok();
    let mut cases = corpus();
    assert!(cases.len() >= MIN_SCRIPTS, "only {} scripts", cases.len());
    if let Some(only) = &only {
        cases.retain(|case| only.split(',').any(|part| case.name.contains(part)));
    }
    let pool = pool(limits());
    let next = AtomicUsize::new(0);
    let report = Mutex::new(String::new());
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                let runtime = tokio::runtime::Builder::new_current_thread()
                    .enable_all()
                    .build()
                    .expect("an event loop starts");
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let (outcome, time) = runtime.block_on(run(&pool, case.limits(), &case.source));
                    let mut wrong = violations(case, &outcome, time);
                    let (after, _) = runtime.block_on(run(&pool, limits(), ORDINARY));
                    wrong.extend(spoiled(&after));
                    if only.is_some() {
                        eprintln!(
                            "{}: {} in {} ms, {} ms CPU, {} MiB",
                            case.name,
                            kind(&outcome),
                            time.as_millis(),
                            outcome.stats.cpu_ms as u64,
                            outcome.stats.peak_rss_bytes / MIB
                        );
                    }
                    let mut report = report.lock().expect("no thread has panicked");
                    for violation in wrong {
                        writeln!(report, "{}: {violation}", case.name).expect("memory is free");
                    }
                }
            });
        }
    });
    let report = report.into_inner().expect("no thread has panicked");
    assert!(report.is_empty(), "\n{report}");
}

/// A malicious tool server: it answers every call with the same text.
struct Answering(Box<RawValue>);

impl ToolHost for Answering {
    fn handle<'a>(&'a self, request: &'a Request, _: &'a RunContext) -> HostFuture<'a, ToolResult> {
        Box::pin(async move {
            match request {
                Request::Search { .. } => to_result(&[(); 0]),
                _ => Ok(self.0.clone()),
            }
        })
    }
}

/// Runs a script whose tools all answer `answer`.
fn answered(answer: String, source: &str) -> Outcome {
    let answer = RawValue::from_string(answer).expect("an answer is JSON");
    let pool = pool(limits());
    tokio::runtime::Runtime::new()
        .expect("an event loop starts")
        .block_on(run_in(&pool, Arc::new(Answering(answer)), source))
}

#[track_caller]
fn assert_result(outcome: &Outcome, expected: &Value) {
    let result = outcome
        .result
        .as_ref()
        .map_or("null", |result| result.get());
    let found: Value = serde_json::from_str(result).expect("a result is JSON");
    assert_eq!(found, *expected, "{:?}", outcome.error);
}

#[test]
fn an_answer_too_large_for_a_message_fails_its_call_alone() {
    let outcome = answered(
        format!("\"{}\"", "x".repeat(20_000_000)),
        "const { success, error } = await callTool('a:b'); return [success, typeof error.message];",
    );
    assert_result(&outcome, &json!([false, "string"]));
}

#[test]
fn an_answer_of_many_megabytes_stays_in_the_sandbox() {
    let outcome = answered(
        format!("\"{}\"", "x".repeat(10_000_000)),
        "return (await tools.a.b()).length",
    );
    assert_result(&outcome, &json!(10_000_000));
}

#[test]
fn an_answer_nested_200k_deep_is_data_like_any_other() {
    let depth = 200_000;
    let outcome = answered(
        "[".repeat(depth) + &"]".repeat(depth),
        "let at = await tools.a.b(), depth = 0; while (at) { at = at[0]; depth++; } return depth;",
    );
    assert_result(&outcome, &json!(depth));
}

#[test]
fn an_answer_with_the_keys_of_an_envelope_is_not_taken_for_one() {
    let outcome = answered(
        r#"{"failure":{"kind":"x","message":"y"},"value":1,"success":false,"then":1,"__proto__":{"leftover":1}}"#
            .to_owned(),
        "const { success, result } = await callTool('a:b');
         return [success, Object.keys(result), ({}).leftover ?? null];",
    );
    let keys = ["failure", "value", "success", "then", "__proto__"];
    assert_result(&outcome, &json!([true, keys, null]));
}

#[test]
fn an_answer_that_is_larger_than_the_heap_ends_the_run_and_nothing_else() {
    let outcome = answered(
        format!("[{}1]", "{},".repeat(3_000_000)),
        "return (await tools.a.b()).length",
    );
    assert_eq!(kind(&outcome), "memory");
}

#[test]
fn a_script_may_have_any_name() {
    let pool = pool(limits());
    let runtime = tokio::runtime::Runtime::new().expect("an event loop starts");
    let long = "n".repeat(5_000);
    for name in [
        "",
        "/",
        "..",
        "../../etc/passwd",
        "ext:core/ops",
        "node:pml",
        "pml",
        "https://a/b",
        "a?b#c",
        "%2e%2e/%00",
        "a\nb\0c",
        "C:\\x.ts",
        "\u{202e}st.x",
        "-e",
        long.as_str(),
    ] {
        let script = Script {
            name: name.to_owned(),
            source: "\nthrow new Error('here')".to_owned(),
            args: Vec::new(),
        };
        let outcome = runtime.block_on(pool.run(script, limits(), tools(), &mut |_| {}));
        let error = outcome.error.expect("the script throws");
        assert_eq!(error.kind.to_string(), "runtime", "{name:?}: {error:?}");
        assert_eq!(error.line, Some(2), "{name:?}: {error:?}");
    }
}
