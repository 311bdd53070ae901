//! Effect classes: what is sent a second time, the idempotency key, and the callback before a call is
//! sent. A server writes down what arrives.

use std::sync::atomic::{AtomicUsize, Ordering};

use futures::FutureExt;
use futures::future::BoxFuture;
use pml_gateway::config::Config;
use pml_gateway::policy::approval::Approval;
use pml_gateway::{
    BeforeSend, CallArguments, CallError, CallErrorKind, CallOptions, CallValue, Effect, Gateway,
    RunLabels, RunLimits, RunScope,
};
use pml_protocol::EffectClass;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A gateway over one server called `s`, which writes down the calls that arrive.
struct Watched {
    gateway: Gateway,
    scope: RunScope,
    folder: TempDir,
}

impl Watched {
    /// `vanish`: the server ends without an answer to this many calls.
    fn new(vanish: usize, entry: Value, pml: Value) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let script = format!("{}/tests/servers/effects.py", env!("CARGO_MANIFEST_DIR"));
        let journal = folder.path().join("journal");
        let mut server = json!({
            "command": "python3",
            "args": ["-u", script, journal, "--vanish", vanish.to_string()],
        });
        server
            .as_object_mut()
            .unwrap()
            .extend(entry.as_object().unwrap().clone());
        let file = json!({ "mcpServers": { "s": server }, "pml": pml }).to_string();
        let config = Config::parse("m.json".as_ref(), &file, &|_| None).unwrap();
        let gateway = Gateway::open(config).unwrap();
        let scope = gateway.run(RunLimits::default());
        Self {
            gateway,
            scope,
            folder,
        }
    }

    async fn call(
        &self,
        id: &str,
        arguments: impl Into<CallArguments>,
        before_send: &dyn BeforeSend,
    ) -> Result<CallValue, CallError> {
        let options = CallOptions {
            before_send: Some(before_send),
            ..CallOptions::default()
        };
        self.gateway
            .call_with(&self.scope, id, arguments, options)
            .await
    }

    /// The arguments of the calls that arrived, in order.
    fn arrived(&self) -> Vec<Value> {
        let journal = std::fs::read_to_string(self.folder.path().join("journal"));
        journal
            .unwrap_or_default()
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap()["args"].clone())
            .collect()
    }
}

/// Counts its calls, and fails if it is told to.
#[derive(Default)]
struct Counting {
    count: AtomicUsize,
    fails: bool,
}

impl Counting {
    fn count(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }
}

impl BeforeSend for Counting {
    fn before_send<'a>(&'a self, _: &'a Effect) -> BoxFuture<'a, Result<(), CallError>> {
        self.count.fetch_add(1, Ordering::Relaxed);
        let result = match self.fails {
            true => Err(CallError::permanent(
                CallErrorKind::Internal,
                "s:act",
                "the disk is full",
            )),
            false => Ok(()),
        };
        async move { result }.boxed()
    }
}

#[tokio::test]
async fn a_call_whose_outcome_is_unknown_is_sent_again_unless_it_is_guarded() {
    for (rule, sent) in [
        (json!("read"), 2),
        (json!("idempotent"), 2),
        (json!("guarded"), 1),
        (json!({ "keyed": "key" }), 2),
    ] {
        let watched = Watched::new(1, json!({}), json!({ "effects": { "s:act": rule } }));
        let arguments = CallArguments::from(json!({})).with_idempotency_key("k1".to_owned());
        let hook = Counting::default();
        let answer = watched.call("s:act", arguments, &hook).await;
        assert_eq!(answer.is_ok(), sent == 2, "{rule}: {answer:?}");
        let arrived = watched.arrived();
        assert_eq!(arrived.len(), sent, "{rule}");
        assert!(arrived.iter().all(|args| *args == arrived[0]), "{rule}");
        assert_eq!(arrived[0].get("key").is_some(), rule.is_object(), "{rule}");
        assert_eq!(hook.count(), 1, "retries do not repeat it");
        watched.gateway.shutdown().await;
    }
}

#[tokio::test]
async fn a_keyed_call_without_a_key_is_not_sent_again() {
    let effects = json!({ "effects": { "s:act": { "keyed": "key" } } });
    let watched = Watched::new(1, json!({}), effects);
    let error = watched
        .gateway
        .call(&watched.scope, "s:act", json!({}))
        .await
        .unwrap_err();
    assert_eq!(error.kind, CallErrorKind::Protocol);
    assert_eq!(watched.arrived().len(), 1);
    watched.gateway.shutdown().await;
}

