//! Tool search: embedding model, LanceDB index, hybrid ranking.
//!
//! [`Search`] is the handle: give it the tools with [`Search::set_tools`], then ask it with
//! [`Search::find`]. It ranks by words (BM25F) at once, and by words and vectors as soon as the model
//! is loaded and the index is built. Without a model it keeps ranking by words alone, and
//! [`Search::state`] says why.
//!
//! ```no_run
//! # async fn example() -> Result<(), pml_search::SearchError> {
//! use pml_search::{DEFAULT_HITS, Query, Search, SearchOptions, ToolDocument};
//!
//! let search = Search::new(SearchOptions::default());
//! search.set_tools(1, || vec![ToolDocument { id: "fs:read".into(), ..Default::default() }]);
//! for hit in search.find(&Query::new("read a file", DEFAULT_HITS, None)?).await {
//!     println!("{:.2} {}", hit.score, hit.id);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # Process-wide effects
//!
//! - After each index build, free heap pages and the clean pages of the program's text go back to the
//!   kernel (`malloc_trim`, `madvise(MADV_DONTNEED)`); after the built-in model is loaded, so do the
//!   pages of the binary that hold it. All of this is in `process_memory.rs`.
//! - The ONNX Runtime shared library is loaded into the process once and stays until it ends. If it is
//!   missing, `python3 -m pip` is run to download it.
//! - The first non-empty [`Search::set_tools`] of a handle starts two threads, `pml-model` and
//!   `pml-index`. They end with the last clone of the handle.

#![warn(missing_docs)]

mod bm25;
mod document;
mod embedding_cache;
mod error;
mod filter;
mod gateway_documents;
mod index;
mod indexed_tools;
mod model;
mod process_memory;
mod query;
mod query_feedback;
mod ranking;
mod recent_searches;
mod search;
mod search_paths;
mod spelling;
mod stems;
mod tool_finder;
mod vectors;

pub use document::{Parameter, ToolDescription, ToolDocument};
pub use error::{ModelError, SearchError};
pub use filter::Filter;
pub use gateway_documents::FoundTool;
pub use index::{IndexProgress, IndexStats};
pub use indexed_tools::{Hit, IndexedTools};
pub use model::{BUILTIN_MODEL, Embedder, LibraryOrigin, ListedModel, ModelChoice, OnnxLibrary};
pub use query::{DEFAULT_HITS, DEFAULT_THRESHOLD, MAX_HITS, MAX_QUERY_CHARS, Query};
pub use query_feedback::QueryFeedback;
pub use ranking::{Cosines, ScoreParts};
pub use search::{OnStatus, Search, SearchOptions, SearchState};
pub use search_paths::SearchPaths;
pub use tool_finder::ToolFinder;
