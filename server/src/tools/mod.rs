//! The three tools, a file each.

mod arguments;
mod call;
mod execute;
mod search;

pub use call::call;
pub use execute::execute;
pub use search::search;

use crate::reply::Reply;

/// Bytes of a result that take a while to be read and scrubbed.
const LARGE: usize = 256 * 1024;

/// Makes a reply beside the event loop, which has other clients to serve.
async fn off_loop(tell: impl FnOnce() -> Reply + Send + 'static) -> Reply {
    let told = tokio::task::spawn_blocking(tell).await;
    told.unwrap_or_else(|_| Reply::failure("the result could not be told".into()))
}
