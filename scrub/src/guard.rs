//! Turns a panic while scrubbing into a refusal, so that a fault in a detector neither ends the
//! process nor lets a text through.
//!
//! This module has one process-wide effect: it wraps the panic hook, once. The message of a panic can
//! quote the text that is being scrubbed, so a panic within [`refuse_panics`] is printed as its
//! position alone.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::sync::Once;

use crate::ScrubError;

thread_local! {
    /// How many calls of [`refuse_panics`] this thread is in.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// Runs `work`. A panic in it becomes [`ScrubError::Panicked`]. `work` must leave what it shares
/// usable at every point where it can panic.
pub(crate) fn refuse_panics<T>(
    work: impl FnOnce() -> Result<T, ScrubError>,
) -> Result<T, ScrubError> {
    hide_messages();
    DEPTH.set(DEPTH.get() + 1);
    let result = panic::catch_unwind(AssertUnwindSafe(work));
    DEPTH.set(DEPTH.get() - 1);
    result.unwrap_or(Err(ScrubError::Panicked))
}

/// Wraps the panic hook of the process.
fn hide_messages() {
    static WRAPPED: Once = Once::new();
    WRAPPED.call_once(|| {
        let previous = panic::take_hook();
        panic::set_hook(Box::new(move |info: &PanicHookInfo<'_>| {
            if DEPTH.get() == 0 {
                return previous(info);
            }
            let position = info.location().map_or_else(String::new, |location| {
                format!(" at {}:{}", location.file(), location.line())
            });
            eprintln!("pml-scrub panicked{position}; the text is withheld");
        }));
    });
}

/// A text that makes a scan panic, for tests.
#[cfg(test)]
pub(crate) const PANIC: &str = "panic in this scan";

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::PANIC;
    use crate::{PlaceholderMap, ScrubError, Scrubber};
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use serde_json::json;

    #[test]
    fn a_panic_while_scrubbing_lets_nothing_through_and_the_session_goes_on() {
        let scrubber = Scrubber::new(&Default::default()).expect("a valid configuration");
        let mut map = PlaceholderMap::new(Arc::new(scrubber));
        let first = map.scrub_text("jo@example.com", None).expect("scrubbed");
        let text = format!("al@example.com {PANIC}");
        let refused = [
            map.scrub_text(&text, None).err(),
            map.scrub_beginning(&text, None, 600).err(),
            map.scrub_lines(std::slice::from_ref(&text), None).err(),
            map.scrub_json(json!({ "a": [text] }), None).err(),
            map.scrub_json(json!({ &text: 1 }), None).err(),
        ];
        for error in refused {
            let error = error.expect("a refusal");
            assert!(matches!(error, ScrubError::Panicked), "{error}");
            assert!(!error.to_string().contains("example.com"), "{error}");
        }
        let bytes = [b"\xff\x00 ".as_slice(), text.as_bytes()].concat();
        assert!(map.scrub_binary(&STANDARD.encode(bytes)).is_none());
        let again = map.scrub_text("to jo@example.com", None).expect("scrubbed");
        assert_eq!(*again, format!("to {}", *first));
    }
}
