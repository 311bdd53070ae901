//! The layer that puts real values back in place of placeholders, on the way to a server.

use std::sync::PoisonError;

use pml_protocol::{HostFuture, Request, RunContext, ToolHost, ToolResult, to_result};
use pml_scrub::SharedPlaceholders;
use serde_json::Value;

use crate::arguments;

/// Restores the arguments of calls. Layers above see placeholders, layers below real values.
pub struct RestorePlaceholders<H> {
    inner: H,
    placeholders: Option<SharedPlaceholders>,
}

impl<H> RestorePlaceholders<H> {
    /// Without placeholders, the layer forwards everything.
    pub fn new(placeholders: Option<SharedPlaceholders>, inner: H) -> Self {
        Self {
            inner,
            placeholders,
        }
    }

    /// The arguments with real values; `None` if they hold no placeholder.
    fn restored(&self, request: &Request) -> Option<Result<Request, pml_protocol::Failure>> {
        let Request::Call { tool, args } = request else {
            return None;
        };
        // Every placeholder has a bracket; most arguments do not.
        if !args.get().contains('[') {
            return None;
        }
        let placeholders = self.placeholders.as_ref()?;
        Some(arguments::parse(args).and_then(|mut args: Value| {
            // Each placeholder is added in one step, so the map is whole after a panic.
            let map = placeholders.lock().unwrap_or_else(PoisonError::into_inner);
            map.restore_args(&mut args, tool);
            drop(map);
            Ok(Request::Call {
                tool: tool.clone(),
                args: to_result(&args)?,
            })
        }))
    }
}

impl<H: ToolHost> ToolHost for RestorePlaceholders<H> {
    fn handle<'a>(
        &'a self,
        request: &'a Request,
        run: &'a RunContext,
    ) -> HostFuture<'a, ToolResult> {
        match self.restored(request) {
            None => self.inner.handle(request, run),
            Some(restored) => Box::pin(async move { self.inner.handle(&restored?, run).await }),
        }
    }
}
