//! The layer that refuses calls of what is withdrawn until a person has looked at it.

use pml_gateway::printable;
use pml_policy::suspensions::Suspensions;
use pml_protocol::{
    Failure, FailureKind, HostFuture, Request, RunContext, Target, ToolHost, ToolResult,
};

/// Refuses the calls of a tool, and all requests of a principal to servers, while they are suspended.
pub struct RefuseSuspended<H> {
    inner: H,
    suspensions: Suspensions,
    /// What the caller is called besides its principal: a token that was made from a suspended one is
    /// suspended too.
    holders: Vec<String>,
}

impl<H> RefuseSuspended<H> {
    /// Refuses what `suspensions` name, and forwards the rest to `inner`.
    pub fn new(suspensions: Suspensions, holders: Vec<String>, inner: H) -> Self {
        Self {
            inner,
            suspensions,
            holders,
        }
    }

    fn refusal(&self, request: &Request, run: &RunContext) -> Option<Failure> {
        let tool = match request.target() {
            Target::Tool { tool, .. } => tool,
            // Only its principal can be suspended.
            Target::Resources { .. } => "",
            Target::Local => return None,
        };
        let principals = self.holders.iter().map(String::as_str);
        let mut principals = std::iter::once(run.principal().as_str()).chain(principals);
        let suspension =
            principals.find_map(|principal| self.suspensions.of_call(tool, principal))?;
        let message = format!(
            "the {} is withdrawn until a person has looked at it: {}; `pml suspensions` shows and lifts it",
            suspension.suspended,
            printable(&suspension.why)
        );
        Some(Failure::new(FailureKind::Denied, message))
    }
}

impl<H: ToolHost> ToolHost for RefuseSuspended<H> {
    fn handle<'a>(
        &'a self,
        request: &'a Request,
        run: &'a RunContext,
    ) -> HostFuture<'a, ToolResult> {
        match self.refusal(request, run) {
            Some(failure) => Box::pin(async { Err(failure) }),
            None => self.inner.handle(request, run),
        }
    }
}

#[cfg(test)]
mod tests {
    use pml_policy::suspensions::Suspended;
    use pml_protocol::{Principal, SessionId, TenantId};
    use serde_json::value::RawValue;

    use super::*;
    use crate::static_host::StaticHost;

    /// Whether the request is refused because something is withdrawn.
    async fn is_refused(host: &impl ToolHost, request: &Request, principal: &str) -> bool {
        let principal = Principal::named(principal);
        let run = RunContext::new(SessionId::random(), TenantId::local(), principal);
        let failure = host.handle(request, &run).await.unwrap_err();
        let is_withdrawn = failure.message.contains("is withdrawn until a person");
        if is_withdrawn {
            assert_eq!(failure.kind, FailureKind::Denied);
            assert!(failure.message.contains("it fails"), "{failure:?}");
        }
        is_withdrawn
    }

    #[tokio::test]
    async fn a_suspended_tool_or_principal_is_refused_until_it_is_lifted() {
        let suspensions = Suspensions::in_memory();
        let host = RefuseSuspended::new(
            suspensions.clone(),
            vec!["parent".to_owned()],
            StaticHost::empty(),
        );
        let call = |tool: &str| Request::call(tool, RawValue::NULL.to_owned());
        let load = Request::Load {
            key: "k".to_owned(),
        };
        let tool = Suspended::Tool("s:t".to_owned());
        suspensions.add(tool.clone(), "it fails").unwrap();
        let bot = Suspended::Principal("bot".to_owned());
        suspensions.add(bot, "it fails").unwrap();
        assert!(is_refused(&host, &call("s:t"), "ci").await);
        assert!(!is_refused(&host, &call("s:u"), "ci").await);
        assert!(is_refused(&host, &call("s:u"), "bot").await);
        let parent = Suspended::Principal("parent".to_owned());
        suspensions.add(parent.clone(), "it fails").unwrap();
        assert!(is_refused(&host, &call("s:u"), "made from the parent").await);
        suspensions.lift(&parent).unwrap();
        assert!(!is_refused(&host, &call("s:u"), "made from the parent").await);
        // A request that only pml answers goes on.
        assert!(!is_refused(&host, &load, "bot").await);
        suspensions.lift(&tool).unwrap();
        assert!(!is_refused(&host, &call("s:t"), "ci").await);
    }
}
