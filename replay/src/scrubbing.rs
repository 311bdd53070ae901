//! Recordings without personal data and secrets, and requests that fit them.

use std::sync::Arc;

use pml_scrub::{Scrubber, Session};
use serde_json::Value;

use crate::asked::Asked;
use crate::error::ReplayError;
use crate::recording::{Entry, Told};

pub fn scrub(entries: &mut [Entry], scrubber: Arc<Scrubber>) -> Result<(), ReplayError> {
    let mut names = Session::new(scrubber);
    for entry in entries {
        entry.asked = scrub_asked(entry.asked.clone(), &mut names)?;
        match &mut entry.told {
            Told::Value(value) => *value = scrub_value(value.take(), &mut names)?,
            Told::Failure(failure) => {
                failure.message = names.scrub_text(&failure.message, None)?.into_parts().0;
            }
            Told::Unanswered => {}
        }
    }
    Ok(())
}

/// A request as a recording that was scrubbed would have it, except for the numbers of names:
/// those depend on everything that came before.
pub fn loose_key(asked: &Asked, scrubber: Option<&Arc<Scrubber>>) -> Option<String> {
    let asked = match scrubber {
        Some(scrubber) => scrub_asked(asked.clone(), &mut Session::new(scrubber.clone())).ok()?,
        None => asked.clone(),
    };
    Some(without_numbers(&asked.key()))
}

fn scrub_asked(asked: Asked, names: &mut Session) -> Result<Asked, ReplayError> {
    Ok(match asked {
        Asked::Call { tool, args } => Asked::Call {
            tool,
            args: scrub_value(args, names)?,
        },
        Asked::GetPrompt { server, name, args } => Asked::GetPrompt {
            server,
            name,
            args: scrub_value(args, names)?,
        },
        Asked::Search {
            query,
            limit,
            threshold,
        } => Asked::Search {
            query: names.scrub_text(&query, None)?.into_parts().0,
            limit,
            threshold,
        },
        Asked::ReadResource { server, uri } => Asked::ReadResource {
            server,
            uri: names.scrub_text(&uri, None)?.into_parts().0,
        },
        other => other,
    })
}

fn scrub_value(value: Value, names: &mut Session) -> Result<Value, ReplayError> {
    Ok(names.scrub_json(value, None)?.into_parts().0)
}

/// `[EMAIL_12]` as `[EMAIL]`.
fn without_numbers(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find('[') {
        out.push_str(&rest[..open]);
        rest = &rest[open..];
        match name_at(rest) {
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
fn name_at(text: &str) -> Option<(&str, usize)> {
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
    fn numbers_of_names_are_dropped_and_nothing_else() {
        for (text, plain) in [
            ("to [EMAIL_1], [US_SSN_22]", "to [EMAIL], [US_SSN]"),
            ("[1,2] [a_1] [_1] [EMAIL_x]", "[1,2] [a_1] [_1] [EMAIL_x]"),
            ("[[EMAIL_3]]", "[[EMAIL]]"),
            ("open [EMAIL_1", "open [EMAIL_1"),
        ] {
            assert_eq!(without_numbers(text), plain);
        }
    }
}
