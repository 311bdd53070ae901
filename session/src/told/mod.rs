//! What a client may be told: nothing in here is made of anything but numbers, names of the
//! program and [`pml_scrub::Scrubbed`] values.

mod answer;
mod blocks;
mod logs;
mod outlet;

pub use answer::Answer;
pub use blocks::Block;
pub use outlet::Outlet;
