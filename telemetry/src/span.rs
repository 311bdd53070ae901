//! Spans: what was done, when, and as a part of what.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use pml_protocol::{SpanId, TraceContext};

use crate::attribute::{Attribute, AttributeValue};
use crate::batch_queue::BatchQueue;
use crate::conventions;

/// The side of an operation that a span describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpanKind {
    /// Within this process.
    Internal,
    /// A client asked for it.
    Server,
    /// A server is asked for it.
    Client,
}

/// A span that has ended.
#[derive(Debug)]
pub struct EndedSpan {
    pub context: TraceContext,
    pub parent: Option<SpanId>,
    pub name: Cow<'static, str>,
    pub kind: SpanKind,
    pub started: SystemTime,
    pub took: Duration,
    pub attributes: Vec<Attribute>,
    pub is_failed: bool,
}

/// Something that is being done. Dropping it before [`Span::end`] ends it as cancelled.
#[derive(Debug)]
#[must_use = "a span that is dropped has ended"]
pub struct Span {
    context: TraceContext,
    began: Instant,
    /// `None` for a span that is not recorded.
    recording: Option<Box<Recording>>,
}

#[derive(Debug)]
struct Recording {
    queue: Arc<BatchQueue<EndedSpan>>,
    parent: Option<SpanId>,
    name: Cow<'static, str>,
    kind: SpanKind,
    started: SystemTime,
    attributes: Vec<Attribute>,
    is_failed: bool,
}

impl Span {
    /// A span that is not recorded; its context is passed on all the same.
    pub(crate) fn unrecorded(context: TraceContext) -> Self {
        Self {
            context,
            began: Instant::now(),
            recording: None,
        }
    }

    /// A span that is recorded.
    pub(crate) fn recorded(
        context: TraceContext,
        parent: Option<SpanId>,
        name: Cow<'static, str>,
        kind: SpanKind,
        queue: Arc<BatchQueue<EndedSpan>>,
    ) -> Self {
        let recording = Recording {
            queue,
            parent,
            name,
            kind,
            started: SystemTime::now(),
            attributes: Vec::with_capacity(8),
            is_failed: false,
        };
        Self {
            context,
            began: Instant::now(),
            recording: Some(Box::new(recording)),
        }
    }

    /// Its place in the trace: the parent of what is done within it.
    pub fn context(&self) -> &TraceContext {
        &self.context
    }

    /// Whether attributes of it are kept.
    pub fn is_recorded(&self) -> bool {
        self.recording.is_some()
    }

    /// When it began.
    pub fn began(&self) -> Instant {
        self.began
    }

    /// Adds an attribute.
    pub fn set(&mut self, key: &'static str, value: impl Into<AttributeValue>) {
        if let Some(recording) = &mut self.recording {
            recording.attributes.push((key.into(), value.into()));
        }
    }

    /// Adds attributes.
    pub(crate) fn extend(&mut self, attributes: &[Attribute]) {
        if let Some(recording) = &mut self.recording {
            recording.attributes.extend_from_slice(attributes);
        }
    }

    /// Notes that it failed, and why, as one word.
    pub fn set_error(&mut self, kind: impl Into<AttributeValue>) {
        if let Some(recording) = &mut self.recording {
            recording.is_failed = true;
        }
        self.set(conventions::ERROR, kind);
    }

    /// Adds a part of it that has ended already.
    pub fn add_part(&self, name: &'static str, from: Instant, until: Instant) {
        let Some(recording) = &self.recording else {
            return;
        };
        let after = from.saturating_duration_since(self.began);
        recording.queue.push(EndedSpan {
            context: self.context.child(),
            parent: Some(self.context.span_id()),
            name: name.into(),
            kind: SpanKind::Internal,
            started: recording.started + after,
            took: until.saturating_duration_since(from),
            attributes: Vec::new(),
            is_failed: false,
        });
    }

    /// Ends it.
    pub fn end(mut self) {
        self.finish();
    }

    fn finish(&mut self) {
        let Some(recording) = self.recording.take() else {
            return;
        };
        let Recording {
            queue,
            parent,
            name,
            kind,
            started,
            attributes,
            is_failed,
        } = *recording;
        queue.push(EndedSpan {
            context: self.context.clone(),
            parent,
            name,
            kind,
            started,
            took: self.began.elapsed(),
            attributes,
            is_failed,
        });
    }
}

impl Drop for Span {
    fn drop(&mut self) {
        if self.recording.is_some() {
            self.set_error("cancelled");
            self.finish();
        }
    }
}
