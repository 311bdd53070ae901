//! The handle: knows the tools, keeps their index, answers queries.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::thread;
use std::time::Duration;

use tokio::sync::{mpsc, watch};

use crate::asked::Asked;
use crate::catalog::{Catalog, Hit};
use crate::document::Document;
use crate::error::{ModelError, SearchError};
use crate::index::{self, IndexLock, IndexStats, Progress, VectorTable};
use crate::model::{Embedder, ModelChoice};
use crate::place::Place;
use crate::query::Query;
use crate::recent::{Embedded, Recent};

/// Hears what takes long, in words for a person.
pub type Tell = Arc<dyn Fn(&str) + Send + Sync>;

/// How a search is set up.
#[derive(Clone, Default)]
pub struct SearchOptions {
    /// Where files are kept; without a place, nothing is kept.
    pub place: Option<Place>,
    /// The configuration file that the tools come from: each has an index of its own.
    pub configuration: Option<PathBuf>,
    pub model: ModelChoice,
    pub tell: Option<Tell>,
}

/// What a search ranks by.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum State {
    /// By words alone, until the vectors are there.
    Building(Progress),
    /// By words and vectors.
    #[default]
    Ready,
    /// By words alone, for the reason that is told.
    WordsOnly(String),
}

/// Finds tools. Cheap to clone; the clones share everything.
///
/// Nothing is loaded and no thread is started before there are tools to search.
#[derive(Clone)]
pub struct Search {
    parts: Arc<Parts>,
}

struct Parts {
    options: SearchOptions,
    current: watch::Sender<Current>,
    /// The version of the tools that are current.
    followed: Mutex<Option<u64>>,
    threads: OnceLock<Threads>,
    recent: Recent,
}

#[derive(Clone, Default)]
struct Current {
    catalog: Catalog,
    state: State,
}

/// What runs beside: the model on its own thread, the index on another.
struct Threads {
    embedder: Embedder,
    to_index: mpsc::UnboundedSender<Job>,
}

enum Job {
    Index(Catalog),
    Keep(Asked),
}

impl Search {
    pub fn new(options: SearchOptions) -> Self {
        Self {
            parts: Arc::new(Parts {
                options,
                current: watch::Sender::new(Current::default()),
                followed: Mutex::default(),
                threads: OnceLock::new(),
                recent: Recent::default(),
            }),
        }
    }

    /// Says which tools there are from now on; `version` is another number whenever they are
    /// others. They are found by words at once, and by vectors when those are there.
    pub fn follow(&self, version: u64, tools: impl FnOnce() -> Vec<Document>) {
        let mut followed = self.followed();
        if *followed == Some(version) {
            return;
        }
        *followed = Some(version);
        let mut tools = tools();
        if let Some(folder) = self.parts.folder() {
            let asked = Asked::read(&folder);
            for tool in &mut tools {
                tool.asked.extend(asked.words(&tool.id));
            }
        }
        if tools == self.parts.current.borrow().catalog.documents() {
            return;
        }
        let catalog = Catalog::new(tools);
        let of = catalog.documents().len();
        self.parts.current.send_replace(Current {
            catalog: catalog.clone(),
            state: match of {
                0 => State::Ready,
                of => State::Building(Progress { done: 0, of }),
            },
        });
        if of > 0 {
            // The thread ends only with this handle.
            let _ = self.threads().to_index.send(Job::Index(catalog));
        }
    }

    /// Waits until the index is as good as it gets, or for `patience`.
    pub async fn settle(&self, patience: Duration) -> State {
        let mut current = self.parts.current.subscribe();
        let settled = |current: &Current| !matches!(current.state, State::Building(_));
        // Running out of patience leaves a state, too.
        let _ = tokio::time::timeout(patience, current.wait_for(settled)).await;
        self.state()
    }

    pub fn state(&self) -> State {
        self.parts.current.borrow().state.clone()
    }

    /// Follows the building of the index.
    pub async fn changed(&self, seen: &State) -> State {
        let mut current = self.parts.current.subscribe();
        let waited = current.wait_for(|current| current.state != *seen).await;
        waited.map_or_else(|_| seen.clone(), |current| current.state.clone())
    }

    /// The tools that fit, best first.
    pub async fn find(&self, query: &Query) -> Vec<Hit> {
        let Current { catalog, .. } = self.parts.current.borrow().clone();
        let embedded = match (catalog.has_vectors(), self.parts.threads.get()) {
            (true, Some(threads)) => self.embedded(query.text(), &threads.embedder).await,
            _ => return catalog.search(query, None),
        };
        match embedded {
            Ok(embedded) => catalog.search(query, Some(&embedded)),
            Err(error) => {
                self.parts.give_up(&error.into());
                catalog.search(query, None)
            }
        }
    }

    async fn embedded(&self, query: &str, embedder: &Embedder) -> Result<Embedded, ModelError> {
        if let Some(embedded) = self.parts.recent.get(query) {
            return Ok(embedded);
        }
        let embedded = Arc::new(embedder.embed(Catalog::texts(query)).await?);
        self.parts.recent.keep(query, embedded.clone());
        Ok(embedded)
    }

    /// A query led to a successful call. From the next time that tools are followed on, its words
    /// lead to the tool.
    pub fn succeeded(&self, query: &str, tool: &str) {
        let mut asked = Asked::default();
        asked.learn(query, tool);
        if let Some(threads) = self.parts.threads.get()
            && !asked.is_empty()
        {
            // The thread ends only with this handle.
            let _ = threads.to_index.send(Job::Keep(asked));
        }
    }

    /// The tools as they are searched now.
    pub fn catalog(&self) -> Catalog {
        self.parts.current.borrow().catalog.clone()
    }

