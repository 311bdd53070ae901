//! Records the intent of every request that reaches a server, and its outcome.

use pml_protocol::{
    HostFuture, Request, ResourceRequest, RunContext, Target, ToolHost, ToolResult,
};

use super::pending_call::{AnsweredBy, PendingCall, refused};
use super::trail::AuditTrail;

/// Records the intent of a request before anything else happens to it, and its outcome. A request
/// that only pml itself answers is not recorded.
pub struct Audit<H> {
    inner: H,
    trail: AuditTrail,
}

impl<H> Audit<H> {
    /// Records the requests of `inner`.
    pub fn new(trail: AuditTrail, inner: H) -> Self {
        Self { inner, trail }
    }
}

/// What a request is recorded as: its subject, and the arguments of which the digest is kept.
fn recorded(request: &Request) -> Option<(&'static str, String, &str)> {
    match request.target() {
        Target::Tool { tool, args } => Some(("call", tool.to_owned(), args.get())),
        Target::Resources { server, request } => Some(match request {
            ResourceRequest::ListResources => ("resource", format!("{server}:resources"), ""),
            ResourceRequest::ReadResource { uri } => {
                ("resource", format!("{server}:resource"), uri)
            }
            ResourceRequest::ListPrompts => ("resource", format!("{server}:prompts"), ""),
            ResourceRequest::GetPrompt { name, args } => {
                ("resource", format!("{server}:prompt:{name}"), args.get())
            }
        }),
        Target::Local => None,
    }
}

