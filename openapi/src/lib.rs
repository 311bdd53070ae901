//! OpenAPI documents as tools: operations with JSON Schemas, and the HTTP requests of their calls.
//!
//! Nothing here reads a file or opens a connection. The caller loads the documents ([`Documents`] says
//! which ones are missing), reads the [`Service`], and sends what [`Operation::request`] returns.
//!
//! OpenAPI 3.0, 3.1, 3.2 and Swagger 2.0 are read.

#![warn(missing_docs)]

mod documents;
mod operation;
mod parse;
mod read;
mod request;
mod security;

pub use documents::{Documents, ReferenceError};
pub use operation::{
    Body, BodyForm, Detail, Encoding, ErrorPattern, Location, Operation, OperationEffect,
    Parameter, Style,
};
pub use parse::{MAX_VALUES, ParseError, parse};
pub use read::{ReadError, ReadOptions, Service, SkippedOperation};
pub use request::{HttpRequest, RequestError};
pub use security::{Requirement, SecurityScheme};
