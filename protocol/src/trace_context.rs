//! W3C Trace Context and Baggage: which trace a request belongs to, and what its callers say of it.

use std::fmt;
use std::sync::Arc;

use crate::run_context::random_bits;

/// The longest `tracestate` that is passed on, in bytes; W3C asks for at least 512.
const MAX_STATE_BYTES: usize = 512;
/// The most members of a `tracestate`.
const MAX_STATE_MEMBERS: usize = 32;
/// The longest `baggage` that is passed on, in bytes, as W3C has it.
const MAX_BAGGAGE_BYTES: usize = 8192;
/// The most members of a `baggage` that are passed on.
const MAX_BAGGAGE_MEMBERS: usize = 64;

/// The id of a trace: 16 bytes, not all zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TraceId(u128);

impl TraceId {
    /// A new id.
    pub fn random() -> Self {
        Self(random_bits().max(1))
    }

    /// The lower half, which W3C wants to be random: samplers decide by it.
    pub fn low(self) -> u64 {
        self.0 as u64
    }
}

impl fmt::Display for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// The id of a span: 8 bytes, not all zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SpanId(u64);

impl SpanId {
    /// A new id.
    pub fn random() -> Self {
        Self((random_bits() as u64).max(1))
    }
}

impl fmt::Display for SpanId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// The place of a request in a trace. Cheap to clone.
///
/// ```
/// use pml_protocol::TraceContext;
///
/// let header = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
/// let context = TraceContext::parse(header, None, None).unwrap();
/// assert!(context.is_sampled());
/// assert_eq!(context.traceparent(), header);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceContext {
    trace: TraceId,
    span: SpanId,
    flags: u8,
    state: Option<Arc<str>>,
    baggage: Option<Arc<str>>,
}

/// The bit of the flags that says that the caller records the trace.
const SAMPLED: u8 = 1;
/// The bit that says that the id of the trace is random. It is passed on.
const RANDOM: u8 = 2;

impl TraceContext {
    /// The root of a new trace.
    pub fn root(is_sampled: bool) -> Self {
        Self {
            trace: TraceId::random(),
            span: SpanId::random(),
            flags: RANDOM | u8::from(is_sampled),
            state: None,
            baggage: None,
        }
    }

    /// The context in the headers or the `_meta` of a request; `None` if `traceparent` is not of the form
    /// that W3C has. A `tracestate` or `baggage` that is malformed or too large is left out.
    pub fn parse(parent: &str, state: Option<&str>, baggage: Option<&str>) -> Option<Self> {
        let mut parts = parent.trim().split('-');
        let (version, trace) = (parts.next()?, parts.next()?);
        let (span, flags) = (parts.next()?, parts.next()?);
        let version = hexadecimal(version, 2)?;
        // A later version may have further parts; this one has four.
        if version == 0xff || version == 0 && parts.next().is_some() {
            return None;
        }
        let trace = hexadecimal(trace, 32).filter(|id| *id != 0)?;
        let span = hexadecimal(span, 16).filter(|id| *id != 0)?;
        let flags = hexadecimal(flags, 2)?;
        Some(Self {
            trace: TraceId(trace),
            span: SpanId(span as u64),
            flags: flags as u8 & (SAMPLED | RANDOM),
            state: state.and_then(checked_state),
            baggage: baggage.and_then(checked_baggage),
        })
    }

    /// The context of a child: the same trace, and a new span.
    #[must_use]
    pub fn child(&self) -> Self {
        Self {
            span: SpanId::random(),
            ..self.clone()
        }
    }

    /// The same context, recorded or not.
    #[must_use]
    pub fn sampled(self, is_sampled: bool) -> Self {
        let flags = self.flags & !SAMPLED | u8::from(is_sampled);
        Self { flags, ..self }
    }

    /// The same context with the baggage that is passed on.
    #[must_use]
    pub fn with_baggage(self, baggage: Option<&str>) -> Self {
        let baggage = baggage.and_then(checked_baggage);
        Self { baggage, ..self }
    }

