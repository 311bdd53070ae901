//! A small MCP server to try pml with, and to test it: files below one folder, JSON, text, notes,
//! a slow tool and a flaky one. Nothing outside its memory is ever written.

mod catalog;
mod folder;
mod journal;
mod json;
mod notes;
mod patience;
mod server;
mod text;

pub use folder::{Folder, FolderError};
pub use journal::Journal;
pub use server::{DemoError, DemoServer, Options};
