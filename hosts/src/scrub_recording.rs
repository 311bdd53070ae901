//! Recordings without personal data and secrets, and the keys by which requests match them.

use std::sync::Arc;

use pml_scrub::{PlaceholderMap, Scrubber};
use serde_json::Value;

use crate::error::ReplayError;
use crate::recorded_request::RecordedRequest;
use crate::recording::{Entry, RecordedAnswer};

/// Replaces private values in requests and answers by placeholders.
pub fn scrub(entries: &mut [Entry], scrubber: Arc<Scrubber>) -> Result<(), ReplayError> {
    let mut placeholders = PlaceholderMap::new(scrubber);
    for entry in entries {
        entry.request = scrub_request(entry.request.clone(), &mut placeholders)?;
        match &mut entry.answer {
            RecordedAnswer::Value(value) => *value = scrub_value(value.take(), &mut placeholders)?,
            RecordedAnswer::Failure(failure) => {
                failure.message = placeholders
                    .scrub_text(&failure.message, None)?
                    .into_parts()
                    .0;
            }
            RecordedAnswer::Unanswered => {}
        }
    }
    Ok(())
}

/// The key of a request in a scrubbed recording, without the numbers of placeholders: those depend on
/// all values that came before.
pub fn loose_key(request: &RecordedRequest, scrubber: Option<&Arc<Scrubber>>) -> Option<String> {
    let request = match scrubber {
        Some(scrubber) => {
            scrub_request(request.clone(), &mut PlaceholderMap::new(scrubber.clone())).ok()?
        }
        None => request.clone(),
    };
    Some(without_placeholder_numbers(&request.key()))
}

fn scrub_request(
    request: RecordedRequest,
    placeholders: &mut PlaceholderMap,
) -> Result<RecordedRequest, ReplayError> {
    Ok(match request {
        RecordedRequest::Call { tool, args } => RecordedRequest::Call {
            tool,
            args: scrub_value(args, placeholders)?,
        },
        RecordedRequest::GetPrompt { server, name, args } => RecordedRequest::GetPrompt {
            server,
            name,
            args: scrub_value(args, placeholders)?,
        },
        RecordedRequest::Search {
            query,
            limit,
            threshold,
        } => RecordedRequest::Search {
            query: placeholders.scrub_text(&query, None)?.into_parts().0,
            limit,
            threshold,
        },
        RecordedRequest::ReadResource { server, uri } => RecordedRequest::ReadResource {
            server,
            uri: placeholders.scrub_text(&uri, None)?.into_parts().0,
        },
        other => other,
    })
}

fn scrub_value(value: Value, placeholders: &mut PlaceholderMap) -> Result<Value, ReplayError> {
    Ok(placeholders.scrub_json(value, None)?.into_parts().0)
}

/// `[EMAIL_12]` as `[EMAIL]`.
fn without_placeholder_numbers(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find('[') {
        out.push_str(&rest[..open]);
        rest = &rest[open..];
        match placeholder_at(rest) {
            Some((name, length)) => {
                out.push('[');
                out.push_str(name);
                out.push(']');
                rest = &rest[length..];
            }
            None => {
                out.push('[');
                rest = &rest[1..];
            }
        }
    }
    out + rest
}

/// The name and the length of a placeholder that begins the text.
fn placeholder_at(text: &str) -> Option<(&str, usize)> {
    let inner = text.strip_prefix('[')?;
    let close = inner.find(']')?;
    let (name, number) = inner[..close].rsplit_once('_')?;
    let is_name = name
        .bytes()
        .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    (!name.is_empty() && is_name && is_number).then_some((name, close + 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_placeholders_are_dropped_and_nothing_else() {
        for (text, plain) in [
            ("to [EMAIL_1], [US_SSN_22]", "to [EMAIL], [US_SSN]"),
            ("[1,2] [a_1] [_1] [EMAIL_x]", "[1,2] [a_1] [_1] [EMAIL_x]"),
            ("[[EMAIL_3]]", "[[EMAIL]]"),
            ("open [EMAIL_1", "open [EMAIL_1"),
        ] {
            assert_eq!(without_placeholder_numbers(text), plain);
        }
    }
}
