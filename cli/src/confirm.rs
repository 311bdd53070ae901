//! Yes-or-no questions on a terminal.

use std::fmt::Display;
use std::io::{self, BufRead, IsTerminal, Write};

use crate::diagnostics;

/// Whether there is a terminal to ask on.
pub fn can_ask() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Prints `about`, asks `question`, and returns whether the answer is yes. `false` without a terminal.
pub fn confirm(about: impl Display, question: &str) -> bool {
    if !can_ask() {
        return false;
    }
    diagnostics::line(about);
    let mut err = io::stderr().lock();
    let _ = write!(err, "{question} [y/N] ");
    let _ = err.flush();
    let mut answer = String::new();
    let _ = io::stdin().lock().read_line(&mut answer);
    matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes")
}
