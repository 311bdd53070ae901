//! Each limit ends the run with its error kind soon after it is exceeded, and the next run is not
//! affected.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use pml_hosts::{StaticHost, stack};
use pml_protocol::message::LOG_LINE_COST;
use pml_protocol::{ErrorKind, Limits, LogLine, Outcome, ToolHost};
use pml_runtime::{Event, Pool, PoolOptions, Script};
use serde_json::{Value, json};

use crate::support::{binary, pool, printed, run_in};

const MIB: u64 = 1024 * 1024;

/// How long a run may take to end after a limit is exceeded.
const SOON: Duration = Duration::from_millis(500);

/// The machine is shared, and a process that gets no CPU responds late: the fastest of a few
/// attempts counts.
const ATTEMPTS: usize = 5;

/// Limits that no test of this file exceeds by accident.
fn roomy() -> Limits {
    Limits {
        wall_ms: 60_000,
        cpu_ms: 30_000,
        heap_bytes: 32 * MIB,
        buffer_bytes: 16 * MIB,
        ..Limits::default()
    }
}

fn echo() -> StaticHost {
    StaticHost::empty().with("demo:echo", "gives back its arguments", |args| async {
        Ok(args)
    })
}

/// The outcome and duration of one run.
struct Measured {
    outcome: Outcome,
    /// Since the worker received the script.
    total: Duration,
    /// Since the last event: a logged line or a call.
    since_last_event: Duration,
}

async fn measure(pool: &Pool, limits: Limits, host: Arc<dyn ToolHost>, source: &str) -> Measured {
    let script = Script {
        name: "limits.ts".to_owned(),
        source: source.to_owned(),
        args: Vec::new(),
    };
    let mut started = Instant::now();
    let mut last_event = started;
    let host = stack::limited(host, &limits);
    let outcome = pool
        .run(script, limits, host, &mut |event| {
            last_event = Instant::now();
            if let Event::Started = event {
                started = last_event;
            }
        })
        .await;
    Measured {
        outcome: printed(outcome, &limits),
        total: started.elapsed(),
        since_last_event: last_event.elapsed(),
    }
}

/// Runs a script that exceeds a limit until `late` returns at most `SOON`, and checks each time
/// that the kind is right and that the pool still works.
#[track_caller]
fn assert_ends(
    kind: ErrorKind,
    limits: Limits,
    source: &str,
    late: impl Fn(&Measured) -> Duration,
) {
    let pool = pool(roomy());
    let runtime = tokio::runtime::Runtime::new().expect("an event loop starts");
    let fastest = (0..ATTEMPTS)
        .map(|_| {
            let measured = runtime.block_on(measure(&pool, limits, Arc::new(echo()), source));
            let error = &measured.outcome.error;
            assert_eq!(kind_of(&measured.outcome), Some(kind), "{error:?}");
            let after = runtime.block_on(run_in(&pool, Arc::new(echo()), "6 * 7"));
            assert_eq!(result_of(&after), 42, "{after:?}");
            late(&measured)
        })
        .find(|late| *late <= SOON);
    assert!(fastest.is_some(), "no attempt ended within {SOON:?}");
}

fn kind_of(outcome: &Outcome) -> Option<ErrorKind> {
    outcome.error.as_ref().map(|error| error.kind)
}

fn result_of(outcome: &Outcome) -> Value {
    let text = outcome
        .result
        .as_ref()
        .map_or("null", |result| result.get());
    serde_json::from_str(text).expect("a result is JSON")
}

fn past(limit_ms: u64) -> impl Fn(&Measured) -> Duration {
    move |measured| {
        measured
            .total
            .saturating_sub(Duration::from_millis(limit_ms))
    }
}

fn since_last_event(measured: &Measured) -> Duration {
    measured.since_last_event
}

#[test]
fn a_script_that_waits_ends_at_the_wall_limit() {
    let limits = Limits {
        wall_ms: 200,
        ..roomy()
    };
    let source = "await new Promise((resolve) => setTimeout(resolve, 60_000))";
    assert_ends(ErrorKind::Timeout, limits, source, past(200));
}

#[test]
fn a_script_that_is_busy_ends_at_the_wall_limit() {
    let limits = Limits {
        wall_ms: 200,
        ..roomy()
    };
    assert_ends(ErrorKind::Timeout, limits, "for (;;);", past(200));
}

