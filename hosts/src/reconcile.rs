//! Finds out whether a call with an unknown outcome happened, by a tool that reads.

use pml_gateway::Gateway;
use pml_protocol::{EffectClass, Request, RunContext, ToolHost, ToolResult, to_result};
use serde_json::Value;

/// What a reconciling tool says about a call.
pub(crate) enum Reconciled {
    /// It happened, with this result.
    Happened(ToolResult),
    /// It did not happen.
    DidNotHappen,
    /// There is no rule for the tool, or the question failed.
    CannotTell,
}

/// Asks the tools that `pml.effects` names under `reconcile`.
pub(crate) struct Reconciler {
    gateway: Gateway,
}

impl Reconciler {
    pub fn new(gateway: Gateway) -> Self {
        Self { gateway }
    }

    /// Asks through `host`, so that approval, limits and policy apply to the question as to any call.
    pub async fn ask(
        &self,
        tool: &str,
        args: &Value,
        host: &impl ToolHost,
        run: &RunContext,
    ) -> Reconciled {
        let Some(request) = self.question(tool, args).await else {
            return Reconciled::CannotTell;
        };
        // A request of its own: it is neither journaled nor the call that it asks about.
        let asking = run.for_request();
        let answer = host.handle(&request, &asking).await;
        run.received(&asking.received_flow());
        match answer {
            Ok(answer) => match serde_json::from_str::<Value>(answer.get()) {
                Ok(value) if is_nothing(&value) => Reconciled::DidNotHappen,
                Ok(value) => Reconciled::Happened(to_result(&found(value))),
                Err(_) => Reconciled::CannotTell,
            },
            Err(_) => Reconciled::CannotTell,
        }
    }

    /// The call that tells whether another one happened.
    async fn question(&self, tool: &str, args: &Value) -> Option<Request> {
        let known = self.gateway.describe_for_call(tool).await.ok()?;
        let rule = self.gateway.effect(&known).reconcile?;
        let reader = self
            .gateway
            .describe_for_call(rule.tool().as_str())
            .await
            .ok()?;
        if self.gateway.effect(&reader).class != EffectClass::Read {
            tracing::warn!(
                tool,
                reconcile = %rule.tool(),
                "the tool under `reconcile` is not of class read, so it is not called; give it that class in pml.effects"
            );
            return None;
        }
        let args = to_result(&rule.arguments(args).ok()?).ok()?;
        Some(Request::call(rule.tool().as_str(), args))
    }
}

/// The result of the call in question: what was found, or the first of several.
fn found(value: Value) -> Value {
    match value {
        Value::Array(mut items) if !items.is_empty() => items.swap_remove(0),
        other => other,
    }
}

/// Whether an answer says that there is nothing.
fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::String(text) => text.is_empty(),
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::Bool(true) => false,
    }
}