impl<H: ToolHost> ToolHost for Audit<H> {
    fn handle<'a>(
        &'a self,
        request: &'a Request,
        run: &'a RunContext,
    ) -> HostFuture<'a, ToolResult> {
        let Some((kind, subject, arguments)) = recorded(request) else {
            return self.inner.handle(request, run);
        };
        Box::pin(async move {
            let mut pending = PendingCall::new(&self.trail, run, kind, subject);
            pending.begin(arguments).map_err(refused)?;
            let result = self.inner.handle(request, run).await;
            let ended = result.as_ref().map(|value| value.get());
            let answered = AnsweredBy::of(run);
            pending.end(ended.map_err(|failure| failure.kind.as_str()), answered);
            result
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;
    use std::time::Duration;

    use pml_audit::{AuditFolder, AuditLog, Filter, LogOptions, digest, verify_folder};
    use pml_protocol::{Failure, FailureKind, Flow, Label, TraceContext};
    use serde_json::value::RawValue;
    use serde_json::{Value, json};

    use super::*;
    use crate::call_costs::CallCosts;
    use crate::static_host::StaticHost;

    fn trail(folder: &std::path::Path) -> AuditTrail {
        let options = LogOptions {
            sync: false,
            ..LogOptions::default()
        };
        let log = AuditLog::open(folder, options).unwrap();
        AuditTrail::new(Arc::new(log), "p", "l")
    }

    fn call(tool: &str, args: &str) -> Request {
        Request::call(tool, RawValue::from_string(args.to_owned()).unwrap())
    }

    fn events(folder: &std::path::Path, kind: &str) -> Vec<Value> {
        let filter = Filter {
            kind: Some(kind.to_owned()),
            ..Filter::default()
        };
        let found = AuditFolder::open(folder).unwrap().query(&filter).unwrap();
        found.into_iter().map(|entry| entry.event).collect()
    }

    /// Waits for ever in calls, and answers everything else.
    struct Silent;

    impl ToolHost for Silent {
        fn handle<'a>(
            &'a self,
            request: &'a Request,
            _: &'a RunContext,
        ) -> HostFuture<'a, ToolResult> {
            match request {
                Request::Call { tool, .. } if tool == "a:refused" => {
                    Box::pin(async { Err(Failure::new(FailureKind::Denied, "no")) })
                }
                Request::Call { .. } => Box::pin(std::future::pending()),
                _ => Box::pin(async { pml_protocol::to_result(&1) }),
            }
        }
    }

    #[tokio::test]
    async fn a_call_has_an_intent_and_an_outcome_with_digests_alone() {
        let folder = tempfile::tempdir().unwrap();
        let host = Audit::new(trail(folder.path()), StaticHost::empty());
        let run = RunContext::local();
        let result = host
            .handle(&call("a:b", r#"{"secret":"hunter2"}"#), &run)
            .await;
        assert!(result.is_err(), "there is no such tool");
        let found = events(folder.path(), "pml.call");
        assert_eq!(found.len(), 2, "{found:#?}");
        assert_eq!(found[0]["type"], "pml.call.intent");
        assert_eq!(found[0]["subject"], "a:b");
        assert_eq!(found[0]["runid"], run.id().to_string());
        assert_eq!(found[0]["principal"], "local");
        assert_eq!(
            (&found[0]["policyhash"], &found[0]["lockhash"]),
            (&json!("p"), &json!("l"))
        );
        assert_eq!(
            found[0]["data"]["arguments"],
            digest(br#"{"secret":"hunter2"}"#)
        );
        assert_eq!(found[1]["data"]["intent"], found[0]["data"]["intent"]);
        assert_eq!(found[1]["data"]["error"], "unknown");
        assert!(!format!("{found:?}").contains("hunter2"));
    }

    /// Answers every call as a server does.
    struct Sent;

    impl ToolHost for Sent {
        fn handle<'a>(&'a self, _: &'a Request, run: &'a RunContext) -> HostFuture<'a, ToolResult> {
            run.mark_dispatched();
            Box::pin(async { pml_protocol::to_result(&1) })
        }
    }

    #[tokio::test]
    async fn the_outcome_of_a_call_names_its_credentials_and_not_their_values() {
        let folder = tempfile::tempdir().unwrap();
        let named = BTreeMap::from([("a".to_owned(), vec!["secret:env/TOKEN".to_owned()])]);
        let host = Audit::new(trail(folder.path()).with_credentials(named), Sent);
        for tool in ["a:b", "other:b"] {
            let run = RunContext::local();
            host.handle(&call(tool, "{}"), &run).await.unwrap();
        }
        let found = events(folder.path(), "pml.call.outcome");
        assert_eq!(found[0]["data"]["credentials"], json!(["secret:env/TOKEN"]));
        assert_eq!(found[1]["data"].get("credentials"), None);
    }

    /// Answers as a server does whose results are untrusted, in a span of its own.
    struct Traced;

    const SPAN: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    impl ToolHost for Traced {
        fn handle<'a>(&'a self, _: &'a Request, run: &'a RunContext) -> HostFuture<'a, ToolResult> {
            run.set_trace(TraceContext::parse(SPAN, None, None).unwrap());
            run.mark_dispatched();
            run.notes().count_attempt();
            run.received(&Flow::of("a:b", &Label::untrusted()));
            Box::pin(async { pml_protocol::to_result(&"jane@acme-corp.com") })
        }
    }

    #[tokio::test]
    async fn events_have_the_trace_the_label_the_cost_and_values_where_wanted() {
        let folder = tempfile::tempdir().unwrap();
        let costs = CallCosts::new([("a:*".parse().unwrap(), 0.25)]);
        let show = |value: &str| Some(value.replace("jane", "[NAME]"));
        let trail = trail(folder.path())
            .with_costs(costs)
            .with_values(Arc::new(show));
        let host = Audit::new(trail, Traced);
        let root = TraceContext::root(true);
        let run = RunContext::local().with_trace(root.clone());
        for tool in ["a:b", "other:b"] {
            let args = r#"{"to":"jane"}"#;
            let request = run.for_request();
            host.handle(&call(tool, args), &request).await.unwrap();
        }
        let found = events(folder.path(), "pml.call");
        assert_eq!(found[0]["traceparent"], root.traceparent());
        assert_eq!(found[0]["data"].get("label"), None, "nothing was read yet");
        assert_eq!(found[0]["data"]["shown"], r#"{"to":"[NAME]"}"#);
        assert_eq!(found[1]["traceparent"], SPAN, "the span of the call");
        assert_eq!(found[1]["data"]["label"], "untrusted, public");
        assert_eq!(found[1]["data"]["cost"], 0.25);
        assert_eq!(found[1]["data"]["shown"], r#""[NAME]@acme-corp.com""#);
        assert_eq!(found[2]["data"]["label"], "untrusted, public", "{found:#?}");
        assert_eq!(found[3]["data"].get("cost"), None);
        assert!(!format!("{found:?}").contains("jane"));
        let by_trace = |trace: &str| {
            let filter = Filter {
                trace: Some(trace.to_owned()),
                ..Filter::default()
            };
            AuditFolder::open(folder.path())
                .unwrap()
                .query(&filter)
                .unwrap()
                .len()
        };
        assert_eq!(by_trace("0af7651916cd43dd8448eb211c80319c"), 2);
        assert_eq!(by_trace("0af7651916cd43dd8448eb211c80319d"), 0);
    }

    #[tokio::test]
    async fn denied_and_cancelled_calls_are_recorded_and_local_requests_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let trail = trail(folder.path());
        let host = Audit::new(trail.clone(), Silent);
        let run = RunContext::local();
        let load = Request::Load {
            key: "k".to_owned(),
        };
        assert!(host.handle(&load, &run).await.is_ok());
        assert!(host.handle(&call("a:refused", "{}"), &run).await.is_err());
        let forever = call("a:forever", "{}");
        let open = host.handle(&forever, &run);
        assert!(
            tokio::time::timeout(Duration::from_millis(20), open)
                .await
                .is_err()
        );
        let kinds: Vec<_> = events(folder.path(), "pml.call")
            .into_iter()
            .map(|event| event["type"].clone())
            .collect();
        assert_eq!(
            kinds,
            [
                "pml.call.intent",
                "pml.call.denied",
                "pml.call.intent",
                "pml.call.outcome"
            ]
        );
        assert_eq!(
            events(folder.path(), "pml.call.outcome")[0]["data"]["error"],
            "cancelled"
        );
        trail.log.close();
        assert!(verify_folder(folder.path(), &[]).unwrap().is_whole());
    }
}
