//! The worker's side of one run, from the source of the script to the report.

use std::future::poll_fn;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use deno_core::error::CoreError;
use deno_core::{ModuleSpecifier, PollEventLoopOptions, v8};
use serde_json::value::RawValue;

use super::connection::Connection;
use super::control::Control;
use super::coverage::Coverage;
use super::evaluate::{self, Globals};
use super::isolate::Isolate;
use super::loader::Loaded;
use super::os;
use super::script_error::{self, ThrownValue};
use crate::resource_usage::{own_cpu_time, own_peak_rss_bytes};
use pml_protocol::message::{FromWorker, Report, Returned, RunSpec, ToWorker};
use pml_protocol::{ErrorKind, Hint, PrefetchPlan, RunError, Stats, millis};
use pml_script::{Form, transpile, transpile_and_prefetch, transpile_as};

/// Characters of a script's name that its specifier keeps.
const MAX_NAME: usize = 100;
/// Uses what most scripts use.
const REHEARSAL: &str = r#"
interface Item { id: number; name?: string }
const items: Item[] = [{ id: 1, name: "one" }, { id: 2 }];
const names = await Promise.all(items.map(async (item) => item.name ?? `#${item.id}`));
return { names: names.filter((name) => name.length > 1), list: [1, "one", null] };
"#;
/// How long a result waits for tool calls that the script did not await.
const UNAWAITED_CALLS_LIMIT: Duration = Duration::from_secs(2);
/// The part of the time limit that is kept for the report.
const REPORT_TIME: Duration = Duration::from_millis(100);
/// Above this size, the parser's free memory is returned to the system.
const LARGE_SOURCE: usize = 64 * 1024;

/// Runs a script under the limits of its spec.
pub async fn run(
    isolate: &mut Isolate,
    spec: RunSpec,
    control: &Arc<Control>,
    connection: &Rc<Connection>,
) -> Report {
    let started = Instant::now();
    let cpu_at_start = own_cpu_time();
    control.begin(&spec.limits);
    let overflow = control.clone();
    let log_limit = spec.limits.log_bytes;
    connection.allow_logs(log_limit, move || {
        let message = format!("the script logged more than {log_limit} bytes");
        overflow.trip(RunError::new(ErrorKind::Output, message).with_hint(Hint::LogLess));
    });

    let result = tokio::select! {
        biased;
        () = control.tripped() => Err(RunError::new(ErrorKind::Internal, "stopped")),
        result = run_script(isolate, &spec, connection) => result,
        // Delivers answers to the script; ends only when the broker is gone.
        () = listen(connection, control) => {
            Err(RunError::new(ErrorKind::Internal, "the broker is gone"))
        }
    };
    // A terminated script fails with arbitrary errors; the verdict is the cause.
    let result = match control.verdict() {
        Some(verdict) => Err(verdict),
        None => result,
    };
    Report {
        result,
        stats: Stats {
            wall_ms: millis(started.elapsed()),
            cpu_ms: millis(own_cpu_time().saturating_sub(cpu_at_start)),
            heap_bytes: heap_bytes(isolate),
            peak_rss_bytes: own_peak_rss_bytes(),
            speculation: None,
        },
    }
}

fn heap_bytes(isolate: &mut Isolate) -> u64 {
    let heap = isolate.runtime.v8_isolate().get_heap_statistics();
    heap.used_heap_size() as u64
}

/// Reads messages until the broker is gone.
async fn listen(connection: &Connection, control: &Control) {
    while let Some(message) = connection.receive().await {
        if let ToWorker::Clock { stopped } = message {
            control.stop_clock(stopped);
        }
    }
}

async fn run_script(
    isolate: &mut Isolate,
    spec: &RunSpec,
    connection: &Rc<Connection>,
) -> Result<Returned, RunError> {
    let started = Instant::now();
    let specifier = match &spec.test {
        Some(test) => {
            isolate.loader.allow_files(connection.clone());
            specifier_of_path(&test.path)?
        }
        None => specifier(&spec.name)?,
    };
    let coverage = match &spec.test {
        Some(test) if test.coverage => Some(Coverage::begin(isolate)),
        _ => None,
    };
    let function = load(isolate, spec, &specifier, connection).await?;
    evaluate::begin(isolate, &Globals::of(spec));
    let stalled = |error: CoreError| script_error::stalled(&error);
    let completion = match &spec.test {
        Some(test) => evaluate::run_tests(isolate, function, test).await,
        None => evaluate::run(isolate, function).await,
    };
    let completion = match completion {
        Ok(completion) => completion,
        Err(error) => {
            // An uncaught error is the most frequent reason that nothing settles the promise.
            if let Ok(uncaught) = evaluate::uncaught_error(isolate).await {
                check(uncaught.as_deref(), &specifier, spec, isolate)?;
            }
            return Err(stalled(error));
        }
    };
    if let Some(coverage) = coverage {
        coverage.finish(isolate, connection).await;
    }
    check(completion.error.as_deref(), &specifier, spec, isolate)?;
    // A test awaits what it checks, so the end of a test file does not wait for anything else.
    let is_done = completion.result.is_some() || spec.test.is_some();
    let wall = Duration::from_millis(spec.limits.wall_ms);
    let grace = UNAWAITED_CALLS_LIMIT.min(wall.saturating_sub(started.elapsed() + REPORT_TIME));
    let uncaught = settle(isolate, connection, is_done.then_some(grace))
        .await
        .map_err(stalled)?;
    check(uncaught.as_deref(), &specifier, spec, isolate)?;
    let Some(result) = completion.result else {
        return Ok(Returned::Nothing);
    };
    RawValue::from_string(result)
        .map(Returned::Json)
        .map_err(|error| internal(format!("the result is not JSON: {error}")))
}

