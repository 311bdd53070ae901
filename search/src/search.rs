//! The search handle: holds the tools, keeps their index up to date, answers queries.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::thread;
use std::time::Duration;

use tokio::sync::{mpsc, watch};

use crate::document::ToolDocument;
use crate::embedding_cache::{EmbeddingCache, QueryEmbedding};
use crate::error::{ModelError, SearchError};
use crate::index::{self, IndexLock, IndexProgress, IndexStats, VectorTable};
use crate::indexed_tools::{Hit, IndexedTools};
use crate::model::{Embedder, ModelChoice};
use crate::process_memory;
use crate::query::Query;
use crate::query_feedback::QueryFeedback;
use crate::search_paths::SearchPaths;

/// Receives messages for the user about slow steps, such as a download.
pub type OnStatus = Arc<dyn Fn(&str) + Send + Sync>;

/// Options of [`Search::new`].
#[derive(Clone, Default)]
pub struct SearchOptions {
    /// Where files are kept; `None` keeps everything in memory.
    pub paths: Option<SearchPaths>,
    /// The configuration file that the tools come from. Each file has its own index.
    pub configuration: Option<PathBuf>,
    /// The embedding model.
    pub model: ModelChoice,
    /// Called with messages about slow steps.
    pub on_status: Option<OnStatus>,
}

/// What a search ranks by at the moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum SearchState {
    /// By words alone, while the index is built.
    Building(IndexProgress),
    /// By words and vectors.
    #[default]
    Ready,
    /// By words alone, for the given reason.
    WordsOnly(String),
}

/// Finds tools. Cheap to clone; the clones share everything.
///
/// No model is loaded and no thread is started before there are tools to search.
#[derive(Clone)]
pub struct Search {
    shared: Arc<Shared>,
}

struct Shared {
    options: SearchOptions,
    current: watch::Sender<Current>,
    /// The version of the current tools.
    version: Mutex<Option<u64>>,
    threads: OnceLock<Threads>,
    embeddings: EmbeddingCache,
}

#[derive(Clone, Default)]
struct Current {
    tools: IndexedTools,
    state: SearchState,
}

/// The background threads: one owns the model, the other builds the index.
struct Threads {
    embedder: Embedder,
    index_jobs: mpsc::UnboundedSender<IndexJob>,
}

enum IndexJob {
    Build(IndexedTools),
    SaveFeedback(QueryFeedback),
}

impl Search {
    /// Creates a search without tools. Loads nothing.
    pub fn new(options: SearchOptions) -> Self {
        Self {
            shared: Arc::new(Shared {
                options,
                current: watch::Sender::new(Current::default()),
                version: Mutex::default(),
                threads: OnceLock::new(),
                embeddings: EmbeddingCache::default(),
            }),
        }
    }

    /// Replaces the tools, unless `version` is that of the current ones. The new tools are found by
    /// words at once, and by vectors when the index is built.
    pub fn set_tools(&self, version: u64, tools: impl FnOnce() -> Vec<ToolDocument>) {
        let mut current_version = self.version();
        if *current_version == Some(version) {
            return;
        }
        *current_version = Some(version);
        let mut tools = tools();
        if let Some(folder) = self.shared.index_folder() {
            let feedback = QueryFeedback::read(&folder);
            for tool in &mut tools {
                tool.feedback.extend(feedback.words(&tool.id));
            }
        }
        if tools == self.shared.current.borrow().tools.documents() {
            return;
        }
        let tools = IndexedTools::new(tools);
        let of = tools.documents().len();
        self.shared.current.send_replace(Current {
            tools: tools.clone(),
            state: match of {
                0 => SearchState::Ready,
                of => SearchState::Building(IndexProgress { done: 0, of }),
            },
        });
        if of > 0 {
            // The receiving thread lives as long as this handle.
            let _ = self.threads().index_jobs.send(IndexJob::Build(tools));
        }
    }

