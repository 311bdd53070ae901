//! `pml tools show`: every rule that is in force for one tool.

use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use anyhow::bail;
use clap::Args;
use pml_gateway::policy::PolicyConfig;
use pml_gateway::policy::approval::Approval;
use pml_gateway::policy::budget::BudgetConfig;
use pml_gateway::{Config, Effect, Gateway, RunLabels, Tool};
use pml_hosts::CallCosts;
use pml_policy::authorize::{
    Action, Decision, Hints, PolicyEngine, PolicyFile, Query, Requester, Resource, ToolFacts,
};
use pml_policy::lock::LockFile;
use pml_policy::tool_glob::server_of;
use pml_protocol::split_version;
use serde_json::{Value, json};

use crate::exit::ExitCode;
use crate::style::Style;
use crate::tools::{LISTING_TIMEOUT, check_name};
use crate::{config, diagnostics, exit};

/// Tools that a message suggests.
const NEAREST: usize = 3;
/// The time limit of a call, unless its server or the run has another.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

/// Show every rule that is in force for a tool
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pml tools show fs:write_file\n  \
    pml tools show mail:send --principal acme/ci\n  \
    pml tools show fs:read_file --json | jq .guards\n\n\
    Exit codes: 0 ok, 1 there is no such tool or its server cannot be listed, 2 wrong usage or configuration.")]
pub struct ShowArgs {
    /// The id of the tool: `server:tool`
    tool: String,

    /// Whose rules are shown, as in policies: `local`, `ci`, or `acme/ci` in another tenant
    #[arg(long, default_value = "local")]
    principal: String,

    /// Print the result as JSON on standard output
    #[arg(long)]
    json: bool,
}

pub fn run(args: &ShowArgs, config: Option<&Path>) -> ExitCode {
    show(args, config).unwrap_or_else(exit::usage_error)
}

/// What the configuration says, which the gateway takes.
struct Known {
    policy: PolicyConfig,
    engine: PolicyEngine,
    lock: Option<LockFile>,
    /// The program or the address of the server, and the time limit of its calls.
    source: Option<String>,
    timeout: Duration,
    costs: CallCosts,
}

impl Known {
    fn read(servers: &Config, costs: CallCosts, tool: &str) -> anyhow::Result<Self> {
        let policy: PolicyConfig = servers.section("policy")?;
        let file = servers.policy_path(&policy);
        let file = file.map(|path| PolicyFile::read(&path)).transpose()?;
        let engine = PolicyEngine::new(file, &policy.glob_rules());
        let lock = match config::lock_file(servers) {
            Some(path) => LockFile::read(&path)?,
            None => None,
        };
        let server = servers.servers.get(server_of(tool));
        Ok(Self {
            policy,
            engine,
            lock,
            source: server.map(|server| server.identity.to_string()),
            timeout: server
                .and_then(|server| server.timeout)
                .unwrap_or(DEFAULT_TIMEOUT),
            costs,
        })
    }
}

fn show(args: &ShowArgs, config: Option<&Path>) -> anyhow::Result<ExitCode> {
    let (id, version) = split_version(&args.tool);
    if version.is_some() || !id.contains(':') {
        bail!(
            "`{}` is no tool: write `server:tool`, without a version",
            args.tool
        );
    }
    let settings = config::require(config)?;
    let known = Known::read(&settings.servers, settings.workflows.call_costs(), id)?;
    let requester = Requester::parse(&args.principal);
    crate::servers::with_gateway(settings.servers, async |gateway| {
        check_name(gateway, server_of(id))?;
        let gateway = &gateway.acting_for(&requester.tenant, &requester.name);
        // All tools of the server, also those that the principal does not see.
        let listing = gateway.list(Some(server_of(id)), LISTING_TIMEOUT).await;
        if let Some((server, problem)) = listing.problems.first() {
            diagnostics::error(format_args!("server `{server}`: {problem}"));
            return Ok(ExitCode::FAILURE);
        }
        let all = gateway.indexed_tools();
        let tool = all.iter().find(|tool| tool.id.as_str() == id);
        let facts = match tool {
            Some(tool) => gateway.facts(tool),
            None => unlisted(id),
        };
        let decision = known.engine.decide(&Query {
            requester: &requester,
            action: Action::Call,
            resource: Resource::Tool(&facts),
            context: None,
        });
        // The globs of `pml.policy` hide a tool from every list.
        if tool.is_none() && decision.is_permitted() {
            let ids = all.iter().map(|tool| tool.id.as_str());
            let near = pml_nearest::nearest(id, ids, NEAREST);
            let hint = match near.is_empty() {
                true => "`pml tools` lists all".to_owned(),
                false => format!("the nearest are `{}`", near.join("`, `")),
            };
            diagnostics::error(format_args!("there is no tool `{id}`; {hint}"));
            return Ok(ExitCode::FAILURE);
        }
        let rules = rules(
            gateway,
            &known,
            &requester,
            tool.map(AsRef::as_ref),
            (id, &decision),
        );
        exit::check_pipe(match args.json {
            true => print_json(&rules),
            false => print_text(&rules),
        })?;
        Ok(ExitCode::SUCCESS)
    })
}

