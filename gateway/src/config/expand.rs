//! `${VAR}` and `${VAR:-default}` in the strings of a configuration.

use std::borrow::Cow;

use serde_json::Value;

use super::ConfigError;
use super::document::{Document, KeyPath};

/// The source of variables: the environment, or a map in a test.
pub type Variables<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Replaces every variable in the strings below `value`.
///
/// A `$` without `{NAME}` stays as it is: passwords and shell snippets contain them.
pub fn expand(
    document: &Document,
    value: Value,
    at: &KeyPath,
    variables: Variables<'_>,
) -> Result<Value, ConfigError> {
    Ok(match value {
        Value::String(text) => {
            Value::String(expand_text(&text, variables).map_err(|variable| {
                ConfigError::UnsetVariable {
                    file: document.file.clone(),
                    line: document.line(at),
                    key: at.to_string(),
                    variable,
                }
            })?)
        }
        Value::Array(values) => Value::Array(
            values
                .into_iter()
                .enumerate()
                .map(|(index, value)| expand(document, value, &at.index(index), variables))
                .collect::<Result<_, _>>()?,
        ),
        Value::Object(map) => Value::Object(
            map.into_iter()
                .map(|(key, value)| {
                    let value = expand(document, value, &at.key(key.as_str()), variables)?;
                    Ok((key, value))
                })
                .collect::<Result<_, ConfigError>>()?,
        ),
        other => other,
    })
}

/// The expanded text, or the name of an unset variable.
fn expand_text(text: &str, variables: Variables<'_>) -> Result<String, String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        out.push_str(&rest[..start]);
        let reference = &rest[start + 2..];
        let Some(end) = reference.find('}') else {
            out.push_str(&rest[start..]);
            return Ok(out);
        };
        let (name, default) = match reference[..end].split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (&reference[..end], None),
        };
        let name = &*variable(name);
        if is_variable_name(name) {
            // As in a shell, `:-` also replaces a variable that is set but empty.
            let value = variables(name).filter(|value| default.is_none() || !value.is_empty());
            match (value, default) {
                (Some(value), _) => out.push_str(&value),
                (None, Some(default)) => out.push_str(default),
                (None, None) => return Err(name.to_owned()),
            }
        } else {
            out.push_str(&rest[start..start + 2 + end + 1]);
        }
        rest = &reference[end + 1..];
    }
    out.push_str(rest);
    Ok(out)
}

/// The variable of a name as VS Code writes it. A value that it prompts for (`input:`) comes from a
/// variable of that name.
fn variable(name: &str) -> Cow<'_, str> {
    if let Some(input) = name.strip_prefix("input:") {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let name: String = input.chars().map(plain).collect();
        return Cow::Owned(name.to_ascii_uppercase());
    }
    match name {
        "userHome" => Cow::Borrowed("HOME"),
        name => Cow::Borrowed(name.strip_prefix("env:").unwrap_or(name)),
    }
}

fn is_variable_name(name: &str) -> bool {
    let mut chars = name.chars();
    chars
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(text: &str) -> Result<String, String> {
        expand_text(text, &|name| match name {
            "TOKEN" => Some("t0".to_owned()),
            "EMPTY" => Some(String::new()),
            _ => None,
        })
    }

    #[test]
    fn variables_and_defaults_are_filled_in() {
        assert_eq!(run("Bearer ${TOKEN}!").unwrap(), "Bearer t0!");
        assert_eq!(run("${NONE:-a b}/${EMPTY:-x}/${EMPTY}").unwrap(), "a b/x/");
        assert_eq!(run("${env:TOKEN} ${env:NONE:-y}").unwrap(), "t0 y");
        assert_eq!(run("${input:token}").unwrap(), "t0");
    }

    #[test]
    fn an_unset_variable_without_default_is_named() {
        assert_eq!(run("${TOKEN}${MISSING}").unwrap_err(), "MISSING");
        assert_eq!(run("${env:MISSING}").unwrap_err(), "MISSING");
        assert_eq!(run("${input:api-key}").unwrap_err(), "API_KEY");
    }

    #[test]
    fn other_dollars_stay_as_they_are() {
        for text in ["$HOME", "pa$$word", "${not a name}", "${open", "${}"] {
            assert_eq!(run(text).unwrap(), text);
        }
    }
}
