//! Lines of bounded length from a stream.

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

use super::MAX_MESSAGE_BYTES;
use super::id_scanner::IdScanner;

/// The buffer is reused, but its capacity is cut back to this: one huge message must not keep its
/// memory for as long as the server lives.
pub(super) const KEPT_BYTES: usize = 64 * 1024;

/// Reads lines of at most [`MAX_MESSAGE_BYTES`]. Of longer ones, only the JSON-RPC id is kept.
pub(super) struct LineReader<R> {
    read: BufReader<R>,
    line: Vec<u8>,
    /// Set while the rest of a line that is too long streams past.
    oversized: Option<Oversized>,
    /// Whether `line` was returned.
    is_returned: bool,
}

struct Oversized {
    scanner: IdScanner,
    bytes: usize,
}

/// A line without its line feed.
pub(super) enum Line<'a> {
    Whole(&'a [u8]),
    TooLong { id: Option<i64>, bytes: usize },
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    pub fn new(read: R) -> Self {
        Self {
            read: BufReader::with_capacity(KEPT_BYTES, read),
            line: Vec::new(),
            oversized: None,
            is_returned: false,
        }
    }

    /// The next line; `None` at the end of the stream.
    ///
    /// # Cancel safety
    /// The bytes that were read stay in `self`.
    pub async fn next(&mut self) -> Option<Line<'_>> {
        if std::mem::take(&mut self.is_returned) {
            self.line.clear();
            self.line.shrink_to(KEPT_BYTES);
        }
        loop {
            let available = self.read.fill_buf().await.ok()?;
            if available.is_empty() {
                return None;
            }
            let newline = available.iter().position(|byte| *byte == b'\n');
            let piece = &available[..newline.unwrap_or(available.len())];
            match &mut self.oversized {
                Some(oversized) => {
                    oversized.scanner.feed(piece);
                    oversized.bytes += piece.len();
                }
                None if self.line.len() + piece.len() > MAX_MESSAGE_BYTES => {
                    let mut scanner = IdScanner::default();
                    scanner.feed(&self.line);
                    scanner.feed(piece);
                    self.oversized = Some(Oversized {
                        scanner,
                        bytes: self.line.len() + piece.len(),
                    });
                    self.line = Vec::new();
                }
                None => self.line.extend_from_slice(piece),
            }
            let used = piece.len() + usize::from(newline.is_some());
            self.read.consume(used);
            if newline.is_some() {
                break;
            }
        }
        if let Some(oversized) = self.oversized.take() {
            return Some(Line::TooLong {
                id: oversized.scanner.id(),
                bytes: oversized.bytes,
            });
        }
        self.is_returned = true;
        Some(Line::Whole(&self.line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_line_that_is_too_long_is_reduced_to_its_id_and_size() {
        let long = format!(
            "{{\"id\":7,\"result\":\"{}\"}}",
            "x".repeat(MAX_MESSAGE_BYTES)
        );
        let text = format!("first\n{long}\nlast\nunfinished");
        let mut reader = LineReader::new(text.as_bytes());
        assert!(matches!(reader.next().await, Some(Line::Whole(b"first"))));
        assert!(matches!(
            reader.next().await,
            Some(Line::TooLong { id: Some(7), bytes }) if bytes == long.len()
        ));
        assert!(matches!(reader.next().await, Some(Line::Whole(b"last"))));
        assert!(reader.next().await.is_none());
    }

    #[tokio::test]
    async fn a_read_that_is_cancelled_loses_nothing() {
        let (mut write, read) = tokio::io::duplex(64);
        let mut reader = LineReader::new(read);
        tokio::io::AsyncWriteExt::write_all(&mut write, b"first half, ")
            .await
            .unwrap();
        let wait = std::time::Duration::from_millis(20);
        assert!(tokio::time::timeout(wait, reader.next()).await.is_err());
        tokio::io::AsyncWriteExt::write_all(&mut write, b"second half\n")
            .await
            .unwrap();
        assert!(matches!(
            reader.next().await,
            Some(Line::Whole(b"first half, second half"))
        ));
    }
}
