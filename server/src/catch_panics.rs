//! Answers a request whose handler panicked. Without this the task of the request would just end, and
//! its client would wait for ever.

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt;
use rmcp::ErrorData;
use rmcp::model::ErrorCode;

use crate::tool_reply::refusal;

/// The reply of `handler`; a panic is an error of this one request. The message of a panic may quote
/// private data, so it is not part of the error.
pub async fn catch_panics<T>(
    handler: impl Future<Output = Result<T, ErrorData>>,
) -> Result<T, ErrorData> {
    // Unwind safe: state that outlives the request is behind locks that recover from poisoning.
    let handled = AssertUnwindSafe(handler).catch_unwind().await;
    handled.unwrap_or_else(|_panic| Err(panicked()))
}

/// The error of a request whose handler panicked.
pub fn panicked() -> ErrorData {
    refusal(
        ErrorCode::INTERNAL_ERROR,
        "the call broke down; this is a fault of pml".into(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_request_whose_handler_panics_is_answered_without_the_message() {
        let reply: Result<(), _> = catch_panics(async {
            tokio::task::yield_now().await;
            panic!("the password is hunter2")
        })
        .await;
        let error = reply.unwrap_err();
        assert_eq!(error.code, ErrorCode::INTERNAL_ERROR);
        assert!(!error.message.contains("hunter2"), "{error:?}");
        assert_eq!(catch_panics(async { Ok(1) }).await.ok(), Some(1));
    }
}
