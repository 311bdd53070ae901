//! Finds the `id` of a JSON-RPC message that is too large to keep, while it streams past.
//!
//! A server may send 50 MB in one line. The call must get an error with the size, so its id has to be
//! known; it may come before the result or after it. The scanner reads the bytes once and keeps only
//! the top-level `id`.

/// The longest id that is kept; ours are numbers.
const MAX_ID: usize = 32;

/// Incremental scanner; feed it the message in pieces of any size.
#[derive(Debug, Default)]
pub struct IdScanner {
    depth: usize,
    in_string: bool,
    escaped: bool,
    /// The current top-level key, while one is being read or has just been read.
    key: Vec<u8>,
    reading_key: bool,
    expecting_key: bool,
    id: Vec<u8>,
    reading_id: bool,
}

impl IdScanner {
    pub fn feed(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.step(*byte);
        }
    }

    /// The id as a number, if the message had one at its top level.
    pub fn id(&self) -> Option<i64> {
        let text = std::str::from_utf8(&self.id).ok()?;
        text.trim().trim_matches('"').parse().ok()
    }

    fn step(&mut self, byte: u8) {
        if self.in_string {
            self.step_in_string(byte);
            return;
        }
        match byte {
            b'"' => {
                self.in_string = true;
                if self.depth == 1 && self.expecting_key {
                    self.reading_key = true;
                    self.key.clear();
                }
            }
            b'{' | b'[' => {
                self.depth += 1;
                self.expecting_key = self.depth == 1 && byte == b'{';
                self.reading_id = false;
            }
            b'}' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                self.reading_id = false;
            }
            b':' if self.depth == 1 => {
                self.expecting_key = false;
                if self.key == b"id" {
                    self.reading_id = true;
                    self.id.clear();
                }
            }
            b',' if self.depth == 1 => {
                self.expecting_key = true;
                self.reading_id = false;
            }
            _ => self.keep_id(byte),
        }
    }

    fn step_in_string(&mut self, byte: u8) {
        if self.escaped {
            self.escaped = false;
        } else if byte == b'\\' {
            self.escaped = true;
        } else if byte == b'"' {
            self.in_string = false;
            self.reading_key = false;
            return;
        }
        if self.reading_key && self.key.len() < MAX_ID {
            self.key.push(byte);
        }
        self.keep_id(byte);
    }

    fn keep_id(&mut self, byte: u8) {
        if self.reading_id && self.id.len() < MAX_ID {
            self.id.push(byte);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scan(text: &str) -> Option<i64> {
        let mut scanner = IdScanner::default();
        for piece in text.as_bytes().chunks(3) {
            scanner.feed(piece);
        }
        scanner.id()
    }

    #[test]
    fn the_id_is_found_before_and_after_the_result() {
        assert_eq!(
            scan(r#"{"jsonrpc":"2.0","id":7,"result":{"id":9}}"#),
            Some(7)
        );
        assert_eq!(
            scan(r#"{"result":{"id":9,"t":"\"id\":3,{["},"jsonrpc":"2.0","id": 12 }"#),
            Some(12)
        );
        assert_eq!(scan(r#"{"id":"5","result":[{"id":1}]}"#), Some(5));
    }

    #[test]
    fn a_message_without_an_id_has_none() {
        assert_eq!(scan(r#"{"method":"x","params":{"id":9}}"#), None);
        assert_eq!(scan(r#"{"x":"id","y":4}"#), None);
        assert_eq!(scan("not json at all"), None);
    }
}
