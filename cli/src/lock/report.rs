//! The result of a comparison, for people and for programs.

use std::io::{self, Write};
use std::path::Path;

use pml_policy::lock::{Change, ChangeKind, Impact};
use serde::Serialize;
use serde_json::{Value, json};

use super::{Format, text};
use crate::style::Style;

/// How the servers differ from the lock file.
#[derive(Serialize)]
pub struct Comparison {
    pub changes: Vec<Change>,
    /// Pinned servers that are not configured.
    pub unconfigured: Vec<String>,
    /// Servers that cannot be listed, and why.
    #[serde(skip)]
    pub silent: Vec<(String, String)>,
}

impl Comparison {
    /// Keeps what belongs to tools and servers with these names. The server of a tool is looked at with it,
    /// if nothing of it is pinned.
    pub fn keep(&mut self, names: &[String]) {
        let is_named = |change: &Change| {
            let id = change.id();
            names
                .iter()
                .any(|name| *name == change.server || *name == id)
        };
        let servers: Vec<&str> = names
            .iter()
            .filter_map(|name| name.split(':').next())
            .collect();
        let is_of = |server: &String| servers.contains(&server.as_str());
        self.changes.retain(|change| {
            let is_new_server = change.tool.is_none() && change.kind == ChangeKind::Added;
            is_named(change) || (is_new_server && is_of(&change.server))
        });
        self.unconfigured.retain(|server| names.contains(server));
        self.silent.retain(|(server, _)| is_of(server));
    }

    /// Whether everything is as it is pinned. A server that is pinned and not configured is not used.
    pub fn is_clean(&self) -> bool {
        self.changes.is_empty() && self.silent.is_empty()
    }

    /// All findings: the rule, the server, the tool and the message.
    fn findings(&self) -> Vec<Finding> {
        let changes = self.changes.iter().map(|change| Finding {
            rule: match (change.tool.is_some(), change.kind) {
                (true, ChangeKind::Added) => "tool-added",
                (true, ChangeKind::Removed) => "tool-removed",
                (true, ChangeKind::Changed) => "tool-changed",
                (false, ChangeKind::Added) => "server-added",
                (false, _) => "server-changed",
            },
            server: change.server.clone(),
            tool: change.tool.clone(),
            message: message(change),
        });
        let silent = self.silent.iter().map(|(server, problem)| Finding {
            rule: "server-silent",
            server: server.clone(),
            tool: None,
            message: format!("server {server} cannot be listed: {problem}"),
        });
        changes.chain(silent).collect()
    }
}

struct Finding {
    rule: &'static str,
    server: String,
    tool: Option<String>,
    message: String,
}

fn message(change: &Change) -> String {
    let details: Vec<String> = change.details.iter().map(text::detail_line).collect();
    match details.is_empty() {
        true => text::headline(change),
        false => format!("{}: {}", text::headline(change), details.join("; ")),
    }
}

/// Prints a comparison with the lock file `file`.
pub fn print(format: Format, comparison: &Comparison, file: &Path) -> io::Result<()> {
    // Texts of servers are part of the output.
    let mut out = Style::escaped_stdout();
    match format {
        Format::Text => write_text(&mut out, comparison)?,
        Format::Json => writeln!(out, "{:#}", to_json(comparison))?,
        Format::Sarif => writeln!(out, "{:#}", sarif(comparison, file))?,
        Format::Github => write_github(&mut out, comparison, file)?,
    }
    out.flush()
}

fn write_text(out: &mut impl Write, comparison: &Comparison) -> io::Result<()> {
    for change in &comparison.changes {
        writeln!(out, "{}", text::change(change))?;
    }
    for server in &comparison.unconfigured {
        writeln!(out, "server {server}  is not configured any more\n")?;
    }
    let silent = comparison.silent.len();
    if silent > 0 {
        writeln!(out, "{silent} of the servers could not be compared.")?;
    }
    if comparison.changes.is_empty() {
        return match silent {
            0 => writeln!(out, "Nothing has changed since it was pinned."),
            _ => writeln!(out, "Nothing else has changed since it was pinned."),
        };
    }
    let count = |impact| {
        let changes = comparison.changes.iter();
        changes.filter(|change| change.impact == impact).count()
    };
    writeln!(
        out,
        "{} breaking, {} compatible, {} cosmetic.",
        count(Impact::Breaking),
        count(Impact::Compatible),
        count(Impact::Cosmetic)
    )
}

fn to_json(comparison: &Comparison) -> Value {
    let silent = comparison.silent.iter();
    let silent = silent.map(|(server, problem)| json!({ "server": server, "problem": problem }));
    let mut value = json!(comparison);
    value["silent"] = silent.collect();
    value["clean"] = comparison.is_clean().into();
    value
}

const RULES: [(&str, &str); 6] = [
    ("tool-added", "A tool is not in pml.lock"),
    ("tool-removed", "A tool of pml.lock is gone"),
    ("tool-changed", "A tool is not as it is pinned in pml.lock"),
    ("server-added", "A server is not in pml.lock"),
    (
        "server-changed",
        "A server is not as it is pinned in pml.lock",
    ),
    ("server-silent", "A server cannot be listed"),
];

fn sarif(comparison: &Comparison, file: &Path) -> Value {
    let lines = Lines::read(file);
    let rules = RULES.map(|(id, about)| json!({ "id": id, "shortDescription": { "text": about } }));
    let results: Vec<Value> = comparison
        .findings()
        .into_iter()
        .map(|finding| {
            json!({
                "ruleId": finding.rule,
                "level": "error",
                "locations": [{ "physicalLocation": {
                    "artifactLocation": { "uri": file.display().to_string() },
                    "region": { "startLine": lines.of(&finding) },
                } }],
                "message": { "text": finding.message },
            })
        })
        .collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": { "name": "pml lock check", "version": env!("CARGO_PKG_VERSION"), "rules": rules } },
            "results": results,
        }],
    })
}

fn write_github(out: &mut impl Write, comparison: &Comparison, file: &Path) -> io::Result<()> {
    let lines = Lines::read(file);
    let value = |text: &str| {
        text.replace('%', "%25")
            .replace('\r', "%0D")
            .replace('\n', "%0A")
    };
    let property = |text: &str| value(text).replace(':', "%3A").replace(',', "%2C");
    for finding in comparison.findings() {
        writeln!(
            out,
            "::error file={},line={},title={}::{}",
            property(&file.display().to_string()),
            lines.of(&finding),
            property(&format!("pml lock check: {}", finding.rule)),
            value(&finding.message)
        )?;
    }
    Ok(())
}

/// The lines of a lock file. pml writes it itself, so the depth of a key is its indentation.
struct Lines(Vec<String>);

impl Lines {
    fn read(file: &Path) -> Self {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        Self(text.lines().map(str::to_owned).collect())
    }

    /// The line of a tool, else that of its server, else the first.
    fn of(&self, finding: &Finding) -> usize {
        let key = |indent: usize, name: &str| format!("{:indent$}{}: {{", "", json!(name));
        let starts = |line: &String, key: &str| line.starts_with(key);
        let server = key(4, &finding.server);
        let Some(server) = self.0.iter().position(|line| starts(line, &server)) else {
            return 1;
        };
        let tool = finding.tool.as_deref().and_then(|tool| {
            let tool = key(8, tool);
            let rest = self.0.iter().enumerate().skip(server + 1);
            let mut rest = rest.take_while(|(_, line)| !line.starts_with("    }"));
            rest.find(|(_, line)| starts(line, &tool)).map(|(at, _)| at)
        });
        tool.unwrap_or(server) + 1
    }
}
