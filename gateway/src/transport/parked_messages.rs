//! Messages that rmcp must neither parse nor keep.
//!
//! rmcp parses the events of a stream on the event loop, and keeps the input schema of every tool that
//! was ever listed on a connection of the revision without sessions. So a large response, and every list
//! of tools, is parsed here, off the event loop. rmcp gets an empty result with the same id, or the few
//! tools whose schema it needs, and [`ParkingTransport`] puts the message in its place.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rmcp::RoleClient;
use rmcp::model::{
    ClientJsonRpcMessage, JsonObject, JsonRpcMessage, ListToolsResult, RequestId,
    ServerJsonRpcMessage, ServerResult, Tool,
};
use rmcp::transport::Transport;
use serde_json::Value;

use super::body_memory::ValueMemory;
use super::traffic::Traffic;

/// A message that rmcp has not delivered for so long is of a request that was cancelled.
const MAX_PARKED: Duration = Duration::from_secs(30);
/// The annotation for which rmcp needs the schema of a tool: a parameter that is also sent as a header.
const HEADER_ANNOTATION: &str = "x-mcp-header";
/// Tools with the annotation that rmcp may keep of one connection, and bytes of their schemas.
const MAX_ANNOTATED: usize = 1_000;
const MAX_ANNOTATED_BYTES: usize = 4 * 1024 * 1024;

/// The messages of one connection that wait for their delivery.
#[derive(Debug, Default)]
pub struct ParkedMessages(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    parked: HashMap<i64, Parked>,
    /// Bytes of the schemas that rmcp keeps, by tool.
    annotated: HashMap<String, usize>,
}

#[derive(Debug)]
struct Parked {
    message: ServerJsonRpcMessage,
    memory: Option<ValueMemory>,
    /// The annotated tools of a list, which rmcp checks.
    annotated: Vec<String>,
    since: Instant,
}

impl ParkedMessages {
    /// Parks a message, and returns the one that rmcp gets. Only a response to a request of ours, which
    /// has a number as its id, can be parked.
    pub fn park(
        &self,
        message: ServerJsonRpcMessage,
        memory: Option<ValueMemory>,
    ) -> ServerJsonRpcMessage {
        let JsonRpcMessage::Response(response) = &message else {
            return message;
        };
        let RequestId::Number(id) = response.id else {
            return message;
        };
        let mut state = self.lock();
        let (shown, annotated) = match &response.result {
            ServerResult::ListToolsResult(list) => {
                let tools = state.annotated_of(list);
                let names = tools.iter().map(|tool| tool.name.to_string()).collect();
                let list = ListToolsResult::with_all_items(tools);
                (ServerResult::ListToolsResult(list), names)
            }
            _ => (ServerResult::empty(()), Vec::new()),
        };
        let shown = ServerJsonRpcMessage::response(shown, response.id.clone());
        state
            .parked
            .retain(|_, parked| parked.since.elapsed() < MAX_PARKED);
        let parked = Parked {
            message,
            memory,
            annotated,
            since: Instant::now(),
        };
        state.parked.insert(id, parked);
        shown
    }