/// What policies know about a tool that is in no list.
fn unlisted(id: &str) -> ToolFacts {
    ToolFacts {
        id: id.to_owned(),
        effect: "guarded".to_owned(),
        hints: Hints::default(),
    }
}

/// All rules, by what they are about. A value is a text or a list of texts; objects have further ones.
fn rules(
    gateway: &Gateway,
    known: &Known,
    requester: &Requester,
    tool: Option<&Tool>,
    (id, decision): (&str, &Decision),
) -> Value {
    let effect = tool.map(|tool| gateway.effect(tool));
    let by: Vec<String> = decision.by.iter().map(ToString::to_string).collect();
    let approval = tool.and_then(|tool| gateway.approval(tool, None, RunLabels::default()).ok());
    let guards = gateway.guards_of(id);
    json!({
        "tool": id,
        "source": {
            "server": server_of(id),
            "reachedBy": known.source,
            "transport": gateway.transport_of(server_of(id)),
            "isListed": tool.is_some(),
        },
        "effect": effect.as_ref().map(effect_rule),
        "policy": {
            "principal": requester.entity_id(),
            "verdict": decision.verdict.as_str(),
            "by": by,
            "error": decision.error,
            "dependsOnArguments": decision.depends_on_context,
            "approval": approval.map(approval_word),
        },
        "lock": lock_rule(known, id, tool),
        "labels": {
            "mode": gateway.label_rules().mode(),
            "returns": tool.map(|tool| gateway.source_label(tool).to_string()),
            "accepts": tool.map(|tool| gateway.sink(tool).words()),
        },
        "guards": { "preset": gateway.guard_preset(), "rules": guards },
        "limits": limit_rules(gateway, known, id),
        "rates": rate_rules(gateway, id),
        "cache": cache_rule(known, id),
        "retry": retry_rule(known, effect.as_ref()),
        "price": known.costs.of(id),
    })
}

fn effect_rule(effect: &Effect) -> Value {
    json!({
        "class": effect.class,
        "source": effect.source.to_string(),
        "keyArgument": effect.key_argument,
        "reconcileTool": effect.reconcile.as_ref().map(|reconcile| reconcile.tool().as_str()),
    })
}

fn approval_word(approval: Approval) -> &'static str {
    match approval {
        Approval::NotNeeded => "not needed",
        Approval::Needed => "needed",
        Approval::IfPossible => "asked for where a person can be asked",
    }
}

fn lock_rule(known: &Known, id: &str, tool: Option<&Tool>) -> Value {
    let Some(lock) = &known.lock else {
        return json!({ "state": "no lock file" });
    };
    let name = id.split_once(':').map_or(id, |(_, name)| name);
    let pin = lock.tool(server_of(id), name);
    let state = match (tool.and_then(|tool| tool.quarantine), pin) {
        (Some(quarantine), _) => format!("quarantined: it {quarantine}"),
        (None, Some(_)) => "as pinned".to_owned(),
        (None, None) => "not pinned".to_owned(),
    };
    let previous = pin.iter().flat_map(|pin| &pin.previous);
    let previous: Vec<String> = previous
        .map(|previous| previous.version.to_string())
        .collect();
    json!({
        "state": state,
        "version": pin.map(|pin| pin.version.to_string()),
        "digest": pin.map(|pin| pin.digest.as_str()),
        "previous": previous,
    })
}

fn limit_rules(gateway: &Gateway, known: &Known, id: &str) -> Value {
    let limits = gateway.limits_of(id);
    let mut rules: Vec<String> = limits
        .slots
        .iter()
        .map(|(name, size)| format!("{size} calls at once of {name}"))
        .collect();
    if let Some(size) = limits.principal_slots {
        rules.push(format!("{size} calls at once of the principal"));
    }
    let BudgetConfig { calls, tools, time } = &known.policy.budget;
    if *calls < u32::MAX {
        rules.push(format!("{calls} calls per run"));
    }
    for (glob, calls) in tools.iter().filter(|(glob, _)| glob.matches(id)) {
        rules.push(format!("{calls} calls of tools `{glob}` per run"));
    }
    if let Some(time) = time {
        rules.push(format!("{time} of all calls of a run together"));
    }
    rules.push(format!("{} s per call", known.timeout.as_secs_f64()));
    json!(rules)
}

fn rate_rules(gateway: &Gateway, id: &str) -> Value {
    let limits = gateway.limits_of(id);
    let of_principal = limits
        .principal_rate
        .map(|rate| ("the principal".to_owned(), rate));
    let rates = limits.rates.into_iter().chain(of_principal);
    let rates: Vec<String> = rates
        .map(|(name, rate)| format!("{rate} of {name}"))
        .collect();
    json!(rates)
}