    /// Waits until the index is built or has failed, for at most `timeout`.
    pub async fn wait_until_indexed(&self, timeout: Duration) -> SearchState {
        let mut current = self.shared.current.subscribe();
        let settled = |current: &Current| !matches!(current.state, SearchState::Building(_));
        // After a timeout the state is returned as it is.
        let _ = tokio::time::timeout(timeout, current.wait_for(settled)).await;
        self.state()
    }

    /// What a search ranks by at the moment.
    pub fn state(&self) -> SearchState {
        self.shared.current.borrow().state.clone()
    }

    /// Waits for a state that differs from `seen`, to follow the progress of the index.
    pub async fn wait_for_change(&self, seen: &SearchState) -> SearchState {
        let mut current = self.shared.current.subscribe();
        let waited = current.wait_for(|current| current.state != *seen).await;
        waited.map_or_else(|_| seen.clone(), |current| current.state.clone())
    }

    /// The tools that match, best first. If the model fails, words alone are ranked and the state
    /// becomes [`SearchState::WordsOnly`].
    pub async fn find(&self, query: &Query) -> Vec<Hit> {
        let Current { tools, .. } = self.shared.current.borrow().clone();
        let embedding = match (tools.has_vectors(), self.shared.threads.get()) {
            (true, Some(threads)) => self.embedding(query.text(), &threads.embedder).await,
            _ => return tools.search(query, None),
        };
        match embedding {
            Ok(embedding) => tools.search(query, Some(&embedding)),
            Err(error) => {
                self.shared.fall_back_to_words(&error.into());
                tools.search(query, None)
            }
        }
    }

    async fn embedding(
        &self,
        query: &str,
        embedder: &Embedder,
    ) -> Result<QueryEmbedding, ModelError> {
        if let Some(embedding) = self.shared.embeddings.get(query) {
            return Ok(embedding);
        }
        let texts = IndexedTools::texts_to_embed(query);
        let embedding = Arc::new(embedder.embed(texts).await?);
        self.shared.embeddings.insert(query, embedding.clone());
        Ok(embedding)
    }

    /// Records that a query led to a successful call of a tool. The query's words lead to the tool from
    /// the next [`Search::set_tools`] on.
    pub fn record_success(&self, query: &str, tool: &str) {
        let mut feedback = QueryFeedback::default();
        feedback.record(query, tool);
        if let Some(threads) = self.shared.threads.get()
            && !feedback.is_empty()
        {
            // The receiving thread lives as long as this handle.
            let _ = threads.index_jobs.send(IndexJob::SaveFeedback(feedback));
        }
    }

    /// The tools as they are searched now.
    pub fn tools(&self) -> IndexedTools {
        self.shared.current.borrow().tools.clone()
    }

    /// The model; `None` before there were tools to search.
    pub fn embedder(&self) -> Option<&Embedder> {
        self.shared.threads.get().map(|threads| &threads.embedder)
    }

    /// Statistics of the index on disk. `None` if nothing is kept on disk.
    pub async fn stats(&self) -> Option<Result<IndexStats, SearchError>> {
        let folder = self.shared.index_folder()?;
        Some(async { VectorTable::open(&folder).await?.stats().await }.await)
    }

    /// Deletes the index on disk; the next [`Search::set_tools`] builds a new one.
    ///
    /// # Errors
    ///
    /// If the index folder cannot be locked or written.
    pub async fn clear(&self) -> Result<(), SearchError> {
        let Some(folder) = self.shared.index_folder() else {
            return Ok(());
        };
        let _lock = IndexLock::acquire(&folder)?;
        *self.version() = None;
        self.shared.current.send_replace(Current::default());
        VectorTable::open(&folder).await?.clear().await
    }