#[tokio::test]
async fn annotations_allow_a_second_send_only_if_the_operator_trusts_them() {
    for (entry, tool, sent) in [
        (json!({}), "s:look", 1),
        (json!({}), "s:put", 1),
        (json!({ "trust": "annotations" }), "s:look", 2),
        (json!({ "trust": "annotations" }), "s:put", 2),
        (json!({ "trust": "annotations" }), "s:act", 1),
    ] {
        let watched = Watched::new(1, entry.clone(), json!({}));
        let _ = watched.gateway.call(&watched.scope, tool, json!({})).await;
        assert_eq!(watched.arrived().len(), sent, "{entry} {tool}");
        watched.gateway.shutdown().await;
    }
}

#[tokio::test]
async fn a_tool_listed_as_idempotent_for_retries_has_that_class() {
    let policy = json!({ "policy": { "retry": { "idempotent": ["s:act"] } } });
    let watched = Watched::new(1, json!({}), policy);
    let tool = watched.gateway.describe("s:act").await.unwrap();
    let effect = watched.gateway.effect(&tool);
    assert_eq!(effect.class, EffectClass::Idempotent);
    assert_eq!(effect.source.as_str(), "alias");
    let answer = watched
        .gateway
        .call(&watched.scope, "s:act", json!({}))
        .await;
    assert!(answer.is_ok(), "{answer:?}");
    assert_eq!(watched.arrived().len(), 2);
    watched.gateway.shutdown().await;
}

#[tokio::test]
async fn the_key_is_added_before_the_arguments_are_checked_and_the_scripts_own_is_kept() {
    let effects = json!({ "effects": { "s:pay": { "keyed": "key" } } });
    let watched = Watched::new(0, json!({}), effects);
    let pay = async |arguments: CallArguments| {
        let keyed = arguments.with_idempotency_key("ours".to_owned());
        watched
            .gateway
            .call(&watched.scope, "s:pay", keyed)
            .await
            .map(|answer| answer.value)
    };
    pay(json!({ "amount": 1 }).into()).await.unwrap();
    pay(json!({ "amount": 2, "key": "theirs" }).into())
        .await
        .unwrap();
    pay(json!({ "amount": 3, "key": null }).into())
        .await
        .unwrap();
    let restored = json!({ "amount": 4 });
    pay(CallArguments::with_restored(
        json!({ "amount": "[AMOUNT_1]" }),
        restored,
    ))
    .await
    .unwrap();
    assert_eq!(
        watched.arrived(),
        [
            json!({ "amount": 1, "key": "ours" }),
            json!({ "amount": 2, "key": "theirs" }),
            json!({ "amount": 3, "key": "ours" }),
            json!({ "amount": 4, "key": "ours" }),
        ]
    );
    let error = watched
        .gateway
        .call(&watched.scope, "s:pay", json!({ "amount": 5 }))
        .await
        .unwrap_err();
    assert_eq!(error.kind, CallErrorKind::Arguments);
    assert!(
        error
            .message
            .contains("is the idempotency key, by the rule `s:pay`"),
        "{error}"
    );
    watched.gateway.shutdown().await;
}

#[tokio::test]
async fn tools_of_other_classes_get_no_key() {
    let watched = Watched::new(0, json!({}), json!({}));
    let arguments = CallArguments::from(json!({ "a": 1 })).with_idempotency_key("k".to_owned());
    watched
        .gateway
        .call(&watched.scope, "s:act", arguments)
        .await
        .unwrap();
    assert_eq!(watched.arrived(), [json!({ "a": 1 })]);
    watched.gateway.shutdown().await;
}

#[tokio::test]
async fn nothing_arrives_if_the_callback_before_the_send_fails() {
    let effects =
        json!({ "effects": { "s:*": "read" }, "policy": { "breaker": { "minCalls": 1 } } });
    let watched = Watched::new(0, json!({}), effects);
    let failing = Counting {
        fails: true,
        ..Counting::default()
    };
    let error = watched
        .call("s:act", json!({}), &failing)
        .await
        .unwrap_err();
    assert_eq!(
        (error.kind, error.message.as_str()),
        (CallErrorKind::Internal, "the disk is full")
    );
    assert_eq!(failing.count(), 1, "it is not tried again");
    assert!(watched.arrived().is_empty());
    let answer = watched.call("s:act", json!({}), &Counting::default()).await;
    assert!(answer.is_ok(), "the breaker must stay closed: {answer:?}");
    assert_eq!(watched.arrived().len(), 1);
    watched.gateway.shutdown().await;
}

