//! Puts a failure of a script into words: its kind, its place in the script as it was written,
//! and its stack.

use std::collections::BTreeMap;
use std::fmt::Write;

use deno_core::ModuleSpecifier;
use deno_core::error::{CoreError, CoreErrorKind};
use serde::Deserialize;

use super::transpile::{Rejection, RejectionKind};
use crate::outcome::{ErrorKind, RunError};

/// What `js/55_errors.js` says of a thrown value.
#[derive(Deserialize)]
pub struct Fault {
    kind: Option<ErrorKind>,
    message: String,
    stack: Option<String>,
    cause: Option<Box<Fault>>,
    #[serde(default)]
    errors: BTreeMap<String, Fault>,
}

/// A script that is not TypeScript, or asks for a module it may not have.
pub fn rejected(rejection: &Rejection) -> RunError {
    let kind = match rejection.kind {
        RejectionKind::Syntax => ErrorKind::Syntax,
        RejectionKind::Import => ErrorKind::Denied,
    };
    RunError {
        line: Some(rejection.line),
        column: Some(rejection.column),
        ..RunError::new(kind, rejection.message.clone())
    }
}

/// A module that V8 refused before it ran any of it.
pub fn unloadable(error: &CoreError, specifier: &ModuleSpecifier) -> RunError {
    let (message, place) = core_message(error, specifier);
    let message = match message.trim_start_matches("SyntaxError: ") {
        "RangeError: Maximum call stack size exceeded" => {
            "the script nests too deeply to be parsed"
        }
        message => message,
    };
    RunError {
        line: place.map(|(line, _)| line),
        column: place.map(|(_, column)| column),
        ..RunError::new(ErrorKind::Syntax, message)
    }
}

/// A script that the event loop gave up on.
pub fn stalled(error: &CoreError) -> RunError {
    match error.as_kind() {
        CoreErrorKind::PendingPromiseResolution => RunError::new(
            ErrorKind::Runtime,
            "the script waits for a promise that nothing can settle any more",
        ),
        other => RunError::new(ErrorKind::Runtime, other.to_string()),
    }
}

fn core_message(error: &CoreError, specifier: &ModuleSpecifier) -> (String, Option<(u32, u32)>) {
    let CoreErrorKind::Js(js) = error.as_kind() else {
        return (error.to_string(), None);
    };
    let message = js
        .exception_message
        .trim_start_matches("Uncaught ")
        .trim_start_matches("(in promise) ");
    let place = js
        .frames
        .iter()
        .find(|frame| frame.file_name.as_deref() == Some(specifier.as_str()))
        .and_then(|frame| {
            let line = u32::try_from(frame.line_number?).ok()?;
            let column = u32::try_from(frame.column_number?).ok()?;
            Some((line, column))
        });
    (message.to_owned(), place)
}

/// What the script's side can tell of an error. It is told from inside, next to the script, so
/// the kinds that say something of pml are not believed.
fn kind_of(fault: &Fault) -> ErrorKind {
    let told = fault.kind.filter(|kind| {
        matches!(
            kind,
            ErrorKind::Tool
                | ErrorKind::Denied
                | ErrorKind::Calls
                | ErrorKind::Output
                | ErrorKind::Memory
        )
    });
    told.unwrap_or(ErrorKind::Runtime)
}

/// A script that threw.
pub fn thrown(fault: &Fault, specifier: &ModuleSpecifier, name: &str) -> RunError {
    let place = fault
        .stack
        .as_deref()
        .and_then(|stack| first_place(stack, specifier));
    let stack = full_stack(fault, specifier, name);
    RunError {
        line: place.map(|(line, _)| line),
        column: place.map(|(_, column)| column),
        stack: (stack.lines().count() > fault.message.lines().count()).then_some(stack),
        ..RunError::new(kind_of(fault), fault.message.clone())
    }
}

/// The stack of an error, of what caused it, and of the errors it gathers.
fn full_stack(fault: &Fault, specifier: &ModuleSpecifier, name: &str) -> String {
    let mut text = fault.message.clone();
    for frame in frames(fault) {
        // Writing to a string cannot fail.
        let _ = write!(text, "\n{}", frame.replace(specifier.as_str(), name));
    }
    for gathered in fault.errors.values() {
        let gathered = full_stack(gathered, specifier, name);
        let _ = write!(text, "\n    {}", gathered.replace('\n', "\n    "));
    }
    if let Some(cause) = &fault.cause {
        let _ = write!(text, "\nCaused by: {}", full_stack(cause, specifier, name));
    }
    text
}

/// The frames of a stack. The message, which may have many lines, comes before them.
fn frames(fault: &Fault) -> impl Iterator<Item = &str> {
    let stack = fault.stack.as_deref().unwrap_or_default();
    stack
        .strip_prefix(fault.message.as_str())
        .unwrap_or(stack)
        .lines()
        .filter(|line| line.starts_with("    at "))
}

/// The line and column of the first frame in the script: `…file:///script.ts:3:7…`.
fn first_place(stack: &str, specifier: &ModuleSpecifier) -> Option<(u32, u32)> {
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
