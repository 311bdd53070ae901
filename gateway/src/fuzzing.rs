//! Entry points of the fuzz targets in `gateway/fuzz`. No part of the API.

use std::collections::{HashSet, VecDeque};

use rmcp::model::RequestId;
use serde_json::{Value, json};

use crate::registry::Tool;
use crate::transport::{EventParser, Traffic, parse_line};

/// Lists a tool with this input and output schema and, unless it is refused, checks `arguments`.
pub fn check_schema(schema: Value, arguments: &Value) {
    let described = json!({ "name": "tool", "inputSchema": schema, "outputSchema": schema });
    if let Some(Ok(tool)) = Tool::read("fuzz", &described) {
        tool.notices();
        let _ = tool.check_now(arguments);
    }
}

/// Parses a line of standard output.
pub fn read_line(line: &[u8]) {
    let waiting: HashSet<RequestId> = (0..10).map(RequestId::Number).collect();
    let mut ready = VecDeque::new();
    parse_line(line, &waiting, &Traffic::default(), &mut ready);
}

/// The events of a stream that arrives in pieces of `piece` bytes.
pub fn read_events(bytes: &[u8], piece: usize) -> Vec<sse_stream::Sse> {
    let mut parser = EventParser::default();
    let mut events = Vec::new();
    for piece in bytes.chunks(piece) {
        parser.feed(piece);
        events.extend(std::iter::from_fn(|| parser.pop()));
    }
    events
}

/// Repairs a message.
pub fn repair(line: &[u8]) -> Option<Vec<u8>> {
    crate::transport::repair(line)
}
