//! The arguments of requests.

use pml_gateway::json_size;
use pml_protocol::{Failure, FailureKind};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

/// Estimated bytes of arguments as parsed values: about 800,000 numbers.
const MAX_PARSED_BYTES: usize = 64 * 1024 * 1024;
/// Arguments of this length are parsed in less than a millisecond.
const SMALL_TEXT: usize = 128 * 1024;

/// Parses the arguments of a request.
///
/// # Errors
/// They do not fit the type, or would take too much memory.
pub fn parse<T: DeserializeOwned>(args: &RawValue) -> Result<T, Failure> {
    parse_text(args.get())
}

/// [`parse`], on another thread if the arguments are large.
///
/// # Errors
/// As [`parse`].
pub async fn parse_off_loop<T>(args: &RawValue) -> Result<T, Failure>
where
    T: DeserializeOwned + Send + 'static,
{
    if args.get().len() <= SMALL_TEXT {
        return parse(args);
    }
    let text = args.get().to_owned();
    let parsed = tokio::task::spawn_blocking(move || parse_text(&text));
    parsed.await.unwrap_or_else(|_| {
        let message = "the arguments make the parser panic";
        Err(Failure::new(FailureKind::Arguments, message))
    })
}

/// Refuses arguments that would take too much memory as parsed values.
///
/// # Errors
/// They would.
pub fn check_size(text: &str) -> Result<(), Failure> {
    match json_size::exceeds(text.as_bytes(), MAX_PARSED_BYTES) {
        false => Ok(()),
        true => {
            let message = "the arguments have too many values: pass less, or several parts";
            Err(Failure::new(FailureKind::Arguments, message))
        }
    }
}

fn parse_text<T: DeserializeOwned>(text: &str) -> Result<T, Failure> {
    check_size(text)?;
    serde_json::from_str(text).map_err(|error| {
        let message = format!("the arguments are not an object: {error}");
        Failure::new(FailureKind::Arguments, message)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn raw(text: String) -> Box<RawValue> {
        RawValue::from_string(text).unwrap()
    }

    #[tokio::test]
    async fn arguments_of_a_million_nulls_are_refused_before_they_are_parsed() {
        let nulls = raw(format!("[{}null]", "null,".repeat(1_000_000)));
        let failure = parse_off_loop::<Value>(&nulls).await.unwrap_err();
        assert_eq!(failure.kind, FailureKind::Arguments);
        assert!(parse::<Value>(&nulls).is_err());
        let text = raw(format!("\"{}\"", "x".repeat(1 << 20)));
        assert!(parse_off_loop::<Value>(&text).await.is_ok());
    }
}
