//! How a server differs from what is pinned, and what that means for callers.

use serde::Serialize;
use serde_json::Value;

use super::schema_changes::{Side, compare};
use super::{ObservedServer, ServerPin, ToolDefinition, Version};

/// What a change means for scripts that call the tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Impact {
    /// Only texts are others. A model reads them.
    Cosmetic,
    /// Calls that were right are right, and results have what they had.
    Compatible,
    /// A call that was right can be wrong, or a result can lack what it had.
    Breaking,
}

impl Impact {
    /// The name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Cosmetic => "cosmetic",
            Self::Compatible => "compatible",
            Self::Breaking => "breaking",
        }
    }

    /// The part of a version number that such a change adds to.
    pub fn version_part(self) -> &'static str {
        match self {
            Self::Cosmetic => "patch",
            Self::Compatible => "minor",
            Self::Breaking => "major",
        }
    }
}

/// What happened to a tool or to a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeKind {
    /// It is not pinned.
    Added,
    /// It is pinned, and its server does not list it.
    Removed,
    /// It is pinned, and is not what it was.
    Changed,
}

impl ChangeKind {
    /// The name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Changed => "changed",
        }
    }
}

/// A difference between a server and what is pinned of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Change {
    /// The server.
    pub server: String,
    /// The tool; `None` for the server itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// What happened to it.
    pub kind: ChangeKind,
    /// What it means for callers.
    pub impact: Impact,
    /// The version that is pinned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pinned: Option<Version>,
    /// The version that it has when it is accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<Version>,
    /// What is different, by place.
    pub details: Vec<Detail>,
}

impl Change {
    /// `server:tool`, or the name of the server.
    pub fn id(&self) -> String {
        match &self.tool {
            Some(tool) => format!("{}:{tool}", self.server),
            None => self.server.clone(),
        }
    }
}

/// One difference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Detail {
    /// Where: `description`, `input.path`, …
    pub place: String,
    /// What it means for callers.
    pub impact: Impact,
    /// What is different, in words, if it is not a text.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub what: String,
    /// The text that is pinned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// The text as it is now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

impl Detail {
    pub(super) fn new(place: &str, impact: Impact, what: impl Into<String>) -> Self {
        Self {
            place: place.to_owned(),
            impact,
            what: what.into(),
            before: None,
            after: None,
        }
    }

    fn text(place: &str, impact: Impact, before: Option<&str>, after: Option<&str>) -> Self {
        Self {
            before: before.map(str::to_owned),
            after: after.map(str::to_owned),
            ..Self::new(place, impact, "")
        }
    }
}

/// The changes of a server and its tools.
pub fn of_server(name: &str, pin: Option<&ServerPin>, now: &ObservedServer) -> Vec<Change> {
    let change = |tool: Option<&str>, kind, impact, details| Change {
        server: name.to_owned(),
        tool: tool.map(str::to_owned),
        kind,
        impact,
        pinned: None,
        version: None,
        details,
    };
    let mut changes = Vec::new();
    match pin {
        None => {
            let identity = now.identity.to_string();
            let mut details = vec![Detail::text(
                "identity",
                Impact::Compatible,
                None,
                Some(&identity),
            )];
            if let Some(text) = &now.instructions {
                details.push(Detail::text(
                    "instructions",
                    Impact::Cosmetic,
                    None,
                    Some(text),
                ));
            }
            changes.push(change(None, ChangeKind::Added, Impact::Compatible, details));
        }
        Some(pin) => {
            let details = server_details(pin, now);
            if let Some(impact) = details.iter().map(|detail| detail.impact).max() {
                changes.push(change(None, ChangeKind::Changed, impact, details));
            }
        }
    }
    for (tool, definition) in &now.tools {
        let before = pin.and_then(|pin| pin.tools.get(tool));
        match before {
            None => {
                let removed = pin.and_then(|pin| pin.removed.get(tool)).copied();
                let details = whole_definition(definition);
                changes.push(Change {
                    version: Some(
                        removed.map_or(Version::FIRST, |last| last.after(Impact::Breaking)),
                    ),
                    ..change(Some(tool), ChangeKind::Added, Impact::Compatible, details)
                });
            }
            Some(before) if before.digest != definition.digest(tool) => {
                let details = tool_details(&before.definition, definition);
                let impact = details.iter().map(|detail| detail.impact).max();
                // Only the order of keys or of a list can be another one.
                let impact = impact.unwrap_or(Impact::Cosmetic);
                changes.push(Change {
                    pinned: Some(before.version),
                    version: Some(before.version.after(impact)),
                    ..change(Some(tool), ChangeKind::Changed, impact, details)
                });
            }
            Some(_) => {}
        }
    }
    for (tool, before) in pin.iter().flat_map(|pin| &pin.tools) {
        if !now.tools.contains_key(tool) {
            changes.push(Change {
                pinned: Some(before.version),
                ..change(
                    Some(tool),
                    ChangeKind::Removed,
                    Impact::Breaking,
                    Vec::new(),
                )
            });
        }
    }
    changes
}

fn server_details(pin: &ServerPin, now: &ObservedServer) -> Vec<Detail> {
    let mut details = Vec::new();
    if pin.identity != now.identity {
        let (before, after) = (pin.identity.to_string(), now.identity.to_string());
        let (before, after) = (Some(before.as_str()), Some(after.as_str()));
        details.push(Detail::text("identity", Impact::Breaking, before, after));
    }
    if pin.instructions != now.instructions {
        let (before, after) = (pin.instructions.as_deref(), now.instructions.as_deref());
        details.push(Detail::text(
            "instructions",
            Impact::Cosmetic,
            before,
            after,
        ));
    }
    details
}