    /// The model, once there was something to search.
    pub fn embedder(&self) -> Option<&Embedder> {
        self.parts.threads.get().map(|threads| &threads.embedder)
    }

    /// What the index has on disk. `None` if nothing is kept.
    pub async fn stats(&self) -> Option<Result<IndexStats, SearchError>> {
        let folder = self.parts.folder()?;
        Some(async { VectorTable::open(&folder).await?.stats().await }.await)
    }

    /// Throws the index on disk away; the next [`Search::follow`] makes it anew.
    pub async fn clear(&self) -> Result<(), SearchError> {
        let Some(folder) = self.parts.folder() else {
            return Ok(());
        };
        let _lock = IndexLock::take(&folder)?;
        *self.followed() = None;
        self.parts.current.send_replace(Current::default());
        VectorTable::open(&folder).await?.clear().await
    }

    fn followed(&self) -> MutexGuard<'_, Option<u64>> {
        // A number is replaced in one step.
        self.parts
            .followed
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn threads(&self) -> &Threads {
        self.parts.threads.get_or_init(|| {
            let options = &self.parts.options;
            let tell = options.tell.clone();
            let embedder =
                Embedder::start(options.model.clone(), options.place.clone(), move |text| {
                    if let Some(tell) = &tell {
                        tell(text);
                    }
                });
            let (to_index, jobs) = mpsc::unbounded_channel();
            let (parts, model) = (Arc::downgrade(&self.parts), embedder.clone());
            let started = thread::Builder::new()
                .name("pml-index".to_owned())
                .spawn(move || {
                    let _guard = GiveUp(parts.clone());
                    keep_index(&parts, &model, jobs);
                });
            if let Err(error) = started {
                let told = format!("the index has no thread: {error}");
                self.parts.give_up(&SearchError::Index(told));
            }
            Threads { embedder, to_index }
        })
    }
}

impl Parts {
    fn folder(&self) -> Option<PathBuf> {
        let place = self.options.place.as_ref()?;
        let configuration = self.options.configuration.as_deref()?;
        Some(place.index(configuration))
    }

    fn publish(&self, catalog: Catalog, state: State) {
        self.current.send_if_modified(|current| {
            // Tools may have changed meanwhile; what is about the old ones is not wanted.
            if !current.catalog.is_about_same_tools(&catalog) {
                return false;
            }
            *current = Current { catalog, state };
            true
        });
    }

    fn give_up(&self, error: &SearchError) {
        self.current
            .send_modify(|current| current.state = State::WordsOnly(error.to_string()));
    }
}

/// Whoever waits for the index must not wait for a thread that is no more.
struct GiveUp(Weak<Parts>);

impl Drop for GiveUp {
    fn drop(&mut self) {
        if thread::panicking()
            && let Some(parts) = self.0.upgrade()
        {
            parts.give_up(&SearchError::Index("its thread has ended".to_owned()));
        }
    }
}

/// Builds the index for whatever tools come, until nobody searches any more.
fn keep_index(parts: &Weak<Parts>, embedder: &Embedder, mut jobs: mpsc::UnboundedReceiver<Job>) {
    let event_loop = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let event_loop = match event_loop {
        Ok(event_loop) => event_loop,
        Err(error) => {
            if let Some(parts) = parts.upgrade() {
                parts.give_up(&SearchError::Index(error.to_string()));
            }
            return;
        }
    };
    event_loop.block_on(async {
        while let Some(job) = jobs.recv().await {
            let Some((folder, model)) = parts
                .upgrade()
                .map(|parts| (parts.folder(), parts.options.model.to_string()))
            else {
                return;
            };
            let catalog = match job {
                Job::Index(catalog) => catalog,
                Job::Keep(asked) => {
                    if let Some(Err(error)) = folder.map(|folder| asked.keep(&folder)) {
                        tracing::debug!(%error, "what was asked cannot be kept");
                    }
                    continue;
                }
            };
            // Tools that were replaced meanwhile need no index.
            let is_current = |parts: Arc<Parts>| {
                let current = parts.current.borrow();
                current.catalog.is_about_same_tools(&catalog)
            };
            if !parts.upgrade().is_some_and(is_current) {
                continue;
            }
            let progress = |progress| {
                if let Some(parts) = parts.upgrade() {
                    parts.publish(catalog.clone(), State::Building(progress));
                }
            };
            let documents = catalog.documents();
            let mut built =
                index::build(documents, &model, folder.as_deref(), embedder, progress).await;
            if let Err(SearchError::Index(_) | SearchError::Folder { .. }) = &built {
                // A disk that cannot be written is no reason to rank by words alone.
                built = index::build(documents, &model, None, embedder, progress).await;
            }
            give_back_memory();
            let Some(parts) = parts.upgrade() else { return };
            match built {
                Ok(vectors) => parts.publish(catalog.with_vectors(vectors), State::Ready),
                Err(error) => parts.publish(catalog.clone(), State::WordsOnly(error.to_string())),
            }
        }
    });
}

/// An index leaves much memory behind that the allocator would keep, and tens of megabytes of code
/// that only makes indexes.
fn give_back_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        // Both are set by the linker, around everything of the program that is only read.
        unsafe extern "C" {
            static __executable_start: u8;
            static etext: u8;
        }
        let (start, end) = (&raw const __executable_start, &raw const etext);
        let length = end.addr() - start.addr();
        // SAFETY: the first gives free pages back and touches nothing in use. The second gives back
        // pages of the program's file that nobody can have written to; whoever reads or runs them
        // again has them from the file again.
        unsafe {
            libc::malloc_trim(0);
            libc::madvise(start.cast_mut().cast(), length, libc::MADV_DONTNEED);
        }
    }
}
