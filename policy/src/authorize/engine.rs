//! The decision function.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use cedar_policy::{
    ActionConstraint, Authorizer, Context, Decision as CedarDecision, Effect, Entities, EntityUid,
    Policy, PolicyId, PolicySet, Request,
};

use super::arguments::{ContextShape, context};
use super::decision::{DecidingPolicy, Decision, Verdict};
use super::entities::EntityNames;
use super::glob_rules::{GlobRules, NamedPolicy};
use super::policy_file::PolicyFile;
use super::query::{Action, Query, Requester, Resource, ToolFacts};

/// Pairs of principal and resource that are kept. Beyond, the cache begins anew.
const MAX_KNOWN: usize = 200_000;

/// Decides by Cedar policies. One engine serves all principals and threads.
///
/// What does not depend on the context of a request is decided once per principal and tool. Partial
/// evaluation finds out: with an unknown context, what remains of a policy is what looks at the context.
/// A decision with a context evaluates those remaining policies alone.
pub struct PolicyEngine {
    authorizer: Authorizer,
    names: EntityNames,
    about: HashMap<PolicyId, DecidingPolicy>,
    asking: HashSet<PolicyId>,
    /// Policies that can apply to a call or to what a server offers besides tools.
    uses: PolicySet,
    /// Policies that can hide a tool.
    sights: PolicySet,
    /// Policies that can require an approval.
    approvals: PolicySet,
    known: RwLock<HashMap<KnownKey, Arc<Known>>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct KnownKey {
    requester: Requester,
    action: Action,
    resource: ResourceKey,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum ResourceKey {
    Tool(ToolFacts),
    Other(String),
}

/// What is known about an action of a principal on a resource, before its context is.
struct Known {
    entities: Result<Entities, String>,
    /// The decision if some context permits it.
    at_best: Decision,
    /// The policies that a decision with a context needs; `None` if every context has the same.
    rest: Option<Rest>,
}

struct Rest {
    uses: PolicySet,
    approvals: PolicySet,
}

impl PolicyEngine {
    /// The engine of a policy file, or of a configuration without one, and of the globs of
    /// `pml.policy`.
    pub fn new(file: Option<PolicyFile>, globs: &GlobRules) -> Self {
        let mut named = globs.compile(file.is_some());
        named.extend(file.iter().flat_map(PolicyFile::named));
        let all_globs: HashSet<_> = file
            .iter()
            .flat_map(PolicyFile::globs)
            .chain(globs.globs())
            .cloned()
            .collect();
        // The names of entity types are identifiers, which always parse.
        let names = EntityNames::new(all_globs).unwrap_or_else(|| unreachable!());
        let sees = |policy: &Policy| applies(policy, &["see", "list", "search", "describe"]);
        let asks = |policy: &Policy| applies(policy, &["callUnapproved"]);
        Self {
            authorizer: Authorizer::new(),
            names,
            uses: set(&named, may_apply_to_use),
            sights: set(&named, sees),
            approvals: set(&named, asks),
            asking: named
                .iter()
                .filter(|known| known.policy.annotation("approve") == Some("true"))
                .map(|known| known.policy.id().clone())
                .collect(),
            about: named
                .into_iter()
                .map(|known| (known.policy.id().clone(), known.about))
                .collect(),
            known: RwLock::default(),
        }
    }

    /// Answers a query. A tool is seen if some context permits its call, and no policy forbids to see
    /// it. Without a context, a use is permitted if some context permits it. A policy that cannot be
    /// evaluated denies.
    pub fn decide(&self, query: &Query<'_>) -> Decision {
        let known = self.known(query);
        match (&known.rest, query.context) {
            (Some(rest), Some(_)) => self.with_context(query, &known, rest),
            _ => known.at_best.clone(),
        }
    }

    fn known(&self, query: &Query<'_>) -> Arc<Known> {
        let key = KnownKey {
            requester: query.requester.clone(),
            action: query.action,
            resource: match query.resource {
                Resource::Tool(tool) => ResourceKey::Tool(tool.clone()),
                other => ResourceKey::Other(other.id()),
            },
        };
        let poisoned = PoisonError::into_inner;
        if let Some(known) = self.known.read().unwrap_or_else(poisoned).get(&key) {
            return known.clone();
        }
        let known = Arc::new(match query.action {
            Action::List | Action::Search | Action::Describe => self.sight(query),
            _ => self.use_at_best(query),
        });
        let mut all = self.known.write().unwrap_or_else(|all| all.into_inner());
        if all.len() >= MAX_KNOWN {
            all.clear();
        }
        all.insert(key, known.clone());
        known
    }

    /// Whether a tool is seen.
    fn sight(&self, query: &Query<'_>) -> Known {
        let call = Query {
            action: Action::Call,
            context: None,
            ..*query
        };
        let callable = self.known(&call);
        if !callable.at_best.is_permitted() {
            return Known::always(callable.at_best.clone());
        }
        let entities = match &callable.entities {
            Ok(entities) => entities,
            Err(error) => return Known::always(failed(error.clone())),
        };
        let action = self.names.action(query.action, &query.resource);
        let request = self.request(query, action).context(Context::empty());
        let seen = self.concrete(&request.build(), &self.sights, entities);
        Known::always(match seen.verdict {
            Verdict::Deny => seen,
            _ => callable.at_best.clone(),
        })
    }

    /// Whether some context permits it.
    fn use_at_best(&self, query: &Query<'_>) -> Known {
        let entities = match self.names.entities(query) {
            Ok(entities) => entities,
            Err(error) => return Known::always(failed(error)),
        };
        let action = self.names.action(query.action, &query.resource);
        let request = self.request(query, action).build();
        let partial = self
            .authorizer
            .is_authorized_partial(&request, &self.uses, &entities);
        if let Some(policy) = partial.definitely_errored().next() {
            return Known::always(failed(self.name(policy)));
        }
        let satisfied: Vec<PolicyId> = ids(partial.definitely_satisfied());
        let open: Vec<PolicyId> = ids(partial.nontrivial_residuals())
            .into_iter()
            .filter(|id| !satisfied.contains(id))
            .collect();
        let is_denied = partial.decision() == Some(CedarDecision::Deny);
        let deciding: Vec<PolicyId> = ids(partial.must_be_determining());
        if is_denied {
            return Known::always(self.decision(Verdict::Deny, deciding, false));
        }
        let asks = self.approval_at_best(query, &entities);
        // A policy that is true whatever the context is can require approval, and so can an open one.
        let must_ask = asks.must_ask || satisfied.iter().any(|id| self.asking.contains(id));
        let verdict = match must_ask {
            true => Verdict::Ask,
            false => Verdict::Permit,
        };
        let depends = !open.is_empty() || (!must_ask && !asks.open.is_empty());
        // While the decision is open, those that permit it at best have decided.
        let mut by = match deciding.is_empty() {
            true => self.permits(&satisfied, &open),
            false => deciding,
        };
        by.extend(asks.by);
        let needed: HashSet<&PolicyId> = satisfied.iter().chain(&open).collect();
        let rest = depends.then(|| Rest {
            uses: subset(&self.uses, |id| needed.contains(id)),
            approvals: self.approvals.clone(),
        });
        Known {
            at_best: self.decision(verdict, by, depends),
            entities: Ok(entities),
            rest,
        }
    }

    /// The policies that permit a use: those that do in every context, or else those that may.
    fn permits(&self, satisfied: &[PolicyId], open: &[PolicyId]) -> Vec<PolicyId> {
        let permits = |id: &&PolicyId| {
            let policy = self.uses.policy(id);
            policy.is_some_and(|policy| policy.effect() == Effect::Permit)
        };
        let always: Vec<PolicyId> = satisfied.iter().filter(permits).cloned().collect();
        match always.is_empty() {
            true => open.iter().filter(permits).cloned().collect(),
            false => always,
        }
    }

    fn approval_at_best(&self, query: &Query<'_>, entities: &Entities) -> ApprovalAtBest {
        if query.action != Action::Call {
            return ApprovalAtBest::default();
        }
        let action = self.names.named_action("callUnapproved");
        let request = self.request(query, action).build();
        let partial = self
            .authorizer
            .is_authorized_partial(&request, &self.approvals, entities);
        let has_failed = partial.definitely_errored().next().is_some();
        let must_ask = has_failed || partial.decision() == Some(CedarDecision::Deny);
        ApprovalAtBest {
            must_ask,
            by: match must_ask {
                true => ids(partial.must_be_determining()),
                false => Vec::new(),
            },
            open: match partial.decision() {
                None => ids(partial.nontrivial_residuals()),
                Some(_) => Vec::new(),
            },
        }
    }

    fn with_context(&self, query: &Query<'_>, known: &Known, rest: &Rest) -> Decision {
        // `rest` is `None` without a context, or if there are no entities.
        let (Some(given), Ok(entities)) = (query.context, &known.entities) else {
            return known.at_best.clone();
        };
        let shape = match query.action {
            Action::Call => ContextShape::Call,
            Action::ReadResource => ContextShape::Named("uri"),
            Action::GetPrompt => ContextShape::Prompt,
            Action::Store | Action::Load => ContextShape::Named("key"),
            Action::List | Action::Search | Action::Describe => ContextShape::Bare,
        };
        let action = self.names.action(query.action, &query.resource);
        let request = match context(given, shape) {
            Ok(context) => self.request(query, action).context(context).build(),
            Err(error) => return failed(error),
        };
        let used = self.concrete(&request, &rest.uses, entities);
        if used.verdict == Verdict::Deny || query.action != Action::Call {
            return Decision {
                depends_on_context: true,
                ..used
            };
        }
        let action = self.names.named_action("callUnapproved");
        let request = match context(given, ContextShape::Bare) {
            Ok(context) => self.request(query, action).context(context).build(),
            Err(error) => return failed(error),
        };
        let unapproved = self.concrete(&request, &rest.approvals, entities);
        let must_ask = unapproved.verdict == Verdict::Deny;
        Decision {
            verdict: match must_ask {
                true => Verdict::Ask,
                false => used.verdict,
            },
            by: match must_ask {
                true => used.by.iter().chain(&*unapproved.by).cloned().collect(),
                false => used.by,
            },
            error: None,
            depends_on_context: true,
        }
    }

    fn request(
        &self,
        query: &Query<'_>,
        action: EntityUid,
    ) -> cedar_policy::RequestBuilder<cedar_policy::UnsetSchema> {
        Request::builder()
            .principal(self.names.principal(query.requester))
            .action(action)
            .resource(self.names.resource(&query.resource))
    }

    fn concrete(&self, request: &Request, policies: &PolicySet, entities: &Entities) -> Decision {
        let response = self.authorizer.is_authorized(request, policies, entities);
        if let Some(error) = response.diagnostics().errors().next() {
            return failed(self.error(error));
        }
        let reasons: Vec<PolicyId> = response.diagnostics().reason().cloned().collect();
        let verdict = match response.decision() {
            CedarDecision::Deny => Verdict::Deny,
            CedarDecision::Allow if reasons.iter().any(|id| self.asking.contains(id)) => {
                Verdict::Ask
            }
            CedarDecision::Allow => Verdict::Permit,
        };
        self.decision(verdict, reasons, false)
    }

    fn decision(
        &self,
        verdict: Verdict,
        mut by: Vec<PolicyId>,
        depends_on_context: bool,
    ) -> Decision {
        by.sort();
        by.dedup();
        let mut by: Vec<DecidingPolicy> = by
            .iter()
            .filter_map(|id| self.about.get(id).cloned())
            .collect();
        // The policy that a person wrote says more than one of pml.
        by.sort_by_key(|policy| policy.origin == super::PolicyOrigin::BuiltIn);
        Decision {
            verdict,
            by: by.into(),
            error: None,
            depends_on_context,
        }
    }

    fn error(&self, error: &cedar_policy::AuthorizationError) -> String {
        match error {
            cedar_policy::AuthorizationError::PolicyEvaluationError(error) => {
                format!("{}: {}", self.name(error.policy_id()), error.inner())
            }
        }
    }

    fn name(&self, policy: &PolicyId) -> String {
        match self.about.get(policy) {
            Some(about) => about.to_string(),
            None => format!("`{policy}`"),
        }
    }
}

impl fmt::Debug for PolicyEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let policies = self.about.values().map(ToString::to_string);
        f.debug_set().entries(policies).finish()
    }
}

