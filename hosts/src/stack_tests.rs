//! Every stack of [`crate::stack`] over a gateway with a real server: no request reaches the server
//! without the approval that the operator's policy requires.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use pml_gateway::{Config, Gateway};
use pml_protocol::{
    FailureKind, Limits, Request, ResourceRequest, RunContext, StreamRequest, ToolHost, ToolResult,
    VirtualClock,
};
use pml_scrub::{Origin, PlaceholderMap, ScrubConfig, Scrubber, SharedPlaceholders};
use serde_json::json;
use serde_json::value::RawValue;
use tempfile::TempDir;
use tokio::sync::Notify;

use crate::stack::{self, LiveRun};
use crate::{
    AnswerSources, ApprovalRequest, Approver, Decision, DecisionFuture, Fixtures, IfUnasked,
    Person, Recording, RunPlaceholders, SessionStorage, StaticHost,
};

/// An MCP server over stdio that appends the name of every request about a tool, a resource or a
/// prompt to the file in its first argument.
const SERVER: &str = r#"
import json, sys

TOOL = {"name": "send", "inputSchema": {"type": "object"}, "annotations": {"destructiveHint": True}}
RESULTS = {
    "tools/call": {"content": [{"type": "text", "text": "sent"}]},
    "resources/list": {"resources": []},
    "resources/read": {"contents": [{"uri": "a:b", "text": "t"}]},
    "prompts/list": {"prompts": []},
    "prompts/get": {"messages": []},
}

for line in sys.stdin:
    message = json.loads(line)
    method, params = message.get("method"), message.get("params") or {}
    if "id" not in message or method is None:
        continue
    reply = {"jsonrpc": "2.0", "id": message["id"]}
    if method == "initialize":
        reply["result"] = {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}, "resources": {}, "prompts": {}},
            "serverInfo": {"name": "mail", "version": "1"},
        }
    elif method == "ping":
        reply["result"] = {}
    elif method == "tools/list":
        reply["result"] = {"tools": [TOOL]}
    elif method in RESULTS:
        with open(sys.argv[1], "a") as received:
            received.write(method + "\n")
        reply["result"] = RESULTS[method]
    else:
        reply["error"] = {"code": -32601, "message": "unknown method"}
    print(json.dumps(reply), flush=True)
"#;

/// The stacks that reach the gateway.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stack {
    Live,
    Record,
    RecordMissing,
    DryRun,
}

const STACKS: [Stack; 4] = [
    Stack::Live,
    Stack::Record,
    Stack::RecordMissing,
    Stack::DryRun,
];

impl Stack {
    fn build(self, run: LiveRun) -> Arc<dyn ToolHost> {
        let clock = VirtualClock::default();
        match self {
            Self::Live => stack::live(run),
            Self::Record => stack::record(run, clock),
            Self::RecordMissing => {
                stack::record_missing(run, Recording::new("a.ts", clock, Vec::new()))
            }
            Self::DryRun => stack::dry_run(
                run,
                AnswerSources {
                    fixtures: Fixtures::default(),
                    recorded: None,
                    observed: Box::new(|_| None),
                },
            ),
        }
    }
}

/// The method that a request becomes at a server; `None` for a request that reaches none. The
/// match has no `_`: a new request does not compile until it is classified here, and then belongs
/// into [`requests`].
pub(crate) fn method_at_server(request: &Request) -> Option<&'static str> {
    match request {
        Request::Call { .. } => Some("tools/call"),
        Request::Resource { request, .. } => Some(match request {
            ResourceRequest::ListResources => "resources/list",
            ResourceRequest::ReadResource { .. } => "resources/read",
            ResourceRequest::ListPrompts => "prompts/list",
            ResourceRequest::GetPrompt { .. } => "prompts/get",
        }),
        Request::Search { .. }
        | Request::Describe { .. }
        | Request::Harness { .. }
        | Request::Store { .. }
        | Request::Checkpoint { .. }
        | Request::Workflow { .. }
        | Request::Stream(_)
        | Request::ApproveTask { .. }
        | Request::Load { .. } => None,
    }
}

