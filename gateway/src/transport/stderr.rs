//! The last lines of a server's standard error, for error messages.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncRead, AsyncReadExt};

use crate::secrets::Secrets;

const MAX_LINES: usize = 256;
const MAX_LINE_BYTES: usize = 1024;

/// A bounded ring buffer of lines. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct StderrTail {
    lines: Arc<Mutex<VecDeque<String>>>,
    secrets: Secrets,
}

impl StderrTail {
    /// A buffer whose lines hold none of the secrets.
    pub fn new(secrets: Secrets) -> Self {
        Self {
            lines: Arc::default(),
            secrets,
        }
    }

    /// Reads until the stream ends. Without a reader, a server blocks on a full pipe.
    pub async fn follow(self, mut stream: impl AsyncRead + Unpin) {
        let mut chunk = vec![0; 4096];
        let mut line = Vec::new();
        // A secret at the cut must be read whole to be found.
        let read_bytes = MAX_LINE_BYTES + self.secrets.longest();
        loop {
            let read = match stream.read(&mut chunk).await {
                Ok(0) | Err(_) => break,
                Ok(read) => read,
            };
            for byte in &chunk[..read] {
                if *byte == b'\n' {
                    self.push(&line);
                    line.clear();
                } else if line.len() < read_bytes {
                    line.push(*byte);
                }
            }
        }
        self.push(&line);
    }

    /// The last `count` lines, oldest first.
    pub fn last(&self, count: usize) -> Vec<String> {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines
            .iter()
            .skip(lines.len().saturating_sub(count))
            .cloned()
            .collect()
    }

    fn push(&self, line: &[u8]) {
        let text = self.secrets.hide(String::from_utf8_lossy(line));
        let text = text[..text.floor_char_boundary(MAX_LINE_BYTES.min(text.len()))].trim_end();
        if text.is_empty() {
            return;
        }
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() == MAX_LINES {
            lines.pop_front();
        }
        lines.push_back(text.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_the_last_lines_are_kept_and_long_ones_are_cut() {
        let mut text = String::new();
        for number in 0..400 {
            text.push_str(&format!("line {number}\n"));
        }
        text.push_str(&"x".repeat(100_000));
        let tail = StderrTail::default();
        tail.clone().follow(text.as_bytes()).await;
        let last = tail.last(2);
        assert_eq!(last[0], "line 399");
        assert_eq!(last[1].len(), MAX_LINE_BYTES);
        assert_eq!(tail.last(1000).len(), MAX_LINES);
    }
}
