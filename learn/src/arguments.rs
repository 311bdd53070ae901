//! Argument functions: where the arguments of each tool come from, learned from past runs, else from
//! schemas.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::tool::{Episode, Source};
use crate::toolbox::{Toolbox, fields_fit};

/// The least share of past calls in which an argument came from one place, for a suggestion to say so.
const LEAST_SHARE: f64 = 0.5;

/// A place that values come from, whatever the run.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// Part of the result of a tool.
    Result { tool: String, path: String },
    /// The value stands in the intent.
    Intent,
    /// The same value, as JSON text.
    Constant(String),
    /// Something else.
    Other,
}

/// The value of a suggested argument.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Filled {
    /// Part of the result of an earlier task, by its place in the plan.
    Result { task: usize, path: String },
    /// This value.
    Value(Value),
    /// The agent has to find it.
    Missing,
}

/// An argument of a suggested task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FilledArgument {
    pub path: String,
    pub value: Filled,
}

/// How often each argument came from where.
#[derive(Debug, Clone, Default)]
pub struct ArgumentFunctions {
    /// Tool → argument → origin → calls.
    counts: BTreeMap<String, BTreeMap<String, BTreeMap<Origin, usize>>>,
}

impl ArgumentFunctions {
    #[must_use]
    pub fn new(episodes: &[Episode]) -> Self {
        let mut functions = Self::default();
        for episode in episodes {
            for step in &episode.steps {
                for argument in &step.arguments {
                    let origin = match &argument.source {
                        Source::Result { step, path } => match episode.steps.get(*step) {
                            Some(from) => Origin::Result {
                                tool: from.tool.clone(),
                                path: path.clone(),
                            },
                            None => Origin::Other,
                        },
                        Source::Intent => Origin::Intent,
                        Source::Constant(json) => Origin::Constant(json.clone()),
                        Source::Other => Origin::Other,
                    };
                    let tool = functions.counts.entry(step.tool.clone()).or_default();
                    let origins = tool.entry(argument.path.clone()).or_default();
                    *origins.entry(origin).or_default() += 1;
                }
            }
        }
        functions
    }

    /// Where the arguments of a tool came from: argument, origin, calls; the most frequent first.
    #[must_use]
    pub fn of(&self, tool: &str) -> Vec<(&str, &Origin, usize)> {
        let mut found: Vec<(&str, &Origin, usize)> = self
            .counts
            .get(tool)
            .into_iter()
            .flatten()
            .flat_map(|(path, origins)| {
                origins
                    .iter()
                    .map(|(origin, count)| (path.as_str(), origin, *count))
            })
            .collect();
        found.sort_by(|a, b| a.0.cmp(b.0).then(b.2.cmp(&a.2)));
        found
    }

    /// The arguments of the last of `tools`, a plan so far, for an intent.
    pub(crate) fn fill(
        &self,
        toolbox: &Toolbox,
        tools: &[u32],
        intent: &str,
    ) -> Vec<FilledArgument> {
        let Some((last, before)) = tools.split_last() else {
            return Vec::new();
        };
        let tool = &toolbox.tools[*last as usize];
        let known = self.counts.get(&tool.id);
        let mut paths: Vec<&str> = tool
            .inputs
            .iter()
            .filter(|field| field.required)
            .map(|field| field.path.as_str())
            .collect();
        for path in known.into_iter().flat_map(BTreeMap::keys) {
            if !paths.contains(&path.as_str()) {
                paths.push(path);
            }
        }
        let mut words = telling_words(intent);
        let mut arguments = Vec::new();
        for path in paths {
            let learned = known
                .and_then(|known| known.get(path))
                .and_then(|origins| self.learned(origins, toolbox, before, &mut words));
            let required = tool
                .inputs
                .iter()
                .any(|field| field.required && field.path == path);
            let value = match learned {
                Some(value) => value,
                None if required => {
                    from_schema(toolbox, before, *last, path).unwrap_or(Filled::Missing)
                }
                None => continue,
            };
            arguments.push(FilledArgument {
                path: path.to_owned(),
                value,
            });
        }
        arguments
    }

    fn learned(
        &self,
        origins: &BTreeMap<Origin, usize>,
        toolbox: &Toolbox,
        before: &[u32],
        words: &mut Vec<String>,
    ) -> Option<Filled> {
        let total: usize = origins.values().sum();
        let (origin, count) = origins
            .iter()
            .max_by(|a, b| a.1.cmp(b.1).then(b.0.cmp(a.0)))?;
        if (*count as f64) < LEAST_SHARE * total as f64 {
            return None;
        }
        match origin {
            Origin::Result { tool, path } => {
                let is_source = |other: &u32| toolbox.tools[*other as usize].id == *tool;
                let task = before.iter().rposition(is_source)?;
                Some(Filled::Result {
                    task,
                    path: path.clone(),
                })
            }
            Origin::Constant(json) => serde_json::from_str(json).ok().map(Filled::Value),
            // With one word that can be a value there is no doubt which it is.
            Origin::Intent if words.len() == 1 => {
                words.pop().map(|word| Filled::Value(word.into()))
            }
            Origin::Intent | Origin::Other => None,
        }
    }
}

/// The output field of an earlier task that fits an input by name and type, the latest task first.
fn from_schema(toolbox: &Toolbox, before: &[u32], tool: u32, path: &str) -> Option<Filled> {
    let input = toolbox.tools[tool as usize]
        .inputs
        .iter()
        .find(|field| field.path == path)?;
    before.iter().enumerate().rev().find_map(|(task, from)| {
        let from = &toolbox.tools[*from as usize];
        let output = from
            .outputs
            .iter()
            .find(|output| fields_fit(from, output, input))?;
        Some(Filled::Result {
            task,
            path: output.path.clone(),
        })
    })
}

/// The parts of a text that are values rather than words of a language: what is quoted, paths, addresses,
/// names with digits or punctuation inside.
fn telling_words(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = String::new();
    let mut quote: Option<(char, String)> = None;
    let mut last = ' ';
    for c in text.chars() {
        match &mut quote {
            Some((end, inside)) if c == *end => {
                found.push(std::mem::take(inside));
                quote = None;
                rest.push(' ');
            }
            Some((_, inside)) => inside.push(c),
            None if matches!(c, '"' | '\'' | '`') && !last.is_alphanumeric() => {
                quote = Some((c, String::new()));
            }
            None => rest.push(c),
        }
        last = c;
    }
    if let Some((_, inside)) = quote {
        rest.push(' ');
        rest.push_str(&inside);
    }
    for word in rest.split_whitespace() {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '/' | '~'));
        let tells = |c: char| c.is_ascii_digit() || matches!(c, '/' | '.' | '@' | '_' | ':');
        if word.contains(tells) {
            found.push(word.to_owned());
        }
    }
    found.retain(|word| !word.is_empty());
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::telling_words;

    #[test]
    fn values_in_an_intent_are_told_from_words() {
        assert_eq!(
            telling_words("read config/app.json and print it."),
            ["config/app.json"]
        );
        assert_eq!(telling_words("who wrote \"the odd one\"?"), ["the odd one"]);
        assert_eq!(
            telling_words("don't stop, Mary's list"),
            Vec::<String>::new()
        );
        assert_eq!(telling_words("an open 'quote in v2"), ["v2"]);
    }
}
