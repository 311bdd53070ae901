//! Guards through the gateway: what is not sent, what is withheld, and what is noted.

use std::time::Duration;

use pml_gateway::config::Config;
use pml_gateway::{CallError, CallErrorKind, CallOptions, Gateway, RunLimits, RunScope};
use pml_protocol::{GuardNote, GuardVerdict, RunContext};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A gateway over one server called `s`, which writes down the calls that arrive, in a session.
struct Guarded {
    gateway: Gateway,
    scope: RunScope,
    run: RunContext,
    folder: TempDir,
}

impl Guarded {
    fn new(vanish: usize, pml: Value) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let script = format!("{}/tests/servers/effects.py", env!("CARGO_MANIFEST_DIR"));
        let journal = folder.path().join("journal");
        let file = json!({
            "mcpServers": { "s": {
                "command": "python3",
                "args": ["-u", script, journal, "--vanish", vanish.to_string()],
                "trust": "annotations",
            } },
            "pml": pml,
        });
        let config = Config::parse("m.json".as_ref(), &file.to_string(), &|_| None).unwrap();
        let gateway = Gateway::open(config).unwrap();
        let scope = gateway.run(RunLimits::default());
        Self {
            gateway,
            scope,
            run: RunContext::local(),
            folder,
        }
    }

    /// A call of the session, and what the guards said about it.
    async fn call(&self, id: &str, arguments: Value) -> (Result<Value, CallError>, Vec<GuardNote>) {
        let request = self.run.for_request();
        let options = CallOptions {
            request: Some(&request),
            ..CallOptions::default()
        };
        let scope = self.scope.for_request(&request);
        let answer = self.gateway.call_with(&scope, id, arguments, options).await;
        (answer.map(|answer| answer.value), request.notes().guards())
    }

    fn arrived(&self) -> usize {
        let journal = std::fs::read_to_string(self.folder.path().join("journal"));
        journal.unwrap_or_default().lines().count()
    }
}

#[tokio::test]
async fn a_blocked_call_is_not_sent_and_says_which_guard_and_why() {
    let guarded = Guarded::new(0, json!({}));
    let url = json!({ "url": "http://169.254.169.254/latest" });
    let (answer, notes) = guarded.call("s:look", url.clone()).await;
    let error = answer.unwrap_err();
    assert_eq!(error.kind, CallErrorKind::Denied);
    assert!(
        error.message.contains("`s:look`") && error.message.contains("guard `network`"),
        "{error}"
    );
    assert_eq!(notes[0].verdict, GuardVerdict::Block);
    // Without a request, and in a dry run.
    assert!(
        guarded
            .gateway
            .call(&guarded.scope, "s:look", url.clone())
            .await
            .is_err()
    );
    let checked = guarded
        .gateway
        .check_call(&guarded.scope, "s:look", url, None)
        .await;
    assert_eq!(checked.unwrap_err().message, error.message);
    assert_eq!(guarded.arrived(), 0);
    guarded.gateway.shutdown().await;
}

#[tokio::test]
async fn a_session_remembers_and_a_dry_run_changes_nothing() {
    let guards = json!({ "guards": {
        "preconditions": { "after": { "s:wipe": ["s:look"] } }, "runaway": { "verdict": "block", "calls": 2 }
    } });
    let guarded = Guarded::new(0, guards);
    // The dry run predicts what follows from its own calls.
    let dry = guarded
        .gateway
        .run(RunLimits::default())
        .for_request(&guarded.run);
    assert!(
        guarded
            .gateway
            .check_call(&dry, "s:wipe", json!({}), None)
            .await
            .is_err()
    );
    guarded
        .gateway
        .check_call(&dry, "s:look", json!({}), None)
        .await
        .unwrap();
    guarded
        .gateway
        .check_call(&dry, "s:wipe", json!({}), None)
        .await
        .unwrap();
    assert!(
        guarded.call("s:wipe", json!({})).await.0.is_err(),
        "nothing was sent yet"
    );
    guarded.call("s:look", json!({})).await.0.unwrap();
    // Another run of the session.
    let other = Guarded {
        scope: guarded.gateway.run(RunLimits::default()),
        ..guarded
    };
    other.call("s:wipe", json!({})).await.0.unwrap();
    other.call("s:look", json!({})).await.0.unwrap();
    let error = other.call("s:look", json!({})).await.0.unwrap_err();
    assert!(error.message.contains("made 2 times"), "{error}");
    assert_eq!(other.arrived(), 3);
    // Another session has done nothing.
    let stranger = Guarded {
        run: RunContext::local(),
        ..other
    };
    assert!(stranger.call("s:wipe", json!({})).await.0.is_err());
    stranger.gateway.shutdown().await;
}

