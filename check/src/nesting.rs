//! Scripts that are nested so deeply that no parser comes back from them.
//!
//! The parser calls itself for everything that can stand inside something else, and so do those
//! who walk the tree. A worker may die of that, and its run with it; a check must not. So it runs
//! on a large stack, and a script with more nesting than fits there is refused beforehand.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// Address space, of which only what is used becomes memory.
const STACK: usize = 1 << 29;
/// Tokens that could each nest once more. Ten thousand lines of ordinary code have fewer.
const MOST: usize = 30_000;
/// Some texts can be read in so many ways that the parser tries for hours.
const PATIENCE: Duration = Duration::from_secs(5);

/// Words that can stand before what they contain.
const WORDS: [&str; 28] = [
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

/// Whether a script is safe to parse on the stack that [`on_large_stack`] gives.
pub fn is_bounded(source: &str) -> bool {
    let mut count = 0;
    let mut word = 0;
    let bytes = source.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || *byte >= 0x80 {
            continue;
        }
        // Words are ASCII, so both ends are at characters.
        if word < at
            && source
                .get(word..at)
                .is_some_and(|text| WORDS.contains(&text))
        {
            count += 1;
        }
        word = at + 1;
        count += usize::from(b"([{<!~+-*/%&|^?=:.`@".contains(byte));
    }
    count <= MOST
}

/// Runs `work` with room for everything that is bounded. `None` if it took too long: its thread
/// is then left behind, to end with the process.
pub fn on_large_stack<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let (done, waiting) = mpsc::channel();
    let thread = thread::Builder::new().stack_size(STACK).spawn(move || {
        // Nobody waits any more if this fails.
        let _ = done.send(work());
    });
    thread.ok()?;
    waiting.recv_timeout(PATIENCE).ok()
}
