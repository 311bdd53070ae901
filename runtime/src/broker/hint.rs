//! One sentence that helps whoever wrote the script, most often a model, to mend it.

use crate::outcome::{ErrorKind, RunError};

pub fn hint(error: &RunError) -> Option<&'static str> {
    let says = |text: &str| error.message.contains(text);
    Some(match error.kind {
        ErrorKind::Denied if says("import") => {
            "Use searchTools to find a tool that does this, and callTool to call it; there are no packages."
        }
        ErrorKind::Denied if says("Code generation from strings") => {
            "Write the code out instead of building it from strings; eval and new Function are off."
        }
        ErrorKind::Runtime => return runtime_hint(error),
        ErrorKind::Timeout => {
            "Run independent calls at once with Promise.all, do less, or ask for a longer time limit."
        }
        ErrorKind::Cpu => "Look for a loop that never ends, or let a tool do the heavy work.",
        ErrorKind::Memory => "Work on the data piece by piece and keep only what you need of each.",
        ErrorKind::Calls => {
            "Search once, filter in the script, and call only what you need; the limit counts every call of the run."
        }
        ErrorKind::Output if says("logged") => "Log less; return what matters as the result.",
        ErrorKind::Output => "Filter or summarise before you return: counts, names, the first few.",
        ErrorKind::Tool if says("there is no tool") => {
            "Take ids from searchTools instead of guessing them."
        }
        ErrorKind::Tool if says("do not fit its schema") => {
            "Mend the arguments; describeTool(id) shows what they must be."
        }
        ErrorKind::Tool if says("there is no server") => return None,
        ErrorKind::Tool => {
            "Catch the ToolError, or use callTool, which answers { success, error } instead of throwing."
        }
        ErrorKind::Syntax | ErrorKind::Type | ErrorKind::Denied | ErrorKind::Internal => {
            return None;
        }
    })
}

/// Names that exist elsewhere and not here, and what to use instead.
fn runtime_hint(error: &RunError) -> Option<&'static str> {
    if error.message.contains("nothing can settle") {
        return Some(
            "Make sure that every promise you await is resolved or rejected by something.",
        );
    }
    let is_no_tool = error.message.starts_with("TypeError: tools")
        && error.message.ends_with(" is not a function");
    if is_no_tool {
        return Some(
            "A tool is called as tools.server.tool(args) or callTool(\"server:tool\", args); searchTools finds them.",
        );
    }
    let name = error
        .message
        .strip_prefix("ReferenceError: ")?
        .strip_suffix(" is not defined")?;
    Some(match name {
        "fetch" | "XMLHttpRequest" | "WebSocket" => {
            "There is no network here: find a tool with searchTools and call it."
        }
        "require" | "module" | "exports" => {
            "There is no require: the API is global, and import { callTool } from \"pml\" works too."
        }
        "self" | "global" => "Use globalThis.",
        "Deno" | "process" | "Bun" | "window" | "document" => {
            "This is neither Deno, Node nor a browser: only the language itself and pml's tools are here."
        }
        "eval" | "WebAssembly" | "SharedArrayBuffer" => {
            "It is off in this sandbox; write plain TypeScript."
        }
        "Buffer" => "Use Uint8Array with TextEncoder and TextDecoder, or atob and btoa.",
        _ => "Check the spelling, or declare it first.",
    })
}
