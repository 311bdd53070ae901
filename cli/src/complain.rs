//! Errors and warnings for a person, on standard error.
//!
//! A standard error that somebody closed is no reason to fail, so nothing here does.

use std::fmt::Display;
use std::io::{self, Write};

use crate::paint::Paint;

pub fn error(message: impl Display) {
    line(format_args!("{} {message}", Paint::for_stderr().error()));
}

pub fn warning(message: impl Display) {
    let label = Paint::for_stderr().yellow("warning:");
    line(format_args!("{label} {message}"));
}

pub fn line(message: impl Display) {
    let message = message.to_string();
    let shown = Paint::for_stderr().foreign(&message);
    let _ = writeln!(io::stderr().lock(), "{shown}");
}
