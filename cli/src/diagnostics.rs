//! Errors and warnings for a person, on standard error.
//!
//! Failed writes are ignored: a closed standard error must not fail the command.

use std::fmt::Display;
use std::io::{self, Write};

use crate::style::Style;

pub fn error(message: impl Display) {
    line(format_args!("{} {message}", Style::for_stderr().error()));
}

pub fn warning(message: impl Display) {
    let label = Style::for_stderr().yellow("warning:");
    line(format_args!("{label} {message}"));
}

pub fn line(message: impl Display) {
    let message = message.to_string();
    let shown = Style::for_stderr().escape_controls(&message);
    let _ = writeln!(io::stderr().lock(), "{shown}");
}
