//! The documentation for contributors: quoted code is in the files that it names, and every file
//! and section that is mentioned exists.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::support::repository;

/// In how many source files a new op is written at most.
const FILES_OF_AN_OP: usize = 6;

fn read(path: impl AsRef<Path>) -> String {
    let path = repository().join(path);
    std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{} cannot be read: {error}", path.display()))
}

/// A fenced block of a page whose first line is `// path`: the path, and the lines below it.
struct Snippet {
    path: String,
    lines: Vec<String>,
}

fn snippets(text: &str) -> Vec<Snippet> {
    let mut snippets = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if !is_fence(line) {
            continue;
        }
        let block: Vec<&str> = lines.by_ref().take_while(|line| !is_fence(line)).collect();
        let indent = line.len() - line.trim_start().len();
        let mut block = block
            .into_iter()
            .map(|line| line.get(indent..).unwrap_or(""));
        if let Some(path) = block.next().and_then(|first| first.strip_prefix("// ")) {
            snippets.push(Snippet {
                path: path.to_owned(),
                lines: block.map(str::to_owned).collect(),
            });
        }
    }
    snippets
}

fn is_fence(line: &str) -> bool {
    line.trim_start().starts_with("```")
}

/// A line without its indentation and without the mark of a doc comment, so that the code of a
/// documentation test can be quoted as code.
fn normalized(line: &str) -> &str {
    let line = line.trim();
    line.strip_prefix("///").map_or(line, str::trim)
}

/// Whether the lines stand in the file one after the other. `…` alone on a line stands for any
/// number of lines.
fn contains(file: &str, snippet: &[String]) -> bool {
    let file: Vec<&str> = file.lines().map(normalized).collect();
    let snippet: Vec<&str> = snippet.iter().map(|line| normalized(line)).collect();
    let mut rest = file.as_slice();
    for part in snippet.split(|line| *line == "…") {
        if part.is_empty() {
            continue;
        }
        match rest.windows(part.len()).position(|window| window == part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    true
}

/// The text below a heading, up to the next one of the same level.
fn section<'a>(text: &'a str, heading: &str) -> &'a str {
    let start = text
        .find(&format!("\n{heading}\n"))
        .unwrap_or_else(|| panic!("CONTRIBUTING.md has no section `{heading}`"));
    let body = &text[start + heading.len() + 2..];
    let level = heading.split(' ').next().unwrap_or_default();
    let end = body.find(&format!("\n{level} ")).unwrap_or(body.len());
    &body[..end]
}

#[test]
fn quoted_code_is_in_the_file_that_it_names() {
    let text = read("CONTRIBUTING.md");
    let snippets = snippets(&text);
    assert!(snippets.len() > 6, "only {} snippets", snippets.len());
    for snippet in snippets {
        let file = read(&snippet.path);
        assert!(
            contains(&file, &snippet.lines),
            "CONTRIBUTING.md quotes what {} does not contain:\n{}",
            snippet.path,
            snippet.lines.join("\n")
        );
    }
}

#[test]
fn an_op_is_written_in_at_most_six_source_files() {
    let text = read("CONTRIBUTING.md");
    let files: BTreeSet<String> = snippets(section(&text, "### Add an op"))
        .into_iter()
        .map(|snippet| snippet.path)
        .filter(|path| !path.ends_with(".d.ts"))
        .collect();
    assert!(files.len() <= FILES_OF_AN_OP, "{files:#?}");
}

/// The pages for users and contributors. The changelog names files of the past.
fn pages() -> Vec<PathBuf> {
    let folder = repository().join("docs");
    let entries = std::fs::read_dir(folder).expect("docs/ is there");
    let docs = entries.map(|entry| Path::new("docs").join(entry.expect("an entry").file_name()));
    let root = ["CONTRIBUTING.md", "README.md", "SECURITY.md"].map(PathBuf::from);
    root.into_iter().chain(docs).collect()
}

