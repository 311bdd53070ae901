//! Puts a failure of a script into words: its kind, its place in the script as it was written,
//! and a stack without our own frames.

use std::fmt::Write;

use deno_core::ModuleSpecifier;
use deno_core::error::{CoreError, CoreErrorKind, JsError, JsStackFrame};

use super::loader::REFUSED_IMPORT;
use super::transpile::{Rejection, RejectionKind};
use crate::outcome::{ErrorKind, RunError};

const MAX_MESSAGE: usize = 4_000;
const MAX_FRAMES: usize = 20;
/// Causes, and errors gathered in one.
const MAX_INNER: usize = 4;

/// A script that is not TypeScript, or asks for a module it may not have.
pub fn rejected(rejection: &Rejection) -> RunError {
    let kind = match rejection.kind {
        RejectionKind::Syntax => ErrorKind::Syntax,
        RejectionKind::Import => ErrorKind::Denied,
    };
    RunError {
        line: Some(rejection.line),
        column: Some(rejection.column),
        ..RunError::new(kind, shorten(&rejection.message))
    }
}

/// A module that V8 refused before running any of it.
pub fn unloadable(error: &CoreError, specifier: &ModuleSpecifier, name: &str) -> RunError {
    let described = describe(error, specifier, name);
    match described.kind {
        ErrorKind::Runtime => RunError {
            kind: ErrorKind::Syntax,
            message: described
                .message
                .trim_start_matches("SyntaxError: ")
                .to_owned(),
            ..described
        },
        _ => described,
    }
}

/// A script that failed while it ran.
pub fn describe(error: &CoreError, specifier: &ModuleSpecifier, name: &str) -> RunError {
    match error.as_kind() {
        CoreErrorKind::Js(js) => thrown(js, specifier, name),
        CoreErrorKind::PendingPromiseResolution => RunError::new(
            ErrorKind::Runtime,
            "the script waits for a promise that nothing can settle any more",
        ),
        other => {
            let message = other.to_string();
            let kind = if message.contains(REFUSED_IMPORT) {
                ErrorKind::Denied
            } else {
                ErrorKind::Runtime
            };
            RunError::new(kind, shorten(&message))
        }
    }
}

fn thrown(js: &JsError, specifier: &ModuleSpecifier, name: &str) -> RunError {
    let message = spoken(js);
    let own = own_frames(js, specifier);
    let place = own.first();
    RunError {
        line: place.and_then(|frame| positive(frame.line_number)),
        column: place.and_then(|frame| positive(frame.column_number)),
        stack: (!own.is_empty() || js.cause.is_some() || js.aggregated.is_some())
            .then(|| full_stack(js, specifier, name)),
        ..RunError::new(kind(js, message), shorten(message))
    }
}

/// What the error says, without V8's preface.
fn spoken(js: &JsError) -> &str {
    js.exception_message
        .trim_start_matches("Uncaught ")
        .trim_start_matches("(in promise) ")
        .trim_start_matches("ThrownValue: ")
}

fn own_frames<'a>(js: &'a JsError, specifier: &ModuleSpecifier) -> Vec<&'a JsStackFrame> {
    js.frames
        .iter()
        .filter(|frame| frame.file_name.as_deref() == Some(specifier.as_str()))
        .collect()
}

/// The stack of an error, of what caused it, and of the errors it gathers.
fn full_stack(js: &JsError, specifier: &ModuleSpecifier, name: &str) -> String {
    let mut text = stack(spoken(js), &own_frames(js, specifier), name);
    for inner in js.aggregated.iter().flatten().take(MAX_INNER) {
        let inner = stack(spoken(inner), &own_frames(inner, specifier), name);
        // Writing to a string cannot fail.
        let _ = write!(text, "\n    {}", inner.replace('\n', "\n    "));
    }
    let causes = std::iter::successors(js.cause.as_deref(), |cause| cause.cause.as_deref());
    for cause in causes.take(MAX_INNER) {
        let cause = stack(spoken(cause), &own_frames(cause, specifier), name);
        let _ = write!(text, "\nCaused by: {cause}");
    }
    text
}

fn kind(js: &JsError, message: &str) -> ErrorKind {
    match js.name.as_deref() {
        Some("ToolError") => ErrorKind::Tool,
        Some("ResultTooLarge" | "ResultTooDeep") => ErrorKind::Output,
        Some("EvalError") if message.contains("Code generation from strings") => ErrorKind::Denied,
        Some("RangeError")
            if message.contains("Array buffer allocation failed")
                || message.ends_with("Out of memory") =>
        {
            ErrorKind::Memory
        }
        Some("TypeError") if message.contains(REFUSED_IMPORT) => ErrorKind::Denied,
        _ => ErrorKind::Runtime,
    }
}

fn positive(number: Option<i64>) -> Option<u32> {
    number
        .and_then(|number| u32::try_from(number).ok())
        .filter(|number| *number > 0)
}

fn stack(message: &str, frames: &[&JsStackFrame], name: &str) -> String {
    let mut stack = shorten(message);
    for frame in frames.iter().take(MAX_FRAMES) {
        let line = positive(frame.line_number).unwrap_or(0);
        let column = positive(frame.column_number).unwrap_or(0);
        let asynchronous = if frame.is_async { "async " } else { "" };
        // Writing to a string cannot fail.
        let _ = match function_name(frame) {
            Some(function) => write!(
                stack,
                "\n    at {asynchronous}{function} ({name}:{line}:{column})"
            ),
            None => write!(stack, "\n    at {asynchronous}{name}:{line}:{column}"),
        };
    }
    if frames.len() > MAX_FRAMES {
        let _ = write!(stack, "\n    ... {} more", frames.len() - MAX_FRAMES);
    }
    stack
}

fn function_name(frame: &JsStackFrame) -> Option<String> {
    let function = frame
        .function_name
        .as_deref()
        .filter(|name| !name.is_empty())?;
    Some(match frame.type_name.as_deref() {
        Some(owner)
            if !matches!(owner, "Object" | "Module" | "global") && !function.contains('.') =>
        {
            format!("{owner}.{function}")
        }
        _ => function.to_owned(),
    })
}

fn shorten(message: &str) -> String {
    match message.char_indices().nth(MAX_MESSAGE) {
        Some((end, _)) => format!("{}…", &message[..end]),
        None => message.to_owned(),
    }
}
