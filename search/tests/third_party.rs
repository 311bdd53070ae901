//! The check of the build scripts: a file of `third_party/` that was exchanged ends the build.

#[path = "../../third_party/check_sums.rs"]
mod check_sums;

use std::fs;
use std::panic::catch_unwind;

#[test]
fn an_exchanged_file_ends_the_build() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    // The SHA-256 of `abc`.
    let sum = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    fs::write(folder.path().join("SHA256SUMS"), format!("{sum}  lib.a\n")).unwrap();
    let check = |name: &'static str| {
        let path = path.to_owned();
        catch_unwind(move || check_sums::check_listed(&path, name))
    };
    assert!(check("lib.a").is_err(), "the file is missing");
    fs::write(folder.path().join("lib.a"), "abc").unwrap();
    assert!(check("lib.a").is_ok());
    fs::write(folder.path().join("lib.a"), "abd").unwrap();
    assert!(check("lib.a").is_err(), "a byte differs");
    fs::write(folder.path().join("other.a"), "abc").unwrap();
    assert!(check("other.a").is_err(), "it is not listed");
}
