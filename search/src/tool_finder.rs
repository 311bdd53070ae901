//! A client and what it keeps from run to run.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::Duration;

use pml_gateway::{Gateway, Progress, RunLimits, StartError};
use pml_runtime::{Limits, Outcome};
use pml_scrub::Scrubber;
use pml_search::{Filter, MOST_HITS, Query, Search, State};
use pml_typegen::Shape;
use tokio::sync::OnceCell;

use crate::observed::Observed;
use crate::recent::RecentSearches;
use crate::run::Run;
use crate::scrubbing;
use crate::search::{self, Found};
use crate::storage::Storage;

/// How long the first search waits for a server that is not up yet. One that takes longer is
/// found by a later search.
const SEARCH_PATIENCE: Duration = Duration::from_secs(10);
/// How long a later search waits for a server that had a problem. Its start goes on meanwhile, and
/// the search after that finds what it has.
const LATER_PATIENCE: Duration = Duration::from_millis(100);
/// How long a search waits for the index of these tools. Under that of a run's default time limit,
/// above what it takes to fetch the model's library and to index some hundred tools; meanwhile a
/// search ranks by words alone.
const INDEX_PATIENCE: Duration = Duration::from_secs(8);

/// What a session is made with.
pub struct SessionOptions {
    pub gateway: Gateway,
    /// Sessions over the same gateway share one.
    pub search: Search,
    /// Without one, what the client is told stays as it is.
    pub scrubber: Option<Arc<Scrubber>>,
    /// Set where somebody asked for one: a server's own time limit holds otherwise.
    pub tool_timeout: Option<Duration>,
}

/// One client. Cheap to clone; the clones are the same session.
#[derive(Clone)]
pub struct Session {
    parts: Arc<Parts>,
}

struct Parts {
    gateway: Gateway,
    search: Search,
    scrub: Option<Arc<Mutex<pml_scrub::Session>>>,
    storage: Arc<Storage>,
    tool_timeout: Option<Duration>,
    asked: OnceCell<()>,
    problems: OnceLock<Vec<(String, StartError)>>,
    observed: Observed,
    recent: RecentSearches,
}

impl Session {
    pub fn new(mut options: SessionOptions) -> Self {
        let scrubber = options.scrubber.take();
        let names = scrubber.map(|scrubber| {
            let names = pml_scrub::Session::new(scrubber);
            Arc::new(Mutex::new(names))
        });
        Self::with(options, names, Arc::default())
    }

    /// A session over names and values that somebody else holds as well.
    pub(crate) fn with(
        options: SessionOptions,
        names: Option<Arc<Mutex<pml_scrub::Session>>>,
        storage: Arc<Storage>,
    ) -> Self {
        Self {
            parts: Arc::new(Parts {
                gateway: options.gateway,
                search: options.search,
                scrub: names,
                storage,
                tool_timeout: options.tool_timeout,
                asked: OnceCell::new(),
                problems: OnceLock::new(),
                observed: Observed::default(),
                recent: RecentSearches::default(),
            }),
        }
    }

    pub fn gateway(&self) -> &Gateway {
        &self.parts.gateway
    }

    /// A run with its own budget of calls. `progress` hears what servers say about calls that
    /// are under way.
    pub fn run(&self, limits: &Limits, progress: impl Fn(Progress) + Send + Sync + 'static) -> Run {
        let limits = RunLimits {
            calls: Some(limits.calls),
            concurrent: Some(limits.concurrent_calls),
            tool_timeout: self.parts.tool_timeout,
            tool_time: None,
        };
        let scope = self.gateway().run_with_progress(limits, progress);
        Run::new(self.clone(), scope)
    }

    /// The limits for the runtime's side of a run. The gateway counts the time of a call from
    /// its dispatch; the runtime cannot see that moment and would count the start of the server
    /// and the wait in a queue as well.
    pub fn runtime_limits(limits: Limits) -> Limits {
        Limits {
            tool_ms: limits.wall_ms,
            ..limits
        }
    }

