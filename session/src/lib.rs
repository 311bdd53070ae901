//! What one client of pml has: the tools of the gateway, the search over them, and the scrubbing of
//! everything it is told.
//!
//! `pml run` has one [`Session`] with one run; `pml serve` has one per connected client, with as
//! many runs as it asks for.

mod approval;
mod client;
mod observed;
mod recent;
mod run;
mod scrubbing;
mod search;
mod session;
mod storage;
mod told;

pub use approval::{Approver, Decision, DecisionFuture, Question};
pub use client::{Client, ClientOptions};
pub use run::Run;
pub use search::Found;
pub use session::{Session, SessionOptions};
pub use told::{Answer, Block, Outlet};
