//! Compiles the translated script in V8, calls it, and reads its result.

use std::future::poll_fn;
use std::task::Poll;

use deno_core::error::{CoreError, CoreErrorKind, JsError};
use deno_core::v8::script_compiler::{self, CompileOptions, NoCacheReason};
use deno_core::{ModuleId, ModuleSpecifier, PollEventLoopOptions, v8};
use deno_error::JsErrorBox;

use super::isolate::Isolate;
use pml_ops::SeededEntropy;
use pml_protocol::message::RunSpec;
use pml_protocol::{TestSpec, TimerMode, VirtualClock};
use pml_script::Goal;

/// UTF-16 units of a script that is compiled eagerly.
const SMALL: usize = 4 * 1024;

/// How a script completed, as `js/60_result.js` returns it.
pub struct Completion {
    /// The result as JSON text.
    pub result: Option<String>,
    /// The description of the error that it ended with, as JSON text.
    pub error: Option<String>,
}

/// Compiles the code and returns the function that it defines.
pub async fn function_of(
    isolate: &mut Isolate,
    specifier: &ModuleSpecifier,
    goal: Goal,
    code: String,
) -> Result<v8::Global<v8::Value>, CoreError> {
    match goal {
        Goal::Script => value_of(isolate, specifier, &code),
        Goal::Module => {
            let runtime = &mut isolate.runtime;
            let id = runtime.load_main_es_module_from_code(specifier, code);
            let id = id.await?;
            default_export(isolate, id).await
        }
    }
}

/// Runs the code as a classic script and returns its value.
fn value_of(
    isolate: &mut Isolate,
    specifier: &ModuleSpecifier,
    code: &str,
) -> Result<v8::Global<v8::Value>, CoreError> {
    deno_core::scope!(scope, &mut isolate.runtime);
    v8::tc_scope!(let scope, scope);
    let (Some(name), Some(code)) = (
        v8::String::new(scope, specifier.as_str()),
        v8::String::new(scope, code),
    ) else {
        // The size limit of scripts is far lower.
        let error = JsErrorBox::generic("the script is too long for V8");
        return Err(CoreErrorKind::JsBox(error).into_box());
    };
    let origin = v8::ScriptOrigin::new(
        scope,
        name.into(),
        0,
        0,
        false,
        0,
        None,
        false,
        false,
        false,
        None,
    );
    // V8 compiles functions lazily and then parses them a second time. For a small script, eager
    // compilation is faster than parsing twice.
    let options = match code.length() {
        ..=SMALL => CompileOptions::EagerCompile,
        _ => CompileOptions::NoCompileOptions,
    };
    let mut source = script_compiler::Source::new(code, Some(&origin));
    let script = script_compiler::compile(scope, &mut source, options, NoCacheReason::NoReason);
    let value = script.and_then(|script| script.run(scope));
    match value {
        Some(value) => Ok(v8::Global::new(scope, value)),
        None => {
            let thrown = scope.exception();
            Err(core_error(scope, thrown))
        }
    }
}

/// The function that a module exports as its default.
async fn default_export(
    isolate: &mut Isolate,
    id: ModuleId,
) -> Result<v8::Global<v8::Value>, CoreError> {
    let runtime = &mut isolate.runtime;
    // The module only defines a function: its evaluation ends at once and cannot fail.
    let evaluated = runtime.mod_evaluate(id);
    runtime
        .with_event_loop_promise(Box::pin(evaluated), PollEventLoopOptions::default())
        .await?;
    let exports = runtime.get_module_namespace(id)?;
    deno_core::scope!(scope, runtime);
    let exports = v8::Local::new(scope, exports);
    // The translation always makes a default export.
    let function = v8::String::new(scope, "default")
        .and_then(|name| exports.get(scope, name.into()))
        .unwrap_or_else(|| v8::undefined(scope).into());
    Ok(v8::Global::new(scope, function))
}

/// The global state of a run.
#[derive(Default)]
pub struct Globals<'a> {
    /// What the script sees as `args`.
    pub args: &'a [String],
    /// How many bytes it may log.
    pub log_bytes: u64,
    /// The virtual clock; `None` for the real one.
    pub clock: Option<(VirtualClock, TimerMode)>,
    /// The secret that `crypto` draws from.
    pub entropy: Option<[u8; 32]>,
    /// What becomes of `Temporal` with a virtual clock.
    pub temporal: Temporal,
}

