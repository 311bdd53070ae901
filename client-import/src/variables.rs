//! Variables as other clients write them, rewritten into `${NAME}`.

use std::path::Path;

use serde_json::{Map, Value};

use crate::client_dirs::ClientDirs;

/// Rewrites every string of `entry` and returns what the user has to do because of it.
///
/// `${env:NAME}` becomes `${NAME}`. Folders that only an editor knows are replaced by their current
/// paths. A value that an editor prompts for (`${input:some-key}`) becomes a variable to set.
pub(crate) fn rewrite(
    entry: &mut Map<String, Value>,
    dirs: &ClientDirs,
    project: Option<&Path>,
) -> Vec<String> {
    let mut notes = Vec::new();
    for value in entry.values_mut() {
        rewrite_value(value, dirs, project, &mut notes);
    }
    notes.sort_unstable();
    notes.dedup();
    notes
}

fn rewrite_value(
    value: &mut Value,
    dirs: &ClientDirs,
    project: Option<&Path>,
    notes: &mut Vec<String>,
) {
    match value {
        Value::String(text) => *text = rewrite_text(text, dirs, project, notes),
        Value::Array(items) => {
            for item in items {
                rewrite_value(item, dirs, project, notes);
            }
        }
        Value::Object(members) => {
            for member in members.values_mut() {
                rewrite_value(member, dirs, project, notes);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn rewrite_text(
    text: &str,
    dirs: &ClientDirs,
    project: Option<&Path>,
    notes: &mut Vec<String>,
) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        out.push_str(before);
        let Some((name, behind)) = after.split_once('}') else {
            out.push_str("${");
            rest = after;
            continue;
        };
        out.push_str(&rewrite_name(name, dirs, project, notes));
        rest = behind;
    }
    out.push_str(rest);
    out
}

fn rewrite_name(
    name: &str,
    dirs: &ClientDirs,
    project: Option<&Path>,
    notes: &mut Vec<String>,
) -> String {
    let folder = |path: Option<&Path>, notes: &mut Vec<String>| match path {
        Some(path) => path.to_string_lossy().into_owned(),
        None => {
            notes.push(format!("replace `${{{name}}}` with a folder"));
            format!("${{{name}}}")
        }
    };
    match name {
        "userHome" => folder(Some(dirs.home()), notes),
        "workspaceFolder" | "workspaceRoot" => folder(project, notes),
        "pathSeparator" | "/" => std::path::MAIN_SEPARATOR_STR.to_owned(),
        _ => {
            if let Some(variable) = name.strip_prefix("env:") {
                return format!("${{{variable}}}");
            }
            if let Some(input) = name.strip_prefix("input:") {
                let variable = variable_name(input);
                notes.push(format!(
                    "set the environment variable `{variable}`, which the editor prompts for as `{input}`"
                ));
                return format!("${{{variable}}}");
            }
            format!("${{{name}}}")
        }
    }
}

/// `github-token` as `GITHUB_TOKEN`.
fn variable_name(input: &str) -> String {
    let name: String = input
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() {
                c.to_ascii_uppercase()
            } else {
                '_'
            }
        })
        .collect();
    if name.starts_with(|c: char| c.is_ascii_digit()) {
        format!("_{name}")
    } else {
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pml_files::Platform;
    use proptest::prelude::*;

    fn text(text: &str) -> (String, Vec<String>) {
        let dirs = ClientDirs::at(Platform::Linux, "/home/someone");
        let mut notes = Vec::new();
        let text = rewrite_text(text, &dirs, Some(Path::new("/work/site")), &mut notes);
        (text, notes)
    }

    #[test]
    fn an_editors_variables_are_rewritten() {
        assert_eq!(text("Bearer ${env:TOKEN}").0, "Bearer ${TOKEN}");
        assert_eq!(text("${workspaceFolder}/a").0, "/work/site/a");
        assert_eq!(text("${userHome}/b").0, "/home/someone/b");
        assert_eq!(text("${TOKEN:-none}").0, "${TOKEN:-none}");
    }

    #[test]
    fn a_value_that_an_editor_prompts_for_becomes_a_variable_to_set() {
        let (value, notes) = text("${input:github-token}");
        assert_eq!(value, "${GITHUB_TOKEN}");
        assert!(notes[0].contains("`GITHUB_TOKEN`"), "{notes:?}");
    }

    proptest! {
        #[test]
        fn text_without_variables_stays_as_it_is(plain in "[^$]{0,40}") {
            prop_assert_eq!(text(&plain).0, plain);
        }

        #[test]
        fn odd_braces_do_no_harm(odd in "[${}a:]{0,20}") {
            text(&odd);
        }
    }
}
