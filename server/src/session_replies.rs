//! What one client reads, made without blocking the event loop.

use std::collections::BTreeSet;

use pml_reply::ReplyScrubber;
use pml_scrub::{Kind, Scrubbed};

use crate::ask_kinds::ReplyTexts;
use crate::tool_reply::ToolReply;

/// A reply that is made from more bytes than this is scrubbed off the event loop, which it would block:
/// hostile text takes about a millisecond per kilobyte.
const LARGE_REPLY_BYTES: usize = 16 * 1024;

/// Scrubs everything that one client reads. The replies of a client are made one after the other; a task
/// whose turn has not come waits without a thread.
#[derive(Clone)]
pub struct SessionReplies(ReplyScrubber);

impl SessionReplies {
    pub fn new(scrubber: ReplyScrubber) -> Self {
        Self(scrubber)
    }

    /// A scrubbed text: see [`ReplyScrubber::text`].
    pub async fn text(&self, text: &str) -> Scrubbed<String> {
        let _turn = self.0.turn().await;
        self.0.text(text)
    }

    /// Whether the policy asks a person about any kind.
    pub async fn may_ask(&self) -> bool {
        let _turn = self.0.turn().await;
        self.0.may_ask()
    }

    /// The kinds in the texts of a reply that a person has to decide about first. They are found off the event
    /// loop.
    pub async fn undecided(&self, texts: ReplyTexts) -> BTreeSet<Kind> {
        let turn = self.0.turn().await;
        let scrubber = self.0.clone();
        let found = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            let ReplyTexts {
                result,
                texts,
                tool,
            } = texts;
            scrubber.undecided(result.as_deref(), &texts, tool.as_deref())
        });
        found.await.unwrap_or_default()
    }

    /// Notes what the person decided about a kind.
    pub async fn decide(&self, kind: Kind, show: bool) {
        let _turn = self.0.turn().await;
        self.0.decide(kind, show);
    }

    /// The first `chars` characters of a text.
    pub async fn beginning(&self, text: &str, chars: usize) -> Scrubbed<String> {
        let _turn = self.0.turn().await;
        self.0.beginning(text, chars)
    }

    /// Makes a reply from `bytes` bytes of results, logs and errors. A large one is made off the event
    /// loop, which serves other clients meanwhile.
    pub async fn make(
        &self,
        bytes: usize,
        make: impl FnOnce(&ReplyScrubber) -> ToolReply + Send + 'static,
    ) -> ToolReply {
        let turn = self.0.turn().await;
        if bytes <= LARGE_REPLY_BYTES {
            return make(&self.0);
        }
        let scrubber = self.0.clone();
        let reply = tokio::task::spawn_blocking(move || {
            // Held by the thread and not by the request, which the client may cancel.
            let _turn = turn;
            make(&scrubber)
        });
        let reply = reply.await;
        reply.unwrap_or_else(|_| ToolReply::failure("the reply could not be made".into()))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, mpsc};
    use std::time::Duration;

    use pml_scrub::{PlaceholderMap, ScrubConfig, Scrubber, SharedPlaceholders};

    use super::*;

    fn replies() -> SessionReplies {
        let scrubber = Scrubber::new(&ScrubConfig::default()).unwrap();
        let placeholders = SharedPlaceholders::new(PlaceholderMap::new(Arc::new(scrubber)));
        SessionReplies::new(ReplyScrubber::for_model(placeholders, Arc::new(|_| None)))
    }

    // One thread: a task that blocked it would end the test with a timeout of the channel.
    #[tokio::test]
    async fn a_large_reply_in_the_making_blocks_no_thread_of_the_event_loop() {
        let replies = replies();
        let (begun, has_begun) = tokio::sync::oneshot::channel();
        let (go_on, wait) = mpsc::channel::<()>();
        let large = tokio::spawn({
            let replies = replies.clone();
            async move {
                let make = move |scrubber: &ReplyScrubber| {
                    begun.send(()).unwrap();
                    wait.recv_timeout(Duration::from_secs(20))
                        .expect("the event loop goes on");
                    ToolReply::failure(scrubber.text("large"))
                };
                replies.make(LARGE_REPLY_BYTES + 1, make).await
            }
        });
        has_begun.await.unwrap();
        let text = tokio::spawn({
            let replies = replies.clone();
            async move { replies.text("jo@example.com").await.into_inner() }
        });
        tokio::time::sleep(Duration::from_millis(20)).await;
        assert!(!text.is_finished(), "the client's other text waits");
        go_on.send(()).unwrap();
        large.await.unwrap();
        assert_eq!(text.await.unwrap(), "[EMAIL_1]");
    }
}