    /// The id of the trace.
    pub fn trace_id(&self) -> TraceId {
        self.trace
    }

    /// The id of the span.
    pub fn span_id(&self) -> SpanId {
        self.span
    }

    /// Whether the trace is recorded.
    pub fn is_sampled(&self) -> bool {
        self.flags & SAMPLED != 0
    }

    /// The flags of W3C.
    pub fn flags(&self) -> u8 {
        self.flags
    }

    /// The value of the header `traceparent`.
    pub fn traceparent(&self) -> String {
        format!("00-{}-{}-{:02x}", self.trace, self.span, self.flags)
    }

    /// The value of the header `tracestate`.
    pub fn tracestate(&self) -> Option<&str> {
        self.state.as_deref()
    }

    /// The value of the header `baggage`.
    pub fn baggage(&self) -> Option<&str> {
        self.baggage.as_deref()
    }
}

/// A number of exactly `digits` lower-case hexadecimal digits.
fn hexadecimal(text: &str, digits: usize) -> Option<u128> {
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    (text.len() == digits && text.bytes().all(is_digit))
        .then(|| u128::from_str_radix(text, 16).ok())
        .flatten()
}

/// Whether every character may stand in a header.
fn is_printable(text: &str) -> bool {
    text.bytes().all(|byte| (b' '..=b'~').contains(&byte))
}

fn checked_state(state: &str) -> Option<Arc<str>> {
    let state = state.trim();
    let members = state.split(',').map(str::trim);
    let fits = !state.is_empty() && state.len() <= MAX_STATE_BYTES && is_printable(state);
    let is_list = members.clone().count() <= MAX_STATE_MEMBERS
        && members
            .filter(|member| !member.is_empty())
            .all(|member| member.contains('='));
    (fits && is_list).then(|| state.into())
}

fn checked_baggage(baggage: &str) -> Option<Arc<str>> {
    let baggage = baggage.trim();
    let fits = !baggage.is_empty() && baggage.len() <= MAX_BAGGAGE_BYTES && is_printable(baggage);
    let members = baggage.split(',').count();
    (fits && members <= MAX_BAGGAGE_MEMBERS).then(|| baggage.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    #[test]
    fn malformed_parents_are_refused_and_later_versions_are_read() {
        for malformed in [
            "",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
            "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-extra",
            "00-+af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319-b7ad6b7169203331-01",
        ] {
            assert_eq!(
                TraceContext::parse(malformed, None, None),
                None,
                "{malformed}"
            );
        }
        let later = "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-09-extra";
        let later = TraceContext::parse(later, None, None).unwrap();
        assert_eq!(later.traceparent(), PARENT);
    }

    #[test]
    fn a_child_keeps_the_trace_its_flags_state_and_baggage() {
        let parent = TraceContext::parse(PARENT, Some("a=1,b=2"), Some("tenant=acme")).unwrap();
        let child = parent.child();
        assert_eq!(child.trace_id(), parent.trace_id());
        assert_ne!(child.span_id(), parent.span_id());
        assert!(child.is_sampled() && !child.clone().sampled(false).is_sampled());
        assert_eq!(child.tracestate(), Some("a=1,b=2"));
        assert_eq!(child.baggage(), Some("tenant=acme"));
        assert_eq!(child.with_baggage(None).baggage(), None);
    }

    #[test]
    fn state_and_baggage_that_could_forge_a_header_or_are_too_large_are_left_out() {
        let parse = |state: &str, baggage: &str| {
            let context = TraceContext::parse(PARENT, Some(state), Some(baggage)).unwrap();
            (context.tracestate().is_some(), context.baggage().is_some())
        };
        assert_eq!(parse("a=1", "b=2"), (true, true));
        assert_eq!(parse("a=1\r\nx: y", "b=2\nx"), (false, false));
        assert_eq!(parse("no member", ""), (false, false));
        let many = vec!["a=1"; 65].join(",");
        assert_eq!(parse(&many, &many), (false, false));
        let long = format!("a={}", "x".repeat(9_000));
        assert_eq!(parse(&long, &long), (false, false));
    }
}
