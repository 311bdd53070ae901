//! The decision function: its rules, and that every way to ask agrees.

use std::time::SystemTime;

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::*;
use crate::labels::Label;
use crate::tool_glob::ToolGlob;

fn tool(id: &str, effect: &str) -> ToolFacts {
    ToolFacts {
        id: id.to_owned(),
        effect: effect.to_owned(),
        hints: Hints::default(),
    }
}

fn engine(text: &str) -> PolicyEngine {
    let file = PolicyFile::parse("p.cedar".as_ref(), text).unwrap();
    PolicyEngine::new(Some(file), &GlobRules::default())
}

fn decide(engine: &PolicyEngine, who: &str, action: Action, tool: &ToolFacts) -> Decision {
    engine.decide(&Query {
        requester: &Requester::parse(who),
        action,
        resource: Resource::Tool(tool),
        context: None,
    })
}

fn call(engine: &PolicyEngine, who: &str, tool: &ToolFacts, args: &Value) -> Decision {
    let args = args.as_object().unwrap();
    let context = CallContext {
        args: Some(args),
        name: None,
        time: SystemTime::now(),
        run: &Label::CLEAN,
        session: &Label::CLEAN,
    };
    engine.decide(&Query {
        requester: &Requester::parse(who),
        action: Action::Call,
        resource: Resource::Tool(tool),
        context: Some(&context),
    })
}

const FILE: &str = r#"
@id("ci-reads")
permit(principal == Principal::"ci", action in Action::"call", resource) when { resource.effect == "read" };

@id("ci-writes-tmp")
permit(principal == Principal::"ci", action == Action::"fs:write", resource)
when { context.args.path like "/tmp/*" };

@id("no-dotfiles") @message("dot files are private")
forbid(principal, action in Action::"call", resource)
when { context.args has path && context.args.path like "*/.*" };

@id("mail") @approve("true")
permit(principal, action == Action::"mail:send", resource);
"#;

#[test]
fn what_no_policy_permits_is_denied_and_not_seen() {
    let engine = engine(FILE);
    let other = tool("db:drop", "guarded");
    for action in [Action::List, Action::Search, Action::Describe, Action::Call] {
        let decision = decide(&engine, "ci", action, &other);
        assert_eq!(decision.verdict, Verdict::Deny);
        assert!(
            decision
                .denial("db:drop", "ci")
                .contains("no policy permits it to `ci`")
        );
    }
}

#[test]
fn a_tool_is_seen_if_some_arguments_permit_its_call() {
    let engine = engine(FILE);
    let write = tool("fs:write", "guarded");
    assert!(decide(&engine, "ci", Action::List, &write).is_permitted());
    assert!(!decide(&engine, "local", Action::List, &write).is_permitted());
    assert_eq!(
        call(&engine, "ci", &write, &json!({ "path": "/tmp/a" })).verdict,
        Verdict::Permit
    );
    let denied = call(&engine, "ci", &write, &json!({ "path": "/etc/a" }));
    assert_eq!(denied.verdict, Verdict::Deny);
}

#[test]
fn a_denial_names_the_policy_its_line_and_its_message() {
    let engine = engine(FILE);
    let denied = call(
        &engine,
        "ci",
        &tool("fs:write", "guarded"),
        &json!({ "path": "/tmp/.env" }),
    );
    assert_eq!(
        denied.denial("fs:write", "ci"),
        "`fs:write` may not be called: the policy `no-dotfiles` (p.cedar:9) forbids it: dot files are private"
    );
}

#[test]
fn an_annotated_permit_asks() {
    let engine = engine(FILE);
    let send = tool("mail:send", "guarded");
    assert_eq!(
        call(&engine, "local", &send, &json!({})).verdict,
        Verdict::Ask
    );
    assert_eq!(
        decide(&engine, "local", Action::Call, &send).verdict,
        Verdict::Ask
    );
}

#[test]
fn a_forbidden_unapproved_call_asks() {
    let engine = engine(
        r#"permit(principal, action in Action::"call", resource);
           forbid(principal, action == Action::"callUnapproved", resource) when { resource.effect == "guarded" };
           forbid(principal, action == Action::"callUnapproved", resource) when { context.run.untrusted };"#,
    );
    let verdict = |effect, run: &Label| {
        let no_args = Map::new();
        let context = CallContext {
            args: Some(&no_args),
            name: None,
            time: SystemTime::now(),
            run,
            session: &Label::CLEAN,
        };
        let query = Query {
            requester: &Requester::local(),
            action: Action::Call,
            resource: Resource::Tool(&tool("a:b", effect)),
            context: Some(&context),
        };
        engine.decide(&query).verdict
    };
    assert_eq!(verdict("guarded", &Label::CLEAN), Verdict::Ask);
    assert_eq!(verdict("read", &Label::CLEAN), Verdict::Permit);
    assert_eq!(verdict("read", &Label::untrusted()), Verdict::Ask);
}