#[tokio::test]
async fn the_same_effect_after_a_lost_answer_is_not_sent_again() {
    let guarded = Guarded::new(1, json!({ "guards": { "retry": "block" } }));
    let lost = guarded
        .call("s:act", json!({ "n": 1 }))
        .await
        .0
        .unwrap_err();
    assert_eq!(lost.kind, CallErrorKind::Protocol);
    let (again, notes) = guarded.call("s:act", json!({ "n": 1 })).await;
    assert_eq!(again.unwrap_err().kind, CallErrorKind::Denied);
    assert_eq!(
        (notes[0].guard.as_str(), notes[0].verdict),
        ("retry", GuardVerdict::Block)
    );
    assert_eq!(guarded.arrived(), 1);
    guarded.call("s:act", json!({ "n": 2 })).await.0.unwrap();
    guarded.gateway.shutdown().await;
}

#[tokio::test]
async fn a_withheld_answer_is_an_error_and_is_not_cached() {
    let pml = json!({
        "policy": { "cache": { "tools": { "s:look": "1m" } } },
        "guards": { "output": { "bytes": "0.002k" } },
    });
    let guarded = Guarded::new(0, pml);
    for sent in [1, 2] {
        let (answer, notes) = guarded.call("s:look", json!({})).await;
        let error = answer.unwrap_err();
        assert_eq!(error.kind, CallErrorKind::Output);
        assert!(
            error.message.contains("was called") && error.message.contains("guard `output`"),
            "{error}"
        );
        assert_eq!(notes[0].guard, "output");
        assert_eq!(guarded.arrived(), sent);
    }
    guarded.gateway.shutdown().await;
}

#[tokio::test]
async fn types_are_converted_before_the_schema_is_checked_and_noted() {
    let guarded = Guarded::new(0, json!({ "guards": { "schema": { "coerce": true } } }));
    let (answer, notes) = guarded
        .call("s:pay", json!({ "amount": "5", "key": 7 }))
        .await;
    answer.unwrap();
    assert_eq!(
        (notes[0].guard.as_str(), notes[0].verdict),
        ("schema", GuardVerdict::Repair)
    );
    let sent = std::fs::read_to_string(guarded.folder.path().join("journal")).unwrap();
    let sent: Value = serde_json::from_str(&sent).unwrap();
    assert_eq!(sent["args"], json!({ "amount": 5, "key": "7" }));
    guarded.gateway.shutdown().await;
}

#[tokio::test]
async fn repaired_arguments_are_checked_again() {
    let guards =
        json!({ "guards": { "sensitive": { "verdict": "repair", "detect": "personal" } } });
    let guarded = Guarded::new(0, guards);
    // The key is a text, the amount a number: as a text it does not fit.
    let key = json!({ "amount": 1, "key": "jane.doe@acme-corp.com" });
    guarded.call("s:pay", key).await.0.unwrap();
    let sent = std::fs::read_to_string(guarded.folder.path().join("journal")).unwrap();
    assert!(sent.contains("[EMAIL]") && !sent.contains("jane"), "{sent}");
    let card = json!({ "amount": 4111111111111111u64, "key": "k" });
    let error = guarded.call("s:pay", card).await.0.unwrap_err();
    assert_eq!(error.kind, CallErrorKind::Arguments);
    assert!(
        error.message.contains("has repaired") && !error.message.contains("4111"),
        "{error}"
    );
    assert_eq!(guarded.arrived(), 1);
    guarded.gateway.shutdown().await;
}

