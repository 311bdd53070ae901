//! A file of expected decisions.

use std::collections::BTreeMap;
use std::fmt;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::decision::{Decision, Verdict};
use super::engine::PolicyEngine;
use super::query::{Action, CallContext, Hints, Query, Requester, Resource, ToolFacts};
use crate::labels::Label;

/// The expectations of a file:
///
/// ```json
/// {
///   "tools": { "fs:write_file": { "effect": "guarded", "annotations": { "openWorldHint": false } } },
///   "expect": [
///     { "principal": "ci", "tool": "fs:write_file", "args": { "path": "/etc/x" }, "decision": "deny", "by": "no-etc" },
///     { "principal": "ci", "tool": "fs:write_file", "action": "list", "decision": "permit" }
///   ]
/// }
/// ```
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expectations {
    /// What policies know about tools. Tools that are left out are asked of their servers.
    #[serde(default)]
    tools: BTreeMap<String, DescribedTool>,
    /// The expectations.
    expect: Vec<Expectation>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct DescribedTool {
    #[serde(default = "guarded")]
    effect: String,
    #[serde(default)]
    annotations: Option<Value>,
}

fn guarded() -> String {
    "guarded".to_owned()
}

/// One expected decision.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Expectation {
    /// The principal: `local`, the name of a token, or `tenant/name`.
    #[serde(default = "local")]
    pub principal: String,
    /// `server:tool`
    pub tool: String,
    /// `call`, `list`, `search` or `describe`.
    #[serde(default)]
    pub action: ExpectedAction,
    /// The arguments of the call. Without them, whether some arguments permit it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<Map<String, Value>>,
    /// What the run has read.
    #[serde(default, skip_serializing_if = "Label::is_clean")]
    pub run: Label,
    /// What the model of the session has read.
    #[serde(default, skip_serializing_if = "Label::is_clean")]
    pub session: Label,
    /// The expected decision.
    pub decision: Expected,
    /// The id of a policy that has to be one of those that decide.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

fn local() -> String {
    "local".to_owned()
}

/// The action of an expectation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum ExpectedAction {
    /// A call.
    #[default]
    Call,
    /// A list, or generated types.
    List,
    /// A search.
    Search,
    /// A description.
    Describe,
}

/// The expected decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Expected {
    /// Permitted without approval.
    Permit,
    /// Permitted with approval.
    Ask,
    /// Denied.
    Deny,
}

impl Expected {
    fn verdict(self) -> Verdict {
        match self {
            Self::Permit => Verdict::Permit,
            Self::Ask => Verdict::Ask,
            Self::Deny => Verdict::Deny,
        }
    }
}

/// Why a file of expectations cannot be used.
#[derive(Debug, thiserror::Error)]
#[error(
    "{0}; a file of expectations is {{ \"expect\": [{{ \"principal\": …, \"tool\": \"server:tool\", \"decision\": \"permit\" | \"ask\" | \"deny\" }}] }}"
)]
pub struct ExpectationsError(#[from] serde_json::Error);

/// A decision that is another one than expected.
#[derive(Debug, Clone, Serialize)]
pub struct Difference {
    /// The number of the expectation in the file, from 1.
    pub number: usize,
    /// What was expected.
    pub expected: Expectation,
    /// What was decided.
    pub decided: Decision,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Expectation {
            principal,
            tool,
            decision,
            by,
            ..
        } = &self.expected;
        write!(
            f,
            "expectation {}: `{principal}` on `{tool}`: expected {}",
            self.number,
            decision.verdict().as_str()
        )?;
        if let Some(by) = by {
            write!(f, " by `{by}`")?;
        }
        write!(f, ", decided {}", self.decided.verdict.as_str())?;
        if let Some(error) = &self.decided.error {
            return write!(f, " because of an error: {error}");
        }
        match self.decided.by.is_empty() {
            true => f.write_str(" because no policy permits it"),
            false => {
                let by: Vec<String> = self.decided.by.iter().map(ToString::to_string).collect();
                write!(f, " by {}", by.join(", "))
            }
        }
    }
}

/// `name`, or `tenant/name`.
pub(crate) fn requester(principal: &str) -> Requester {
    match principal.split_once('/') {
        Some((tenant, name)) => Requester::named(tenant, name),
        None => Requester::named("local", principal),
    }
}

impl Requester {
    /// The requester of a text `name` or `tenant/name`.
    pub fn parse(text: &str) -> Self {
        requester(text)
    }
}

impl Expectations {
    /// Reads a file.
    ///
    /// # Errors
    /// It is not a file of expectations; the error says where.
    pub fn parse(text: &str) -> Result<Self, ExpectationsError> {
        Ok(serde_json::from_str(text)?)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.expect.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.expect.is_empty()
    }

    /// The tools that the file mentions and does not describe.
    pub fn undescribed(&self) -> Vec<&str> {
        let tools = self.expect.iter().map(|expected| expected.tool.as_str());
        tools
            .filter(|tool| !self.tools.contains_key(*tool))
            .collect()
    }

    /// Compares the expectations with the decisions of an engine. `facts` knows the tools that the file
    /// does not describe.
    pub fn differences(
        &self,
        engine: &PolicyEngine,
        facts: impl Fn(&str) -> Option<ToolFacts>,
    ) -> Vec<Difference> {
        let numbered = self.expect.iter().enumerate();
        let compared = numbered.filter_map(|(n, expected)| {
            let id = &expected.tool;
            let described = self.tools.get(id).map(|known| ToolFacts {
                id: id.clone(),
                effect: known.effect.clone(),
                hints: Hints::of(known.annotations.as_ref()),
            });
            let tool = described.or_else(|| facts(id)).unwrap_or(ToolFacts {
                id: id.clone(),
                effect: guarded(),
                hints: Hints::default(),
            });
            let decided = expected.decided(engine, &tool);
            let is_verdict = decided.verdict == expected.decision.verdict();
            let is_by = |by: &String| decided.by.iter().any(|policy| policy.id == *by);
            let is_expected = is_verdict && expected.by.as_ref().is_none_or(is_by);
            (!is_expected).then(|| Difference {
                number: n + 1,
                expected: expected.clone(),
                decided,
            })
        });
        compared.collect()
    }
}

impl Expectation {
    fn decided(&self, engine: &PolicyEngine, tool: &ToolFacts) -> Decision {
        let context = self.args.as_ref().map(|args| CallContext {
            args: Some(args),
            name: None,
            time: SystemTime::now(),
            run: &self.run,
            session: &self.session,
        });
        engine.decide(&Query {
            requester: &requester(&self.principal),
            action: match self.action {
                ExpectedAction::Call => Action::Call,
                ExpectedAction::List => Action::List,
                ExpectedAction::Search => Action::Search,
                ExpectedAction::Describe => Action::Describe,
            },
            resource: Resource::Tool(tool),
            context: context.as_ref(),
        })
    }
}