impl Known {
    fn always(decision: Decision) -> Self {
        Self {
            entities: Err("the decision needs no entities".to_owned()),
            at_best: decision,
            rest: None,
        }
    }
}

/// What is known about approvals before the context is.
#[derive(Default)]
struct ApprovalAtBest {
    must_ask: bool,
    by: Vec<PolicyId>,
    open: Vec<PolicyId>,
}

fn failed(error: String) -> Decision {
    Decision {
        verdict: Verdict::Deny,
        by: Arc::new([]),
        error: Some(error),
        depends_on_context: true,
    }
}

fn ids(policies: impl Iterator<Item = Policy>) -> Vec<PolicyId> {
    policies.map(|policy| policy.id().clone()).collect()
}

fn set(named: &[NamedPolicy], wanted: impl Fn(&Policy) -> bool) -> PolicySet {
    let policies = named.iter().map(|known| &known.policy);
    let wanted = policies.filter(|policy| wanted(policy)).cloned();
    // Ids are unique: those of a file were checked, and those of pml have a `:`, `[` or `.`.
    PolicySet::from_policies(wanted).unwrap_or_else(|_| unreachable!())
}

fn subset(policies: &PolicySet, wanted: impl Fn(&PolicyId) -> bool) -> PolicySet {
    let policies = policies.policies().filter(|policy| wanted(policy.id()));
    // Ids of a part of a set are unique.
    PolicySet::from_policies(policies.cloned()).unwrap_or_default()
}

