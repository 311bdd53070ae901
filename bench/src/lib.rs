//! What the benchmarks share: peers, statistics and the description of the machine.

mod machine;
mod peer;
mod sample;

pub use machine::describe_machine;
pub use peer::{build_pml, cache_folder, install_npm};
pub use sample::{Sample, millis, timed};
