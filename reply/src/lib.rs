//! Replies: the one path from the outcome of a run to what a client reads.
//!
//! A [`RunReply`] consists of [`pml_scrub::Scrubbed`] values, numbers and texts of pml itself. Only
//! [`ReplyScrubber`] makes one, for `pml serve`, `pml run --scrub` and `pml run --json` alike.
//!
//! ```
//! use std::sync::Arc;
//! use pml_reply::ReplyScrubber;
//! use pml_scrub::{PlaceholderMap, ScrubConfig, Scrubber, SharedPlaceholders};
//!
//! let scrubber = Arc::new(Scrubber::new(&ScrubConfig::default())?);
//! let placeholders = SharedPlaceholders::new(PlaceholderMap::new(scrubber));
//! let reply = ReplyScrubber::for_person(placeholders);
//! let text = reply.text("write to jane.doe@example.org");
//! assert!(!text.contains("jane.doe"));
//! # Ok::<(), pml_scrub::ConfigError>(())
//! ```

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod blocks;
mod logs;
mod reply_parts;
mod reply_scrubber;
mod run_reply;
mod shape;
mod size;

pub use blocks::{Block, Media};
pub use reply_scrubber::{KeepResult, ReplyScrubber, is_over_output, limit_output};
pub use run_reply::{RunReply, Truncation};
pub use size::{outcome_bytes, result_bytes};
