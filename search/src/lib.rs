//! The right tool out of thousands: embedding, LanceDB index, ranking.
//!
//! [`Search`] is the handle: told which tools there are, it answers queries. It ranks by words at
//! once and by words and vectors as soon as the model is loaded and the index is built; where
//! there is no model, words alone have to do, and [`Search::state`] says why.

mod asked;
mod catalog;
mod document;
mod engine;
mod error;
mod filter;
mod index;
mod lexicon;
mod model;
mod place;
mod query;
mod ranking;
mod recent;
mod spelling;
mod vectors;
mod words;

pub use asked::Asked;
pub use catalog::{Catalog, Hit};
pub use document::{Described, Document, Parameter};
pub use engine::{Search, SearchOptions, State, Tell};
pub use error::{ModelError, SearchError};
pub use filter::Filter;
pub use index::{IndexStats, Progress};
pub use model::{BUILTIN, Embedder, Library, LibraryOrigin, ListedModel, ModelChoice};
pub use place::Place;
pub use query::{DEFAULT_HITS, DEFAULT_THRESHOLD, MOST_HITS, QUERY_CHARS, Query};
pub use ranking::{Cosines, Parts};