    fn version(&self) -> MutexGuard<'_, Option<u64>> {
        // The value is replaced in one step, so a panic cannot leave it half written.
        self.shared
            .version
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn threads(&self) -> &Threads {
        self.shared.threads.get_or_init(|| {
            let options = &self.shared.options;
            let on_status = options.on_status.clone();
            let embedder =
                Embedder::start(options.model.clone(), options.paths.clone(), move |text| {
                    if let Some(on_status) = &on_status {
                        on_status(text);
                    }
                });
            let (index_jobs, jobs) = mpsc::unbounded_channel();
            let (shared, model) = (Arc::downgrade(&self.shared), embedder.clone());
            let started = thread::Builder::new()
                .name("pml-index".to_owned())
                .spawn(move || {
                    let _guard = FallBackOnPanic(shared.clone());
                    run_index_jobs(&shared, &model, jobs);
                });
            if let Err(error) = started {
                let reason = format!("its thread cannot be started: {error}");
                self.shared.fall_back_to_words(&SearchError::Index(reason));
            }
            Threads {
                embedder,
                index_jobs,
            }
        })
    }
}

impl Shared {
    fn index_folder(&self) -> Option<PathBuf> {
        let paths = self.options.paths.as_ref()?;
        let configuration = self.options.configuration.as_deref()?;
        Some(paths.index_folder(configuration))
    }

    /// Publishes the result of a build, unless the tools were replaced since it began.
    fn publish(&self, tools: IndexedTools, state: SearchState) {
        self.current.send_if_modified(|current| {
            if !current.tools.has_same_tools_as(&tools) {
                return false;
            }
            *current = Current { tools, state };
            true
        });
    }

    fn fall_back_to_words(&self, error: &SearchError) {
        self.current
            .send_modify(|current| current.state = SearchState::WordsOnly(error.to_string()));
    }
}

/// Ends the wait of [`Search::wait_until_indexed`] when the index thread panics.
struct FallBackOnPanic(Weak<Shared>);

impl Drop for FallBackOnPanic {
    fn drop(&mut self) {
        if thread::panicking()
            && let Some(shared) = self.0.upgrade()
        {
            shared.fall_back_to_words(&SearchError::Index("its thread has ended".to_owned()));
        }
    }
}

/// The index thread: runs jobs until the last search handle is dropped.
fn run_index_jobs(
    shared: &Weak<Shared>,
    embedder: &Embedder,
    mut jobs: mpsc::UnboundedReceiver<IndexJob>,
) {
    let event_loop = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let event_loop = match event_loop {
        Ok(event_loop) => event_loop,
        Err(error) => {
            if let Some(shared) = shared.upgrade() {
                shared.fall_back_to_words(&SearchError::Index(error.to_string()));
            }
            return;
        }
    };
    event_loop.block_on(async {
        while let Some(job) = jobs.recv().await {
            let Some((folder, model)) = shared
                .upgrade()
                .map(|shared| (shared.index_folder(), shared.options.model.to_string()))
            else {
                return;
            };
            let tools = match job {
                IndexJob::Build(tools) => tools,
                IndexJob::SaveFeedback(feedback) => {
                    if let Some(Err(error)) = folder.map(|folder| feedback.merge_into(&folder)) {
                        tracing::debug!(%error, "the query feedback cannot be saved");
                    }
                    continue;
                }
            };
            // Skips tools that were replaced while the job was queued.
            let is_current = |shared: Arc<Shared>| {
                let current = shared.current.borrow();
                current.tools.has_same_tools_as(&tools)
            };
            if !shared.upgrade().is_some_and(is_current) {
                continue;
            }
            let progress = |progress| {
                if let Some(shared) = shared.upgrade() {
                    shared.publish(tools.clone(), SearchState::Building(progress));
                }
            };
            let documents = tools.documents();
            let mut built =
                index::build(documents, &model, folder.as_deref(), embedder, progress).await;
            if let Err(SearchError::Index(_) | SearchError::Folder { .. }) = &built {
                // The disk cannot be used: build in memory, which still gives vectors.
                built = index::build(documents, &model, None, embedder, progress).await;
            }
            process_memory::release_after_index_build();
            let Some(shared) = shared.upgrade() else {
                return;
            };
            match built {
                Ok(vectors) => shared.publish(tools.with_vectors(vectors), SearchState::Ready),
                Err(error) => {
                    shared.publish(tools.clone(), SearchState::WordsOnly(error.to_string()));
                }
            }
        }
    });
}
