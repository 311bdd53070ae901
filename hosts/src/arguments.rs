//! The arguments of requests.

use pml_protocol::{Failure, FailureKind};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

/// Parses the arguments of a request.
pub fn parse<T: DeserializeOwned>(args: &RawValue) -> Result<T, Failure> {
    serde_json::from_str(args.get()).map_err(|error| {
        let message = format!("the arguments are not an object: {error}");
        Failure::new(FailureKind::Arguments, message)
    })
}