#[tokio::test]
async fn limits_of_the_policy_are_shown_as_verdicts_of_guards() {
    let pml = json!({ "policy": {
        "budget": { "tools": { "s:look": 1 } },
        "rate": { "principals": { "local": "3/min" }, "maxWait": "1s" },
    } });
    let guarded = Guarded::new(0, pml);
    guarded.call("s:look", json!({})).await.0.unwrap();
    let (answer, notes) = guarded.call("s:look", json!({})).await;
    assert_eq!(answer.unwrap_err().kind, CallErrorKind::Calls);
    assert_eq!(
        (notes[0].guard.as_str(), notes[0].verdict),
        ("limits", GuardVerdict::Block)
    );
    for _ in 0..2 {
        guarded.call("s:put", json!({})).await.0.unwrap();
    }
    let (answer, notes) = guarded.call("s:act", json!({})).await;
    assert!(answer.unwrap_err().message.contains("principal `local`"));
    assert_eq!(notes[0].guard, "limits");
    guarded.gateway.shutdown().await;
}

#[tokio::test]
async fn the_hard_time_of_a_guard_ends_a_call() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("slow.py");
    let server = "import json, sys, time
for line in sys.stdin:
    message = json.loads(line)
    id, method, params = message.get('id'), message.get('method'), message.get('params') or {}
    if method == 'initialize':
        result = {'protocolVersion': params['protocolVersion'], 'capabilities': {'tools': {}}, 'serverInfo': {'name': 'slow', 'version': '1'}}
    elif method == 'tools/list':
        result = {'tools': [{'name': 'wait', 'inputSchema': {'type': 'object'}, 'outputSchema': {'type': 'object', 'properties': {'n': {'type': 'integer'}}}}]}
    elif method == 'tools/call':
        time.sleep(params['arguments'].get('seconds', 0))
        result = {'content': [], 'structuredContent': {'n': params['arguments'].get('n', 1)}}
    else:
        result = {}
    if id is not None:
        print(json.dumps({'jsonrpc': '2.0', 'id': id, 'result': result}), flush=True)
";
    std::fs::write(&script, server).unwrap();
    let file = json!({
        "mcpServers": { "s": { "command": "python3", "args": ["-u", script] } },
        "pml": { "guards": { "time": { "soft": "50ms", "hard": "700ms" }, "contract": "block" } },
    });
    let config = Config::parse("m.json".as_ref(), &file.to_string(), &|_| None).unwrap();
    let gateway = Gateway::open(config).unwrap();
    let guarded = Guarded {
        scope: gateway.run(RunLimits::default()),
        gateway,
        run: RunContext::local(),
        folder,
    };
    // Starts the server.
    guarded.gateway.list(None, Duration::from_secs(20)).await;
    let (answer, notes) = guarded.call("s:wait", json!({ "seconds": 0.2 })).await;
    assert_eq!(answer.unwrap(), json!({ "n": 1 }));
    assert_eq!(
        (notes[0].guard.as_str(), notes[0].verdict),
        ("time", GuardVerdict::Warn)
    );
    // An answer that does not fit the output schema; the message does not quote it.
    for wrong in [json!("private"), json!(1.5), json!([1]), json!(null)] {
        let (answer, notes) = guarded.call("s:wait", json!({ "n": wrong })).await;
        let error = answer.unwrap_err();
        assert_eq!(
            (error.kind, notes[0].guard.as_str()),
            (CallErrorKind::Output, "contract")
        );
        assert!(
            error.message.contains("`result.n`") && !error.message.contains("private"),
            "{error}"
        );
    }
    let (answer, notes) = guarded.call("s:wait", json!({ "seconds": 5 })).await;
    assert_eq!(answer.unwrap_err().kind, CallErrorKind::Timeout);
    assert_eq!(
        (notes[0].guard.as_str(), notes[0].verdict),
        ("time", GuardVerdict::Block)
    );
    guarded.gateway.shutdown().await;
}

#[tokio::test]
async fn a_mistake_in_the_guards_refuses_the_start_with_its_place() {
    let file = "{\n \"mcpServers\": {},\n \"pml\": { \"guards\": {\n  \"time\": { \"soft\": \"1m\", \"hard\": \"1s\" } } } }";
    let config = Config::parse("m.json".as_ref(), file, &|_| None).unwrap();
    let Err(error) = Gateway::open(config) else {
        panic!("it opens");
    };
    let error = error.to_string();
    assert!(
        error.contains("m.json:4") && error.contains("`soft` (1m) is longer"),
        "{error}"
    );
}
