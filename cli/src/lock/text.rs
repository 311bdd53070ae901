//! Changes as text, and what is said about servers.

use std::fmt::Write;

use pml_gateway::is_unsafe_to_show;
use pml_policy::lock::{Change, ChangeKind, Detail, ObservedServer, ServerIdentity};

/// Lines around a difference that are shown.
const CONTEXT: usize = 2;

/// A change, with its details below it. Everything that differs is shown: somebody decides by it.
pub fn change(change: &Change) -> String {
    let mut out = headline(change);
    out.push('\n');
    for detail in &change.details {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "  {}", visible(&detail_line(detail)));
        let lines = |text: &Option<String>| -> Vec<String> {
            let lines = text.iter().flat_map(|text| text.split('\n'));
            lines.map(visible).collect()
        };
        let (before, after) = (lines(&detail.before), lines(&detail.after));
        for line in different_lines(&before, &after) {
            let _ = writeln!(out, "    {line}");
        }
    }
    out
}

/// The lines from the first that differs to the last, with some around them.
fn different_lines(before: &[String], after: &[String]) -> Vec<String> {
    let same = |(one, other): &(&String, &String)| one == other;
    let start = before.iter().zip(after).take_while(same).count();
    let shorter = before.len().min(after.len()) - start;
    let ends = before.iter().rev().zip(after.iter().rev());
    let end = ends.take(shorter).take_while(same).count();
    let mut lines = Vec::new();
    let first = start.saturating_sub(CONTEXT);
    lines.extend(before[first..start].iter().map(|line| format!("  {line}")));
    lines.extend(
        before[start..before.len() - end]
            .iter()
            .map(|line| format!("- {line}")),
    );
    lines.extend(
        after[start..after.len() - end]
            .iter()
            .map(|line| format!("+ {line}")),
    );
    let rest = &after[after.len() - end..];
    lines.extend(rest.iter().take(CONTEXT).map(|line| format!("  {line}")));
    lines
}

/// A line in which nothing can hide: controls and characters without a width are escaped.
fn visible(line: &str) -> String {
    let is_invisible = |c: char| {
        is_unsafe_to_show(c)
            || c.is_control()
            || matches!(c,
                '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
                | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
                | '\u{ffa0}' | '\u{e0000}'..='\u{e0fff}')
    };
    let mut shown = String::new();
    for c in line.chars() {
        match c {
            '\t' => shown.push(c),
            c if is_invisible(c) => shown.extend(c.escape_unicode()),
            c => shown.push(c),
        }
    }
    shown
}

/// A change in one line.
pub fn headline(change: &Change) -> String {
    let id = match &change.tool {
        Some(_) => change.id(),
        None => format!("server {}", change.server),
    };
    let kind = change.kind.as_str();
    let (impact, part) = (change.impact.as_str(), change.impact.version_part());
    match (change.kind, change.pinned, change.version) {
        (ChangeKind::Changed, Some(before), Some(after)) => {
            format!("{id}  {kind}, {impact} ({part}: {before} → {after})")
        }
        (ChangeKind::Changed, ..) => format!("{id}  {kind}, {impact}"),
        (ChangeKind::Added | ChangeKind::Removed, ..) => format!("{id}  {kind}"),
    }
}

/// A detail in one line.
pub fn detail_line(detail: &Detail) -> String {
    match detail.what.is_empty() {
        true => format!("{} ({})", detail.place, detail.impact.as_str()),
        false => format!(
            "{} {} ({})",
            detail.place,
            detail.what,
            detail.impact.as_str()
        ),
    }
}

/// The package that a runner of packages takes in any version.
pub fn unversioned_package(identity: &ServerIdentity) -> Option<&str> {
    let ServerIdentity::Program { command, args, .. } = identity else {
        return None;
    };
    let program = command.rsplit('/').next().unwrap_or_default();
    if !["npx", "bunx", "uvx", "pipx"].contains(&program) {
        return None;
    }
    let package = args
        .iter()
        .find(|arg| !arg.starts_with('-') && *arg != "run")?;
    // A scope begins with `@`.
    let name = package.rsplit('/').next().unwrap_or(package);
    let is_versioned = name.contains(['@', '=']) && !name.ends_with("@latest");
    (!is_versioned).then_some(package.as_str())
}

/// Whether a server says that a tool of it is read-only or idempotent.
pub fn claims_effects(server: &ObservedServer) -> bool {
    let hints = server
        .tools
        .values()
        .filter_map(|tool| tool.annotations.as_ref());
    let claims = |hint| move |annotations: &serde_json::Value| annotations[hint] == true;
    hints.clone().any(claims("readOnlyHint")) || hints.clone().any(claims("idempotentHint"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_without_a_version_are_found() {
        for (line, expected) in [
            ("npx -y @scope/server .", Some("@scope/server")),
            ("npx -y @scope/server@1.2.3 .", None),
            ("npx server", Some("server")),
            ("npx server@latest", Some("server@latest")),
            ("uvx server==1.0", None),
            ("/usr/bin/uvx server", Some("server")),
            ("pipx run server", Some("server")),
            ("python3 server.py", None),
        ] {
            let mut words = line.split(' ').map(str::to_owned);
            let identity = ServerIdentity::Program {
                command: words.next().unwrap(),
                args: words.collect(),
                cwd: None,
            };
            assert_eq!(unversioned_package(&identity), expected, "{line}");
        }
    }

    #[test]
    fn every_line_that_differs_is_shown_and_nothing_is_invisible() {
        let lines = |text: &str| -> Vec<String> { text.split(' ').map(str::to_owned).collect() };
        let shown = different_lines(&lines("a b c d e f"), &lines("a b c X Y e f"));
        assert_eq!(shown, ["  b", "  c", "- d", "+ X", "+ Y", "  e", "  f"]);
        assert_eq!(different_lines(&[], &lines("a b")), ["+ a", "+ b"]);
        assert_eq!(different_lines(&lines("a a"), &lines("a")), ["  a", "- a"]);
        let hidden = visible("a\u{200c}b\u{fe0f}\u{1b}[2Jc\r\u{e0101}ü");
        assert_eq!(hidden, "a\\u{200c}b\\u{fe0f}\\u{1b}[2Jc\\u{d}\\u{e0101}ü");
    }
}
