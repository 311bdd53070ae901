//! The policy file: Cedar policies with their names and lines.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use cedar_policy::{EntityUid, Policy, PolicyId, PolicySet};
use miette::Diagnostic;

use super::decision::{DecidingPolicy, PolicyOrigin};
use super::error::{Mistake, PolicyFileError};
use super::glob_rules::NamedPolicy;
use super::validate;
use crate::tool_glob::ToolGlob;

/// The policies of one file.
#[derive(Debug, Clone)]
pub struct PolicyFile {
    path: PathBuf,
    text: String,
    policies: Vec<FilePolicy>,
    globs: BTreeSet<ToolGlob>,
}

#[derive(Debug, Clone)]
pub(crate) struct FilePolicy {
    pub policy: Policy,
    /// The byte where it begins.
    pub start: usize,
}

impl PolicyFile {
    /// Reads a file.
    ///
    /// # Errors
    /// It cannot be read, or has a mistake that is one whatever the tools are.
    pub fn read(path: &Path) -> Result<Self, PolicyFileError> {
        let text = std::fs::read_to_string(path).map_err(|error| PolicyFileError::Unreadable {
            file: path.to_owned(),
            reason: error.to_string(),
        })?;
        Self::parse(path, &text)
    }

    /// Parses the text of a file.
    ///
    /// # Errors
    /// It has a mistake that is one whatever the tools are.
    pub fn parse(path: &Path, text: &str) -> Result<Self, PolicyFileError> {
        let parsed = Self::parse_unvalidated(path, text)?;
        let mistakes = validate::without_tools(&parsed);
        match PolicyFileError::of(path.to_owned(), mistakes) {
            Some(error) => Err(error),
            None => Ok(parsed),
        }
    }

    fn parse_unvalidated(path: &Path, text: &str) -> Result<Self, PolicyFileError> {
        let set: PolicySet = text.parse().map_err(|errors: cedar_policy::ParseErrors| {
            let mistakes: Vec<Mistake> =
                errors.iter().map(|error| diagnostic(text, error)).collect();
            let unknown = Mistake::at(text, 0, "it is not a set of Cedar policies");
            let mistakes = match mistakes.is_empty() {
                true => vec![unknown.clone()],
                false => mistakes,
            };
            PolicyFileError::of(path.to_owned(), mistakes.clone()).unwrap_or(
                PolicyFileError::Mistakes {
                    file: path.to_owned(),
                    first: unknown,
                    mistakes,
                },
            )
        })?;
        let mut mistakes = Vec::new();
        for template in set.templates() {
            let start = template.as_ref().loc().map_or(0, |place| place.start());
            mistakes.push(Mistake::at(
                text,
                start,
                "this policy is a template: write an entity in the place of `?principal` or `?resource`",
            ));
        }
        let mut ids = BTreeSet::new();
        let mut policies = Vec::new();
        let mut globs = BTreeSet::new();
        for policy in set.policies() {
            let start = policy.as_ref().loc().map_or(0, |place| place.start());
            let id = policy.annotation("id").filter(|id| !id.is_empty());
            let id = id.map_or_else(|| policy.id().clone(), PolicyId::new);
            if !ids.insert(id.clone()) {
                let message = format!("two policies have the id `{id}`: rename one of them");
                mistakes.push(Mistake::at(text, start, message));
            }
            if let Some(approve) = policy.annotation("approve")
                && (!matches!(approve, "true" | "false")
                    || policy.effect() == cedar_policy::Effect::Forbid)
            {
                let message = "`@approve` says whether a permitted call needs approval: write @approve(\"true\") on a `permit`";
                mistakes.push(Mistake::at(text, start, message));
            }
            for literal in policy.entity_literals() {
                match checked_literal(&literal) {
                    Ok(Some(glob)) => {
                        globs.insert(glob);
                    }
                    Ok(None) => {}
                    Err(message) => {
                        let at = text[start..].find(&literal.to_string());
                        let at = start + at.unwrap_or(0);
                        mistakes.push(Mistake::at(text, at, message));
                    }
                }
            }
            policies.push(FilePolicy {
                policy: policy.new_id(id),
                start,
            });
        }
        policies.sort_by_key(|policy| policy.start);
        match PolicyFileError::of(path.to_owned(), mistakes) {
            Some(error) => Err(error),
            None => Ok(Self {
                path: path.to_owned(),
                text: text.to_owned(),
                policies,
                globs,
            }),
        }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The text of the file.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// How many policies it has.
    pub fn len(&self) -> usize {
        self.policies.len()
    }

    /// Whether it has no policy, so that nothing is permitted.
    pub fn is_empty(&self) -> bool {
        self.policies.is_empty()
    }

    pub(crate) fn policies(&self) -> &[FilePolicy] {
        &self.policies
    }

    pub(crate) fn globs(&self) -> impl Iterator<Item = &ToolGlob> {
        self.globs.iter()
    }

    /// The policies with their names and lines.
    pub(crate) fn named(&self) -> impl Iterator<Item = NamedPolicy> {
        let name = self.path.file_name().unwrap_or(self.path.as_os_str());
        let file = name.to_string_lossy().into_owned();
        self.policies.iter().map(move |known| NamedPolicy {
            policy: known.policy.clone(),
            about: DecidingPolicy {
                id: known.policy.id().to_string(),
                origin: PolicyOrigin::File {
                    file: file.clone(),
                    line: Mistake::at(&self.text, known.start, "").line,
                },
                message: known.policy.annotation("message").map(str::to_owned),
            },
        })
    }
}

/// The glob of a literal `Glob::"…"`. The error is a mistake that Cedar's validation does not see: a glob
/// or a tool that cannot be one.
fn checked_literal(literal: &EntityUid) -> Result<Option<ToolGlob>, String> {
    let id = literal.id().unescaped();
    match literal.type_name().to_string().as_str() {
        "Glob" => id
            .parse()
            .map(Some)
            .map_err(|error: crate::tool_glob::GlobError| error.to_string()),
        "Tool" if !id.contains(':') => Err(format!(
            "`{literal}` is no tool: ids are `server:tool`; `Server::\"{id}\"` is a server"
        )),
        _ => Ok(None),
    }
}

/// A mistake that Cedar found, in the place where it found it.
pub(crate) fn diagnostic(text: &str, error: &(impl Diagnostic + ?Sized)) -> Mistake {
    let mut labels = error.labels().into_iter().flatten();
    let start = labels.next().map_or(0, |label| label.offset());
    let help = error.help().map(|help| help.to_string());
    Mistake::at(text, start, error.to_string()).with_help(help)
}
