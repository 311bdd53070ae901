//! Services with an OpenAPI document: each operation is a tool.

mod access;
mod answer;
mod load;
mod place;
mod service;
mod tokens;

pub(super) use service::OpenApiSource;