/// One request of every variant but [`Request::ApproveTask`], which is a question itself.
pub(crate) fn requests() -> Vec<Request> {
    let resource = |request| Request::Resource {
        server: "mail".to_owned(),
        request,
    };
    vec![
        Request::call("mail:send", raw("{}")),
        resource(ResourceRequest::ListResources),
        resource(ResourceRequest::ReadResource {
            uri: "a:b".to_owned(),
        }),
        resource(ResourceRequest::ListPrompts),
        resource(ResourceRequest::GetPrompt {
            name: "p".to_owned(),
            args: raw("{}"),
        }),
        Request::Search {
            query: "send".to_owned(),
            limit: 5,
            threshold: None,
        },
        Request::Describe {
            tool: "mail:send".to_owned(),
        },
        Request::Checkpoint {
            key: "a".to_owned(),
            value: None,
            clock_ms: None,
        },
        Request::Harness {
            message: raw(r#"{ "clock": 1 }"#),
        },
        Request::Store {
            key: "k".to_owned(),
            value: raw("1"),
        },
        Request::Load {
            key: "k".to_owned(),
        },
        Request::Workflow {
            plan: raw(r#"{ "tasks": [] }"#),
            input: raw("{}"),
        },
        Request::Stream(StreamRequest::Next { stream: 1 }),
    ]
}

fn raw(json: &str) -> Box<RawValue> {
    RawValue::from_string(json.to_owned()).unwrap()
}

/// The placeholders of a run in a new session.
pub(crate) async fn placeholders() -> Arc<RunPlaceholders> {
    let session = session();
    Arc::new(RunPlaceholders::new(&session, "").await)
}

fn session() -> SharedPlaceholders {
    let scrubber = Scrubber::new(&ScrubConfig::default()).unwrap();
    SharedPlaceholders::new(PlaceholderMap::reversible(Arc::new(scrubber)))
}

/// A gateway with the server `mail`, whose policy asks before everything.
pub(crate) struct Fixture {
    pub gateway: Gateway,
    received: PathBuf,
    pub folder: TempDir,
}

impl Fixture {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (script, received) = (
            folder.path().join("mail.py"),
            folder.path().join("received"),
        );
        fs::write(&script, SERVER).unwrap();
        let config = json!({
            "mcpServers": { "mail": { "command": "python3", "args": ["-u", script, received] } },
            "pml": { "policy": { "ask": ["*"] } },
        });
        let file = folder.path().join(".mcp.json");
        fs::write(&file, config.to_string()).unwrap();
        let gateway = Gateway::open(Config::load(&file).unwrap()).unwrap();
        Self {
            gateway,
            received,
            folder,
        }
    }

    async fn host(&self, stack: Stack, approver: Option<Arc<dyn Approver>>) -> Arc<dyn ToolHost> {
        self.host_with(stack, approver, placeholders().await)
    }

    fn host_with(
        &self,
        stack: Stack,
        approver: Option<Arc<dyn Approver>>,
        placeholders: Arc<RunPlaceholders>,
    ) -> Arc<dyn ToolHost> {
        stack.build(LiveRun {
            gateway: self.gateway.clone(),
            search: Arc::new(StaticHost::empty()),
            storage: Arc::new(SessionStorage::default()),
            person: approver.map(|approver| {
                let placeholders = placeholders.clone();
                Person::new(
                    approver,
                    &self.gateway,
                    placeholders,
                    IfUnasked::Send,
                    Arc::default(),
                )
            }),
            placeholders: Some(placeholders),
            script_observer: None,
            observers: Vec::new(),
            limits: Limits::default(),
            tool_timeout: None,
            journal: None,
            approvals: None,
            telemetry: None,
            costs: Default::default(),
            suspensions: Default::default(),
            speculated: None,
            audit: None,
            progress: Arc::new(|_| {}),
        })
    }

    /// The methods that the server received since the last call.
    pub fn take_received(&self) -> Vec<String> {
        let lines = fs::read_to_string(&self.received).unwrap_or_default();
        fs::write(&self.received, "").unwrap();
        lines.lines().map(str::to_owned).collect()
    }
}

/// Answers every question with the same decision.
pub(crate) struct FixedApprover {
    pub decision: Decision,
    pub can_ask: bool,
    pub asked: AtomicUsize,
}

impl FixedApprover {
    pub fn new(decision: Decision) -> Arc<Self> {
        Arc::new(Self {
            decision,
            can_ask: true,
            asked: AtomicUsize::new(0),
        })
    }
}

impl Approver for FixedApprover {
    fn can_ask(&self) -> bool {
        self.can_ask
    }

    fn ask(&self, _: ApprovalRequest, _: Duration) -> DecisionFuture {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let decision = self.decision;
        Box::pin(async move { decision })
    }
}

async fn ask(host: &Arc<dyn ToolHost>, request: &Request) -> ToolResult {
    host.handle(request, &RunContext::local()).await
}

/// Why a request that needs approval is refused without it.
fn refusal_kind(stack: Stack, request: &Request) -> FailureKind {
    match (stack, request) {
        // A dry run has no use for approval here: it forwards no request for a resource.
        (Stack::DryRun, Request::Resource { .. }) => FailureKind::Unrecorded,
        _ => FailureKind::Denied,
    }
}

async fn assert_nothing_is_sent(approver: impl Fn() -> Option<Arc<dyn Approver>>) {
    let fixture = Fixture::new();
    for stack in STACKS {
        for request in requests() {
            if method_at_server(&request).is_none() {
                continue;
            }
            let host = fixture.host(stack, approver()).await;
            let failure = ask(&host, &request).await.unwrap_err();
            let expected = refusal_kind(stack, &request);
            assert_eq!(failure.kind, expected, "{stack:?} {request:?}: {failure}");
            let received = fixture.take_received();
            assert!(received.is_empty(), "{stack:?} {request:?}: {received:?}");
        }
    }
    fixture.gateway.shutdown().await;
}

#[tokio::test]
async fn without_a_person_to_ask_nothing_is_sent() {
    assert_nothing_is_sent(|| None).await;
}

#[tokio::test]
async fn without_a_client_that_can_ask_nothing_is_sent() {
    assert_nothing_is_sent(|| {
        Some(Arc::new(FixedApprover {
            decision: Decision::AllowAll,
            can_ask: false,
            asked: AtomicUsize::new(0),
        }))
    })
    .await;
}

#[tokio::test]
async fn what_a_person_denies_is_not_sent() {
    for decision in [Decision::Deny, Decision::NoAnswer, Decision::NotAsked] {
        assert_nothing_is_sent(move || Some(FixedApprover::new(decision))).await;
    }
}

#[tokio::test]
async fn what_a_person_allows_is_sent_except_in_a_dry_run() {
    let fixture = Fixture::new();
    for stack in STACKS {
        for request in requests() {
            let Some(method) = method_at_server(&request) else {
                continue;
            };
            let approver = FixedApprover::new(Decision::AllowAll);
            let host = fixture.host(stack, Some(approver.clone())).await;
            let result = ask(&host, &request).await;
            let received = fixture.take_received();
            if stack == Stack::DryRun {
                assert!(received.is_empty(), "{request:?}: {received:?}");
                continue;
            }
            assert!(result.is_ok(), "{stack:?} {request:?}: {result:?}");
            assert_eq!(received, [method], "{stack:?}");
            assert_eq!(approver.asked.load(Ordering::SeqCst), 1, "{stack:?}");
        }
    }
    fixture.gateway.shutdown().await;
}

#[tokio::test]
async fn a_request_that_reaches_no_server_needs_no_approval() {
    let fixture = Fixture::new();
    for stack in STACKS {
        let approver = FixedApprover::new(Decision::Deny);
        let host = fixture.host(stack, Some(approver.clone())).await;
        for request in requests() {
            if method_at_server(&request).is_some() {
                continue;
            }
            let result = ask(&host, &request).await;
            // Only a recording has a use for the messages of a virtual clock.
            let is_clock = matches!(request, Request::Harness { .. });
            // Layers above these stacks answer streams and run plans.
            let is_above = matches!(request, Request::Stream { .. } | Request::Workflow { .. });
            assert!(
                result.is_ok() || is_clock || is_above,
                "{stack:?} {request:?}: {result:?}"
            );
        }
        assert_eq!(approver.asked.load(Ordering::SeqCst), 0, "{stack:?}");
        assert_eq!(fixture.take_received(), [""; 0], "{stack:?}");
    }
    fixture.gateway.shutdown().await;
}

#[tokio::test]
async fn the_question_before_a_task_is_asked_and_reaches_no_server() {
    let fixture = Fixture::new();
    let request = Request::ApproveTask {
        task: "a".to_owned(),
        tool: Some("mail:send".to_owned()),
        question: None,
    };
    for stack in STACKS {
        for (decision, is_allowed) in [(Decision::AllowThese, true), (Decision::Deny, false)] {
            let approver = FixedApprover::new(decision);
            let host = fixture.host(stack, Some(approver.clone())).await;
            let result = ask(&host, &request).await;
            assert_eq!(result.is_ok(), is_allowed, "{stack:?}: {result:?}");
            assert_eq!(approver.asked.load(Ordering::SeqCst), 1, "{stack:?}");
        }
        let host = fixture.host(stack, None).await;
        let failure = ask(&host, &request).await.unwrap_err();
        assert_eq!(failure.kind, FailureKind::Denied, "{failure}");
        assert!(fixture.take_received().is_empty(), "{stack:?}");
    }
    fixture.gateway.shutdown().await;
}

/// Allows everything once it is released.
struct SlowApprover(Arc<Notify>);

impl Approver for SlowApprover {
    fn can_ask(&self) -> bool {
        true
    }

    fn ask(&self, _: ApprovalRequest, _: Duration) -> DecisionFuture {
        let released = self.0.clone();
        Box::pin(async move {
            released.notified().await;
            Decision::AllowAll
        })
    }
}

#[tokio::test]
async fn the_clock_of_the_run_stands_while_the_person_thinks_in_every_stack() {
    let fixture = Fixture::new();
    for stack in STACKS {
        let released = Arc::new(Notify::new());
        let approver = SlowApprover(released.clone());
        let host = fixture.host(stack, Some(Arc::new(approver))).await;
        let run = RunContext::local();
        let mut pauses = run.clock().pauses();
        let call = tokio::spawn({
            let run = run.clone();
            async move { host.handle(&requests()[0], &run).await }
        });
        pauses.wait_for(|pauses| *pauses == 1).await.unwrap();
        assert!(run.dispatched_at().is_none(), "{stack:?}");
        released.notify_one();
        let result = call.await.unwrap();
        assert!(result.is_ok(), "{stack:?}: {result:?}");
        assert_eq!(*pauses.borrow(), 0, "{stack:?}");
        assert!(run.dispatched_at().is_some(), "{stack:?}");
    }
    fixture.gateway.shutdown().await;
}

#[tokio::test]
async fn arguments_that_cannot_be_parsed_or_shown_are_refused_without_a_question() {
    let fixture = Fixture::new();
    let call = |args: &str| Request::call("mail:send", raw(args));
    let deep = format!("{}{}", "[".repeat(500), "]".repeat(500));
    let prompt = Request::Resource {
        server: "mail".to_owned(),
        request: ResourceRequest::GetPrompt {
            name: "p".to_owned(),
            args: raw(&deep),
        },
    };
    let keys: serde_json::Map<_, _> = (0..10_000).map(|n| (format!("k{n}"), json!(n))).collect();
    let many_keys = json!(keys).to_string();
    let many_nulls = format!("[{}null]", "null,".repeat(1_000_000));
    for (request, kind, words) in [
        (call(&deep), FailureKind::Arguments, "recursion"),
        (prompt, FailureKind::Arguments, "recursion"),
        (call(&many_nulls), FailureKind::Arguments, "too many values"),
        (
            call(&many_keys),
            FailureKind::Denied,
            "too large to be shown",
        ),
    ] {
        let approver = FixedApprover::new(Decision::AllowAll);
        let host = fixture.host(Stack::Live, Some(approver.clone())).await;
        let failure = ask(&host, &request).await.unwrap_err();
        assert_eq!(failure.kind, kind, "{failure}");
        assert!(failure.message.contains(words), "{failure}");
        assert_eq!(approver.asked.load(Ordering::SeqCst), 0, "{failure}");
        assert_eq!(fixture.take_received(), [""; 0], "{failure}");
    }
    fixture.gateway.shutdown().await;
}

#[tokio::test]
async fn what_servers_say_of_their_tools_is_data_of_servers() {
    let fixture = Fixture::new();
    for request in requests() {
        let origin = match &request {
            Request::Describe { .. } => Origin::server("mail"),
            Request::Search { .. } => Origin::unknown(),
            _ => continue,
        };
        let placeholders = placeholders().await;
        let host = fixture.host_with(Stack::Live, None, placeholders.clone());
        ask(&host, &request).await.unwrap();
        assert_eq!(placeholders.origin(), origin, "{request:?}");
    }
    fixture.gateway.shutdown().await;
}

#[tokio::test]
async fn a_server_does_not_learn_a_placeholder_from_a_uri_or_a_prompt() {
    let fixture = Fixture::new();
    let session = session();
    let shown = session.lock().scrub_text("jo@example.com", None).unwrap();
    let written = format!("await readResource('mail', 'a:{}')", *shown);
    let run = Arc::new(RunPlaceholders::new(&session, &written).await);
    let approver: Arc<dyn Approver> = FixedApprover::new(Decision::AllowAll);
    let host = fixture.host_with(Stack::Live, Some(approver), run);
    let requests = [
        ResourceRequest::ReadResource {
            uri: format!("a:{}", *shown),
        },
        ResourceRequest::GetPrompt {
            name: "p".to_owned(),
            args: raw(&json!({ "to": *shown }).to_string()),
        },
    ];
    for request in requests {
        let request = Request::Resource {
            server: "mail".to_owned(),
            request,
        };
        let failure = ask(&host, &request).await.unwrap_err();
        assert!(failure.message.contains("was not sent"), "{failure:?}");
    }
    assert!(fixture.take_received().is_empty());
    fixture.gateway.shutdown().await;
}
