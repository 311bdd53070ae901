//! A small MCP server to try pml with, and to test it: files below one folder, JSON, text, notes, a slow
//! tool and a flaky one. It keeps everything in memory and writes no file but the optional [`Journal`].
//!
//! ```no_run
//! use std::path::Path;
//! use pml_demo::{DemoOptions, DemoServer, ServedFolder};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = ServedFolder::new(Path::new("examples/data"))?;
//! let options = DemoOptions { folder, journal: None, noise: false };
//! DemoServer::new(options).serve_stdio().await?;
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod journal;
mod json;
mod notes;
mod sample_tools;
mod served_folder;
mod server;
mod slow_tools;
mod text;

pub use journal::Journal;
pub use served_folder::{FolderError, ServedFolder};
pub use server::{DemoError, DemoOptions, DemoServer};
