//! Requests and notifications from a server.
#![expect(
    deprecated,
    reason = "roots are deprecated in the protocol, but servers in use ask for them"
)]

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::ClientHandler;
use rmcp::model::{
    ClientCapabilities, ClientConfig, ErrorData, Implementation, ListRootsResult,
    ProgressNotificationParam, ProgressToken, ProtocolVersion, Root,
};
use rmcp::service::{NotificationContext, RequestContext, RoleClient};

use super::changes::ToolsChanged;
use crate::call::ProgressSink;
use crate::secrets::Secrets;

/// The client side of a session. Clones share all state.
#[derive(Debug, Clone)]
pub(crate) struct Handler {
    roots: Arc<Vec<Root>>,
    progress: Arc<Mutex<HashMap<ProgressToken, ProgressSink>>>,
    tools_changed: Arc<ToolsChanged>,
    secrets: Secrets,
}

impl Handler {
    pub fn new(
        roots: &[std::path::PathBuf],
        tools_changed: Arc<ToolsChanged>,
        secrets: Secrets,
    ) -> Self {
        Self {
            roots: Arc::new(roots.iter().filter_map(|path| root(path)).collect()),
            progress: Arc::default(),
            tools_changed,
            secrets,
        }
    }

    /// Reports the progress of the request with `token` until the returned value is dropped.
    pub fn subscribe(&self, token: ProgressToken, sink: ProgressSink) -> ProgressSubscription {
        self.lock().insert(token.clone(), sink);
        ProgressSubscription {
            handler: self.clone(),
            token,
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<ProgressToken, ProgressSink>> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reports the progress of one request until it is dropped.
pub(crate) struct ProgressSubscription {
    handler: Handler,
    token: ProgressToken,
}

impl Drop for ProgressSubscription {
    fn drop(&mut self) {
        self.handler.lock().remove(&self.token);
    }
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        // Declared only if there are roots: some servers have other tools for a client with roots.
        if !self.roots.is_empty() {
            capabilities.roots = Some(rmcp::model::RootsCapabilities::default());
        }
        let mut config = ClientConfig::new(
            capabilities,
            Implementation::new("pml", env!("CARGO_PKG_VERSION")),
        );
        config.protocol_version = ProtocolVersion::LATEST_WITH_INITIALIZE;
        config
    }

    async fn list_roots(
        &self,
        _: RequestContext<RoleClient>,
    ) -> Result<ListRootsResult, ErrorData> {
        Ok(ListRootsResult::new(self.roots.to_vec()))
    }

    async fn on_progress(
        &self,
        progress: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let sink = self.lock().get(&progress.progress_token).cloned();
        if let Some(sink) = sink {
            let message = progress
                .message
                .map(|text| self.secrets.hide(text).into_owned());
            sink.report(progress.progress, progress.total, message);
        }
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.tools_changed.announce();
    }
}

fn root(path: &Path) -> Option<Root> {
    let absolute = std::path::absolute(path).ok()?;
    let url = url::Url::from_directory_path(absolute).ok()?;
    let text = url.as_str();
    Some(Root::new(text.strip_suffix('/').unwrap_or(text)))
}