/// What becomes of `Temporal` with a virtual clock. V8 creates it at its first use, which takes longer than
/// a short script.
#[derive(Clone, Copy, Default)]
pub enum Temporal {
    /// Nothing: no code reads its time.
    #[default]
    Leave,
    /// It gets the virtual clock.
    Replace,
    /// It is deleted: the script does not name it, and one that puts the name together gets no real time.
    Delete,
}

impl<'a> Globals<'a> {
    /// Those that a run asks for.
    pub fn of(spec: &'a RunSpec) -> Self {
        Self {
            args: &spec.args,
            log_bytes: spec.limits.log_bytes,
            clock: spec.clock.map(|clock| (clock, spec.timers)),
            entropy: spec.entropy,
            // The files that a test imports are not read yet.
            temporal: match spec.test.is_some() || spec.source.contains("Temporal") {
                true => Temporal::Replace,
                false => Temporal::Delete,
            },
        }
    }

    /// Those of a rehearsal: a virtual clock, whose first use is slow too.
    pub fn of_rehearsal() -> Self {
        let clock = VirtualClock {
            seed: 0,
            time_ms: 0,
        };
        Self {
            clock: Some((clock, TimerMode::Real)),
            ..Self::default()
        }
    }
}

/// Prepares the global state for a run that is not known yet. It takes time that [`begin`] then saves.
pub fn prepare(isolate: &mut Isolate) {
    let prepare = isolate.driver.prepare.clone();
    deno_core::scope!(scope, &mut isolate.runtime);
    let undefined = v8::undefined(scope).into();
    // It fails only in an isolate that is being terminated.
    let _ = v8::Local::new(scope, prepare).call(scope, undefined, &[]);
}

/// Prepares the global state for a run.
pub fn begin(isolate: &mut Isolate, globals: &Globals<'_>) {
    let Globals {
        args,
        log_bytes,
        clock,
        entropy,
        temporal,
    } = *globals;
    if let Some(secret) = entropy {
        let state = isolate.runtime.op_state();
        state.borrow_mut().put(SeededEntropy::new(secret));
    }
    let begin = isolate.driver.begin.clone();
    deno_core::scope!(scope, &mut isolate.runtime);
    let args: Vec<v8::Local<v8::Value>> = args
        .iter()
        .filter_map(|arg| v8::String::new(scope, arg))
        .map(Into::into)
        .collect();
    let args = v8::Array::new_with_elements(scope, &args).into();
    let mut parameters = vec![args, v8::Number::new(scope, log_bytes as f64).into()];
    if let Some((clock, timers)) = clock {
        parameters.push(v8::Number::new(scope, f64::from(clock.seed)).into());
        parameters.push(v8::Number::new(scope, clock.time_ms as f64).into());
        let (skip_until, slept) = match timers {
            TimerMode::Real => (0.0, 0.0),
            TimerMode::Skipped => (f64::INFINITY, 0.0),
            TimerMode::CatchUp { until_ms, slept_ms } => (until_ms as f64, slept_ms as f64),
        };
        parameters.push(v8::Number::new(scope, skip_until).into());
        parameters.push(v8::Number::new(scope, slept).into());
        parameters.push(v8::Boolean::new(scope, entropy.is_some()).into());
        parameters.push(match temporal {
            Temporal::Leave => v8::undefined(scope).into(),
            Temporal::Replace => v8::Boolean::new(scope, true).into(),
            Temporal::Delete => v8::Boolean::new(scope, false).into(),
        });
    }
    let undefined = v8::undefined(scope).into();
    // `begin` only stores its arguments; it fails only in an isolate that is being terminated.
    let _ = v8::Local::new(scope, begin).call(scope, undefined, &parameters);
}

/// Calls the function of a test file, and then the tests that it declared.
pub async fn run_tests(
    isolate: &mut Isolate,
    file: v8::Global<v8::Value>,
    test: &TestSpec,
) -> Result<Completion, CoreError> {
    let settings = {
        deno_core::scope!(scope, &mut isolate.runtime);
        let settings =
            v8::String::new(scope, test.settings.get()).unwrap_or_else(|| v8::String::empty(scope));
        let settings: v8::Local<v8::Value> = settings.into();
        v8::Global::new(scope, settings)
    };
    let run = isolate.driver.run_tests.clone();
    call_driver(isolate, &run, &[file, settings]).await
}

