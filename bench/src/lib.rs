//! What the benchmarks share: peers, statistics and the description of the machine.

mod machine;
mod peer;
pub mod retrieval;
mod sample;

pub use machine::{describe_machine, resident_memory};
pub use peer::{build_pml, cache_folder, install_npm, install_pip};
pub use sample::{Sample, millis, timed};