    /// The parked message in the place of the one that rmcp delivers.
    fn take(&self, delivered: ServerJsonRpcMessage) -> (ServerJsonRpcMessage, Option<ValueMemory>) {
        let JsonRpcMessage::Response(response) = &delivered else {
            return (delivered, None);
        };
        let RequestId::Number(id) = response.id else {
            return (delivered, None);
        };
        let Some(mut parked) = self.lock().parked.remove(&id) else {
            return (delivered, None);
        };
        if let ServerResult::ListToolsResult(kept) = &response.result
            && let JsonRpcMessage::Response(response) = &mut parked.message
            && let ServerResult::ListToolsResult(list) = &mut response.result
        {
            // rmcp has removed the tools whose annotations are invalid.
            let is_kept = |name: &str| kept.tools.iter().any(|tool| tool.name == name);
            list.tools.retain(|tool| {
                let name = tool.name.as_ref();
                !parked.annotated.iter().any(|known| known == name) || is_kept(name)
            });
        }
        (parked.message, parked.memory)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Entries are added and removed in one step each.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// The tools of a list whose schemas rmcp needs, as many as it may keep.
    fn annotated_of(&mut self, list: &ListToolsResult) -> Vec<Tool> {
        let mut kept = Vec::new();
        for tool in &list.tools {
            if !is_annotated(&tool.input_schema) {
                continue;
            }
            let bytes = serde_json::to_string(&tool.input_schema).map_or(0, |text| text.len());
            let known = self.annotated.get(tool.name.as_ref()).copied();
            let others = self.annotated.values().sum::<usize>() - known.unwrap_or(0);
            let is_full = known.is_none() && self.annotated.len() >= MAX_ANNOTATED;
            if is_full || others + bytes > MAX_ANNOTATED_BYTES {
                tracing::warn!(tool = ?tool.name, "too many tools with parameters in headers");
                continue;
            }
            self.annotated.insert(tool.name.to_string(), bytes);
            kept.push(tool.clone());
        }
        kept
    }
}

fn is_annotated(schema: &JsonObject) -> bool {
    schema
        .iter()
        .any(|(key, value)| key == HEADER_ANNOTATION || holds_annotation(value))
}

fn holds_annotation(value: &Value) -> bool {
    match value {
        Value::Object(fields) => is_annotated(fields),
        Value::Array(items) => items.iter().any(holds_annotation),
        _ => false,
    }
}

/// A transport that delivers parked messages in the place of the ones that rmcp got.
pub struct ParkingTransport<T> {
    inner: T,
    parked: Arc<ParkedMessages>,
    traffic: Arc<Traffic>,
}

impl<T> ParkingTransport<T> {
    pub fn new(inner: T, parked: Arc<ParkedMessages>, traffic: Arc<Traffic>) -> Self {
        Self {
            inner,
            parked,
            traffic,
        }
    }
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for ParkingTransport<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.inner.send(message)
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        let delivered = self.inner.receive().await?;
        let (message, memory) = self.parked.take(delivered);
        if let Some(memory) = memory {
            self.traffic.hold_values(&message, memory);
        }
        Some(message)
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn message(value: Value) -> ServerJsonRpcMessage {
        serde_json::from_value(value).unwrap()
    }

    fn list(tools: Value) -> ServerJsonRpcMessage {
        message(json!({ "jsonrpc": "2.0", "id": 3, "result": { "tools": tools } }))
    }

    fn names(message: &ServerJsonRpcMessage) -> Vec<String> {
        match message {
            JsonRpcMessage::Response(response) => match &response.result {
                ServerResult::ListToolsResult(list) => list
                    .tools
                    .iter()
                    .map(|tool| tool.name.to_string())
                    .collect(),
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn rmcp_gets_an_empty_result_and_the_call_the_whole_one() {
        let parked = ParkedMessages::default();
        let result = json!({ "content": [{ "type": "text", "text": "x".repeat(1_000) }] });
        let whole = message(json!({ "jsonrpc": "2.0", "id": 7, "result": result }));
        let shown = parked.park(whole.clone(), None);
        assert!(serde_json::to_string(&shown).unwrap().len() < 60);
        let json = |message: &ServerJsonRpcMessage| serde_json::to_value(message).unwrap();
        assert_eq!(json(&parked.take(shown.clone()).0), json(&whole));
        let again = parked.take(shown.clone()).0;
        assert_eq!(json(&again), json(&shown), "delivered once");
    }

    #[test]
    fn rmcp_gets_no_schema_but_those_with_headers_and_not_ever_more_of_them() {
        let parked = ParkedMessages::default();
        let annotated = json!({ "type": "object", "properties": { "r": { "type": "string", "x-mcp-header": "Region" } } });
        let plain = json!({ "type": "object", "description": "y".repeat(1_000) });
        let tools = json!([
            { "name": "plain", "inputSchema": plain },
            { "name": "region", "inputSchema": annotated },
        ]);
        let shown = parked.park(list(tools), None);
        assert_eq!(names(&shown), ["region"]);
        assert_eq!(names(&parked.take(shown).0), ["plain", "region"]);
        for listing in 0..20 {
            let named =
                |n: usize| json!({ "name": format!("t{listing}_{n}"), "inputSchema": annotated });
            let tools: Vec<Value> = (0..100).map(named).collect();
            let shown = parked.park(list(json!(tools)), None);
            assert_eq!(names(&parked.take(shown).0).len(), 100);
        }
        assert_eq!(parked.lock().annotated.len(), MAX_ANNOTATED);
    }

    #[test]
    fn a_tool_that_rmcp_rejects_stays_rejected() {
        let parked = ParkedMessages::default();
        let schema = json!({ "type": "object", "x-mcp-header": "Bad" });
        parked.park(list(json!([{ "name": "bad", "inputSchema": schema }, { "name": "good", "inputSchema": {} }])), None);
        let delivered = list(json!([]));
        assert_eq!(names(&parked.take(delivered).0), ["good"]);
    }
}
