//! Decisions by a policy file: 100 policies and 3,000 tools.
//!
//! A decision about a call that looks at its arguments takes at most 50 µs at the median, and listing all tools
//! again for the same principal at most 10 ms. The first list of a principal decides about every tool, and is
//! printed without a bound.
//!
//!     cargo run --release -p pml-bench --bin policy

use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use anyhow::ensure;
use pml_policy::authorize::{
    Action, CallContext, GlobRules, Hints, PolicyEngine, PolicyFile, Query, Requester, Resource,
    ToolFacts,
};
use pml_policy::labels::Label;
use serde_json::{Map, Value, json};

const POLICIES: usize = 100;
const TOOLS: usize = 3_000;
const ROUNDS: usize = 5;
const MAX_DECISION: Duration = Duration::from_micros(50);
const MAX_LISTING: Duration = Duration::from_millis(10);

/// Some policies for servers, some that look at arguments, some at labels.
fn policies() -> String {
    let mut text = String::new();
    for n in 0..POLICIES {
        // Four policies in a row are about one server, so that some decisions depend on the circumstances.
        let server = (n - n % 4) % 30;
        let _ = match n % 4 {
            0 => writeln!(
                text,
                "permit(principal, action in Action::\"call\", resource in Server::\"s{server}\");"
            ),
            1 => writeln!(
                text,
                "forbid(principal, action in Action::\"call\", resource in Server::\"s{server}\") when {{ context.args has path && context.args.path like \"*/secret{n}/*\" }};"
            ),
            2 => writeln!(
                text,
                "permit(principal == Principal::\"p{n}\", action in Action::\"call\", resource) when {{ resource.effect == \"read\" }};"
            ),
            _ => writeln!(
                text,
                "forbid(principal, action in Action::\"call\", resource in Glob::\"s{server}:write_*\") when {{ context.run.untrusted }};"
            ),
        };
    }
    text
}

fn tools() -> Vec<ToolFacts> {
    (0..TOOLS)
        .map(|n| ToolFacts {
            id: format!("s{}:{}_{n}", n % 30, ["read", "write", "list"][n % 3]),
            effect: ["read", "guarded", "idempotent"][n % 3].to_owned(),
            hints: Hints::default(),
        })
        .collect()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn main() -> anyhow::Result<()> {
    let file = PolicyFile::parse(Path::new("policy.cedar"), &policies())?;
    let engine = PolicyEngine::new(Some(file), &GlobRules::default());
    let tools = tools();
    let mut listings = Vec::new();
    let requester = Requester::local();
    for _ in 0..=ROUNDS {
        let started = Instant::now();
        let seen = tools.iter().filter(|tool| {
            let query = Query {
                requester: &requester,
                action: Action::List,
                resource: Resource::Tool(tool),
                context: None,
            };
            engine.decide(&query).is_permitted()
        });
        let seen = seen.count();
        listings.push(started.elapsed());
        ensure!(seen > 0 && seen < TOOLS, "{seen} tools are seen");
    }
    let args: Map<String, Value> =
        Map::from_iter([("path".to_owned(), json!("/home/jo/notes.txt"))]);
    let labels = [Label::CLEAN, Label::untrusted()];
    // What does not depend on the circumstances is decided once.
    let depends = |tool: &&ToolFacts| {
        let query = Query {
            requester: &requester,
            action: Action::Call,
            resource: Resource::Tool(tool),
            context: None,
        };
        engine.decide(&query).depends_on_context
    };
    let dependent: Vec<&ToolFacts> = tools.iter().filter(depends).collect();
    let mut decisions = Vec::new();
    for round in 0..ROUNDS {
        for tool in &dependent {
            let context = CallContext {
                args: Some(&args),
                name: None,
                time: SystemTime::now(),
                run: &labels[round % 2],
                session: &Label::CLEAN,
            };
            let query = Query {
                requester: &requester,
                action: Action::Call,
                resource: Resource::Tool(tool),
                context: Some(&context),
            };
            let started = Instant::now();
            std::hint::black_box(engine.decide(&query));
            decisions.push(started.elapsed());
        }
    }
    let first = listings.remove(0);
    let (decision, listing) = (median(decisions), median(listings));
    println!("{POLICIES} policies, {TOOLS} tools");
    println!("  decision about a call, p50      {decision:?} (at most {MAX_DECISION:?})");
    println!(
        "  list for a principal, p50       {listing:?} (at most {MAX_LISTING:?}), first {first:?}"
    );
    ensure!(decision <= MAX_DECISION, "a decision takes too long");
    ensure!(listing <= MAX_LISTING, "a listing takes too long");
    Ok(())
}