#[test]
fn a_policy_that_cannot_be_evaluated_denies() {
    let engine = engine(
        r#"permit(principal, action in Action::"call", resource);
           @id("small") forbid(principal, action == Action::"pay:send", resource) when { context.args.amount > 100 };"#,
    );
    let pay = tool("pay:send", "guarded");
    assert!(call(&engine, "local", &pay, &json!({ "amount": 100 })).is_permitted());
    assert!(!call(&engine, "local", &pay, &json!({ "amount": 101 })).is_permitted());
    assert!(!call(&engine, "local", &pay, &json!({ "amount": 101.0 })).is_permitted());
    for odd in [
        json!({ "amount": 100.5 }),
        json!({ "amount": null }),
        json!({}),
        json!({ "amount": "1" }),
    ] {
        let decision = call(&engine, "local", &pay, &odd);
        assert_eq!(decision.verdict, Verdict::Deny, "{odd}");
        assert!(
            decision
                .denial("pay:send", "local")
                .contains("`small` (p.cedar:2)"),
            "{odd}"
        );
    }
}

#[test]
fn a_tool_can_be_hidden_from_search_alone() {
    let engine = engine(
        r#"permit(principal, action in Action::"call", resource);
           forbid(principal, action == Action::"search", resource in Glob::"fs:*");"#,
    );
    let read = tool("fs:read", "read");
    assert!(decide(&engine, "local", Action::Call, &read).is_permitted());
    assert!(decide(&engine, "local", Action::List, &read).is_permitted());
    assert!(!decide(&engine, "local", Action::Search, &read).is_permitted());
}

#[test]
fn the_time_of_day_can_decide() {
    let engine = engine(
        r#"permit(principal, action in Action::"call", resource) when { context.time.toTime() < duration("12h") };"#,
    );
    let at = |seconds| {
        let no_args = Map::new();
        let context = CallContext {
            args: Some(&no_args),
            name: None,
            time: SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(seconds),
            run: &Label::CLEAN,
            session: &Label::CLEAN,
        };
        let query = Query {
            requester: &Requester::local(),
            action: Action::Call,
            resource: Resource::Tool(&tool("a:b", "read")),
            context: Some(&context),
        };
        engine.decide(&query).is_permitted()
    };
    assert!(at(86_400 * 20_000 + 3_600));
    assert!(!at(86_400 * 20_000 + 13 * 3_600));
}

#[test]
fn stored_values_are_the_sessions_own_until_a_policy_forbids_them() {
    let stores = |engine: &PolicyEngine| {
        let query = Query {
            requester: &Requester::local(),
            action: Action::Store,
            resource: Resource::Storage,
            context: None,
        };
        engine.decide(&query).is_permitted()
    };
    assert!(stores(&engine(FILE)));
    assert!(!stores(&engine(
        "forbid(principal, action == Action::\"store\", resource);"
    )));
    let allow_none = GlobRules {
        allow: Some(vec![]),
        ..GlobRules::default()
    };
    assert!(stores(&PolicyEngine::new(None, &allow_none)));
}

#[test]
fn principals_of_two_tenants_are_two_principals() {
    let ids: Vec<String> = [
        ("local", "ci"),
        ("acme", "ci"),
        ("local", "acme/ci"),
        ("a/b", "c"),
        ("a", "b/c"),
    ]
    .iter()
    .map(|(tenant, name)| Requester::named(tenant, name).entity_id())
    .collect();
    let different: std::collections::BTreeSet<_> = ids.iter().collect();
    assert_eq!(different.len(), ids.len(), "{ids:?}");
}

#[test]
fn expectations_are_compared_with_their_policy() {
    let expected = Expectations::parse(
        r#"{ "tools": { "fs:write": { "effect": "guarded" } }, "expect": [
            { "principal": "ci", "tool": "fs:write", "args": { "path": "/tmp/a" }, "decision": "permit", "by": "ci-writes-tmp" },
            { "principal": "ci", "tool": "fs:write", "args": { "path": "/etc/a" }, "decision": "permit" },
            { "principal": "ci", "tool": "fs:write", "args": { "path": "/tmp/.a" }, "decision": "deny", "by": "other" },
            { "principal": "ci", "tool": "fs:write", "action": "search", "decision": "permit" } ] }"#,
    )
    .unwrap();
    let differences = expected.differences(&engine(FILE), |_| None);
    let shown: Vec<String> = differences.iter().map(ToString::to_string).collect();
    assert_eq!(
        shown,
        [
            "expectation 2: `ci` on `fs:write`: expected permit, decided deny because no policy permits it",
            "expectation 3: `ci` on `fs:write`: expected deny by `other`, decided deny by `no-dotfiles` (p.cedar:9)"
        ]
    );
    assert!(
        Expectations::parse("{ \"expect\": [{}] }")
            .unwrap_err()
            .to_string()
            .contains("line 1")
    );
}

