//! Progress of tool calls: one line on standard error for each notification.

use std::io::{self, Write};

use pml_gateway::Progress;

use crate::style::Style;

/// A failed write is ignored: a closed standard error must not stop the call.
pub fn print(progress: &Progress, style: Style) {
    let _ = writeln!(io::stderr().lock(), "{}", style.dim(&line(progress)));
}

fn line(progress: &Progress) -> String {
    let Progress { tool, done, .. } = progress;
    let amount = match progress.total {
        Some(total) => format!("{done} of {total}"),
        None => done.to_string(),
    };
    match &progress.message {
        // The message is untrusted: it gets one line, without control characters.
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
    fn a_notification_is_one_line_whatever_its_message() {
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