/// Every file and folder of the repository, with `/` in front; folders also have one at their end.
fn tree(folder: &Path, prefix: &str, paths: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).expect("a folder of the repository") {
        let entry = entry.expect("an entry of a folder");
        let name = entry.file_name().to_string_lossy().into_owned();
        if ["target", ".git", "node_modules"].contains(&name.as_str()) {
            continue;
        }
        let path = format!("{prefix}/{name}");
        if entry.file_type().expect("the type of a file").is_dir() {
            paths.insert(format!("{path}/"));
            tree(&entry.path(), &path, paths);
        } else {
            paths.insert(path);
        }
    }
}

/// The text without fenced blocks.
fn prose(text: &str) -> String {
    let mut in_block = false;
    let lines = text.lines().filter(|line| {
        let is_fence = is_fence(line);
        in_block ^= is_fence;
        !is_fence && !in_block
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The inline code of a text. Code spans do not go over lines here.
fn inline_code(text: &str) -> Vec<&str> {
    text.lines()
        .flat_map(|line| line.split('`').skip(1).step_by(2))
        .collect()
}

fn is_path(code: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
    code.chars().all(is_part) && !code.starts_with(['.', '/']) && !code.contains("//")
}

/// Whether the page means a file of this repository: a Rust or JavaScript file, a folder, or
/// something below a folder of the repository. `mcp.json` and the like are the user's.
fn is_ours(code: &str, tree: &BTreeSet<String>) -> bool {
    let is_code = [".rs", ".js"].iter().any(|end| code.ends_with(end));
    let is_below = code.split_once('/').is_some_and(|(first, rest)| {
        let is_file = rest
            .rsplit('/')
            .next()
            .is_some_and(|last| last.contains('.'));
        is_file && tree.contains(&format!("/{first}/"))
    });
    is_path(code) && (is_code || is_below || code.ends_with('/'))
}

/// A folder of one name is at the root. Everything else may leave out folders at its beginning.
fn exists(code: &str, tree: &BTreeSet<String>) -> bool {
    let suffix = format!("/{code}");
    if code
        .split_once('/')
        .is_some_and(|(_, rest)| rest.is_empty())
    {
        return tree.contains(&suffix);
    }
    tree.iter().any(|path| path.ends_with(&suffix))
}

#[test]
fn every_file_that_the_documentation_mentions_exists() {
    let mut files = BTreeSet::new();
    tree(&repository(), "", &mut files);
    let mut missing = Vec::new();
    for page in pages() {
        let text = prose(&read(&page));
        for code in inline_code(&text) {
            if is_ours(code, &files) && !exists(code, &files) {
                missing.push(format!("{}: {code}", page.display()));
            }
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

/// The anchor of a heading, as GitHub makes it.
fn anchor(heading: &str) -> String {
    let text = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = text
        .chars()
        .filter(|c| c.is_alphanumeric() || "-_ ".contains(*c));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[test]
fn every_link_of_the_documentation_leads_somewhere() {
    let mut broken = Vec::new();
    for page in pages().into_iter().chain([PathBuf::from("CHANGELOG.md")]) {
        let text = prose(&read(&page));
        let links = text
            .split("](")
            .skip(1)
            .filter_map(|rest| rest.split(')').next());
        for link in links.filter(|link| !link.contains("://")) {
            let (file, fragment) = link.split_once('#').unwrap_or((link, ""));
            let folder = page.parent().unwrap_or(Path::new(""));
            let target = match file {
                "" => page.clone(),
                file => folder.join(file),
            };
            let is_there = repository().join(&target).exists();
            let has_section = fragment.is_empty() || {
                let text = prose(&read(&target));
                let mut headings = text.lines().filter(|line| line.starts_with('#'));
                headings.any(|heading| anchor(heading) == fragment)
            };
            if !is_there || !has_section {
                broken.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}
