//! The layer that gives the results of calls in pieces.
//!
//! A stream is one call. Its progress arrives as the server reports it, and its result as pieces of at
//! most 64 KiB, which the script asks for one after the other: what it has not asked for stays here, and
//! the script holds one piece at a time. The call itself passes every layer below as any other does.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pml_protocol::{
    CallProgress, Failure, FailureKind, HostFuture, MadeCall, ProgressReceiver, Request,
    ResourceRequest, RunContext, StreamRequest, ToolHost, ToolResult, to_result,
};
use serde::Serialize;
use serde_json::value::RawValue;
use tokio::sync::mpsc;

use crate::stream_pieces::{Part, Piece, contents_of, pieces_of};

/// Streams of one run that are open at the same time.
const MAX_OPEN: usize = 64;
/// Progress that waits for the script. Further progress is dropped: the latest news are next.
const MAX_PROGRESS: usize = 64;
/// Bytes of the parts of one answer, unless a single part is larger.
const ANSWER_BYTES: usize = 64 * 1024;

/// Answers [`Request::Stream`], and forwards the rest. Dropping it cancels the calls of open streams.
pub struct Streams {
    inner: Arc<dyn ToolHost>,
    open: Mutex<OpenStreams>,
}

#[derive(Default)]
struct OpenStreams {
    last: u32,
    streams: HashMap<u32, Arc<tokio::sync::Mutex<Stream>>>,
}

/// What is left of a stream.
struct Stream {
    /// The server of the tool, which links to resources are read from.
    server: String,
    run: RunContext,
    /// The call, or the read of a resource that its result links to.
    waiting: Option<Waiting>,
    progress: mpsc::Receiver<CallProgress>,
    pieces: VecDeque<Piece>,
}

struct Waiting {
    future: HostFuture<'static, ToolResult>,
    is_resource: bool,
}

/// The answer to [`StreamRequest::Next`].
#[derive(Serialize)]
struct Parts {
    parts: Vec<Part>,
    done: bool,
}

impl Streams {
    /// Streams of calls that `inner` answers.
    pub fn new(inner: Arc<dyn ToolHost>) -> Self {
        Self {
            inner,
            open: Mutex::default(),
        }
    }

    fn open(&self, tool: &str, args: &RawValue, run: &RunContext) -> ToolResult {
        let (sink, progress) = mpsc::channel(MAX_PROGRESS);
        let run = run.for_request();
        run.set_progress_receiver(ProgressReceiver::new(move |progress| {
            let _ = sink.try_send(progress);
        }));
        let stream = Stream {
            server: tool
                .split_once(':')
                .map_or("", |(server, _)| server)
                .to_owned(),
            waiting: Some(Waiting {
                future: self.send(Request::call(tool, args.to_owned()), run.clone()),
                is_resource: false,
            }),
            run,
            progress,
            pieces: VecDeque::new(),
        };
        let mut open = self.lock();
        if open.streams.len() >= MAX_OPEN {
            let message =
                format!("{MAX_OPEN} streams are open; read one to its end, or leave its loop");
            return Err(Failure::new(FailureKind::Calls, message));
        }
        open.last = open.last.wrapping_add(1);
        let number = open.last;
        open.streams
            .insert(number, Arc::new(tokio::sync::Mutex::new(stream)));
        to_result(&number)
    }

