//! The HTTP request of a call.

mod build;
mod escape;
mod form;
mod multipart;
mod style;

pub use build::{HttpRequest, RequestError};
