//! `tools/list`, page by page.

use rmcp::model::{ClientRequest, ListToolsRequest, PaginatedRequestParams, ServerResult};
use rmcp::service::{Peer, RoleClient, ServiceError};
use serde_json::Value;

use crate::listing_budget::ListingBudget;

/// Bounds a server that returns a new cursor with every page.
const MAX_PAGES: usize = 1000;

/// Lists every tool of the server, as JSON.
///
/// With typed parsing, one invalid tool would lose the whole page, so a page that does not fit the
/// specification is parsed leniently.
///
/// # Errors
/// The server does not answer with tools, or lists more than [`ListingBudget`] allows.
pub async fn list(peer: &Peer<RoleClient>) -> Result<Vec<Value>, ServiceError> {
    let mut tools: Vec<Value> = Vec::new();
    let mut budget = ListingBudget::default();
    let mut cursor: Option<String> = None;
    for _ in 0..MAX_PAGES {
        let mut request = ListToolsRequest::default();
        if cursor.is_some() {
            request.params = Some(PaginatedRequestParams::default().with_cursor(cursor.clone()));
        }
        let answer = peer
            .send_request(ClientRequest::ListToolsRequest(request))
            .await?;
        let (page, next): (Vec<Value>, _) = match answer {
            ServerResult::ListToolsResult(result) => (
                result
                    .tools
                    .iter()
                    .filter_map(|tool| serde_json::to_value(tool).ok())
                    .collect(),
                result.next_cursor,
            ),
            ServerResult::CustomResult(mut result) => {
                let Some(Value::Array(page)) = result.0.get_mut("tools").map(Value::take) else {
                    return Err(ServiceError::UnexpectedResponse);
                };
                let next = result
                    .0
                    .get("nextCursor")
                    .and_then(Value::as_str)
                    .map(str::to_owned);
                (page, next)
            }
            // An empty object instead of a list.
            ServerResult::EmptyResult(_) => (Vec::new(), None),
            _ => return Err(ServiceError::UnexpectedResponse),
        };
        for tool in page {
            budget.count(&tool)?;
            tools.push(tool);
        }
        // Some servers send an empty cursor on the last page.
        let next = next.filter(|next| !next.is_empty());
        if next.is_none() || next == cursor {
            break;
        }
        cursor = next;
    }
    Ok(tools)
}
