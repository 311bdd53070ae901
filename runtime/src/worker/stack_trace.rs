//! Formats stack traces: the frames of the script alone, at their lines in the TypeScript source.
//!
//! V8 calls this when an error's `stack` is first read. Every property of the error may be a getter of
//! the script, so each is read in a scope that catches what it throws, and only the beginning of a
//! string is copied.

use std::fmt::Write;

use deno_core::{JsRuntime, SourceMapApplication, v8};

/// A limit that a script cannot raise, as it can `Error.stackTraceLimit`.
const MAX_FRAMES: u32 = 50;
/// The most UTF-16 units that are copied of a string.
const MAX_TEXT: usize = 4_000;

/// The callback for `Isolate::set_prepare_stack_trace_callback`.
pub fn prepare_stack_trace<'s, 'i>(
    scope: &mut v8::PinScope<'s, 'i>,
    error: v8::Local<'s, v8::Value>,
    frames: v8::Local<'s, v8::Array>,
) -> v8::Local<'s, v8::Value> {
    let mut stack = header(scope, error);
    for index in 0..frames.length().min(MAX_FRAMES) {
        let frame = frames
            .get_index(scope, index)
            .and_then(|frame| v8::Local::<v8::Object>::try_from(frame).ok())
            .and_then(|frame| describe(scope, frame));
        if let Some(frame) = frame {
            // Writing to a string cannot fail.
            let _ = write!(stack, "\n    at {frame}");
        }
    }
    match v8::String::new(scope, &stack) {
        Some(stack) => stack.into(),
        None => v8::String::empty(scope).into(),
    }
}

/// `Name: message`; a property that is not a string is left out.
fn header<'s>(scope: &mut v8::PinScope<'s, '_>, error: v8::Local<'s, v8::Value>) -> String {
    let Ok(error) = v8::Local::<v8::Object>::try_from(error) else {
        return String::new();
    };
    let name = property(scope, error, "name").unwrap_or_else(|| "Error".to_owned());
    let message = property(scope, error, "message").unwrap_or_default();
    match (name.is_empty(), message.is_empty()) {
        (false, false) => format!("{name}: {message}"),
        _ => name + &message,
    }
}

fn property<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    object: v8::Local<'s, v8::Object>,
    name: &str,
) -> Option<String> {
    v8::tc_scope!(let scope, scope);
    let key = v8::String::new(scope, name)?;
    let value = object.get(scope, key.into())?;
    let value = v8::Local::<v8::String>::try_from(value).ok()?;
    Some(beginning(scope, value))
}

/// The first [`MAX_TEXT`] units of a string.
fn beginning(scope: &v8::PinScope<'_, '_>, text: v8::Local<'_, v8::String>) -> String {
    let mut units = vec![0; text.length().min(MAX_TEXT)];
    text.write_v2(scope, 0, &mut units, v8::WriteFlags::empty());
    String::from_utf16_lossy(&units)
}

/// One frame as V8 formats it, with its position in the source. `None` for frames outside the
/// script.
fn describe<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    frame: v8::Local<'s, v8::Object>,
) -> Option<String> {
    let file = call(scope, frame, "getFileName")?;
    let file = v8::Local::<v8::String>::try_from(file).ok()?;
    let file = beginning(scope, file);
    if file.starts_with("ext:") || file.starts_with("node:") {
        return None;
    }
    let line = call(scope, frame, "getLineNumber")?.uint32_value(scope)?;
    let column = call(scope, frame, "getColumnNumber")?.uint32_value(scope)?;
    let text = call(scope, frame, "toString")?;
    let text = v8::Local::<v8::String>::try_from(text).ok()?;
    let text = beginning(scope, text);
    let (mapped_line, mapped_column) = original(scope, &file, line, column);
    Some(text.replace(
        &format!("{file}:{line}:{column}"),
        &format!("{file}:{mapped_line}:{mapped_column}"),
    ))
}

fn call<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    frame: v8::Local<'s, v8::Object>,
    method: &str,
) -> Option<v8::Local<'s, v8::Value>> {
    v8::tc_scope!(let scope, scope);
    let key = v8::String::new(scope, method)?;
    let function = frame.get(scope, key.into())?;
    let function = v8::Local::<v8::Function>::try_from(function).ok()?;
    function.call(scope, frame.into(), &[])
}

/// The position in the source of a position in generated code.
fn original(scope: &mut v8::PinScope<'_, '_>, file: &str, line: u32, column: u32) -> (u32, u32) {
    let state = JsRuntime::op_state_from(scope);
    let mapper = state
        .borrow()
        .try_borrow::<super::isolate::Mapper>()
        .cloned();
    let Some(mapper) = mapper else {
        return (line, column);
    };
    match mapper.borrow_mut().apply_source_map(file, line, column) {
        SourceMapApplication::Unchanged => (line, column),
        SourceMapApplication::LineAndColumn {
            line_number,
            column_number,
        }
        | SourceMapApplication::LineAndColumnAndFileName {
            line_number,
            column_number,
            ..
        } => (line_number, column_number),
    }
}
