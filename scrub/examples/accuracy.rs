//! The accuracy of pml-scrub on labelled texts, and the findings in source code: the parts of the bench
//! `scrub` that need neither peers nor another crate.
//!
//! `cargo run -p pml-scrub --example accuracy -- FOLDER [CODE_FOLDER…]`

#![allow(
    dead_code,
    reason = "parts of the bench that this program does not call"
)]

#[path = "../../bench/src/scrub/accuracy.rs"]
mod accuracy;
#[path = "../../bench/src/scrub/code.rs"]
mod code;
#[path = "../../bench/src/scrub/kinds.rs"]
mod kinds;
#[path = "../../bench/src/scrub/rows.rs"]
mod rows;

use std::path::PathBuf;

use anyhow::{Context, Result};

fn main() -> Result<()> {
    let mut folders = std::env::args_os().skip(1).map(PathBuf::from);
    let labelled = folders
        .next()
        .context("usage: accuracy FOLDER [CODE_FOLDER…]")?;
    let rows = rows::read(&labelled)?;
    for (name, keyed) in [
        ("with the recognizer's name as key", true),
        ("without it", false),
    ] {
        accuracy::print(name, &rows, &accuracy::findings(&rows, keyed)?);
    }
    for folder in folders {
        code::measure(&folder, true)?;
    }
    Ok(())
}
