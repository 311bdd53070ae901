//! The protocol's side: tools are listed and calls reach them.

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

use crate::catalog;
use crate::folder::Folder;
use crate::journal::Journal;
use crate::notes::Notes;
use crate::patience::{self, Flaky};
use crate::{json, text};

/// What a server is made with.
pub struct Options {
    /// The folder that may be read.
    pub folder: Folder,
    /// Where every call is noted before it is answered.
    pub journal: Option<Journal>,
    /// Now and then a line on standard output that is no protocol, as bad servers print them.
    pub noise: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum DemoError {
    #[error("the client did not introduce itself as the protocol asks: {0}")]
    Handshake(#[from] Box<rmcp::service::ServerInitializeError>),

    #[error("the server stopped in the middle: {0}")]
    Stopped(#[from] tokio::task::JoinError),
}

/// Cheap to clone; the clones share their notes.
#[derive(Clone)]
pub struct DemoServer {
    parts: Arc<Parts>,
}

struct Parts {
    options: Options,
    notes: Notes,
    flaky: Flaky,
}

/// What a tool answers, or one sentence that says what was wrong with the call.
pub(crate) enum Answer {
    Text(String),
    Value(Value),
    Refusal(String),
}

impl Answer {
    pub(crate) fn of(value: Result<impl Serialize, String>) -> Self {
        match value.map(serde_json::to_value) {
            Ok(Ok(value)) => Self::Value(value),
            Ok(Err(error)) => Self::Refusal(error.to_string()),
            Err(refusal) => Self::Refusal(refusal),
        }
    }

    pub(crate) fn text(text: Result<String, String>) -> Self {
        text.map_or_else(Self::Refusal, Self::Text)
    }
}

impl DemoServer {
    pub fn new(options: Options) -> Self {
        Self {
            parts: Arc::new(Parts {
                options,
                notes: Notes::default(),
                flaky: Flaky::default(),
            }),
        }
    }

    /// Speaks over standard input and output until the client leaves.
    pub async fn serve_stdio(self) -> Result<(), DemoError> {
        let running = self
            .serve(rmcp::transport::stdio())
            .await
            .map_err(Box::new)?;
        running.waiting().await?;
        Ok(())
    }

    async fn answer(
        &self,
        tool: &str,
        input: JsonObject,
        context: &RequestContext<RoleServer>,
    ) -> Result<Answer, String> {
        let Parts {
            options,
            notes,
            flaky,
        } = &*self.parts;
        let folder = &options.folder;
        Ok(match tool {
            "list_files" => Answer::of(folder.list(&read(input)?)),
            "read_file" => Answer::text(folder.read(&read(input)?)),
            "search_text" => Answer::of(folder.search(&read(input)?)),
            "read_json" => Answer::of(json::read(folder, &read(input)?)),
            "query_json" => Answer::of(json::query(&read(input)?)),
            "count_text" => Answer::of(Ok(text::count(&read(input)?))),
            "replace_text" => Answer::text(text::replace(&read(input)?)),
            "add_note" => Answer::of(notes.add(read(input)?)),
            "list_notes" => Answer::of(notes.list(&read(input)?)),
            "read_note" => Answer::of(notes.read(&read(input)?)),
            "delete_note" => Answer::of(notes.delete(&read(input)?)),
            "slow" => Answer::of(patience::slow(&read(input)?, context).await),
            "flaky" => Answer::of(flaky.call(read(input)?)),
            _ => return Err(format!("there is no tool `{tool}`")),
        })
    }

    fn make_noise(&self) {
        if self.parts.options.noise {
            println!("[demo] a line for people, where only the protocol belongs");
        }
    }
}

fn read<T: DeserializeOwned>(input: JsonObject) -> Result<T, String> {
    serde_json::from_value(Value::Object(input))
        .map_err(|error| format!("wrong arguments: {error}"))
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
        Ok(ListToolsResult::with_all_items(catalog::tools()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let input = request.arguments.unwrap_or_default();
        if let Some(journal) = &self.parts.options.journal {
            let noted = journal.note(&request.name, &input);
            noted.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        }
        self.make_noise();
        let answer = self.answer(&request.name, input, &context).await;
        Ok(match answer.unwrap_or_else(Answer::Refusal) {
            Answer::Text(text) => CallToolResult::success(vec![ContentBlock::text(text)]),
            // Structured content is an object; any other JSON goes as text.
            Answer::Value(value @ Value::Object(_)) => CallToolResult::structured(value),
            Answer::Value(value) => {
                CallToolResult::success(vec![ContentBlock::text(value.to_string())])
            }
            Answer::Refusal(refusal) => CallToolResult::error(vec![ContentBlock::text(refusal)]),
        }
        .into())
    }
}
