//! One run, from the text of the script to the report.

use std::future::poll_fn;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use deno_core::error::CoreError;
use deno_core::{ModuleSpecifier, PollEventLoopOptions, v8};
use serde_json::value::RawValue;

use super::connection::Connection;
use super::control::{Control, own_peak_rss_bytes, process_cpu_time};
use super::coverage::Coverage;
use super::evaluate;
use super::fault::{self, Fault};
use super::isolate::Isolate;
use super::loader::Loaded;
use pml_protocol::message::{FromWorker, Report, Returned, RunSpec, ToWorker};
use pml_protocol::{ErrorKind, Hint, RunError, Stats, millis};
use pml_script::{Form, transpile, transpile_as};

/// Characters of a script's name that its address keeps.
const MAX_NAME: usize = 100;
/// A little of what most scripts do.
const REHEARSAL: &str = r#"
interface Item { id: number; name?: string }
const items: Item[] = [{ id: 1, name: "one" }, { id: 2 }];
const names = await Promise.all(items.map(async (item) => item.name ?? `#${item.id}`));
return { names: names.filter((name) => name.length > 1), list: [1, "one", null] };
"#;
/// How long a result waits for tool calls that nobody awaited.
const LEFTOVER_CALLS: Duration = Duration::from_secs(2);
/// What is left of the time limit then, to answer.
const TO_ANSWER: Duration = Duration::from_millis(100);
/// A script of this size leaves the parser's memory behind; it is given back at once.
const LARGE_SOURCE: usize = 64 * 1024;

pub async fn run(
    isolate: &mut Isolate,
    spec: RunSpec,
    control: &Arc<Control>,
    connection: &Rc<Connection>,
) -> Report {
    let started = Instant::now();
    let cpu_at_start = process_cpu_time();
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
        result = script(isolate, &spec, connection) => result,
        // Answers reach the script through this branch; it ends only when the broker is gone.
        () = listen(connection, control) => {
            Err(RunError::new(ErrorKind::Internal, "the broker is gone"))
        }
    };
    // A terminated script fails in odd ways; the verdict says why.
    let result = match control.verdict() {
        Some(verdict) => Err(verdict),
        None => result,
    };
    Report {
        result,
        stats: Stats {
            wall_ms: millis(started.elapsed()),
            cpu_ms: millis(process_cpu_time().saturating_sub(cpu_at_start)),
            heap_bytes: heap_bytes(isolate),
            peak_rss_bytes: own_peak_rss_bytes(),
        },
    }
}

fn heap_bytes(isolate: &mut Isolate) -> u64 {
    let heap = isolate.runtime.v8_isolate().get_heap_statistics();
    heap.used_heap_size() as u64
}

async fn listen(connection: &Connection, control: &Control) {
    while let Some(message) = connection.receive().await {
        if let ToWorker::Clock { stopped } = message {
            control.stop_clock(stopped);
        }
    }
}

async fn script(
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
    evaluate::begin(
        isolate,
        &spec.args,
        spec.limits.log_bytes,
        spec.clock.map(|clock| (clock, spec.timers)),
    );
    let stalled = |error: CoreError| fault::stalled(&error);
    let left = match &spec.test {
        Some(test) => evaluate::run_tests(isolate, function, test).await,
        None => evaluate::run(isolate, function).await,
    };
    let left = match left {
        Ok(left) => left,
        Err(error) => {
            // What nobody caught is most often why nothing settles the promise.
            if let Ok(fault) = evaluate::leftover(isolate).await {
                check(fault.as_deref(), &specifier, &spec.name)?;
            }
            return Err(stalled(error));
        }
    };
    if let Some(coverage) = coverage {
        coverage.finish(isolate, connection).await;
    }
    check(left.fault.as_deref(), &specifier, &spec.name)?;
    // Tests wait for what they are about; what they left behind holds up nobody.
    let is_done = left.result.is_some() || spec.test.is_some();
    let wall = Duration::from_millis(spec.limits.wall_ms);
    let patience = LEFTOVER_CALLS.min(wall.saturating_sub(started.elapsed() + TO_ANSWER));
    let later = settle(isolate, connection, is_done.then_some(patience))
        .await
        .map_err(stalled)?;
    check(later.as_deref(), &specifier, &spec.name)?;
    let Some(result) = left.result else {
        return Ok(Returned::Nothing);
    };
    RawValue::from_string(result)
        .map(Returned::Json)
        .map_err(|error| internal(format!("the result is no JSON: {error}")))
}

