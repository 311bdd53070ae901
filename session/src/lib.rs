//! What one client of pml has: the tools of the gateway, the search over them, and the scrubbing of
//! everything it is told.
//!
//! `pml run` has one [`Session`] with one run; `pml serve` has one per connected client, with as
//! many runs as it asks for.

mod observed;
mod run;
mod scrubbing;
mod search;
mod session;

pub use run::Run;
pub use search::Found;
pub use session::{Session, SessionOptions};
