//! The three tools, a file each.

mod arguments;
mod call;
mod execute;
mod search;

pub use call::call;
pub use execute::execute;
pub use search::search;
