//! Into V8 and back: compiling what a script has become, calling it, reading what it left.

use std::future::poll_fn;
use std::task::Poll;

use deno_core::error::{CoreError, CoreErrorKind, JsError};
use deno_core::v8::script_compiler::{self, CompileOptions, NoCacheReason};
use deno_core::{ModuleId, ModuleSpecifier, PollEventLoopOptions, v8};
use deno_error::JsErrorBox;

use super::isolate::Isolate;
use pml_protocol::{TestSpec, TimerMode, VirtualClock};
use pml_script::Goal;

/// Characters of a small script.
const SMALL: usize = 4 * 1024;

/// What a script leaves behind: JSON text, or the description of a failure.
pub struct Left {
    pub result: Option<String>,
    pub fault: Option<String>,
}

/// Compiles the code and gives the function that it defines.
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

/// Runs the code as a script and gives its value.
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
        // The limit for scripts is far below.
        let told = JsErrorBox::generic("the script is too long for V8");
        return Err(CoreErrorKind::JsBox(told).into_box());
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
    // V8 compiles functions when they are called, and reads them once more then. What is small is
    // compiled sooner than read twice.
    let how = match code.length() {
        ..=SMALL => CompileOptions::EagerCompile,
        _ => CompileOptions::NoCompileOptions,
    };
    let mut source = script_compiler::Source::new(code, Some(&origin));
    let script = script_compiler::compile(scope, &mut source, how, NoCacheReason::NoReason);
    let value = script.and_then(|script| script.run(scope));
    match value {
        Some(value) => Ok(v8::Global::new(scope, value)),
        None => {
            let thrown = scope.exception();
            Err(failure(scope, thrown))
        }
    }
}

/// The function that a module exports.
async fn default_export(
    isolate: &mut Isolate,
    id: ModuleId,
) -> Result<v8::Global<v8::Value>, CoreError> {
    let runtime = &mut isolate.runtime;
    // The module only defines a function: this ends at once, and cannot fail.
    let evaluated = runtime.mod_evaluate(id);
    runtime
        .with_event_loop_promise(Box::pin(evaluated), PollEventLoopOptions::default())
        .await?;
    let exports = runtime.get_module_namespace(id)?;
    deno_core::scope!(scope, runtime);
    let exports = v8::Local::new(scope, exports);
    // What the translation made has a default export.
    let function = v8::String::new(scope, "default")
        .and_then(|name| exports.get(scope, name.into()))
        .unwrap_or_else(|| v8::undefined(scope).into());
    Ok(v8::Global::new(scope, function))
}

pub fn begin(
    isolate: &mut Isolate,
    args: &[String],
    log_bytes: u64,
    clock: Option<(VirtualClock, TimerMode)>,
) {
    let begin = isolate.driver.begin.clone();
    deno_core::scope!(scope, &mut isolate.runtime);
    let words: Vec<v8::Local<v8::Value>> = args
        .iter()
        .filter_map(|arg| v8::String::new(scope, arg))
        .map(Into::into)
        .collect();
    let words = v8::Array::new_with_elements(scope, &words).into();
    let mut given = vec![words, v8::Number::new(scope, log_bytes as f64).into()];
    if let Some((clock, timers)) = clock {
        given.push(v8::Number::new(scope, f64::from(clock.seed)).into());
        given.push(v8::Number::new(scope, clock.time_ms as f64).into());
        given.push(v8::Boolean::new(scope, timers == TimerMode::Skipped).into());
    }
    let undefined = v8::undefined(scope).into();
    // `begin` copies strings; it can fail only in an isolate that is being terminated.
    let _ = v8::Local::new(scope, begin).call(scope, undefined, &given);
}

/// Calls the function of a file of tests, and then the tests it has named.
pub async fn run_tests(
    isolate: &mut Isolate,
    file: v8::Global<v8::Value>,
    test: &TestSpec,
) -> Result<Left, CoreError> {
    let settings = {
        deno_core::scope!(scope, &mut isolate.runtime);
        let settings =
            v8::String::new(scope, test.settings.get()).unwrap_or_else(|| v8::String::empty(scope));
        let settings: v8::Local<v8::Value> = settings.into();
        v8::Global::new(scope, settings)
    };
    let run = isolate.driver.run_tests.clone();
    what_is_left(isolate, &run, &[file, settings]).await
}

/// Calls the script's function.
pub async fn run(isolate: &mut Isolate, script: v8::Global<v8::Value>) -> Result<Left, CoreError> {
    let run = isolate.driver.run.clone();
    what_is_left(isolate, &run, &[script]).await
}

async fn what_is_left(
    isolate: &mut Isolate,
    driver: &v8::Global<v8::Function>,
    given: &[v8::Global<v8::Value>],
) -> Result<Left, CoreError> {
    let value = call(isolate, driver, given).await?;
    deno_core::scope!(scope, &mut isolate.runtime);
    let pair = v8::Local::new(scope, value);
    let pair = v8::Local::<v8::Array>::try_from(pair).ok();
    let item = |index| {
        let item = pair?.get_index(scope, index)?;
        item.is_string().then(|| item.to_rust_string_lossy(scope))
    };
    Ok(Left {
        result: item(0),
        fault: item(1),
    })
}

/// The description of a failure that nobody has heard of yet.
pub async fn leftover(isolate: &mut Isolate) -> Result<Option<String>, CoreError> {
    let leftover = isolate.driver.leftover.clone();
    let value = call(isolate, &leftover, &[]).await?;
    deno_core::scope!(scope, &mut isolate.runtime);
    let value = v8::Local::new(scope, value);
    Ok(value.is_string().then(|| value.to_rust_string_lossy(scope)))
}

/// Calls one of our functions and waits for what it promises. deno_core has this too, but makes two
/// functions for every promise, which takes V8 as long as a small script.
async fn call(
    isolate: &mut Isolate,
    function: &v8::Global<v8::Function>,
    given: &[v8::Global<v8::Value>],
) -> Result<v8::Global<v8::Value>, CoreError> {
    let returned = {
        deno_core::scope!(scope, &mut isolate.runtime);
        v8::tc_scope!(let scope, scope);
        let given: Vec<v8::Local<v8::Value>> = given
            .iter()
            .map(|value| v8::Local::new(scope, value))
            .collect();
        let undefined = v8::undefined(scope).into();
        let function = v8::Local::new(scope, function);
        match function.call(scope, undefined, &given) {
            Some(returned) => v8::Global::new(scope, returned),
            None => {
                let thrown = scope.exception();
                return Err(failure(scope, thrown));
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
        // Promises are settled in there and nowhere else.
        match settled(isolate, &returned) {
            Some(settled) => Poll::Ready(settled),
            None => polled.map(|_| Err(CoreErrorKind::PendingPromiseResolution.into_box())),
        }
    })
    .await
}

/// What a promise was settled with, or a value that is no promise.
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
            Some(Err(failure(scope, Some(thrown))))
        }
    }
}

/// What was thrown. Where V8 was told to stop it is not, and the verdict says why it was told.
fn failure<'s>(
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
