//! What of MCP 2025-11-25 tasks rmcp cannot express, changed in the messages themselves.
//!
//! rmcp knows the methods `tools/call`, `tools/list`, `tasks/get` and `tasks/cancel` in the form of
//! 2026-07-28 only. In a message of an earlier revision these get names of ours, so that rmcp hands them to
//! `on_custom_request` as they are. The capability is added to the reply to `initialize`.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// `tools/call` with `task`.
pub const CALL_TOOL: &str = "pml/2025-11-25/tools/call";
/// `tools/list`, whose reply says which tools can be tasks.
pub const LIST_TOOLS: &str = "pml/2025-11-25/tools/list";
/// `tasks/get`
pub const GET_TASK: &str = "pml/2025-11-25/tasks/get";
/// `tasks/cancel`
pub const CANCEL_TASK: &str = "pml/2025-11-25/tasks/cancel";

/// The revision that has tasks in this form.
pub const REVISION: &str = "2025-11-25";

const PER_REQUEST_REVISION: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES: &str = "\"capabilities\":{";
const TASKS: &str = "\"tasks\":{\"list\":{},\"cancel\":{},\"requests\":{\"tools\":{\"call\":{}}}},";

/// The fields of a request; others mean nothing.
#[derive(Serialize, Deserialize)]
struct Request<'a> {
    #[serde(borrow)]
    jsonrpc: &'a RawValue,
    #[serde(borrow)]
    id: &'a RawValue,
    #[serde(borrow)]
    method: Cow<'a, str>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    params: Option<&'a RawValue>,
}

#[derive(Deserialize, Default)]
struct Params<'a> {
    #[serde(borrow, default)]
    task: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "_meta")]
    meta: Option<&'a RawValue>,
}

/// A request with the name that it gets; `None` for a message that stays as it is. Values are not parsed,
/// so a large message takes no memory.
pub fn renamed(message: &[u8]) -> Option<Vec<u8>> {
    let mut request: Request<'_> = serde_json::from_slice(message).ok()?;
    let params = request.params.map(|params| params.get());
    let params = params.and_then(|params| serde_json::from_str::<Params<'_>>(params).ok());
    let Params { task, meta } = params.unwrap_or_default();
    if meta.is_some_and(|meta| meta.get().contains(PER_REQUEST_REVISION)) {
        return None;
    }
    let name = match &*request.method {
        "tools/call" if task.is_some() => CALL_TOOL,
        "tools/list" => LIST_TOOLS,
        "tasks/get" => GET_TASK,
        "tasks/cancel" => CANCEL_TASK,
        _ => return None,
    };
    request.method = name.into();
    serde_json::to_vec(&request).ok()
}

/// The reply to `initialize` with the capability `tasks`, if it is of the revision that has it. `reply` is
/// JSON, or a stream of events with it.
pub fn with_capability(reply: Vec<u8>) -> Vec<u8> {
    let Ok(text) = std::str::from_utf8(&reply) else {
        return reply;
    };
    // Inside of a string of the client, such as the id of the request, every quote is escaped.
    let revision = format!("\"protocolVersion\":\"{REVISION}\"");
    if !text.contains(&revision) {
        return reply;
    }
    let with_tasks = format!("{CAPABILITIES}{TASKS}");
    text.replacen(CAPABILITIES, &with_tasks, 1).into_bytes()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn method(message: &Value) -> Option<String> {
        let renamed = renamed(message.to_string().as_bytes())?;
        let renamed: Value = serde_json::from_slice(&renamed).unwrap();
        assert_eq!(renamed["params"], message["params"]);
        assert_eq!(renamed["id"], message["id"]);
        Some(renamed["method"].as_str().unwrap().to_owned())
    }

    #[test]
    fn requests_of_the_earlier_revision_get_a_name_of_ours() {
        let request = |method: &str, params: Value| json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params });
        let task = json!({ "name": "execute_code", "task": { "ttl": 1 } });
        assert_eq!(
            method(&request("tools/call", task.clone())).as_deref(),
            Some(CALL_TOOL)
        );
        assert_eq!(
            method(&request("tools/list", json!({}))).as_deref(),
            Some(LIST_TOOLS)
        );
        assert_eq!(
            method(&request("tasks/get", json!({ "taskId": "a" }))).as_deref(),
            Some(GET_TASK)
        );
        assert_eq!(
            method(&request("tools/call", json!({ "name": "execute_code" }))),
            None
        );
        assert_eq!(method(&request("tasks/result", json!({}))), None);
        let mut new = task;
        new["_meta"] = json!({ PER_REQUEST_REVISION: "2026-07-28" });
        assert_eq!(method(&request("tools/call", new)), None);
        for nonsense in [
            "",
            "[]",
            "{}",
            "{\"method\":1}",
            "{\"method\":\"tools/list\"",
        ] {
            assert_eq!(renamed(nonsense.as_bytes()), None, "{nonsense}");
        }
    }

    #[test]
    fn the_capability_is_in_the_reply_and_not_in_an_id() {
        let reply = json!({ "jsonrpc": "2.0", "id": "\"capabilities\":{", "result": {
            "protocolVersion": REVISION, "capabilities": { "tools": {} } } });
        let patched = with_capability(reply.to_string().into_bytes());
        let patched: Value = serde_json::from_slice(&patched).unwrap();
        assert_eq!(patched["id"], reply["id"]);
        let capabilities = &patched["result"]["capabilities"];
        assert_eq!(
            capabilities["tasks"]["requests"]["tools"]["call"],
            json!({})
        );
        assert_eq!(capabilities["tools"], json!({}));
        let old = br#"{"result":{"protocolVersion":"2025-06-18","capabilities":{}}}"#.to_vec();
        assert_eq!(with_capability(old.clone()), old);
    }
}