#[test]
fn a_tool_that_never_answers_ends_at_the_wall_limit() {
    let host = echo().with("demo:never", "never answers", |_| std::future::pending());
    let pool = pool(roomy());
    let limits = Limits {
        wall_ms: 200,
        ..roomy()
    };
    let runtime = tokio::runtime::Runtime::new().expect("an event loop starts");
    let source = "await callTool('demo:never', {})";
    let measured = runtime.block_on(measure(&pool, limits, Arc::new(host), source));
    assert_eq!(kind_of(&measured.outcome), Some(ErrorKind::Timeout));
}

/// CPU time does not depend on the load of the machine, so one attempt is enough. A worker that is
/// too busy to report its CPU time is killed, and the outcome is still in time.
#[test]
fn a_busy_loop_ends_at_the_cpu_limit() {
    let limits = Limits {
        cpu_ms: 200,
        ..roomy()
    };
    assert_ends(ErrorKind::Cpu, limits, "for (;;);", |measured| {
        let used = Duration::from_secs_f64(measured.outcome.stats.cpu_ms / 1000.0);
        used.saturating_sub(Duration::from_millis(200))
    });
}

#[test]
fn a_loop_inside_v8_ends_at_the_cpu_limit() {
    let limits = Limits {
        cpu_ms: 200,
        ..roomy()
    };
    let source = "/^(a+)+$/.test('a'.repeat(60) + '!')";
    assert_ends(ErrorKind::Cpu, limits, source, |measured| {
        let used = Duration::from_secs_f64(measured.outcome.stats.cpu_ms / 1000.0);
        used.saturating_sub(Duration::from_millis(200))
    });
}

#[test]
fn without_machine_code_a_busy_loop_ends_at_the_cpu_limit_too() {
    let options = PoolOptions {
        program: binary(),
        jit: false,
        limits: Limits {
            cpu_ms: 200,
            ..roomy()
        },
        ..PoolOptions::new().expect("this program has a path")
    };
    let pool = Pool::new(options);
    let runtime = tokio::runtime::Runtime::new().expect("an event loop starts");
    for source in ["for (;;);", "/^(a+)+$/.test('a'.repeat(60) + '!')"] {
        let outcome = runtime.block_on(run_in(&pool, Arc::new(echo()), source));
        assert_eq!(kind_of(&outcome), Some(ErrorKind::Cpu), "{source}");
    }
}

#[test]
fn waiting_does_not_count_as_cpu_time() {
    let limits = Limits {
        cpu_ms: 250,
        ..roomy()
    };
    let pool = pool(roomy());
    let runtime = tokio::runtime::Runtime::new().expect("an event loop starts");
    let source = "await new Promise((resolve) => setTimeout(resolve, 600)); return 'rested';";
    let measured = runtime.block_on(measure(&pool, limits, Arc::new(echo()), source));
    assert_eq!(result_of(&measured.outcome), "rested");
}

#[test]
fn a_heap_that_grows_ends_at_the_heap_limit() {
    let source = "const all = []; for (;;) { all.push(new Array(100_000).fill(0.5)); console.log(all.length); }";
    assert_ends(ErrorKind::Memory, roomy(), source, since_last_event);
}

#[test]
fn a_heap_within_its_limit_is_given() {
    let pool = pool(roomy());
    let runtime = tokio::runtime::Runtime::new().expect("an event loop starts");
    let source = "const all = []; for (let i = 0; i < 20; i++) all.push(new Array(100_000).fill(0.5)); all.length";
    let outcome = runtime.block_on(run_in(&pool, Arc::new(echo()), source));
    assert_eq!(result_of(&outcome), 20, "{outcome:?}");
}

#[test]
fn array_buffers_end_at_their_own_limit() {
    let source = "const all = []; for (;;) { all.push(new Uint8Array(1_000_000)); console.log(all.length); }";
    assert_ends(ErrorKind::Memory, roomy(), source, since_last_event);
}

