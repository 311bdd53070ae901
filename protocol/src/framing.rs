//! The frames that [`crate::message`] travels in.
//!
//! A frame is a little-endian `u32` length and that many bytes of JSON. Both sides refuse a frame
//! over [`MAX_FRAME`] before reading its body, so neither can make the other allocate more.

use std::io::{self, Read};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// The largest frame: a result of 16 MiB, escaped and wrapped.
pub const MAX_FRAME: usize = 17 * 1024 * 1024;

const HEADER: usize = 4;

/// A message that cannot be sent or read.
#[derive(Debug, thiserror::Error)]
pub enum FramingError {
    /// The frame is over [`MAX_FRAME`].
    #[error("a message of {size} bytes is over the limit of {MAX_FRAME}")]
    TooLarge {
        /// Bytes of the frame's body.
        size: usize,
    },
    /// The body is not the JSON of a message.
    #[error("a message could not be read: {0}")]
    Malformed(#[from] serde_json::Error),
}

/// A message with its header, ready to be written.
///
/// # Errors
///
/// [`FramingError::TooLarge`] for a message over [`MAX_FRAME`].
pub fn encode<T: Serialize>(message: &T) -> Result<Vec<u8>, FramingError> {
    let mut frame = vec![0; HEADER];
    serde_json::to_writer(&mut frame, message)?;
    let size = frame.len() - HEADER;
    match u32::try_from(size) {
        Ok(length) if size <= MAX_FRAME => {
            frame[..HEADER].copy_from_slice(&length.to_le_bytes());
            Ok(frame)
        }
        _ => Err(FramingError::TooLarge { size }),
    }
}

/// Splits a stream of bytes into messages.
#[derive(Default)]
pub struct FrameReader {
    bytes: Vec<u8>,
    taken: usize,
}

impl FrameReader {
    /// Reads what has arrived and returns the number of bytes, zero at the end of the stream. The
    /// buffer is on this stack frame, not in the future of a task: futures are moved.
    ///
    /// # Errors
    ///
    /// Those of the source.
    pub fn read_from(&mut self, mut source: impl Read) -> io::Result<usize> {
        let mut buffer = [0; 16 * 1024];
        let count = source.read(&mut buffer)?;
        self.push(&buffer[..count]);
        Ok(count)
    }

    /// Adds bytes that have arrived.
    pub fn push(&mut self, bytes: &[u8]) {
        // Messages already taken make room before new bytes do.
        if self.taken == self.bytes.len() {
            self.bytes.clear();
            self.taken = 0;
        } else if self.taken > 64 * 1024 {
            self.bytes.drain(..self.taken);
            self.taken = 0;
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// The next whole message, if there is one.
    ///
    /// # Errors
    ///
    /// The stream is unusable after any [`FramingError`].
    pub fn pop<T: DeserializeOwned>(&mut self) -> Result<Option<T>, FramingError> {
        let waiting = &self.bytes[self.taken..];
        let Some((header, rest)) = waiting.split_first_chunk::<HEADER>() else {
            return Ok(None);
        };
        let size = u32::from_le_bytes(*header) as usize;
        if size > MAX_FRAME {
            return Err(FramingError::TooLarge { size });
        }
        let Some(body) = rest.get(..size) else {
            return Ok(None);
        };
        let message = serde_json::from_slice(body)?;
        self.taken += HEADER + size;
        Ok(Some(message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::Level;
    use crate::message::FromWorker;

    fn log(text: &str) -> FromWorker {
        FromWorker::Log {
            level: Level::Log,
            text: text.to_owned(),
        }
    }

    #[test]
    fn messages_arrive_whole_however_the_bytes_are_cut() {
        let mut wire = encode(&log("one")).unwrap();
        wire.extend(encode(&log("two")).unwrap());
        let mut reader = FrameReader::default();
        let mut texts = Vec::new();
        for byte in wire {
            reader.push(&[byte]);
            while let Some(FromWorker::Log { text, .. }) = reader.pop().unwrap() {
                texts.push(text);
            }
        }
        assert_eq!(texts, ["one", "two"]);
    }

    #[test]
    fn an_oversized_header_is_refused_before_its_body_arrives() {
        let mut reader = FrameReader::default();
        reader.push(&u32::MAX.to_le_bytes());
        assert!(matches!(
            reader.pop::<FromWorker>(),
            Err(FramingError::TooLarge { .. })
        ));
    }

    #[test]
    fn an_oversized_message_is_refused_by_its_sender() {
        let error = encode(&log(&"x".repeat(MAX_FRAME + 1))).unwrap_err();
        assert!(matches!(error, FramingError::TooLarge { .. }));
    }

    #[test]
    fn bytes_that_are_not_a_message_are_an_error() {
        let mut reader = FrameReader::default();
        reader.push(&3u32.to_le_bytes());
        reader.push(b"{{{");
        assert!(matches!(
            reader.pop::<FromWorker>(),
            Err(FramingError::Malformed(_))
        ));
    }
}