fn cache_rule(known: &Known, id: &str) -> Value {
    let ttls = known
        .policy
        .cache
        .tools
        .iter()
        .filter(|(glob, _)| glob.matches(id));
    match ttls.min_by_key(|(_, ttl)| **ttl) {
        Some((glob, ttl)) => json!(format!("results for {ttl}, by `{glob}`")),
        None => Value::Null,
    }
}

fn retry_rule(known: &Known, effect: Option<&Effect>) -> Value {
    let attempts = known.policy.retry.attempts;
    json!(
        match effect.is_some_and(|effect| effect.class.is_repeatable()) {
            true => format!("up to {attempts} attempts"),
            false => format!(
                "up to {attempts} attempts while the call has certainly not reached the server, else none"
            ),
        }
    )
}

fn print_json(rules: &Value) -> io::Result<()> {
    let mut out = Style::escaped_stdout();
    serde_json::to_writer_pretty(&mut out, rules)?;
    writeln!(out)?;
    out.flush()
}

fn print_text(rules: &Value) -> io::Result<()> {
    let mut out = Style::escaped_stdout();
    writeln!(out, "{}", word(&rules["tool"]))?;
    for (name, rule) in [
        ("source", source_lines(&rules["source"])),
        ("effect", effect_lines(&rules["effect"])),
        ("policy", policy_lines(&rules["policy"])),
        ("lock", lock_lines(&rules["lock"])),
        ("labels", label_lines(&rules["labels"])),
        ("guards", guard_lines(&rules["guards"])),
        ("limits", lines_of(&rules["limits"])),
        ("rates", lines_of(&rules["rates"])),
        ("cache", lines_of(&rules["cache"])),
        ("retry", lines_of(&rules["retry"])),
        ("price", lines_of(&rules["price"])),
    ] {
        let mut title = name;
        for line in rule {
            writeln!(out, "  {title:7}  {line}")?;
            title = "";
        }
    }
    out.flush()
}

/// A text as it is, nothing as `none`, anything else as JSON.
fn word(value: &Value) -> String {
    match value {
        Value::Null => "none".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn lines_of(rule: &Value) -> Vec<String> {
    match rule.as_array() {
        Some(rules) if rules.is_empty() => vec!["none".to_owned()],
        Some(rules) => rules.iter().map(word).collect(),
        None => vec![word(rule)],
    }
}

fn source_lines(source: &Value) -> Vec<String> {
    let server = word(&source["server"]);
    let mut lines = vec![format!("server `{server}`: {}", word(&source["reachedBy"]))];
    if source["isListed"] == false {
        lines.push("not listed, because the policy denies it".to_owned());
    }
    lines
}

fn effect_lines(effect: &Value) -> Vec<String> {
    if effect.is_null() {
        return vec!["not known".to_owned()];
    }
    let mut lines = vec![format!(
        "{}, by {}",
        word(&effect["class"]),
        word(&effect["source"])
    )];
    if let Some(key) = effect["keyArgument"].as_str() {
        lines.push(format!("the idempotency key is `{key}`"));
    }
    if let Some(tool) = effect["reconcileTool"].as_str() {
        lines.push(format!("`{tool}` tells whether a call happened"));
    }
    lines
}

fn policy_lines(policy: &Value) -> Vec<String> {
    let by = match policy["by"].as_array().filter(|by| !by.is_empty()) {
        Some(by) => by.iter().map(word).collect::<Vec<_>>().join(", "),
        None => "no policy".to_owned(),
    };
    let (verdict, principal) = (word(&policy["verdict"]), word(&policy["principal"]));
    let mut lines = vec![format!("{verdict} for {principal}, by {by}")];
    if let Some(error) = policy["error"].as_str() {
        lines.push(format!(
            "a policy cannot be evaluated, which denies: {error}"
        ));
    }
    if policy["dependsOnArguments"] == true {
        lines.push("the arguments or the time can change it".to_owned());
    }
    if let Some(approval) = policy["approval"].as_str() {
        lines.push(format!("approval: {approval}"));
    }
    lines
}

fn lock_lines(lock: &Value) -> Vec<String> {
    let mut lines = vec![word(&lock["state"])];
    if let Some(version) = lock["version"].as_str() {
        lines.push(format!("version {version}, {}", word(&lock["digest"])));
    }
    if let Some(previous) = lock["previous"].as_array().filter(|all| !all.is_empty()) {
        let previous: Vec<String> = previous.iter().map(word).collect();
        lines.push(format!("earlier versions: {}", previous.join(", ")));
    }
    lines
}

fn label_lines(labels: &Value) -> Vec<String> {
    vec![format!(
        "returns {}; accepts {} ({})",
        word(&labels["returns"]),
        word(&labels["accepts"]),
        word(&labels["mode"])
    )]
}

fn guard_lines(guards: &Value) -> Vec<String> {
    let mut lines = vec![format!("preset {}", word(&guards["preset"]))];
    let rules = guards["rules"].as_array();
    for rule in rules.into_iter().flatten() {
        let (verdict, guard) = (word(&rule["verdict"]), word(&rule["guard"]));
        lines.push(format!("{verdict:6} {guard}: {}", word(&rule["rule"])));
    }
    lines
}