/// A policy made of the parts that policies are made of.
fn policy() -> impl Strategy<Value = String> {
    let effect = prop_oneof![Just("permit"), Just("forbid")];
    let principal = prop_oneof![
        Just("principal".to_owned()),
        Just("principal == Principal::\"a\"".to_owned()),
        Just("principal in Tenant::\"local\"".to_owned()),
    ];
    let action = prop_oneof![
        Just("action".to_owned()),
        Just("action in Action::\"call\"".to_owned()),
        Just("action in Action::\"see\"".to_owned()),
        Just("action == Action::\"search\"".to_owned()),
        Just("action == Action::\"a:a\"".to_owned()),
        Just("action == Action::\"callUnapproved\"".to_owned()),
    ];
    let resource = prop_oneof![
        Just("resource".to_owned()),
        "[ab*?]{1,2}:[ab*?]{1,2}".prop_map(|glob| format!("resource in Glob::\"{glob}\"")),
        Just("resource in Server::\"a\"".to_owned()),
    ];
    let condition = prop_oneof![
        Just("".to_owned()),
        Just("when { resource has effect && resource.effect == \"read\" }".to_owned()),
        Just("when { context has args && context.args has n && context.args.n == 1 }".to_owned()),
        Just("unless { context has run && context.run.untrusted }".to_owned()),
    ];
    let approve = prop_oneof![3 => Just(""), 1 => Just("@approve(\"true\") ")];
    (approve, effect, principal, action, resource, condition).prop_map(
        |(approve, effect, principal, action, resource, condition)| {
            let approve = if effect == "permit" { approve } else { "" };
            format!("{approve}{effect}({principal}, {action}, {resource}) {condition};")
        },
    )
}

fn rules() -> impl Strategy<Value = GlobRules> {
    let glob = "[ab*?]{1,2}:[ab*?]{1,2}".prop_map(|text| text.parse::<ToolGlob>().unwrap());
    let list = proptest::collection::vec(glob, 0..3);
    (proptest::option::of(list.clone()), list.clone(), list)
        .prop_map(|(allow, deny, ask)| GlobRules { allow, deny, ask })
}

fn any_tool() -> impl Strategy<Value = ToolFacts> {
    (
        "[ab]{1,2}:[ab]{1,2}",
        prop_oneof![Just("read"), Just("guarded")],
    )
        .prop_map(|(id, effect)| tool(&id, effect))
}

proptest! {
    /// Without a policy file, the compiled globs decide as the globs do.
    #[test]
    fn compiled_globs_decide_as_globs(rules in rules(), tool in any_tool()) {
        let engine = PolicyEngine::new(None, &rules);
        let matches = |globs: &[ToolGlob]| globs.iter().any(|glob| glob.matches(&tool.id));
        let is_allowed = rules.allow.as_deref().is_none_or(matches) && !matches(&rules.deny);
        let expected = match (is_allowed, matches(&rules.ask)) {
            (false, _) => Verdict::Deny,
            (true, true) => Verdict::Ask,
            (true, false) => Verdict::Permit,
        };
        prop_assert_eq!(call(&engine, "local", &tool, &json!({})).verdict, expected);
        for action in [Action::List, Action::Search, Action::Describe] {
            prop_assert_eq!(decide(&engine, "local", action, &tool).is_permitted(), is_allowed);
        }
    }

    /// What is called with some arguments is seen unless a policy hides it, what is not seen is never
    /// called, and the cache never changes a decision.
    #[test]
    fn all_ways_to_ask_agree(
        policies in proptest::collection::vec(policy(), 0..6),
        rules in rules(),
        tools in proptest::collection::vec(any_tool(), 1..6),
        n in 0..3,
        who in prop_oneof![Just("a"), Just("local"), Just("other/a")],
    ) {
        let text = policies.join("\n");
        let Ok(file) = PolicyFile::parse("p.cedar".as_ref(), &text) else {
            return Err(TestCaseError::reject("the policies do not fit the schema"));
        };
        let engine = PolicyEngine::new(Some(file.clone()), &rules);
        for tool in &tools {
            let args = json!({ "n": n });
            let called = call(&engine, who, tool, &args);
            let listed = decide(&engine, who, Action::List, tool);
            let could = decide(&engine, who, Action::Call, tool);
            // What a call decides, a list of callable tools does not contradict.
            prop_assert!(!called.is_permitted() || could.is_permitted());
            prop_assert!(!listed.is_permitted() || could.is_permitted());
            if !policies.iter().any(|text| text.contains("\"see\"") || text.contains("\"search\"") || text.contains("forbid(principal, action, ") || text.contains(", action, ")) {
                prop_assert_eq!(listed.is_permitted(), could.is_permitted());
            }
            // A new engine, which knows nothing yet, decides the same.
            let fresh = PolicyEngine::new(Some(file.clone()), &rules);
            let again = call(&fresh, who, tool, &args);
            prop_assert_eq!(again.verdict, called.verdict);
            if !could.depends_on_context {
                prop_assert_eq!(could.verdict, called.verdict);
            }
            // Cedar itself, with everything known at once.
            prop_assert_eq!(called.is_permitted(), engine.by_definition(who, tool, &args));
        }
    }
}
