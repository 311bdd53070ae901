//! What the author of a script, most often a model, can do about an error.
//!
//! The place that makes an error may pick the hint; otherwise it is the default of the request and
//! the kind. The hint travels with the error: from a layer through the worker and back in
//! [`crate::RunError`].

use serde::{Deserialize, Serialize};

use crate::failure::FailureKind;
use crate::outcome::ErrorKind;
use crate::request::Request;

/// One sentence of advice. [`Hint::text`] is what the author reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Hint {
    /// The message already says what to do.
    None,
    /// An id was guessed.
    SearchForTools,
    /// The arguments do not fit.
    DescribeTheTool,
    /// A tool failed and the script did not catch it.
    CatchTheError,
    /// A package was imported.
    UseToolsNotPackages,
    /// `eval` or `new Function`.
    NoCodeFromStrings,
    /// The time limit.
    RunCallsAtOnce,
    /// The CPU limit.
    LookForAnEndlessLoop,
    /// The memory limit.
    WorkPieceByPiece,
    /// The limit of calls.
    CallLess,
    /// The limit of the log.
    LogLess,
    /// The limit of the result.
    ReturnLess,
    /// A guard blocked the call or withholds its answer.
    CorrectTheCall,
    /// A promise that never settles.
    SettleEveryPromise,
    /// `tools.x` was called, or a tool without a server.
    CallTools,
    /// `fetch` and its relatives.
    NoNetwork,
    /// `require` and its relatives.
    NoRequire,
    /// `self` or `global`.
    UseGlobalThis,
    /// `Deno`, `process`, `window` and their relatives.
    NoOtherPlatform,
    /// `WebAssembly` and others that are switched off.
    SwitchedOff,
    /// `Buffer`.
    UseTypedArrays,
    /// A name that is not defined.
    CheckTheSpelling,
}

impl Hint {
    /// The hint with this serialized name.
    pub fn from_code(code: &str) -> Option<Self> {
        serde_json::from_value(code.into()).ok()
    }