/// Calls the script's function.
pub async fn run(
    isolate: &mut Isolate,
    script: v8::Global<v8::Value>,
) -> Result<Completion, CoreError> {
    let run = isolate.driver.run.clone();
    call_driver(isolate, &run, &[script]).await
}

/// Calls `__pml.run` or `__pml.runTests`.
async fn call_driver(
    isolate: &mut Isolate,
    driver: &v8::Global<v8::Function>,
    arguments: &[v8::Global<v8::Value>],
) -> Result<Completion, CoreError> {
    let value = call(isolate, driver, arguments).await?;
    deno_core::scope!(scope, &mut isolate.runtime);
    let pair = v8::Local::new(scope, value);
    let pair = v8::Local::<v8::Array>::try_from(pair).ok();
    let item = |index| {
        let item = pair?.get_index(scope, index)?;
        item.is_string().then(|| item.to_rust_string_lossy(scope))
    };
    Ok(Completion {
        result: item(0),
        error: item(1),
    })
}

/// The description of an uncaught exception or unhandled rejection outside of the script's own
/// promise, if there is one.
pub async fn uncaught_error(isolate: &mut Isolate) -> Result<Option<String>, CoreError> {
    let leftover = isolate.driver.leftover.clone();
    let value = call(isolate, &leftover, &[]).await?;
    deno_core::scope!(scope, &mut isolate.runtime);
    let value = v8::Local::new(scope, value);
    Ok(value.is_string().then(|| value.to_rust_string_lossy(scope)))
}

/// Calls a driver function and waits for its promise. deno_core can do so too, but creates two
/// functions for every promise, which takes V8 as long as a small script.
async fn call(
    isolate: &mut Isolate,
    function: &v8::Global<v8::Function>,
    arguments: &[v8::Global<v8::Value>],
) -> Result<v8::Global<v8::Value>, CoreError> {
    let returned = {
        deno_core::scope!(scope, &mut isolate.runtime);
        v8::tc_scope!(let scope, scope);
        let arguments: Vec<v8::Local<v8::Value>> = arguments
            .iter()
            .map(|value| v8::Local::new(scope, value))
            .collect();
        let undefined = v8::undefined(scope).into();
        let function = v8::Local::new(scope, function);
        match function.call(scope, undefined, &arguments) {
            Some(returned) => v8::Global::new(scope, returned),
            None => {
                let thrown = scope.exception();
                return Err(core_error(scope, thrown));
            }
        }
    };
    poll_fn(|context| {
        if let Some(settled) = settled(isolate, &returned) {
            return Poll::Ready(settled);
        }
        let polled = isolate
            .runtime
            .poll_event_loop(context, PollEventLoopOptions::default());
        if let Poll::Ready(Err(error)) = polled {
            return Poll::Ready(Err(error));
        }
        // Promises are settled only by the event loop.
        match settled(isolate, &returned) {
            Some(settled) => Poll::Ready(settled),
            None => polled.map(|_| Err(CoreErrorKind::PendingPromiseResolution.into_box())),
        }
    })
    .await
}

/// The value that a promise was settled with, or a value that is not a promise. `None` while it is
/// pending.
fn settled(
    isolate: &mut Isolate,
    returned: &v8::Global<v8::Value>,
) -> Option<Result<v8::Global<v8::Value>, CoreError>> {
    deno_core::scope!(scope, &mut isolate.runtime);
    let returned = v8::Local::new(scope, returned);
    let Ok(promise) = v8::Local::<v8::Promise>::try_from(returned) else {
        return Some(Ok(v8::Global::new(scope, returned)));
    };
    match promise.state() {
        v8::PromiseState::Pending => None,
        v8::PromiseState::Fulfilled => {
            let value = promise.result(scope);
            Some(Ok(v8::Global::new(scope, value)))
        }
        v8::PromiseState::Rejected => {
            let thrown = promise.result(scope);
            Some(Err(core_error(scope, Some(thrown))))
        }
    }
}

/// The error of a thrown value. Where V8 was terminated there is none, and the verdict of the run
/// says why.
fn core_error<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    thrown: Option<v8::Local<'s, v8::Value>>,
) -> CoreError {
    match thrown {
        Some(thrown) if !scope.is_execution_terminating() => {
            CoreErrorKind::Js(JsError::from_v8_exception(scope, thrown)).into_box()
        }
        _ => CoreErrorKind::PendingPromiseResolution.into_box(),
    }
}
