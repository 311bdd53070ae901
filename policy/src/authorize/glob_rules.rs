//! The globs of `pml.policy` as Cedar policies.
//!
//! A glob is an entity `Glob::"fs:read_*"`, and the tools that it matches are in it. So Cedar decides by
//! exactly the matches of [`ToolGlob`], which has wildcards that Cedar has not. Globs only take away:
//! what the policy file does not permit, `allow` does not permit either.

use cedar_policy::{Policy, PolicyId};

use super::decision::{DecidingPolicy, PolicyOrigin};
use crate::tool_glob::ToolGlob;

/// The globs of `pml.policy`.
#[derive(Debug, Clone, Default)]
pub struct GlobRules {
    /// `pml.policy.allow`: the only tools that may be called. `None` is every tool.
    pub allow: Option<Vec<ToolGlob>>,
    /// `pml.policy.deny`: tools that may not be called.
    pub deny: Vec<ToolGlob>,
    /// `pml.policy.ask`: tools whose calls need approval.
    pub ask: Vec<ToolGlob>,
}

/// A policy with what is known about it.
pub struct NamedPolicy {
    pub policy: Policy,
    pub about: DecidingPolicy,
}

/// What is permitted whatever a policy file says, and can be forbidden: to see what may be called, to
/// call it without approval, and to use the values of the own session.
const BUILT_IN: &str = r#"permit(principal, action in [Action::"see", Action::"callUnapproved", Action::"store", Action::"load"], resource);"#;
/// Without a policy file, everything.
const UNCONFIGURED: &str = "permit(principal, action, resource);";

impl GlobRules {
    /// The policies of the globs, and those that pml adds.
    pub(crate) fn compile(&self, has_file: bool) -> Vec<NamedPolicy> {
        let mut compiled = vec![built_in("pml:own-session", BUILT_IN)];
        if !has_file {
            compiled.push(built_in("pml:no-policy-file", UNCONFIGURED));
        }
        for (n, glob) in self.deny.iter().enumerate() {
            let text = format!("forbid(principal, action, resource in {});", entity(glob));
            compiled.push(configured("pml.policy.deny", n, Some(glob), &text));
        }
        for (n, glob) in self.ask.iter().enumerate() {
            let text = format!(
                "forbid(principal, action == Action::\"callUnapproved\", resource in {});",
                entity(glob)
            );
            compiled.push(configured("pml.policy.ask", n, Some(glob), &text));
        }
        if let Some(allow) = &self.allow {
            let globs: Vec<String> = allow.iter().map(entity).collect();
            let text = format!(
                "forbid(principal, action, resource) unless {{ resource is Storage || resource in [{}] }};",
                globs.join(", ")
            );
            compiled.push(configured("pml.policy.allow", 0, None, &text));
        }
        compiled.into_iter().flatten().collect()
    }

    /// All globs.
    pub(crate) fn globs(&self) -> impl Iterator<Item = &ToolGlob> {
        let allow = self.allow.iter().flatten();
        allow.chain(&self.deny).chain(&self.ask)
    }
}

fn entity(glob: &ToolGlob) -> String {
    format!("Glob::\"{}\"", glob.to_string().escape_debug())
}

/// `None` is impossible: the texts here are valid policies, whatever a glob is.
fn built_in(id: &str, text: &str) -> Option<NamedPolicy> {
    named(id, PolicyOrigin::BuiltIn, text)
}

fn configured(
    key: &'static str,
    n: usize,
    glob: Option<&ToolGlob>,
    text: &str,
) -> Option<NamedPolicy> {
    let glob = glob.map(ToString::to_string);
    let id = format!("{key}[{n}]");
    named(&id, PolicyOrigin::Configuration { key, glob }, text)
}

fn named(id: &str, origin: PolicyOrigin, text: &str) -> Option<NamedPolicy> {
    let policy = Policy::parse(Some(PolicyId::new(id)), text);
    debug_assert!(policy.is_ok(), "{text}: {policy:?}");
    Some(NamedPolicy {
        policy: policy.ok()?,
        about: DecidingPolicy {
            id: id.to_owned(),
            origin,
            message: None,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_glob_becomes_a_policy_whatever_its_characters_are() {
        for text in [
            "fs:*",
            "*",
            "a\"b:c\\d",
            "fs:\u{7f}\u{200b}ü?",
            "x:y\ny",
            "x:'",
        ] {
            let glob: ToolGlob = text.parse().unwrap();
            let rules = GlobRules {
                allow: Some(vec![glob.clone()]),
                deny: vec![glob.clone()],
                ask: vec![glob],
            };
            assert_eq!(rules.compile(true).len(), 4, "{text:?}");
        }
    }
}