#[tokio::test]
async fn the_callback_runs_only_for_a_call_that_passed_every_check() {
    let watched = Watched::new(
        0,
        json!({}),
        json!({
            "effects": { "s:pay": { "keyed": "key" } },
            "policy": {
                "deny": ["s:wipe"],
                "cache": { "tools": { "s:look": "1m" } },
                "budget": { "tools": { "s:put": 0 } },
            },
        }),
    );
    let hook = Counting::default();
    for (tool, arguments, kind) in [
        (
            "s:pay",
            json!({ "amount": "much" }),
            CallErrorKind::Arguments,
        ),
        ("s:act", json!(["no object"]), CallErrorKind::Arguments),
        ("s:wipe", json!({}), CallErrorKind::Denied),
        ("s:none", json!({}), CallErrorKind::Unknown),
        ("s:put", json!({}), CallErrorKind::Calls),
    ] {
        let error = watched.call(tool, arguments, &hook).await.unwrap_err();
        assert_eq!(error.kind, kind, "{tool}");
    }
    assert_eq!(hook.count(), 0);

    assert!(
        !watched
            .call("s:look", json!({}), &hook)
            .await
            .unwrap()
            .cached
    );
    assert_eq!(hook.count(), 1);
    assert!(
        watched
            .call("s:look", json!({}), &hook)
            .await
            .unwrap()
            .cached
    );
    assert_eq!(hook.count(), 1, "a result from the cache is not sent");

    watched
        .gateway
        .check_call(&watched.scope, "s:act", json!({}), None)
        .await
        .unwrap();
    assert_eq!(watched.arrived().len(), 1);
    watched.gateway.shutdown().await;
}

#[tokio::test]
async fn the_callback_does_not_run_while_the_circuit_breaker_is_open() {
    let policy = json!({ "policy": { "breaker": { "minCalls": 1, "failed": 0.1 } } });
    let watched = Watched::new(1, json!({}), policy);
    let hook = Counting::default();
    assert!(watched.call("s:act", json!({}), &hook).await.is_err());
    assert_eq!(hook.count(), 1);
    let error = watched.call("s:act", json!({}), &hook).await.unwrap_err();
    assert_eq!(error.kind, CallErrorKind::Unavailable);
    assert_eq!((hook.count(), watched.arrived().len()), (1, 1));
    watched.gateway.shutdown().await;
}

#[tokio::test]
async fn a_run_that_ends_in_the_callback_sends_nothing() {
    /// Ends its own run and never finishes.
    struct Ending(RunScope);

    impl BeforeSend for Ending {
        fn before_send<'a>(&'a self, _: &'a Effect) -> BoxFuture<'a, Result<(), CallError>> {
            self.0.end();
            std::future::pending().boxed()
        }
    }

    let watched = Watched::new(0, json!({}), json!({}));
    let ending = Ending(watched.scope.clone());
    let error = watched.call("s:act", json!({}), &ending).await.unwrap_err();
    assert_eq!(error.kind, CallErrorKind::Cancelled);
    assert!(watched.arrived().is_empty());
    watched.gateway.shutdown().await;
}

#[tokio::test]
async fn a_tool_that_the_operator_calls_read_is_not_asked_for_as_destructive() {
    let approval = async |pml: Value| {
        let watched = Watched::new(0, json!({ "trust": "annotations" }), pml);
        let tool = watched.gateway.describe("s:wipe").await.unwrap();
        let approval = watched
            .gateway
            .approval(&tool, None, RunLabels::default())
            .unwrap();
        watched.gateway.shutdown().await;
        approval
    };
    assert_eq!(approval(json!({})).await, Approval::IfPossible);
    let read = json!({ "s:wipe": "read" });
    assert_eq!(
        approval(json!({ "effects": read })).await,
        Approval::NotNeeded
    );
    assert_eq!(
        approval(json!({ "effects": read, "policy": { "ask": ["s:*"] } })).await,
        Approval::Needed
    );
}