    /// The answer to a request, as a future that outlives the one that made it.
    fn send(&self, request: Request, run: RunContext) -> HostFuture<'static, ToolResult> {
        let inner = self.inner.clone();
        Box::pin(async move {
            let made = match &request {
                Request::Call { tool, .. } => Some(MadeCall::begin(tool, &run)),
                _ => None,
            };
            let result = inner.handle(&request, &run).await;
            if let Some(made) = made {
                made.end(result.is_ok());
            }
            result
        })
    }

    async fn next(&self, number: u32) -> ToolResult {
        let stream = self.lock().streams.get(&number).cloned();
        let Some(stream) = stream else {
            let message = "the stream has ended";
            return Err(Failure::new(FailureKind::Cancelled, message));
        };
        let mut stream = stream.lock().await;
        let answer = self.next_parts(&mut stream).await;
        if answer.as_ref().map_or(true, |parts| parts.done) {
            self.lock().streams.remove(&number);
        }
        to_result(&answer?)
    }

    async fn next_parts(&self, stream: &mut Stream) -> Result<Parts, Failure> {
        let mut parts = Vec::new();
        let mut bytes = 0;
        loop {
            if let Some(waiting) = &mut stream.waiting {
                if !parts.is_empty() {
                    // What is known is not held back for what comes.
                    return Ok(Parts { parts, done: false });
                }
                tokio::select! {
                    biased;
                    Some(progress) = stream.progress.recv() => {
                        parts.push(Part::from(progress));
                        while let Ok(progress) = stream.progress.try_recv() {
                            parts.push(Part::from(progress));
                        }
                        continue;
                    }
                    result = &mut waiting.future => {
                        let is_resource = waiting.is_resource;
                        stream.waiting = None;
                        let value = result?;
                        let pieces = match is_resource {
                            true => contents_of(&value)?,
                            false => pieces_of(&value)?,
                        };
                        // A resource comes where its link was.
                        for piece in pieces.into_iter().rev() {
                            stream.pieces.push_front(piece);
                        }
                    }
                }
            }
            let Some(piece) = stream.pieces.front_mut() else {
                return Ok(Parts { parts, done: true });
            };
            if let Piece::Link { uri } = piece {
                let request = Request::Resource {
                    server: stream.server.clone(),
                    request: ResourceRequest::ReadResource { uri: uri.clone() },
                };
                stream.waiting = Some(Waiting {
                    future: self.send(request, stream.run.for_request()),
                    is_resource: true,
                });
                stream.pieces.pop_front();
                continue;
            }
            let (part, is_last) = piece.take(ANSWER_BYTES);
            bytes += part.size();
            parts.push(part);
            if is_last {
                stream.pieces.pop_front();
            }
            if bytes >= ANSWER_BYTES {
                let done = stream.pieces.is_empty();
                return Ok(Parts { parts, done });
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, OpenStreams> {
        // Streams are added and removed in one step each.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ToolHost for Streams {
    fn handle<'a>(
        &'a self,
        request: &'a Request,
        run: &'a RunContext,
    ) -> HostFuture<'a, ToolResult> {
        match request {
            Request::Stream(StreamRequest::Open { tool, args }) => {
                Box::pin(std::future::ready(self.open(tool, args, run)))
            }
            Request::Stream(StreamRequest::Next { stream }) => Box::pin(self.next(*stream)),
            Request::Stream(StreamRequest::Close { stream }) => {
                self.lock().streams.remove(stream);
                Box::pin(std::future::ready(to_result(&())))
            }
            _ => self.inner.handle(request, run),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::StaticHost;

    struct Reporting(StaticHost);

    impl ToolHost for Reporting {
        fn handle<'a>(
            &'a self,
            request: &'a Request,
            run: &'a RunContext,
        ) -> HostFuture<'a, ToolResult> {
            Box::pin(async move {
                match request {
                    Request::Call { .. } => {
                        for done in 0..3 {
                            if let Some(receiver) = run.progress_receiver() {
                                receiver.report(CallProgress {
                                    done: f64::from(done),
                                    total: Some(3.0),
                                    message: None,
                                });
                            }
                            tokio::task::yield_now().await;
                        }
                        self.0.handle(request, run).await
                    }
                    Request::Resource { .. } => {
                        to_result(&json!([{ "uri": "a:b", "text": "of the resource" }]))
                    }
                    other => self.0.handle(other, run).await,
                }
            })
        }
    }

    fn streams(value: Value) -> Streams {
        let host = StaticHost::empty().with("s:get", "", move |_| {
            let value = value.clone();
            async move { Ok(value) }
        });
        Streams::new(Arc::new(Reporting(host)))
    }

    async fn ask(streams: &Streams, request: StreamRequest) -> Result<Value, Failure> {
        let run = RunContext::local();
        let answer = streams.handle(&Request::Stream(request), &run).await?;
        Ok(serde_json::from_str(answer.get()).unwrap())
    }

    async fn all(streams: &Streams, tool: &str) -> Result<Vec<Value>, Failure> {
        let args = RawValue::from_string("{}".to_owned()).unwrap();
        let tool = tool.to_owned();
        let number = ask(streams, StreamRequest::Open { tool, args }).await?;
        let stream = u32::try_from(number.as_u64().unwrap()).unwrap();
        let mut parts = Vec::new();
        loop {
            let answer = ask(streams, StreamRequest::Next { stream }).await?;
            parts.extend(answer["parts"].as_array().unwrap().iter().cloned());
            if answer["done"] == true {
                assert!(streams.lock().streams.is_empty());
                return Ok(parts);
            }
        }
    }

    fn of_type<'a>(parts: &'a [Value], kind: &str) -> Vec<&'a Value> {
        parts.iter().filter(|part| part["type"] == kind).collect()
    }

    #[tokio::test]
    async fn progress_comes_before_the_pieces_of_a_text_that_end_behind_lines() {
        let line = "x".repeat(999);
        let text = format!("{line}\n").repeat(200);
        let parts = all(&streams(json!(text)), "s:get").await.unwrap();
        assert_eq!(of_type(&parts, "progress").len(), 3);
        let texts: Vec<&str> = of_type(&parts, "text")
            .iter()
            .map(|part| part["text"].as_str().unwrap())
            .collect();
        assert!(texts.len() >= 4, "{}", texts.len());
        assert!(texts.iter().all(|text| text.len() <= ANSWER_BYTES));
        assert!(texts.iter().all(|text| text.ends_with('\n')));
        assert_eq!(texts.concat(), text);
    }

    #[tokio::test]
    async fn lists_come_as_items_and_links_are_read() {
        let list = json!([1, { "type": "resource_link", "uri": "a:b" }, "x"]);
        let parts = all(&streams(list), "s:get").await.unwrap();
        let seen: Vec<&Value> = parts
            .iter()
            .filter(|part| part["type"] != "progress")
            .collect();
        assert_eq!(
            seen,
            [
                &json!({ "type": "item", "value": 1 }),
                &json!({ "type": "resource", "uri": "a:b" }),
                &json!({ "type": "text", "text": "of the resource" }),
                &json!({ "type": "item", "value": "x" }),
            ]
        );
        let parts = all(&streams(json!({ "a": 1 })), "s:get").await.unwrap();
        assert_eq!(of_type(&parts, "value")[0]["value"], json!({ "a": 1 }));
    }

    #[tokio::test]
    async fn a_failed_call_fails_the_stream_and_an_ended_one_is_gone() {
        let streams = streams(json!(1));
        let failure = all(&streams, "s:none").await.unwrap_err();
        assert_eq!(failure.kind, FailureKind::Unknown);
        let gone = ask(&streams, StreamRequest::Next { stream: 1 }).await;
        assert_eq!(gone.unwrap_err().kind, FailureKind::Cancelled);
    }
}
