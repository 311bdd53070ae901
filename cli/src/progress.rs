//! What a tool tells while it works, one line on standard error each.

use std::io::{self, Write};

use pml_gateway::Progress;

use crate::paint::Paint;

/// A closed standard error is no reason to stop the call.
pub fn print(progress: &Progress, paint: Paint) {
    let _ = writeln!(io::stderr().lock(), "{}", paint.dim(&line(progress)));
}

fn line(progress: &Progress) -> String {
    let Progress { tool, done, .. } = progress;
    let amount = match progress.total {
        Some(total) => format!("{done} of {total}"),
        None => done.to_string(),
    };
    match &progress.message {
        // The words are the server's: they get one line, and no control over the terminal.
        Some(message) => format!(
            "{tool}: {amount}: {}",
            message.replace(char::is_control, " ")
        ),
        None => format!("{tool}: {amount}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_one_line_whatever_the_server_says() {
        let mut progress = Progress {
            tool: "demo:slow".parse().unwrap(),
            done: 1.0,
            total: Some(3.0),
            message: Some("half\n\u{1b}[2Jway".to_owned()),
        };
        assert_eq!(line(&progress), "demo:slow: 1 of 3: half  [2Jway");
        progress.message = None;
        progress.total = None;
        assert_eq!(line(&progress), "demo:slow: 1");
    }
}