/// Runs a script without effects before the real one arrives: the first use of code and pages costs
/// most, and a warm worker has the time. Each rehearsal in a process needs a different name.
pub async fn rehearse(isolate: &mut Isolate, name: &str) {
    // A failure would also occur in the real run, and is reported there.
    let _ = try_to_rehearse(isolate, name).await;
}

async fn try_to_rehearse(isolate: &mut Isolate, name: &str) -> Option<()> {
    // The scheme keeps the specifier apart from those of scripts.
    let specifier = ModuleSpecifier::parse(&format!("pml:{name}")).ok()?;
    let script = transpile(name, REHEARSAL).ok()?;
    let function = evaluate::function_of(isolate, &specifier, script.goal, script.code);
    let function = function.await.ok()?;
    evaluate::begin(isolate, &Globals::of_rehearsal());
    evaluate::run(isolate, function).await.ok()?;
    evaluate::uncaught_error(isolate).await.ok()?;
    // Part of every report.
    heap_bytes(isolate);
    evaluate::prepare(isolate);
    Some(())
}

fn internal(message: impl Into<String>) -> RunError {
    RunError::new(ErrorKind::Internal, message)
}

/// Fails if there is a description of an error.
fn check(
    error: Option<&str>,
    specifier: &ModuleSpecifier,
    spec: &RunSpec,
    isolate: &Isolate,
) -> Result<(), RunError> {
    let Some(error) = error else { return Ok(()) };
    let thrown: ThrownValue = serde_json::from_str(error)
        .map_err(|error| internal(format!("the error of the script is not JSON: {error}")))?;
    Err(if isolate.loader.has_refused(thrown.message()) {
        script_error::refused_import(&thrown, specifier, &spec.name)
    } else {
        script_error::uncaught(&thrown, specifier, &spec.name)
    })
}

/// The script's specifier inside the isolate: its file name, without the folder.
fn specifier(name: &str) -> Result<ModuleSpecifier, RunError> {
    let mut specifier =
        ModuleSpecifier::parse("file:///").map_err(|error| internal(error.to_string()))?;
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    let path: String = name
        .chars()
        .map(|c| if plain(c) { c } else { '_' })
        .collect();
    let path: String = path.chars().take(MAX_NAME).collect();
    specifier.set_path(if path.is_empty() { "script.ts" } else { &path });
    Ok(specifier)
}

/// The specifier of a test file: its path, which its imports are relative to.
fn specifier_of_path(path: &str) -> Result<ModuleSpecifier, RunError> {
    let mut specifier =
        ModuleSpecifier::parse("file:///").map_err(|error| internal(error.to_string()))?;
    specifier.set_path(path);
    Ok(specifier)
}

/// Translates and compiles the script. Returns its function.
async fn load(
    isolate: &mut Isolate,
    spec: &RunSpec,
    specifier: &ModuleSpecifier,
    connection: &Connection,
) -> Result<v8::Global<v8::Value>, RunError> {
    let started = Instant::now();
    let form = match spec.test {
        Some(_) => Form::TestScript,
        None => Form::Script,
    };
    let translated = match spec.prefetch && form == Form::Script {
        true => transpile_and_prefetch(&spec.name, &spec.source, &spec.args),
        false => transpile_as(form, &spec.name, &spec.source)
            .map(|script| (script, PrefetchPlan::default())),
    };
    let (script, plan) = translated.map_err(|rejection| script_error::rejected(&rejection))?;
    let micros = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX);
    if spec.source.len() > LARGE_SOURCE {
        os::heap::release_free_pages();
    }
    connection.notify(&FromWorker::Parsed { micros, plan });
    isolate.loader.set_script(
        specifier.clone(),
        Loaded {
            code: script.code.clone(),
            mapping: script.mapping,
        },
    );
    evaluate::function_of(isolate, specifier, script.goal, script.code)
        .await
        .map_err(|error| script_error::unloadable(&error, specifier))
}

/// Runs the event loop to its end. A script with a result only waits for its unanswered tool calls,
/// for at most `grace`: a call that lost a race must not delay the result. A script without a result
/// is run for its effects, so everything is waited for, as in Deno. Returns the description of an
/// uncaught error.
async fn settle(
    isolate: &mut Isolate,
    connection: &Connection,
    grace: Option<Duration>,
) -> Result<Option<String>, CoreError> {
    let has_result = grace.is_some();
    let settled = poll_fn(|context| {
        let was_waiting = connection.is_waiting();
        let polled = isolate
            .runtime
            .poll_event_loop(context, PollEventLoopOptions::default());
        // The code behind an answer runs during a poll, and may send another request: the script is
        // done only after a poll that begins and ends without an open request.
        if polled.is_pending() && has_result && !connection.is_waiting() {
            if !was_waiting {
                return Poll::Ready(Ok(()));
            }
            context.waker().wake_by_ref();
        }
        polled
    });
    match grace {
        // The broker cancels the calls that are unanswered by then, and logs a warning.
        Some(grace) => tokio::time::timeout(grace, settled)
            .await
            .unwrap_or(Ok(()))?,
        None => settled.await?,
    }
    evaluate::uncaught_error(isolate).await
}
