//! Checks files of this folder against their `SHA256SUMS`: a part of the build scripts that use them.

use std::path::Path;

use sha2::{Digest, Sha256};

/// Checks the file `name` of `folder`.
///
/// # Panics
///
/// If the file is not listed, or is not the one that was committed: the build ends there.
pub fn check_listed(folder: &str, name: &str) {
    let folder = Path::new(folder);
    check(&folder.join("SHA256SUMS"), name, &folder.join(name));
}

/// Checks a file at any place against the entry for `name`. Cargo runs the build script again when
/// the file or the list changes.
pub fn check(sums: &Path, name: &str, file: &Path) {
    println!("cargo:rerun-if-changed={}", sums.display());
    println!("cargo:rerun-if-changed={}", file.display());
    let listed = std::fs::read_to_string(sums)
        .unwrap_or_else(|error| panic!("{} cannot be read: {error}", sums.display()));
    let expected = listed.lines().find_map(|line| {
        let (sum, file) = line.split_once(char::is_whitespace)?;
        (file.trim_start_matches([' ', '*']) == name).then_some(sum)
    });
    let Some(expected) = expected else {
        panic!("{name} is not listed in {}", sums.display());
    };
    let bytes = std::fs::read(file)
        .unwrap_or_else(|error| panic!("{} cannot be read: {error}", file.display()));
    let digest = Sha256::digest(&bytes);
    let found: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    assert!(
        found.eq_ignore_ascii_case(expected),
        "{} is not the file that {} lists: its SHA-256 is {found}; get it again from the repository",
        file.display(),
        sums.display()
    );
}
