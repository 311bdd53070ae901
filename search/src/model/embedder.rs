//! The thread that owns the model.

use std::num::NonZero;
use std::sync::{Arc, OnceLock, mpsc};
use std::thread;

use fastembed::TextEmbedding;
use ort::ep::{self, ExecutionProviderDispatch};
use tokio::sync::oneshot;

use super::choice::ModelChoice;
use super::library::Library;
use crate::error::ModelError;
use crate::place::Place;
use crate::vectors::unit;

/// What the model reads of a text. Longer ones are cut.
pub(super) const TOKENS: usize = 256;
/// More threads wait for each other longer than they work on texts this short.
const MOST_THREADS: usize = 2;

pub(super) fn session_threads() -> usize {
    let there = thread::available_parallelism().map_or(1, NonZero::get);
    there.min(MOST_THREADS)
}

/// The processor, with the memory of texts from the system's allocator: the library's own would keep
/// what the longest of them took.
pub(super) fn providers() -> Vec<ExecutionProviderDispatch> {
    vec![ep::CPU::default().with_arena_allocator(false).build()]
}

/// Turns texts into vectors of length 1. Clones share the one model.
///
/// The model is loaded by its own thread, which ends with the last clone.
#[derive(Clone)]
pub struct Embedder {
    jobs: mpsc::Sender<Job>,
    state: Arc<OnceLock<Result<(), ModelError>>>,
}

struct Job {
    texts: Vec<String>,
    answer: oneshot::Sender<Result<Vec<Vec<f32>>, ModelError>>,
}

impl Embedder {
    /// Begins to load the model; what is asked meanwhile waits. `tell` hears what takes long.
    pub fn start(
        choice: ModelChoice,
        place: Option<Place>,
        tell: impl Fn(&str) + Send + 'static,
    ) -> Self {
        let (jobs, received) = mpsc::channel();
        let state = Arc::new(OnceLock::new());
        let known = state.clone();
        let started = thread::Builder::new()
            .name("pml-model".to_owned())
            .spawn(move || {
                let loaded = load(&choice, place.as_ref(), &tell);
                // Set once, because only this thread does.
                let _ = known.set(loaded.as_ref().map(|_| ()).map_err(Clone::clone));
                serve(loaded, &received);
            });
        if let Err(error) = started {
            let _ = state.set(Err(ModelError::Broken(format!(
                "its thread cannot be started: {error}"
            ))));
        }
        Self { jobs, state }
    }

    /// Why there is no model, once that is known.
    pub fn failure(&self) -> Option<ModelError> {
        self.state.get()?.as_ref().err().cloned()
    }

    /// One vector for each text.
    pub async fn embed(&self, texts: Vec<String>) -> Result<Vec<Vec<f32>>, ModelError> {
        let (answer, answered) = oneshot::channel();
        let gone = || ModelError::Broken("its thread has ended".to_owned());
        if self.jobs.send(Job { texts, answer }).is_err() {
            return Err(self.failure().unwrap_or_else(gone));
        }
        answered
            .await
            .unwrap_or_else(|_| Err(self.failure().unwrap_or_else(gone)))
    }
}

fn load(
    choice: &ModelChoice,
    place: Option<&Place>,
    tell: &dyn Fn(&str),
) -> Result<TextEmbedding, ModelError> {
    let library = Library::find_or_fetch(place, tell)?;
    choice.load(library.environment()?, place, tell)
}

fn serve(mut model: Result<TextEmbedding, ModelError>, jobs: &mpsc::Receiver<Job>) {
    for Job { texts, answer } in jobs {
        // Nobody waits for an answer that was dropped.
        if answer.is_closed() {
            continue;
        }
        let vectors = match &mut model {
            Ok(model) => embed(model, &texts),
            Err(error) => Err(error.clone()),
        };
        let _ = answer.send(vectors);
    }
}

fn embed(model: &mut TextEmbedding, texts: &[String]) -> Result<Vec<Vec<f32>>, ModelError> {
    // One at a time: a batch is padded to its longest text, which costs more than it saves, and in
    // 8 bits a text's vector would depend on what it is batched with.
    let vectors = model.embed(texts, Some(1));
    vectors
        .map(|vectors| vectors.into_iter().map(unit).collect())
        .map_err(|error| ModelError::Broken(error.to_string()))
}