/// Whether the action of a policy can be one of these.
fn applies(policy: &Policy, names: &[&str]) -> bool {
    let is_named = |uid: &EntityUid| names.contains(&uid.id().unescaped());
    match policy.action_constraint() {
        ActionConstraint::Any => true,
        ActionConstraint::In(actions) => actions.iter().any(is_named),
        ActionConstraint::Eq(action) => is_named(&action),
    }
}

/// Whether a policy can apply to something else than seeing and asking.
fn may_apply_to_use(policy: &Policy) -> bool {
    const OTHER: [&str; 5] = ["see", "list", "search", "describe", "callUnapproved"];
    let is_use = |uid: &EntityUid| !OTHER.contains(&uid.id().unescaped());
    match policy.action_constraint() {
        ActionConstraint::Any => true,
        ActionConstraint::In(actions) => actions.iter().any(is_use),
        ActionConstraint::Eq(action) => is_use(&action),
    }
}

#[cfg(test)]
impl PolicyEngine {
    /// What Cedar says about a call, without partial evaluation and without the cache.
    pub(super) fn by_definition(
        &self,
        who: &str,
        tool: &ToolFacts,
        args: &serde_json::Value,
    ) -> bool {
        let label = crate::labels::Label::CLEAN;
        let given = super::query::CallContext {
            args: args.as_object(),
            name: None,
            time: std::time::SystemTime::now(),
            run: &label,
            session: &label,
        };
        let query = Query {
            requester: &Requester::parse(who),
            action: Action::Call,
            resource: Resource::Tool(tool),
            context: Some(&given),
        };
        let action = self.names.action(Action::Call, &query.resource);
        let given = context(&given, ContextShape::Call).unwrap();
        let request = self.request(&query, action).context(given).build();
        let entities = self.names.entities(&query).unwrap();
        let response = self
            .authorizer
            .is_authorized(&request, &self.uses, &entities);
        response.decision() == CedarDecision::Allow
            && response.diagnostics().errors().next().is_none()
    }
}
