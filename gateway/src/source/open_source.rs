//! An open source of any kind.

use std::ops::Deref;
use std::sync::Arc;

use super::functions;
use super::mcp::McpSession;
use super::open_api::OpenApiSource;
use super::tool_source::{Opening, ToolSource};
use crate::config::Endpoint;
use crate::transport::{StartError, StderrTail};

/// An open source, and its MCP session if it is one.
pub(crate) struct OpenSource {
    source: Arc<dyn ToolSource>,
    mcp: Option<Arc<McpSession>>,
}

impl OpenSource {
    /// The MCP session, for what only MCP has: resources, prompts and subscriptions.
    pub fn mcp(&self) -> Option<&McpSession> {
        self.mcp.as_deref()
    }

    /// The end of its standard error, if it is a process.
    pub fn stderr(&self) -> StderrTail {
        match self.mcp() {
            Some(session) => session.stderr.clone(),
            None => StderrTail::default(),
        }
    }

    fn of(source: impl ToolSource + 'static) -> Self {
        Self {
            source: Arc::new(source),
            mcp: None,
        }
    }
}

impl Deref for OpenSource {
    type Target = dyn ToolSource;

    fn deref(&self) -> &Self::Target {
        &*self.source
    }
}

/// Opens the source at `endpoint`. The caller sets the time limit.
///
/// # Errors
/// It cannot be started, reached or understood.
///
/// # Cancel safety
/// Dropping the future stops the process.
pub(crate) async fn open(
    endpoint: &Endpoint,
    opening: Opening<'_>,
) -> Result<OpenSource, StartError> {
    Ok(match endpoint {
        Endpoint::Stdio(_) | Endpoint::Http(_) | Endpoint::Sse(_) => {
            let session = Arc::new(McpSession::open(endpoint, opening).await?);
            OpenSource {
                source: session.clone(),
                mcp: Some(session),
            }
        }
        Endpoint::OpenApi(service) => OpenSource::of(OpenApiSource::open(service, opening).await?),
        Endpoint::Functions(entry) => OpenSource {
            source: functions::open(entry, &opening).await?,
            mcp: None,
        },
    })
}
