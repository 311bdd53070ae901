//! The promises of `docs/security.md` name tests that exist.

use std::fs;
use std::path::Path;

use crate::support::repository;

/// The names of all functions in the Rust files below a folder.
fn functions(folder: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && !["target", ".git", "third_party"].contains(&name.as_str()) {
            functions(&path, found);
        } else if name.ends_with(".rs") {
            let text = fs::read_to_string(&path).unwrap();
            let names = text.split("fn ").skip(1);
            found.extend(names.map(|rest| {
                let is_part = |c: &char| c.is_ascii_alphanumeric() || *c == '_';
                rest.chars().take_while(is_part).collect()
            }));
        }
    }
}

#[test]
fn every_test_that_the_security_page_names_exists() {
    let page = fs::read_to_string(repository().join("docs/security.md")).unwrap();
    let mut existing = Vec::new();
    functions(&repository(), &mut existing);
    let spans = page.split('`').skip(1).step_by(2);
    // The name of a test is a sentence; groups (`limits::*`) and files are not single tests.
    let named: Vec<&str> = spans
        .filter_map(|span| span.rsplit(':').next())
        .map(str::trim)
        .filter(|name| {
            name.matches('_').count() >= 3
                && name
                    .chars()
                    .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        })
        .collect();
    assert!(named.len() > 50, "{named:?}");
    let missing: Vec<_> = named
        .iter()
        .filter(|name| !existing.iter().any(|function| function == *name))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}
