//! The layer that gives one run a virtual clock of its own, above a host that many runs share.

use std::future::ready;

use pml_protocol::{HostFuture, Request, RunContext, ToolHost, ToolResult};

use crate::replay_clock::answer_live_clock;
use crate::timer_gate::TimerGate;

/// Answers the messages of a virtual clock whose timers take real time, and forwards the rest. The code of
/// a durable workflow needs it: its time and randomness are the same in every execution, while the journal
/// below is that of the whole workflow.
pub struct OwnClock<H> {
    inner: H,
    gate: TimerGate,
}

impl<H> OwnClock<H> {
    /// Forwards everything but clock messages.
    pub fn new(inner: H) -> Self {
        Self {
            inner,
            gate: TimerGate::default(),
        }
    }
}

impl<H: ToolHost> ToolHost for OwnClock<H> {
    fn handle<'a>(
        &'a self,
        request: &'a Request,
        run: &'a RunContext,
    ) -> HostFuture<'a, ToolResult> {
        if let Request::Harness { message } = request {
            return answer_live_clock(message, &self.gate, ready(()), |_| 0);
        }
        Box::pin(async move {
            let result = self.inner.handle(request, run).await;
            let _passing = self.gate.pass().await;
            result
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::*;
    use crate::StaticHost;

    #[tokio::test]
    async fn clock_messages_are_answered_and_calls_are_forwarded() {
        let host =
            OwnClock::new(StaticHost::empty().with("a:echo", "", |args| async move { Ok(args) }));
        let run = RunContext::local();
        let raw = |json: &str| RawValue::from_string(json.to_owned()).unwrap();
        let idle = Request::Harness {
            message: raw(r#"{"idle":null}"#),
        };
        assert_eq!(host.handle(&idle, &run).await.unwrap().get(), "0");
        let call = Request::call("a:echo", raw(r#"{"x":1}"#));
        assert_eq!(host.handle(&call, &run).await.unwrap().get(), r#"{"x":1}"#);
    }
}
