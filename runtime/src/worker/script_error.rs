//! Turns a failure of a script into a [`RunError`]: its kind, its position in the source, and its
//! stack.

use std::collections::BTreeMap;
use std::fmt::Write;

use deno_core::ModuleSpecifier;
use deno_core::error::{CoreError, CoreErrorKind};
use serde::Deserialize;

use pml_protocol::{ErrorKind, Hint, RunError};
use pml_script::{Rejection, RejectionKind};

/// A thrown value, as `js/55_errors.js` describes it.
#[derive(Deserialize)]
pub struct ThrownValue {
    kind: Option<ErrorKind>,
    message: String,
    /// The code of a [`Hint`]. A script can create a `ToolError` with any code.
    hint: Option<String>,
    stack: Option<String>,
    cause: Option<Box<ThrownValue>>,
    #[serde(default)]
    errors: BTreeMap<String, ThrownValue>,
}

impl ThrownValue {
    /// The message, with the name of the error's class.
    pub fn message(&self) -> &str {
        &self.message
    }
}

/// The error of a script with a syntax error, or with an import that is not allowed.
pub fn rejected(rejection: &Rejection) -> RunError {
    let kind = match rejection.kind {
        RejectionKind::Syntax => ErrorKind::Syntax,
        RejectionKind::Import => ErrorKind::Denied,
    };
    let error = RunError {
        line: Some(rejection.line),
        column: Some(rejection.column),
        ..RunError::new(kind, rejection.message.clone())
    };
    match rejection.kind {
        RejectionKind::Syntax => error,
        RejectionKind::Import => error.with_hint(Hint::UseToolsNotPackages),
    }
}

/// The error of code that V8 refused to compile.
pub fn unloadable(error: &CoreError, specifier: &ModuleSpecifier) -> RunError {
    let (message, position) = core_message(error, specifier);
    let message = match message.trim_start_matches("SyntaxError: ") {
        "RangeError: Maximum call stack size exceeded" => {
            "the script nests too deeply to be parsed"
        }
        message => message,
    };
    RunError {
        line: position.map(|(line, _)| line),
        column: position.map(|(_, column)| column),
        ..RunError::new(ErrorKind::Syntax, message)
    }
}

/// The error of a script whose promise was not settled when the event loop ended.
pub fn stalled(error: &CoreError) -> RunError {
    match error.as_kind() {
        CoreErrorKind::PendingPromiseResolution => RunError::new(
            ErrorKind::Runtime,
            "the script waits for a promise that nothing can settle any more",
        )
        .with_hint(Hint::SettleEveryPromise),
        other => RunError::new(ErrorKind::Runtime, other.to_string()),
    }
}

/// The message of an error of deno_core, and its line and column in the script.
fn core_message(error: &CoreError, specifier: &ModuleSpecifier) -> (String, Option<(u32, u32)>) {
    let CoreErrorKind::Js(js) = error.as_kind() else {
        return (error.to_string(), None);
    };
    let message = js
        .exception_message
        .trim_start_matches("Uncaught ")
        .trim_start_matches("(in promise) ");
    let position = js
        .frames
        .iter()
        .find(|frame| frame.file_name.as_deref() == Some(specifier.as_str()))
        .and_then(|frame| {
            let line = u32::try_from(frame.line_number?).ok()?;
            let column = u32::try_from(frame.column_number?).ok()?;
            Some((line, column))
        });
    (message.to_owned(), position)
}

/// The kind of an error. The description comes from inside the isolate, where the script can forge
/// it, so only kinds that say nothing about pml itself are accepted.
fn kind_of(thrown: &ThrownValue) -> ErrorKind {
    let claimed = thrown.kind.filter(|kind| {
        matches!(
            kind,
            ErrorKind::Tool
                | ErrorKind::Denied
                | ErrorKind::Calls
                | ErrorKind::Output
                | ErrorKind::Memory
        )
    });
    claimed.unwrap_or(ErrorKind::Runtime)
}

/// The error of a script that threw what a refused `import()` rejected with.
pub fn refused_import(thrown: &ThrownValue, specifier: &ModuleSpecifier, name: &str) -> RunError {
    let error = uncaught(thrown, specifier, name);
    RunError {
        kind: ErrorKind::Denied,
        ..error
    }
    .with_hint(Hint::UseToolsNotPackages)
}

/// The error of a script that threw.
pub fn uncaught(thrown: &ThrownValue, specifier: &ModuleSpecifier, name: &str) -> RunError {
    let position = thrown
        .stack
        .as_deref()
        .and_then(|stack| first_position(stack, specifier));
    let stack = full_stack(thrown, specifier, name);
    let kind = kind_of(thrown);
    let hint = thrown.hint.as_deref().and_then(Hint::from_code);
    let hint = hint.unwrap_or_else(|| hint_for_v8_error(kind, &thrown.message));
    let error = RunError {
        line: position.map(|(line, _)| line),
        column: position.map(|(_, column)| column),
        stack: (stack.lines().count() > thrown.message.lines().count()).then_some(stack),
        ..RunError::new(kind, thrown.message.clone())
    };
    error.with_hint(hint)
}

/// The hint for an error that V8 threw. V8's errors have no codes, so the message decides.
fn hint_for_v8_error(kind: ErrorKind, message: &str) -> Hint {
    if kind != ErrorKind::Runtime {
        return Hint::for_run(kind);
    }
    if message.starts_with("TypeError: tools") && message.ends_with(" is not a function") {
        return Hint::CallTools;
    }
    message
        .strip_prefix("ReferenceError: ")
        .and_then(|rest| rest.strip_suffix(" is not defined"))
        .map_or(Hint::None, Hint::for_undefined_name)
}

/// The stack of an error, of the errors in it (`AggregateError`), and of its cause.
fn full_stack(thrown: &ThrownValue, specifier: &ModuleSpecifier, name: &str) -> String {
    let mut text = thrown.message.clone();
    for frame in frames(thrown) {
        // Writing to a string cannot fail.
        let _ = write!(text, "\n{}", frame.replace(specifier.as_str(), name));
    }
    for inner in thrown.errors.values() {
        let inner = full_stack(inner, specifier, name);
        let _ = write!(text, "\n    {}", inner.replace('\n', "\n    "));
    }
    if let Some(cause) = &thrown.cause {
        let _ = write!(text, "\nCaused by: {}", full_stack(cause, specifier, name));
    }
    text
}

/// The frames of a stack, which follow the message. The message may have many lines.
fn frames(thrown: &ThrownValue) -> impl Iterator<Item = &str> {
    let stack = thrown.stack.as_deref().unwrap_or_default();
    stack
        .strip_prefix(thrown.message.as_str())
        .unwrap_or(stack)
        .lines()
        .filter(|line| line.starts_with("    at "))
}

/// The line and column of the first frame in the script: `…file:///script.ts:3:7…`.
fn first_position(stack: &str, specifier: &ModuleSpecifier) -> Option<(u32, u32)> {
    stack
        .lines()
        .filter(|line| line.starts_with("    at "))
        .find_map(|line| {
            let after = line.rsplit_once(specifier.as_str())?.1;
            let mut numbers = after.strip_prefix(':')?.trim_end_matches(')').split(':');
            let line = numbers.next()?.parse().ok()?;
            let column = numbers.next()?.parse().ok()?;
            Some((line, column))
        })
}