    /// What a client may be told of a run: the one way out. Where the policy blocks a value,
    /// nothing of the run is left but the refusal.
    pub fn scrub(&self, outcome: Outcome) -> Outcome {
        match self.names() {
            Some(mut names) => scrubbing::scrub(&mut names, outcome),
            None => outcome,
        }
    }

    /// A few words that are told apart from an outcome, such as the name of a call in a timeline.
    pub fn scrub_words(&self, words: &str) -> String {
        let Some(mut names) = self.names() else {
            return words.to_owned();
        };
        match names.scrub_text(words, None) {
            Ok(scrubbed) => scrubbed.into_inner(),
            Err(blocked) => blocked.to_string(),
        }
    }

    /// The placeholders this client knows, where its session is scrubbed.
    pub(crate) fn names(&self) -> Option<MutexGuard<'_, pml_scrub::Session>> {
        let names = self.parts.scrub.as_ref()?;
        // A panic in between leaves placeholders that are whole: each is made in one step.
        Some(names.lock().unwrap_or_else(|poison| poison.into_inner()))
    }

    pub(crate) fn storage(&self) -> &Storage {
        &self.parts.storage
    }

    /// The tools that fit the words, best first; of one server, if one is named. Words that make
    /// no query find nothing.
    pub async fn search(&self, query: &str, server: Option<&str>) -> Vec<Found> {
        let Ok(query) = Query::new(query, MOST_HITS, None) else {
            return Vec::new();
        };
        self.find(&query.with_filter(Filter {
            servers: server.into_iter().map(str::to_owned).collect(),
            ..Filter::default()
        }))
        .await
    }

    /// The tools that fit a query. What policy does not let a script see is not among them.
    pub async fn find(&self, query: &Query) -> Vec<Found> {
        self.prepare_search().await;
        self.parts.search.settle(INDEX_PATIENCE).await;
        let found = search::found(self.parts.search.find(query).await, &self.gateway().tools());
        self.parts.recent.note(query.text(), &found);
        found
    }

    /// A call succeeded: searches that found its tool were right.
    pub(crate) fn succeeded(&self, tool: &str) {
        for query in self.parts.recent.take_queries_for(tool) {
            self.parts.search.succeeded(&query, tool);
        }
    }

    /// Tells the search which tools there are now. It goes on by itself to index them.
    pub async fn prepare_search(&self) -> &Search {
        self.ask_all().await;
        let version = *self.gateway().changes().borrow();
        let search = &self.parts.search;
        search.follow(version, || search::documents(self.gateway()));
        search
    }

    /// Why a search had to do with words alone, if one had to.
    pub fn search_notice(&self) -> Option<String> {
        match self.parts.search.state() {
            State::Ready => None,
            State::WordsOnly(reason) => Some(reason),
            State::Building(progress) => Some(format!(
                "the index is being built: {} of {} tools so far",
                progress.done, progress.of
            )),
        }
    }

    /// The servers whose tools a search could not see, and why.
    pub fn problems(&self) -> &[(String, StartError)] {
        self.parts.problems.get().map_or(&[], Vec::as_slice)
    }

    /// Whether every server was asked for its tools: those that are not among the problems are
    /// known with all they have.
    pub fn has_listed(&self) -> bool {
        self.parts.problems.get().is_some()
    }

    /// What the results of tools look like, where that changed since this was last asked.
    pub fn take_observed(&self) -> Vec<(String, Shape)> {
        self.parts.observed.take()
    }

    pub(crate) fn observed(&self) -> &Observed {
        &self.parts.observed
    }

    /// Asks every server for its tools, once in a session: afterwards the gateway follows them.
    /// Those that had a problem are asked again, because it may be over.
    pub(crate) async fn ask_all(&self) {
        let had_problems = !self.problems().is_empty();
        self.parts
            .asked
            .get_or_init(|| async {
                let listing = self.gateway().list(None, SEARCH_PATIENCE).await;
                // Set once, because the cell around it is.
                let _ = self.parts.problems.set(listing.problems);
            })
            .await;
        if had_problems {
            self.gateway().list(None, LATER_PATIENCE).await;
        }
    }
}
