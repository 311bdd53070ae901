//! The MCP server: lists the tools and dispatches calls to them.

use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    JsonObject, ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::{ErrorData, ServerHandler, ServiceExt};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::journal::Journal;
use crate::notes::Notes;
use crate::sample_tools;
use crate::served_folder::ServedFolder;
use crate::slow_tools::{self, Flaky};
use crate::{json, text};

/// Options of [`DemoServer::new`].
pub struct DemoOptions {
    /// The folder that may be read.
    pub folder: ServedFolder,
    /// Where every call is recorded before it runs.
    pub journal: Option<Journal>,
    /// Print a line that is not JSON-RPC to standard output before each reply, as faulty servers do.
    pub noise: bool,
}

/// The server ended with an error.
#[derive(Debug, thiserror::Error)]
pub enum DemoError {
    /// The MCP handshake failed.
    #[error("the MCP handshake failed: {0}")]
    Handshake(#[from] Box<rmcp::service::ServerInitializeError>),

    /// The server's task panicked or was cancelled.
    #[error("the server stopped unexpectedly: {0}")]
    Stopped(#[from] tokio::task::JoinError),
}

/// The demo server. Cheap to clone; the clones share their notes.
#[derive(Clone)]
pub struct DemoServer {
    shared: Arc<Shared>,
}

struct Shared {
    options: DemoOptions,
    notes: Notes,
    flaky: Flaky,
}

/// The reply of a tool. An error is one sentence about what is wrong with the call.
pub(crate) enum ToolReply {
    Text(String),
    Value(Value),
    Error(String),
}

impl ToolReply {
    pub(crate) fn structured(value: Result<impl Serialize, String>) -> Self {
        match value.map(serde_json::to_value) {
            Ok(Ok(value)) => Self::Value(value),
            Ok(Err(error)) => Self::Error(error.to_string()),
            Err(message) => Self::Error(message),
        }
    }

    pub(crate) fn text(text: Result<String, String>) -> Self {
        text.map_or_else(Self::Error, Self::Text)
    }
}

impl DemoServer {
    /// A server without notes.
    pub fn new(options: DemoOptions) -> Self {
        Self {
            shared: Arc::new(Shared {
                options,
                notes: Notes::default(),
                flaky: Flaky::default(),
            }),
        }
    }

    /// Serves over standard input and output until the client closes them.
    ///
    /// # Errors
    ///
    /// If the handshake fails, or the server's task panics.
    pub async fn serve_stdio(self) -> Result<(), DemoError> {
        let running = self
            .serve(rmcp::transport::stdio())
            .await
            .map_err(Box::new)?;
        running.waiting().await?;
        Ok(())
    }

    async fn call(
        &self,
        tool: &str,
        input: JsonObject,
        context: &RequestContext<RoleServer>,
    ) -> Result<ToolReply, String> {
        let Shared {
            options,
            notes,
            flaky,
        } = &*self.shared;
        let folder = &options.folder;
        Ok(match tool {
            "list_files" => ToolReply::structured(folder.list(&parse(input)?)),
            "read_file" => ToolReply::text(folder.read(&parse(input)?)),
            "search_text" => ToolReply::structured(folder.search(&parse(input)?)),
            "read_json" => ToolReply::structured(json::read(folder, &parse(input)?)),
            "query_json" => ToolReply::structured(json::query(&parse(input)?)),
            "count_text" => ToolReply::structured(Ok(text::count(&parse(input)?))),
            "replace_text" => ToolReply::text(text::replace(&parse(input)?)),
            "add_note" => ToolReply::structured(notes.add(parse(input)?)),
            "list_notes" => ToolReply::structured(notes.list(&parse(input)?)),
            "read_note" => ToolReply::structured(notes.read(&parse(input)?)),
            "delete_note" => ToolReply::structured(notes.delete(&parse(input)?)),
            "slow" => ToolReply::structured(slow_tools::slow(&parse(input)?, context).await),
            "flaky" => ToolReply::structured(flaky.call(parse(input)?)),
            _ => return Err(format!("there is no tool `{tool}`")),
        })
    }

    fn print_noise(&self) {
        if self.shared.options.noise {
            println!("[demo] a line for people, where only the protocol belongs");
        }
    }
}

/// Parses the arguments of a tool.
fn parse<T: DeserializeOwned>(input: JsonObject) -> Result<T, String> {
    serde_json::from_value(Value::Object(input))
        .map_err(|error| format!("invalid arguments: {error}"))
}

impl ServerHandler for DemoServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("pml-demo", env!("CARGO_PKG_VERSION")))
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(sample_tools::tools()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let input = request.arguments.unwrap_or_default();
        if let Some(journal) = &self.shared.options.journal {
            let appended = journal.append(&request.name, &input);
            appended.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        }
        self.print_noise();
        let reply = self.call(&request.name, input, &context).await;
        Ok(match reply.unwrap_or_else(ToolReply::Error) {
            ToolReply::Text(text) => CallToolResult::success(vec![ContentBlock::text(text)]),
            // Structured content is an object; any other JSON goes as text.
            ToolReply::Value(value @ Value::Object(_)) => CallToolResult::structured(value),
            ToolReply::Value(value) => {
                CallToolResult::success(vec![ContentBlock::text(value.to_string())])
            }
            ToolReply::Error(message) => CallToolResult::error(vec![ContentBlock::text(message)]),
        }
        .into())
    }
}