#[test]
fn resizable_array_buffers_count_too() {
    let source = "const b = new ArrayBuffer(0, { maxByteLength: 2 ** 28 }); const v = new Uint8Array(b);
        for (let n = 1; n <= 200; n++) { b.resize(n * 1e6); v.fill(1, (n - 1) * 1e6); console.log(n); }
        return b.byteLength;";
    assert_ends(ErrorKind::Memory, roomy(), source, since_last_event);
}

#[test]
fn array_buffers_made_by_a_text_encoder_count_too() {
    let source = "const all = []; const text = 'x'.repeat(1_000_000);
        for (let n = 0; n < 2000; n++) { all.push(new TextEncoder().encode(text)); console.log(n); }
        return all.length;";
    assert_ends(ErrorKind::Memory, roomy(), source, since_last_event);
}

#[test]
fn array_buffers_that_are_let_go_do_not_add_up() {
    let pool = pool(roomy());
    let runtime = tokio::runtime::Runtime::new().expect("an event loop starts");
    let source = "let n = 0; for (; n < 200; n++) new Uint8Array(1_000_000).fill(1); return n;";
    let outcome = runtime.block_on(run_in(&pool, Arc::new(echo()), source));
    assert_eq!(result_of(&outcome), 200, "{outcome:?}");
}

#[test]
fn one_tool_call_too_many_ends_the_run() {
    let limits = Limits {
        calls: 3,
        ..roomy()
    };
    let source = "for (;;) await callTool('demo:echo', {});";
    assert_ends(ErrorKind::Calls, limits, source, since_last_event);
}

#[test]
fn one_search_too_many_ends_the_run() {
    let limits = Limits {
        calls: 3,
        ..roomy()
    };
    let source = "for (let n = 0; ; n++) { await searchTools('echo'); console.log(n); }";
    assert_ends(ErrorKind::Calls, limits, source, since_last_event);
}

#[test]
fn as_many_calls_as_the_limit_are_given() {
    let limits = Limits {
        calls: 3,
        ..roomy()
    };
    let pool = pool(roomy());
    let runtime = tokio::runtime::Runtime::new().expect("an event loop starts");
    let source = "for (let n = 0; n < 3; n++) await callTool('demo:echo', {}); return 'done';";
    let measured = runtime.block_on(measure(&pool, limits, Arc::new(echo()), source));
    assert_eq!(result_of(&measured.outcome), "done");
    assert_eq!(measured.outcome.calls.len(), 3);
}

#[test]
fn calls_beyond_the_concurrency_limit_wait_for_their_turn() {
    let now = Arc::new(AtomicUsize::new(0));
    let most = Arc::new(AtomicUsize::new(0));
    let seen = most.clone();
    let host = StaticHost::empty().with("demo:slow", "takes a while", move |args| {
        let (now, most) = (now.clone(), most.clone());
        async move {
            let running = now.fetch_add(1, Ordering::SeqCst) + 1;
            most.fetch_max(running, Ordering::SeqCst);
            tokio::time::sleep(Duration::from_millis(30)).await;
            now.fetch_sub(1, Ordering::SeqCst);
            Ok(args)
        }
    });
    let limits = Limits {
        concurrent_calls: 2,
        ..roomy()
    };
    let pool = pool(roomy());
    let runtime = tokio::runtime::Runtime::new().expect("an event loop starts");
    let source =
        "const all = await Promise.all([1, 2, 3, 4, 5, 6].map((n) => tools.demo.slow({ n })));
        return all.map((one) => one.n);";
    let measured = runtime.block_on(measure(&pool, limits, Arc::new(host), source));
    assert_eq!(result_of(&measured.outcome), json!([1, 2, 3, 4, 5, 6]));
    assert_eq!(seen.load(Ordering::SeqCst), 2);
}

#[test]
fn a_slow_tool_fails_alone_and_the_run_goes_on() {
    let host = echo().with("demo:never", "never answers", |_| std::future::pending());
    let limits = Limits {
        tool_ms: 100,
        ..roomy()
    };
    let pool = pool(roomy());
    let runtime = tokio::runtime::Runtime::new().expect("an event loop starts");
    let source = "const { error } = await callTool('demo:never', {});
        const { success } = await callTool('demo:echo', {});
        return [error.kind, error.retryable, success];";
    let measured = runtime.block_on(measure(&pool, limits, Arc::new(host), source));
    assert_eq!(
        result_of(&measured.outcome),
        json!(["timeout", true, true]),
        "{:?}",
        measured.outcome
    );
}

