//! A text with references to secrets.

use std::fmt;

use zeroize::Zeroizing;

use crate::credentials::Credentials;
use crate::error::SecretError;
use crate::reference::{Reference, ReferenceError};

const START: &str = "${secret:";

/// A text of the configuration with references to secrets, such as `Bearer ${secret:env/TOKEN}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    Secret(Reference),
}

/// A template with its values.
pub struct Filled {
    /// The text.
    pub text: Zeroizing<String>,
    /// The references and the versions of their values, in order.
    pub versions: Vec<(Reference, u64)>,
}

impl fmt::Debug for Filled {
    /// Without the text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Filled")
            .field("versions", &self.versions)
            .finish_non_exhaustive()
    }
}

impl Template {
    /// Whether a text has a reference to a secret.
    pub fn has_reference(text: &str) -> bool {
        text.contains(START)
    }

    /// Reads the references of a text.
    ///
    /// # Errors
    /// A reference does not have one of the forms.
    pub fn parse(text: &str) -> Result<Self, ReferenceError> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some(start) = rest.find(START) {
            let (before, reference) = rest.split_at(start);
            if !before.is_empty() {
                parts.push(Part::Text(before.to_owned()));
            }
            let written = &reference["${".len()..];
            let end = written.find('}').ok_or_else(|| ReferenceError {
                written: written.to_owned(),
                expected: "the closing `}` is missing",
            })?;
            parts.push(Part::Secret(written[..end].parse()?));
            rest = &written[end + 1..];
        }
        if !rest.is_empty() {
            parts.push(Part::Text(rest.to_owned()));
        }
        Ok(Self { parts })
    }

    /// The references, in order.
    pub fn references(&self) -> impl Iterator<Item = &Reference> {
        self.parts.iter().filter_map(|part| match part {
            Part::Secret(reference) => Some(reference),
            Part::Text(_) => None,
        })
    }

    /// The text with the values of its secrets.
    ///
    /// # Errors
    /// A secret cannot be used.
    pub async fn fill(&self, credentials: &Credentials) -> Result<Filled, SecretError> {
        let mut values = Vec::new();
        for reference in self.references() {
            values.push((reference, credentials.get(reference).await?));
        }
        // The whole length at once: a text that grows leaves copies behind.
        let texts = self.parts.iter().map(|part| match part {
            Part::Text(text) => text.len(),
            Part::Secret(_) => 0,
        });
        let secrets = values.iter().map(|(_, secret)| secret.value().len());
        let length = texts.sum::<usize>() + secrets.sum::<usize>();
        let mut filled = Filled {
            text: Zeroizing::new(String::with_capacity(length)),
            versions: Vec::with_capacity(values.len()),
        };
        let mut values = values.into_iter();
        for part in &self.parts {
            match part {
                Part::Text(text) => filled.text.push_str(text),
                Part::Secret(_) => {
                    if let Some((reference, secret)) = values.next() {
                        filled.text.push_str(secret.value());
                        filled.versions.push((reference.clone(), secret.version()));
                    }
                }
            }
        }
        Ok(filled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_read_into_its_parts() {
        let template = Template::parse("a ${secret:env/A}${secret:env/B} $x ${y}").unwrap();
        let names: Vec<String> = template.references().map(ToString::to_string).collect();
        assert_eq!(names, ["secret:env/A", "secret:env/B"]);
        assert_eq!(Template::parse("plain").unwrap().references().count(), 0);
        let error = Template::parse("${secret:env/A").unwrap_err().to_string();
        assert!(error.contains("the closing `}` is missing"), "{error}");
    }
}
