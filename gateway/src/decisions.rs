//! The one decision function, asked about the tools of the gateway.
//!
//! Lists, searches, descriptions, generated types, checks, dry runs and calls all come here. First the
//! capability tokens of the caller decide, which only take away. Then, without a policy file, the globs of
//! `pml.policy`; with one, Cedar decides, and the globs are Cedar policies, too.

use std::time::SystemTime;

use pml_policy::authorize::{
    Action, CallContext, Decision, Hints, OfferKind, PolicyEngine, Query, Requester, Resource,
    ToolFacts, Verdict,
};
use pml_policy::tool_glob::server_of;
use serde_json::{Map, Value};

use crate::call::{CallError, RunLabels, RunScope};
use crate::caller::Caller;
use crate::gateway::{Gateway, Inner};
use crate::policy::approval::Approval;
use crate::policy::{Refusal, RefusalKind};
use crate::registry::Tool;

impl Gateway {
    /// Whether a policy file decides.
    pub fn has_policy_file(&self) -> bool {
        self.0.engine().is_some()
    }

    /// What policies know about a tool.
    pub fn facts(&self, tool: &Tool) -> ToolFacts {
        self.0.facts(tool)
    }

    /// Whether a search of the principal may find the tool.
    pub fn may_find(&self, tool: &Tool) -> bool {
        self.0.sees(&self.1, Action::Search, tool)
    }

    /// Whether the user has to approve a call of this tool with these arguments. A tool that a rule of
    /// `pml.effects` makes `read` is not asked for because its server marks it as destructive;
    /// `pml.policy.ask` and the policy file still count.
    ///
    /// # Errors
    /// The call is denied.
    pub fn approval(
        &self,
        tool: &Tool,
        args: Option<&Map<String, Value>>,
        labels: RunLabels<'_>,
    ) -> Result<Approval, CallError> {
        let (id, requester) = (tool.id.as_str(), &self.1.requester);
        if let Some(refusal) = self.1.refusal(id) {
            return Err(CallError::refused(id, refusal));
        }
        if let Some(engine) = self.0.engine() {
            let facts = self.0.facts(tool);
            let context = circumstances(args, None, labels);
            let decided = engine.decide(&Query {
                requester,
                action: Action::Call,
                resource: Resource::Tool(&facts),
                context: args.is_some().then_some(&context),
            });
            match decided.verdict {
                Verdict::Ask => return Ok(Approval::Needed),
                Verdict::Deny => return Err(denied(&facts.id, requester, &decided)),
                Verdict::Permit => {}
            }
        }
        let annotations = match self.effect(tool).is_read_by_rule() {
            true => None,
            false => tool.annotations.as_ref(),
        };
        Ok(self.0.policy().ask.verdict(tool.id.as_str(), annotations))
    }

    /// Whether the arguments of a call, or what its run has read, can change what the policy file says about it.
    pub fn decides_by_arguments(&self, tool: &Tool) -> bool {
        self.0.engine().is_some_and(|engine| {
            let facts = self.0.facts(tool);
            let query = Query {
                requester: &self.1.requester,
                action: Action::Call,
                resource: Resource::Tool(&facts),
                context: None,
            };
            engine.decide(&query).depends_on_context
        })
    }
}

impl Inner {
    pub(crate) fn engine(&self) -> Option<&PolicyEngine> {
        self.policy().engine.as_ref()
    }

    pub(crate) fn facts(&self, tool: &Tool) -> ToolFacts {
        let server = self.servers.get(tool.id.server());
        let effect = server.map(|server| self.effects.class_of(tool, &server.config));
        ToolFacts {
            id: tool.id.as_str().to_owned(),
            effect: effect
                .map_or_else(Default::default, |effect| effect.class)
                .as_str()
                .to_owned(),
            hints: Hints::of(tool.annotations.as_ref()),
        }
    }

    /// Decides by what the id alone tells. An id of no server gets an error that suggests others instead.
    pub(crate) fn check_id(&self, caller: &Caller, id: &str) -> Result<(), CallError> {
        let verdict = self.policy().filter.verdict(id);
        verdict.map_err(|refusal| CallError::refused(id, refusal))?;
        let is_known = self.servers.contains_key(server_of(id));
        match caller.refusal(id).filter(|_| is_known) {
            Some(refusal) => Err(CallError::refused(id, refusal)),
            None => Ok(()),
        }
    }

    /// Whether a caller sees a tool.
    pub(crate) fn sees(&self, caller: &Caller, action: Action, tool: &Tool) -> bool {
        self.policy().filter.allows(tool.id.as_str())
            && caller.refusal(tool.id.as_str()).is_none()
            && self.engine().is_none_or(|engine| {
                let facts = self.facts(tool);
                let query = Query {
                    requester: &caller.requester,
                    action,
                    resource: Resource::Tool(&facts),
                    context: None,
                };
                engine.decide(&query).is_permitted()
            })
    }

    /// Decides about a tool: with arguments whether it may be called with them, without arguments
    /// whether it may be called with some.
    pub(crate) fn check_tool(
        &self,
        caller: &Caller,
        action: Action,
        tool: &Tool,
        args: Option<&Map<String, Value>>,
        labels: RunLabels<'_>,
    ) -> Result<(), CallError> {
        let id = tool.id.as_str();
        if let Some(refusal) = caller.refusal(id) {
            return Err(CallError::refused(id, refusal));
        }
        let Some(engine) = self.engine() else {
            return Ok(());
        };
        let facts = self.facts(tool);
        let context = circumstances(args, None, labels);
        let decided = engine.decide(&Query {
            requester: &caller.requester,
            action,
            resource: Resource::Tool(&facts),
            context: args.is_some().then_some(&context),
        });
        match decided.is_permitted() {
            true => Ok(()),
            false => Err(denied(&facts.id, &caller.requester, &decided)),
        }
    }

    /// Decides about the resources or prompts of a server.
    pub(crate) fn check_offer(
        &self,
        scope: &RunScope,
        server: &str,
        kind: OfferKind,
        name: Option<&str>,
    ) -> Result<(), CallError> {
        let resource = Resource::Offers { server, kind };
        let caller = scope.caller();
        if let Some(refusal) = caller.refusal(&resource.id()) {
            return Err(CallError::refused(&resource.id(), refusal));
        }
        let Some(engine) = self.engine() else {
            return Ok(());
        };
        let decided = engine.decide(&Query {
            requester: &caller.requester,
            action: match kind {
                OfferKind::Resources => Action::ReadResource,
                OfferKind::Prompts => Action::GetPrompt,
            },
            resource,
            context: Some(&circumstances(None, name, scope.labels())),
        });
        match decided.is_permitted() {
            true => Ok(()),
            false => Err(denied(&resource.id(), &caller.requester, &decided)),
        }
    }
}

fn circumstances<'a>(
    args: Option<&'a Map<String, Value>>,
    name: Option<&'a str>,
    labels: RunLabels<'a>,
) -> CallContext<'a> {
    CallContext {
        args,
        name,
        time: SystemTime::now(),
        run: labels.run,
        session: labels.session,
    }
}

fn denied(id: &str, requester: &Requester, decided: &Decision) -> CallError {
    let message = decided.denial(id, &requester.entity_id());
    CallError::refused(id, Refusal::permanent(RefusalKind::Denied, message))
}