fn tool_details(before: &ToolDefinition, after: &ToolDefinition) -> Vec<Detail> {
    let mut details = Vec::new();
    let mut text = |place: &str, before: Option<&str>, after: Option<&str>| {
        if before != after {
            details.push(Detail::text(place, Impact::Cosmetic, before, after));
        }
    };
    text("title", before.title.as_deref(), after.title.as_deref());
    text(
        "description",
        Some(&before.description),
        Some(&after.description),
    );
    compare(
        "input",
        Side::Input,
        &before.input_schema,
        &after.input_schema,
        &mut details,
    );
    match (&before.output_schema, &after.output_schema) {
        (None, None) => {}
        (None, Some(schema)) => details.push(Detail {
            after: Some(pretty(schema)),
            ..Detail::new("output", Impact::Compatible, "has a schema now")
        }),
        (Some(_), None) => details.push(Detail::new(
            "output",
            Impact::Breaking,
            "has no schema any more",
        )),
        (Some(before), Some(after)) => compare("output", Side::Output, before, after, &mut details),
    }
    annotation_details(
        before.annotations.as_ref(),
        after.annotations.as_ref(),
        &mut details,
    );
    details
}

/// The hints of MCP with their defaults, and whether `true` promises less effect.
const HINTS: [(&str, bool, bool); 4] = [
    ("readOnlyHint", false, true),
    ("idempotentHint", false, true),
    ("destructiveHint", true, false),
    ("openWorldHint", true, false),
];

fn annotation_details(before: Option<&Value>, after: Option<&Value>, details: &mut Vec<Detail>) {
    if before == after {
        return;
    }
    let mut impact = Impact::Cosmetic;
    let mut hints = Vec::new();
    for (hint, default, is_promise) in HINTS {
        let value = |annotations: Option<&Value>| {
            let given = annotations.and_then(|annotations| annotations.get(hint)?.as_bool());
            given.unwrap_or(default)
        };
        let (old, new) = (value(before), value(after));
        if old != new {
            impact = impact.max(match new == is_promise {
                true => Impact::Compatible,
                false => Impact::Breaking,
            });
            hints.push(format!("{hint} is {new}, and was {old}"));
        }
    }
    details.push(Detail {
        before: before.map(pretty),
        after: after.map(pretty),
        ..Detail::new("annotations", impact, hints.join(", "))
    });
}

/// Everything that a server says about a tool that is not pinned.
fn whole_definition(tool: &ToolDefinition) -> Vec<Detail> {
    let new = |place: &str, text: String| Detail {
        after: Some(text),
        ..Detail::new(place, Impact::Compatible, "")
    };
    let mut details = Vec::new();
    details.extend(tool.title.clone().map(|title| new("title", title)));
    details.push(new("description", tool.description.clone()));
    details.push(new("input", pretty(&tool.input_schema)));
    details.extend(
        tool.output_schema
            .as_ref()
            .map(|schema| new("output", pretty(schema))),
    );
    details.extend(
        tool.annotations
            .as_ref()
            .map(|hints| new("annotations", pretty(hints))),
    );
    details
}

fn pretty(value: &Value) -> String {
    format!("{value:#}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn details(before: Value, after: Value) -> Vec<(String, Impact)> {
        let read = |value| serde_json::from_value(value).unwrap();
        let details = tool_details(&read(before), &read(after));
        details
            .into_iter()
            .map(|detail| (detail.place, detail.impact))
            .collect()
    }

    #[test]
    fn texts_are_cosmetic_and_lost_promises_break() {
        let before = json!({ "description": "a", "inputSchema": {}, "annotations": { "readOnlyHint": true, "title": "T" } });
        let after = json!({ "description": "b", "inputSchema": {}, "annotations": { "readOnlyHint": false, "title": "T" } });
        let expected = [
            ("description".to_owned(), Impact::Cosmetic),
            ("annotations".to_owned(), Impact::Breaking),
        ];
        assert_eq!(details(before.clone(), after.clone()), expected);
        assert_eq!(details(after, before)[1].1, Impact::Compatible);
        let retitled = details(
            json!({ "inputSchema": {}, "annotations": { "title": "T" } }),
            json!({ "inputSchema": {}, "annotations": { "title": "U" } }),
        );
        assert_eq!(retitled, [("annotations".to_owned(), Impact::Cosmetic)]);
    }

    #[test]
    fn a_result_may_gain_and_not_lose() {
        let with = |schema: Value| json!({ "inputSchema": {}, "outputSchema": schema });
        let (one, two) = (
            json!({ "type": "object", "properties": { "a": {} } }),
            json!({ "type": "object", "properties": { "a": {}, "b": {} } }),
        );
        assert_eq!(
            details(with(one.clone()), with(two.clone())),
            [("output.b".to_owned(), Impact::Compatible)]
        );
        assert_eq!(
            details(with(two), with(one.clone())),
            [("output.b".to_owned(), Impact::Breaking)]
        );
        assert_eq!(
            details(with(one), json!({ "inputSchema": {} })),
            [("output".to_owned(), Impact::Breaking)]
        );
    }
}
