//! The folders of a user, atomic writes, and programs on the `PATH`.
//!
//! Everything that pml remembers between runs (logins, tool catalogs, search indexes) is below
//! [`data_dir`].

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod executable;
mod user_dirs;
mod write;

pub use executable::{absolute_entries, absolute_search_path, find_executable};
pub use user_dirs::{Platform, UserDirs, config_dir, data_dir};
pub use write::{Access, create_new, create_private_dir, write_atomic};
