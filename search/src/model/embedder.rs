//! The embedding thread, which owns the model.

use std::num::NonZero;
use std::sync::{Arc, OnceLock, mpsc};
use std::thread;

use fastembed::TextEmbedding;
use ort::ep::{self, ExecutionProviderDispatch};
use tokio::sync::oneshot;

use super::choice::ModelChoice;
use super::onnx_library::OnnxLibrary;
use crate::error::ModelError;
use crate::search_paths::SearchPaths;
use crate::vectors::unit;

/// Tokens of a text that the model reads; the rest is cut off.
pub(super) const MAX_TOKENS: usize = 256;
/// On texts this short, more threads wait for each other longer than they work.
const MAX_THREADS: usize = 2;

/// Threads of an ONNX Runtime session.
pub(super) fn session_threads() -> usize {
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    cores.min(MAX_THREADS)
}

/// The CPU provider with the system allocator: ONNX Runtime's arena would keep the memory that the
/// longest text took.
pub(super) fn providers() -> Vec<ExecutionProviderDispatch> {
    vec![ep::CPU::default().with_arena_allocator(false).build()]
}

/// Computes embeddings: vectors of length 1. Clones share one model.
///
/// The model is loaded and run by a thread of its own, which ends with the last clone.
#[derive(Clone)]
pub struct Embedder {
    jobs: mpsc::Sender<Job>,
    state: Arc<OnceLock<Result<(), ModelError>>>,
}

struct Job {
    texts: Vec<String>,
    reply: oneshot::Sender<Result<Vec<Vec<f32>>, ModelError>>,
}

impl Embedder {
    /// Starts the thread, which loads the model; requests wait for it. `on_status` receives messages
    /// about slow steps.
    pub fn start(
        choice: ModelChoice,
        paths: Option<SearchPaths>,
        on_status: impl Fn(&str) + Send + 'static,
    ) -> Self {
        let (jobs, queue) = mpsc::channel();
        let state = Arc::new(OnceLock::new());
        let thread_state = state.clone();
        let started = thread::Builder::new()
            .name("pml-model".to_owned())
            .spawn(move || {
                let loaded = load(&choice, paths.as_ref(), &on_status);
                // Cannot fail: only this thread sets it.
                let _ = thread_state.set(loaded.as_ref().map(|_| ()).map_err(Clone::clone));
                serve(loaded, &queue);
            });
        if let Err(error) = started {
            let _ = state.set(Err(ModelError::Broken(format!(
                "its thread cannot be started: {error}"
            ))));
        }
        Self { jobs, state }
    }

    /// Why the model cannot be used; `None` while it loads and if it works.
    pub fn failure(&self) -> Option<ModelError> {
        self.state.get()?.as_ref().err().cloned()
    }

    /// Computes one vector for each text.
    ///
    /// # Errors
    ///
    /// If the model could not be loaded, or fails on these texts.
    pub async fn embed(&self, texts: Vec<String>) -> Result<Vec<Vec<f32>>, ModelError> {
        let (reply, replied) = oneshot::channel();
        let ended = || ModelError::Broken("its thread has ended".to_owned());
        if self.jobs.send(Job { texts, reply }).is_err() {
            return Err(self.failure().unwrap_or_else(ended));
        }
        replied
            .await
            .unwrap_or_else(|_| Err(self.failure().unwrap_or_else(ended)))
    }
}

fn load(
    choice: &ModelChoice,
    paths: Option<&SearchPaths>,
    on_status: &dyn Fn(&str),
) -> Result<TextEmbedding, ModelError> {
    let library = OnnxLibrary::find_or_download(paths, on_status)?;
    choice.load(library.environment()?, paths, on_status)
}

fn serve(mut model: Result<TextEmbedding, ModelError>, jobs: &mpsc::Receiver<Job>) {
    for Job { texts, reply } in jobs {
        // The caller was cancelled.
        if reply.is_closed() {
            continue;
        }
        let vectors = match &mut model {
            Ok(model) => embed(model, &texts),
            Err(error) => Err(error.clone()),
        };
        let _ = reply.send(vectors);
    }
}

fn embed(model: &mut TextEmbedding, texts: &[String]) -> Result<Vec<Vec<f32>>, ModelError> {
    // A batch size of 1: a batch is padded to its longest text, which costs more than it saves, and
    // with an 8-bit model a text's vector would depend on the rest of its batch.
    let vectors = model.embed(texts, Some(1));
    vectors
        .map(|vectors| vectors.into_iter().map(unit).collect())
        .map_err(|error| ModelError::Broken(error.to_string()))
}