#[test]
fn a_result_over_the_output_limit_is_refused_with_its_size() {
    let limits = Limits {
        output_chars: 1_000,
        ..roomy()
    };
    let pool = pool(roomy());
    let runtime = tokio::runtime::Runtime::new().expect("an event loop starts");
    let source = "'x'.repeat(999)";
    let measured = runtime.block_on(measure(&pool, limits, Arc::new(echo()), source));
    assert_eq!(kind_of(&measured.outcome), Some(ErrorKind::Output));
    assert_eq!(
        measured.outcome.truncated.map(|truncated| truncated.bytes),
        Some(1_001)
    );
    assert!(measured.outcome.result.is_none());
}

#[test]
fn a_result_of_exactly_the_output_limit_is_given() {
    let limits = Limits {
        output_chars: 1_000,
        ..roomy()
    };
    let pool = pool(roomy());
    let runtime = tokio::runtime::Runtime::new().expect("an event loop starts");
    // The limit counts characters: each of these has three bytes.
    let source = "'\\u20ac'.repeat(998)";
    let measured = runtime.block_on(measure(&pool, limits, Arc::new(echo()), source));
    assert!(measured.outcome.ok, "{:?}", measured.outcome.error);
}

#[test]
fn a_result_too_large_to_be_built_ends_the_run() {
    let source = "console.log('now'); return new Array(1_000_000).fill('0123456789'.repeat(10));";
    assert_ends(ErrorKind::Output, roomy(), source, since_last_event);
}

#[test]
fn a_result_nested_too_deeply_ends_the_run() {
    let source = "let deep = 1; for (let n = 0; n < 101; n++) deep = [deep]; console.log('now'); return deep;";
    assert_ends(ErrorKind::Output, roomy(), source, since_last_event);
}

#[test]
fn logging_more_than_the_limit_ends_the_run() {
    let limits = Limits {
        log_bytes: 10_000,
        ..roomy()
    };
    let source = "for (;;) console.log('0123456789');";
    assert_ends(ErrorKind::Output, limits, source, since_last_event);
}

#[test]
fn what_was_logged_before_the_limit_is_kept() {
    let limits = Limits {
        log_bytes: 1_000,
        ..roomy()
    };
    let pool = pool(roomy());
    let runtime = tokio::runtime::Runtime::new().expect("an event loop starts");
    let source = "console.log('first'); for (;;) console.log('0123456789');";
    let measured = runtime.block_on(measure(&pool, limits, Arc::new(echo()), source));
    let logs = &measured.outcome.logs;
    assert_eq!(logs.first().map(|line| line.text.as_str()), Some("first"));
    let cost = |line: &LogLine| line.text.len() as u64 + LOG_LINE_COST;
    let kept: u64 = logs.iter().map(cost).sum();
    assert!((900..=1_000).contains(&kept), "{kept} bytes were kept");
}

#[test]
fn a_script_over_the_source_limit_is_refused_before_it_runs() {
    let limits = Limits {
        source_bytes: 1_000,
        ..roomy()
    };
    let pool = pool(roomy());
    let runtime = tokio::runtime::Runtime::new().expect("an event loop starts");
    let source = format!("console.log('ran'); // {}", "x".repeat(1_000));
    let measured = runtime.block_on(measure(&pool, limits, Arc::new(echo()), &source));
    assert_eq!(kind_of(&measured.outcome), Some(ErrorKind::Syntax));
    assert!(measured.outcome.logs.is_empty());
}

#[test]
fn an_abandoned_run_does_not_delay_the_next() {
    let pool = pool(roomy());
    let runtime = tokio::runtime::Runtime::new().expect("an event loop starts");
    runtime.block_on(async {
        for _ in 0..3 {
            let abandoned = run_in(&pool, Arc::new(echo()), "for (;;);");
            let ended = tokio::time::timeout(Duration::from_millis(50), abandoned).await;
            assert!(ended.is_err(), "the loop ended by itself");
        }
        let outcome = run_in(&pool, Arc::new(echo()), "6 * 7").await;
        assert_eq!(result_of(&outcome), 42);
    });
}