    /// The sentence, if there is anything to say.
    pub fn text(self) -> Option<&'static str> {
        Some(match self {
            Self::None => return None,
            Self::SearchForTools => "Take ids from searchTools instead of guessing them.",
            Self::DescribeTheTool => {
                "Correct the arguments; describeTool(id) shows what they must be."
            }
            Self::CatchTheError => {
                "Catch the ToolError, or use callTool, which answers { success, error } instead of throwing."
            }
            Self::UseToolsNotPackages => {
                "Use searchTools to find a tool that does this, and callTool to call it; there are no packages."
            }
            Self::NoCodeFromStrings => {
                "Write the code out instead of building it from strings; eval and new Function are off."
            }
            Self::RunCallsAtOnce => {
                "Run independent calls at once with Promise.all, do less, or ask for a longer time limit."
            }
            Self::LookForAnEndlessLoop => {
                "Look for a loop that never ends, or let a tool do the heavy work."
            }
            Self::WorkPieceByPiece => {
                "Work on the data piece by piece and keep only what you need of each."
            }
            Self::CallLess => {
                "Search once, filter in the script, and call only what you need; the limit counts every call of the run."
            }
            Self::LogLess => "Log less; return what matters as the result.",
            Self::ReturnLess => {
                "Filter or summarise before you return: counts, names, the first few."
            }
            Self::CorrectTheCall => {
                "Correct what the guard names, or do without the call: the same guards look at every way to a tool."
            }
            Self::SettleEveryPromise => {
                "Make sure that every promise you await is resolved or rejected by something."
            }
            Self::CallTools => {
                "A tool is called as tools.server.tool(args) or callTool(\"server:tool\", args); searchTools finds them."
            }
            Self::NoNetwork => {
                "There is no network here: find a tool with searchTools and call it."
            }
            Self::NoRequire => {
                "There is no require: the API is global, and import { callTool } from \"pml\" works too."
            }
            Self::UseGlobalThis => "Use globalThis.",
            Self::NoOtherPlatform => {
                "This is neither Deno, Node nor a browser: only the language itself and pml's tools are here."
            }
            Self::SwitchedOff => "It is off in this sandbox; write plain TypeScript.",
            Self::UseTypedArrays => {
                "Use Uint8Array with TextEncoder and TextDecoder, or atob and btoa."
            }
            Self::CheckTheSpelling => "Check the spelling, or declare it first.",
        })
    }

    /// The hint of a run that ended with an error of this kind, unless the place that made the error
    /// knows a better one.
    pub fn for_run(kind: ErrorKind) -> Self {
        match kind {
            ErrorKind::Timeout => Self::RunCallsAtOnce,
            ErrorKind::Cpu => Self::LookForAnEndlessLoop,
            ErrorKind::Memory => Self::WorkPieceByPiece,
            ErrorKind::Calls => Self::CallLess,
            ErrorKind::Output => Self::ReturnLess,
            ErrorKind::Tool => Self::CatchTheError,
            ErrorKind::Syntax
            | ErrorKind::Type
            | ErrorKind::Runtime
            | ErrorKind::Denied
            | ErrorKind::Waiting
            | ErrorKind::Unknown
            | ErrorKind::Cancelled
            | ErrorKind::Internal => Self::None,
        }
    }

    /// The hint of a request that failed, unless the failure carries its own.
    pub fn for_failure(request: &Request, kind: FailureKind) -> Self {
        match (request, kind) {
            (Request::Call { .. } | Request::Describe { .. }, FailureKind::Unknown) => {
                Self::SearchForTools
            }
            (Request::Call { .. }, FailureKind::Arguments) => Self::DescribeTheTool,
            // The message names the servers that there are.
            (Request::Resource { .. }, FailureKind::Unknown) => Self::None,
            // The run's own kind has the hint.
            (_, FailureKind::Denied) => Self::None,
            (_, FailureKind::Calls) => Self::CallLess,
            _ => Self::CatchTheError,
        }
    }

    /// The hint for a global name of another platform that a script used.
    pub fn for_undefined_name(name: &str) -> Self {
        match name {
            "fetch" | "XMLHttpRequest" | "WebSocket" => Self::NoNetwork,
            "require" | "module" | "exports" => Self::NoRequire,
            "self" | "global" => Self::UseGlobalThis,
            "Deno" | "process" | "Bun" | "window" | "document" => Self::NoOtherPlatform,
            "eval" | "WebAssembly" | "SharedArrayBuffer" => Self::SwitchedOff,
            "Buffer" => Self::UseTypedArrays,
            _ => Self::CheckTheSpelling,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn request(json: serde_json::Value) -> Request {
        serde_json::from_value(json).unwrap()
    }

    #[test]
    fn a_failed_request_has_the_hint_of_its_request_and_kind() {
        let call = request(json!({ "call": { "tool": "a:b", "args": {} } }));
        let describe = request(json!({ "describe": { "tool": "a:b" } }));
        let resource = request(json!({ "offer": { "server": "a", "offer": "list_prompts" } }));
        let load = request(json!({ "load": { "key": "a" } }));
        for (request, kind, hint) in [
            (&call, FailureKind::Unknown, Hint::SearchForTools),
            (&describe, FailureKind::Unknown, Hint::SearchForTools),
            (&resource, FailureKind::Unknown, Hint::None),
            (&load, FailureKind::Unknown, Hint::CatchTheError),
            (&call, FailureKind::Arguments, Hint::DescribeTheTool),
            (&resource, FailureKind::Arguments, Hint::CatchTheError),
            (&call, FailureKind::Denied, Hint::None),
            (&load, FailureKind::Denied, Hint::None),
            (&call, FailureKind::Calls, Hint::CallLess),
            (&resource, FailureKind::Calls, Hint::CallLess),
            (&call, FailureKind::Tool, Hint::CatchTheError),
            (&call, FailureKind::Timeout, Hint::CatchTheError),
            (&call, FailureKind::Unmocked, Hint::CatchTheError),
        ] {
            assert_eq!(Hint::for_failure(request, kind), hint, "{request:?} {kind}");
        }
    }

    #[test]
    fn a_hint_is_found_by_its_code() {
        assert_eq!(
            Hint::from_code("searchForTools"),
            Some(Hint::SearchForTools)
        );
        assert_eq!(Hint::from_code("none"), Some(Hint::None));
        assert_eq!(Hint::from_code("SearchForTools"), None);
        assert_eq!(Hint::from_code(""), None);
    }

    #[test]
    fn a_global_of_another_platform_has_its_own_hint() {
        for (name, hint) in [
            ("fetch", Hint::NoNetwork),
            ("require", Hint::NoRequire),
            ("process", Hint::NoOtherPlatform),
            ("Buffer", Hint::UseTypedArrays),
            ("calTool", Hint::CheckTheSpelling),
        ] {
            assert_eq!(Hint::for_undefined_name(name), hint, "{name}");
        }
    }
}
