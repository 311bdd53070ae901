//! Live search over the tools of a gateway, for one client session.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use pml_gateway::{Gateway, StartError, Tool};
use pml_hosts::CallObserver;
use pml_protocol::{
    Failure, FailureKind, HostFuture, Request, RunContext, ToolHit, ToolHost, ToolResult, to_result,
};
use serde_json::Value;
use tokio::sync::OnceCell;

use crate::gateway_documents::{self, FoundTool};
use crate::recent_searches::RecentSearches;
use crate::{Filter, MAX_HITS, Query, Search, SearchState};

/// How long the first search waits for servers that are starting. A slower one is found by a later
/// search.
const FIRST_LISTING_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a later search waits for a server that had a problem. Its start goes on in the
/// background, and the next search finds its tools.
const RETRY_LISTING_TIMEOUT: Duration = Duration::from_millis(100);
/// How long a search waits for the index of the current tools. It is below a run's default time
/// limit, and above the time to download the ONNX Runtime library and to index some hundred tools;
/// until then a search ranks by words alone.
const INDEX_TIMEOUT: Duration = Duration::from_secs(8);

/// Finds tools for one client session: lists the servers on the first search, follows changes of
/// their tools, and learns which hits were called.
pub struct ToolFinder {
    gateway: Gateway,
    search: Search,
    listed: OnceCell<()>,
    problems: OnceLock<Vec<(String, StartError)>>,
    recent: RecentSearches,
}

impl ToolFinder {
    /// Sessions over the same gateway share one `search`.
    pub fn new(gateway: Gateway, search: Search) -> Self {
        Self {
            gateway,
            search,
            listed: OnceCell::new(),
            problems: OnceLock::new(),
            recent: RecentSearches::default(),
        }
    }

    /// The tools that fit the words, best first; of one server, if one is named. An empty query
    /// finds nothing.
    pub async fn search(&self, query: &str, server: Option<&str>) -> Vec<FoundTool> {
        let Ok(query) = Query::new(query, MAX_HITS, None) else {
            return Vec::new();
        };
        self.find(&query.with_filter(Filter {
            servers: server.into_iter().map(str::to_owned).collect(),
            ..Filter::default()
        }))
        .await
    }

    /// The tools that fit a query, without those that the policy hides.
    pub async fn find(&self, query: &Query) -> Vec<FoundTool> {
        self.prepare().await;
        self.search.wait_until_indexed(INDEX_TIMEOUT).await;
        // The index has the tools of all callers.
        let visible = self.gateway.hides_tools().then(|| {
            let tools = self.gateway.indexed_tools().into_iter();
            let found = tools.filter(|tool| self.gateway.may_find(tool));
            found.map(|tool| tool.id.to_string()).collect()
        });
        let hits = match visible {
            Some(visible) => self.search.find(&query.clone().within(visible)).await,
            None => self.search.find(query).await,
        };
        let found = gateway_documents::found(hits, &self.gateway.indexed_tools());
        self.recent.note(query.text(), &found);
        found
    }

    /// Lists the servers and hands their tools to the search, which indexes them in the background.
    pub async fn prepare(&self) -> &Search {
        self.list_servers().await;
        let version = *self.gateway.changes().borrow();
        self.search
            .set_tools(version, || gateway_documents::documents(&self.gateway));
        &self.search
    }

    /// Why a search ranked by words alone, if it did.
    pub fn notice(&self) -> Option<String> {
        match self.search.state() {
            SearchState::Ready => None,
            SearchState::WordsOnly(reason) => Some(reason),
            SearchState::Building(progress) => Some(format!(
                "the index is being built: {} of {} tools so far",
                progress.done, progress.of
            )),
        }
    }

    /// The servers whose tools a search could not see, and why.
    pub fn problems(&self) -> &[(String, StartError)] {
        self.problems.get().map_or(&[], Vec::as_slice)
    }

    /// Whether the servers were listed: all tools of those without a problem are known.
    pub fn has_listed(&self) -> bool {
        self.problems.get().is_some()
    }

    /// Lists every server once in a session; afterwards the gateway follows their changes. Servers
    /// that had a problem are listed again, because it may be over.
    async fn list_servers(&self) {
        let had_problems = !self.problems().is_empty();
        self.listed
            .get_or_init(|| async {
                let listing = self.gateway.list(None, FIRST_LISTING_TIMEOUT).await;
                // Set once, because the cell around it is.
                let _ = self.problems.set(listing.problems);
            })
            .await;
        if had_problems {
            self.gateway.list(None, RETRY_LISTING_TIMEOUT).await;
        }
    }

    async fn hits(&self, query: &str, limit: u32, threshold: Option<f64>) -> ToolResult {
        let query = Query::new(query, limit, threshold)
            .map_err(|error| Failure::new(FailureKind::Arguments, error.to_string()))?;
        let found = self.find(&query).await;
        let hits: Result<Vec<ToolHit>, Failure> = found
            .iter()
            .map(|found| hit(&found.tool, found.score))
            .collect();
        to_result(&hits?)
    }
}

/// Answers [`Request::Search`]; other requests are not for it.
impl ToolHost for ToolFinder {
    fn handle<'a>(&'a self, request: &'a Request, _: &'a RunContext) -> HostFuture<'a, ToolResult> {
        Box::pin(async move {
            match request {
                Request::Search {
                    query,
                    limit,
                    threshold,
                } => self.hits(query, *limit, *threshold).await,
                _ => Err(Failure::internal("the search answers searches alone")),
            }
        })
    }
}

impl CallObserver for ToolFinder {
    /// The searches that found the tool were right.
    fn call_succeeded(&self, tool: &str, _: Option<&Value>) {
        for query in self.recent.take_queries_for(tool) {
            self.search.record_success(&query, tool);
        }
    }
}

fn hit(tool: &Arc<Tool>, score: f64) -> Result<ToolHit, Failure> {
    Ok(ToolHit {
        id: tool.id.to_string(),
        server: tool.id.server().to_owned(),
        name: tool.id.tool().to_owned(),
        description: Some(tool.description.clone()).filter(|text| !text.is_empty()),
        input_schema: Some(to_result(&tool.input_schema)?),
        score,
    })
}
