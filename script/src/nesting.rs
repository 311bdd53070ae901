//! Protection from deeply nested scripts.
//!
//! The parser and the visitors are recursive. A worker may die of a stack overflow, and only its run
//! with it; a check must not. So a check runs on a large stack, and a script that may nest deeper than
//! that stack allows is refused before parsing.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// Address space; the kernel commits only the pages that are used.
const STACK_BYTES: usize = 1 << 29;
/// The limit of tokens that can open a nesting level. Ten thousand lines of ordinary code have fewer.
const MAX_NESTING_TOKENS: usize = 30_000;
/// Some texts are so ambiguous that the parser backtracks for hours.
const TIME_LIMIT: Duration = Duration::from_secs(5);

/// Keywords that can open a nesting level.
const NESTING_KEYWORDS: [&str; 28] = [
    "as",
    "async",
    "await",
    "case",
    "class",
    "delete",
    "do",
    "else",
    "extends",
    "for",
    "function",
    "if",
    "in",
    "infer",
    "instanceof",
    "is",
    "keyof",
    "new",
    "of",
    "readonly",
    "return",
    "satisfies",
    "throw",
    "try",
    "typeof",
    "void",
    "while",
    "yield",
];

/// Whether a script is safe to parse in [`on_large_stack`].
pub fn is_bounded(source: &str) -> bool {
    let mut count = 0;
    let mut word = 0;
    let bytes = source.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || *byte >= 0x80 {
            continue;
        }
        // Keywords are ASCII, so both ends are character boundaries.
        if word < at
            && source
                .get(word..at)
                .is_some_and(|text| NESTING_KEYWORDS.contains(&text))
        {
            count += 1;
        }
        word = at + 1;
        count += usize::from(b"([{<!~+-*/%&|^?=:.`@".contains(byte));
    }
    count <= MAX_NESTING_TOKENS
}

/// Runs `work` on a thread with a stack for every bounded script. `None` after the time limit: the
/// thread is then left to end with the process.
pub fn on_large_stack<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let (sender, receiver) = mpsc::channel();
    let thread = thread::Builder::new()
        .stack_size(STACK_BYTES)
        .spawn(move || {
            // Fails if the receiver has given up.
            let _ = sender.send(work());
        });
    thread.ok()?;
    receiver.recv_timeout(TIME_LIMIT).ok()
}
