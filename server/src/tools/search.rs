//! `search_tools`: tools as signatures that a script can use as they are.

use std::sync::Arc;

use pml_gateway::Tool;
use pml_session::Found;
use rmcp::model::JsonObject;
use serde::Deserialize;
use serde_json::json;

use super::arguments::{self, Whole};
use crate::brief;
use crate::guests::Guest;
use crate::house::House;
use crate::notebook::Notebook;
use crate::reply::Reply;

const DEFAULT_LIMIT: usize = 5;
const MAX_LIMIT: usize = 50;
const MAX_QUERY_CHARS: usize = 500;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    query: String,
    limit: Option<Whole>,
    server: Option<String>,
    detail: Option<Detail>,
}

/// How much is told of each tool.
#[derive(Default, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Detail {
    Names,
    #[default]
    Signatures,
    /// With the JSON Schema of its arguments.
    Full,
}

pub async fn search(house: House, guest: Arc<Guest>, arguments: Option<JsonObject>) -> Reply {
    let arguments: Arguments = match arguments::read(arguments) {
        Ok(arguments) => arguments,
        Err(mistake) => return Reply::failure(guest.outlet().text(&mistake)),
    };
    let server = arguments.server.as_deref().map(str::trim);
    let server = server.filter(|name| !name.is_empty());
    let is_unknown = |name: &&str| {
        // A pattern may fit no server and is no mistake.
        !name.contains('*') && !house.gateway().servers().any(|known| known == *name)
    };
    if let Some(unknown) = server.filter(is_unknown) {
        let servers = brief::roster(house.gateway());
        let mistake = format!("there is no server \"{unknown}\"; servers (tools each): {servers}");
        return Reply::failure(guest.outlet().text(&mistake));
    }
    let query: String = arguments.query.chars().take(MAX_QUERY_CHARS).collect();
    let limit = arguments.limit.map_or(DEFAULT_LIMIT, |Whole(limit)| {
        usize::try_from(limit)
            .unwrap_or(MAX_LIMIT)
            .clamp(1, MAX_LIMIT)
    });
    let mut found = guest.client.session().search(&query, server).await;
    found.truncate(limit);
    let text = match found.is_empty() {
        true => format!(
            "No tool fits; try other words. Servers (tools each): {}",
            brief::roster(house.gateway())
        ),
        false => told(
            &found,
            arguments.detail.unwrap_or_default(),
            house.notebook(),
        ),
    };
    Reply::text(guest.outlet().text(&text))
}

fn told(found: &[Found], detail: Detail, notebook: &dyn Notebook) -> String {
    let tools = found.iter().map(|found| match detail {
        Detail::Names => found.tool.id.to_string(),
        Detail::Signatures => signature(&found.tool, notebook),
        Detail::Full => json!({
            "id": found.tool.id,
            "title": found.tool.title,
            "description": found.tool.description,
            "inputSchema": found.tool.input_schema,
            "outputSchema": found.tool.output_schema,
            "annotations": found.tool.annotations,
        })
        .to_string(),
    });
    tools.collect::<Vec<_>>().join("\n")
}

fn signature(tool: &Tool, notebook: &dyn Notebook) -> String {
    let observed = match tool.output_schema {
        Some(_) => None,
        None => notebook.result_schema(&tool.id.to_string()),
    };
    pml_typegen::signature(&pml_typegen::ToolTypes {
        server: tool.id.server(),
        name: tool.id.tool(),
        description: &tool.description,
        input: &tool.input_schema,
        output: tool.output_schema.as_ref(),
        observed: observed.as_ref(),
    })
}
