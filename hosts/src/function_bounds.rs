//! The layer that keeps a function to what its class says, and bounds the calls of all functions of a
//! run.

use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use pml_gateway::{Gateway, ToolId};
use pml_protocol::{
    EffectClass, Failure, FailureKind, HostFuture, Request, RunContext, ToolHost, ToolResult,
};

use crate::function_runs::FunctionRuns;
use crate::gateway_host::failure;

/// Refuses calls whose effect is more than that of the function which makes them. So a function that is
/// `read` has no effect whatever its code is, and a call of it may be repeated.
pub struct FunctionBounds<H> {
    pub gateway: Gateway,
    /// The function whose calls these are.
    pub function: ToolId,
    /// What a call of it does, by the configuration or by its comment.
    pub class: EffectClass,
    /// The calls that all functions of the run may make.
    pub most_calls: u32,
    /// Those that are left.
    pub calls_left: Arc<AtomicU32>,
    pub inner: H,
}

impl<H: ToolHost> FunctionBounds<H> {
    async fn check(&self, tool: &str) -> Result<(), Failure> {
        if !FunctionRuns::spend_call(&self.calls_left) {
            let message = format!(
                "the functions of this run have made {} calls together, which is the most: call fewer, or raise `calls` of `pml.limits`",
                self.most_calls
            );
            return Err(Failure::new(FailureKind::Calls, message));
        }
        if self.class == EffectClass::Guarded {
            return Ok(());
        }
        let id = self.gateway.spelled(tool).await;
        let id = id.as_deref().unwrap_or(tool);
        let described = self.gateway.describe_for_call(id).await;
        let described = described.map_err(failure)?;
        let effect = self.gateway.effect(&described);
        if rank(effect.class) <= rank(self.class) {
            return Ok(());
        }
        let message = format!(
            "the function `{}` is `{}`, so it cannot call `{id}`, which is `{}`: give the function the class `{}` (`@effect`, or `pml.effects`)",
            self.function, self.class, effect.class, effect.class
        );
        Err(Failure::new(FailureKind::Denied, message))
    }
}

/// A class includes those with a lower rank.
fn rank(class: EffectClass) -> u8 {
    match class {
        EffectClass::Read => 0,
        EffectClass::Idempotent => 1,
        EffectClass::Keyed => 2,
        EffectClass::Guarded => 3,
    }
}

impl<H: ToolHost> ToolHost for FunctionBounds<H> {
    fn handle<'a>(
        &'a self,
        request: &'a Request,
        run: &'a RunContext,
    ) -> HostFuture<'a, ToolResult> {
        let Request::Call { tool, .. } = request else {
            return self.inner.handle(request, run);
        };
        Box::pin(async move {
            self.check(tool).await?;
            self.inner.handle(request, run).await
        })
    }
}
