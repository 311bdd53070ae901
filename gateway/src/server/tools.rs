//! `tools/list`, page by page.

use rmcp::model::{ClientRequest, ListToolsRequest, PaginatedRequestParams, ServerResult};
use rmcp::service::{Peer, RoleClient, ServiceError};
use serde_json::Value;

/// Bounds a server that returns a new cursor with every page.
const MAX_PAGES: usize = 1000;

/// Lists every tool of the server, as JSON.
///
/// With typed parsing, one invalid tool would lose the whole page, so a page that does not fit the
/// specification is parsed leniently.
pub async fn list(peer: &Peer<RoleClient>) -> Result<Vec<Value>, ServiceError> {
    let mut tools = Vec::new();
    let mut cursor: Option<String> = None;
    for _ in 0..MAX_PAGES {
        let mut request = ListToolsRequest::default();
        if cursor.is_some() {
            request.params = Some(PaginatedRequestParams::default().with_cursor(cursor.clone()));
        }
        let answer = peer
            .send_request(ClientRequest::ListToolsRequest(request))
            .await?;
        let (page, next) = match answer {
            ServerResult::ListToolsResult(result) => (
                result
                    .tools
                    .iter()
                    .filter_map(|tool| serde_json::to_value(tool).ok())
                    .collect(),
                result.next_cursor,
            ),
            ServerResult::CustomResult(result) => {
                let Some(page) = result.0.get("tools").and_then(Value::as_array) else {
                    return Err(ServiceError::UnexpectedResponse);
                };
                let next = result
                    .0
                    .get("nextCursor")
                    .and_then(Value::as_str)
                    .map(str::to_owned);
                (page.clone(), next)
            }
            // An empty object instead of a list.
            ServerResult::EmptyResult(_) => (Vec::new(), None),
            _ => return Err(ServiceError::UnexpectedResponse),
        };
        tools.extend::<Vec<Value>>(page);
        // Some servers send an empty cursor on the last page.
        let next = next.filter(|next| !next.is_empty());
        if next.is_none() || next == cursor {
            break;
        }
        cursor = next;
    }
    Ok(tools)
}
