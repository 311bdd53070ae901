//! Shared parts of the benchmarks: installing peers, statistics, the description of the machine.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod install;
mod machine;
mod ratios;
pub mod retrieval;
mod sample;

pub use install::{build_pml, cache_folder, install_npm, install_pip};
pub use machine::{describe_machine, resident_memory};
pub use ratios::{Comparison, Ratio, compare, ratios};
pub use sample::{Sample, millis, timed};