/// Runs a script of no consequence, before there is a real one: what is touched for the first time
/// costs most, and a warm worker has the time. Each rehearsal in a process has a name of its own.
pub async fn rehearse(isolate: &mut Isolate, name: &str) {
    // It cannot fail in a way that the script's own run would not show.
    let _ = try_to_rehearse(isolate, name).await;
}

async fn try_to_rehearse(isolate: &mut Isolate, name: &str) -> Option<()> {
    // No script has an address like this one.
    let specifier = ModuleSpecifier::parse(&format!("pml:{name}")).ok()?;
    let script = transpile(name, REHEARSAL).ok()?;
    let function = evaluate::function_of(isolate, &specifier, script.goal, script.code);
    let function = function.await.ok()?;
    evaluate::begin(isolate, &[], 0, None);
    evaluate::run(isolate, function).await.ok()?;
    evaluate::leftover(isolate).await.ok()?;
    // The report asks for it.
    heap_bytes(isolate);
    Some(())
}

fn internal(message: impl Into<String>) -> RunError {
    RunError::new(ErrorKind::Internal, message)
}

/// Fails if the script left the description of a failure.
fn check(fault: Option<&str>, specifier: &ModuleSpecifier, name: &str) -> Result<(), RunError> {
    let Some(fault) = fault else { return Ok(()) };
    let fault: Fault = serde_json::from_str(fault)
        .map_err(|error| internal(format!("the failure is no JSON: {error}")))?;
    Err(fault::thrown(&fault, specifier, name))
}

/// The script's address inside the isolate: its name and nothing of where it lies.
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

/// The same for a file of tests, whose imports count from where it lies.
fn specifier_of_path(path: &str) -> Result<ModuleSpecifier, RunError> {
    let mut specifier =
        ModuleSpecifier::parse("file:///").map_err(|error| internal(error.to_string()))?;
    specifier.set_path(path);
    Ok(specifier)
}

/// Translates the script and gives the function that it has become.
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
    let script = transpile_as(form, &spec.name, &spec.source)
        .map_err(|rejection| fault::rejected(&rejection))?;
    let micros = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX);
    if spec.source.len() > LARGE_SOURCE {
        // SAFETY: gives free pages back to the system; touches nothing in use.
        unsafe { libc::malloc_trim(0) };
    }
    connection.tell(&FromWorker::Parsed { micros });
    isolate.loader.set_script(
        specifier.clone(),
        Loaded {
            code: script.code.clone(),
            mapping: script.mapping,
        },
    );
    evaluate::function_of(isolate, specifier, script.goal, script.code)
        .await
        .map_err(|error| fault::unloadable(&error, specifier))
}

/// Lets the script come to its end. With a result only its unfinished tool calls are waited for,
/// for as long as `patience`: what is left over from a race must not hold up the answer. Without
/// one, the script's work is all it is about, so everything is waited for, as Deno does. Gives the
/// description of a failure that happened behind the result.
async fn settle(
    isolate: &mut Isolate,
    connection: &Connection,
    patience: Option<Duration>,
) -> Result<Option<String>, CoreError> {
    let has_result = patience.is_some();
    let settled = poll_fn(|context| {
        let waited = connection.is_waiting();
        let polled = isolate
            .runtime
            .poll_event_loop(context, PollEventLoopOptions::default());
        // What follows an answer runs during a poll, and may ask again: only a poll that begins
        // and ends with nothing asked is the end.
        if polled.is_pending() && has_result && !connection.is_waiting() {
            if !waited {
                return Poll::Ready(Ok(()));
            }
            context.waker().wake_by_ref();
        }
        polled
    });
    match patience {
        // What was not answered by then is cancelled, and the broker tells so.
        Some(patience) => tokio::time::timeout(patience, settled)
            .await
            .unwrap_or(Ok(()))?,
        None => settled.await?,
    }
    evaluate::leftover(isolate).await
}
