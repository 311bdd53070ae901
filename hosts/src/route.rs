//! Layers that answer one kind of request themselves.

use std::sync::Arc;

use pml_protocol::{HostFuture, Request, RunContext, ToolHost, ToolResult};
use pml_scrub::Origin;

use crate::run_placeholders::RunPlaceholders;
use crate::storage::SessionStorage;

/// Sends searches to a host of their own.
pub struct RouteSearch<H> {
    inner: H,
    search: Arc<dyn ToolHost>,
    placeholders: Option<Arc<RunPlaceholders>>,
}

impl<H> RouteSearch<H> {
    /// `search` answers [`Request::Search`], `inner` everything else. `placeholders` notes that the
    /// run received what was found.
    pub fn new(
        search: Arc<dyn ToolHost>,
        placeholders: Option<Arc<RunPlaceholders>>,
        inner: H,
    ) -> Self {
        Self {
            inner,
            search,
            placeholders,
        }
    }

    /// The hits have texts of several servers.
    fn received(&self, result: &ToolResult) {
        if let (Some(run), Ok(hits)) = (&self.placeholders, result) {
            run.received(&Origin::unknown(), hits.get());
        }
    }
}

impl<H: ToolHost> ToolHost for RouteSearch<H> {
    fn handle<'a>(
        &'a self,
        request: &'a Request,
        run: &'a RunContext,
    ) -> HostFuture<'a, ToolResult> {
        match request {
            Request::Search { .. } => Box::pin(async move {
                let result = self.search.handle(request, run).await;
                self.received(&result);
                result
            }),
            _ => self.inner.handle(request, run),
        }
    }
}

/// Answers `store` and `load` from the session's storage.
pub struct StoreValues<H> {
    inner: H,
    storage: Arc<SessionStorage>,
    placeholders: Option<Arc<RunPlaceholders>>,
}

impl<H> StoreValues<H> {
    /// `storage` answers [`Request::Store`] and [`Request::Load`], `inner` everything else. Stored
    /// values keep the origin that `placeholders` knows.
    pub fn new(
        storage: Arc<SessionStorage>,
        placeholders: Option<Arc<RunPlaceholders>>,
        inner: H,
    ) -> Self {
        Self {
            inner,
            storage,
            placeholders,
        }
    }
}

impl<H: ToolHost> ToolHost for StoreValues<H> {
    fn handle<'a>(
        &'a self,
        request: &'a Request,
        run: &'a RunContext,
    ) -> HostFuture<'a, ToolResult> {
        match request {
            Request::Store { .. } | Request::Load { .. } => {
                let placeholders = self.placeholders.as_deref();
                let answer = self.storage.answer_run(request, placeholders, Some(run));
                Box::pin(std::future::ready(answer))
            }
            _ => self.inner.handle(request, run),
        }
    }
}
