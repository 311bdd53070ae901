//! The body of a response that notes when it has been written.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};

use super::connections::ActiveRequest;

/// A body that keeps its request active until it is written or dropped.
pub struct GuardedBody {
    body: Body,
    _active: ActiveRequest,
}

impl GuardedBody {
    pub fn new(body: Body, active: ActiveRequest) -> Self {
        Self {
            body,
            _active: active,
        }
    }
}

impl HttpBody for GuardedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
