//! `pml policy`: checks, explains and tests the policies that decide who may call which tool.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use pml_gateway::policy::PolicyConfig;
use pml_gateway::{Config, Gateway, Tool};
use pml_policy::authorize::{
    Action, CallContext, Decision, Expectations, Hints, Mistake, PolicyEngine, PolicyFile,
    PolicyFileError, PolicyOrigin, Query, Requester, Resource, ToolFacts, schema, validate,
};
use pml_policy::labels::Label;
use serde_json::{Map, Value, json};

use crate::exit::ExitCode;
use crate::tools::LISTING_TIMEOUT;
use crate::{config, diagnostics, exit, servers};

/// Check, explain and test who may call which tool
///
/// `pml.policy.file` names a file of Cedar policies. With it, everything that no policy permits is
/// denied, and a principal sees only the tools that it may call. Without it, the user of this machine may
/// call every tool that `pml.policy.allow` and `deny` leave.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pml policy check                                      mistakes, with line and column\n  \
    pml policy explain ci fs:write_file '{\"path\": \"/etc/x\"}'\n  \
    pml policy test policy.tests.json                     compare with expected decisions\n  \
    pml policy schema > pml.cedarschema                   for editors\n\n\
    Exit codes: 0 ok, 1 mistakes, a denial or differences, 2 wrong usage or configuration.")]
pub struct PolicyArgs {
    #[command(subcommand)]
    command: PolicyCommand,
}

#[derive(Subcommand)]
enum PolicyCommand {
    /// Find mistakes in the policy file
    ///
    /// The file is also checked against the tools of all servers: their names, their arguments and the
    /// types of these.
    #[command(after_help = "Examples:\n  \
        pml policy check\n  \
        pml policy check --json\n\n\
        Exit codes: 0 no mistake, 1 mistakes, 2 wrong usage or configuration.")]
    Check {
        /// Print the result as JSON on standard output
        #[arg(long)]
        json: bool,
    },
    /// Show what is decided about a call, and by which policy
    #[command(after_help = "Examples:\n  \
        pml policy explain local fs:read_file\n  \
        pml policy explain ci fs:write_file '{\"path\": \"/tmp/a\"}' --json\n\n\
        Exit codes: 0 permitted, also with approval, 1 denied, 2 wrong usage or configuration.")]
    Explain {
        /// `local`, or the name of a token of `pml serve --http`
        principal: String,
        /// server:tool
        tool: String,
        /// The arguments as JSON; without them, whether some arguments are permitted
        args: Option<String>,
        /// Print the result as JSON on standard output
        #[arg(long)]
        json: bool,
    },
    /// Compare the decisions with those that a file expects
    #[command(after_help = "Examples:\n  \
        pml policy test policy.tests.json\n  \
        pml policy test policy.tests.json --json\n\n\
        Exit codes: 0 as expected, 1 differences, 2 wrong usage or configuration.")]
    Test {
        /// A file of expectations
        file: PathBuf,
        /// Print the result as JSON on standard output
        #[arg(long)]
        json: bool,
    },
    /// Print the Cedar schema of all tools, for editors
    #[command(after_help = "Examples:\n  \
        pml policy schema > pml.cedarschema\n\n\
        Exit codes: 0 ok, 1 a server cannot be listed, 2 wrong usage or configuration.")]
    Schema {
        /// Print the result as JSON on standard output
        #[arg(long)]
        json: bool,
    },
}

pub fn run(args: &PolicyArgs, config: Option<&Path>) -> ExitCode {
    let done = match &args.command {
        PolicyCommand::Check { json } => check(config, *json),
        PolicyCommand::Explain {
            principal,
            tool,
            args,
            json,
        } => explain(config, principal, tool, args.as_deref(), *json),
        PolicyCommand::Test { file, json } => test(config, file, *json),
        PolicyCommand::Schema { json } => print_schema(config, *json),
    };
    done.unwrap_or_else(exit::usage_error)
}

fn print(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    let printed = writeln!(out, "{}", text.trim_end()).and_then(|()| out.flush());
    Ok(exit::check_pipe(printed)?)
}

/// The policy of a configuration, and its file.
fn policy(config: &Config) -> anyhow::Result<(PolicyConfig, Option<PathBuf>)> {
    let policy: PolicyConfig = config.section("policy")?;
    let path = config.policy_path(&policy);
    Ok((policy, path))
}

/// All tools, whoever may see them, and whether every server could be listed.
async fn all_tools(gateway: &Gateway) -> (Vec<Arc<Tool>>, bool) {
    let listing = gateway.list(None, LISTING_TIMEOUT).await;
    for (server, problem) in &listing.problems {
        diagnostics::warning(format_args!("no tools of server `{server}`: {problem}"));
    }
    (gateway.indexed_tools(), listing.problems.is_empty())
}

fn check(config: Option<&Path>, as_json: bool) -> anyhow::Result<ExitCode> {
    let settings = config::require(config)?;
    let Some(path) = policy(&settings.servers)?.1 else {
        bail!(
            "the configuration names no policy file: add `\"policy\": {{ \"file\": \"policy.cedar\" }}` to its `pml` section"
        );
    };
    let file = match PolicyFile::read(&path) {
        Ok(file) => file,
        Err(PolicyFileError::Mistakes { mistakes, .. }) => {
            return report_mistakes(&path, &mistakes, 0, as_json);
        }
        Err(error) => return Err(error.into()),
    };
    servers::with_gateway(settings.servers, async |gateway| {
        let (tools, _) = all_tools(gateway).await;
        let schemas = tools
            .iter()
            .map(|tool| (tool.id.as_str(), &tool.input_schema));
        let mistakes = validate(&file, schemas);
        report_mistakes(&path, &mistakes, file.len(), as_json)
    })
}

fn report_mistakes(
    path: &Path,
    mistakes: &[Mistake],
    policies: usize,
    as_json: bool,
) -> anyhow::Result<ExitCode> {
    let file = path.display().to_string();
    let text = match (as_json, mistakes.is_empty()) {
        (true, _) => json!({ "file": file, "mistakes": mistakes }).to_string(),
        (false, true) => format!("{file}: {policies} policies, no mistake"),
        (false, false) => {
            let lines = mistakes.iter().map(|mistake| format!("{file}:{mistake}"));
            lines.collect::<Vec<_>>().join("\n")
        }
    };
    print(&text)?;
    Ok(match mistakes.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

/// What policies know about a tool that is not listed: the least.
fn unlisted(id: &str) -> ToolFacts {
    ToolFacts {
        id: id.to_owned(),
        effect: "guarded".to_owned(),
        hints: Hints::default(),
    }
}

fn explain(
    config: Option<&Path>,
    principal: &str,
    tool: &str,
    args: Option<&str>,
    as_json: bool,
) -> anyhow::Result<ExitCode> {
    let args: Option<Map<String, Value>> = args
        .map(|args| serde_json::from_str(args).context("the arguments are not a JSON object"))
        .transpose()?;
    if !tool.contains(':') {
        bail!("`{tool}` is no tool: ids are `server:tool`");
    }
    let settings = config::require(config)?;
    let (policy, path) = policy(&settings.servers)?;
    let file = path.map(|path| PolicyFile::read(&path)).transpose()?;
    let source = file.as_ref().map(|file| file.text().to_owned());
    let engine = PolicyEngine::new(file, &policy.glob_rules());
    let requester = Requester::parse(principal);
    servers::with_gateway(settings.servers, async |gateway| {
        let (tools, _) = all_tools(gateway).await;
        let known = tools.iter().find(|known| known.id.as_str() == tool);
        if known.is_none() {
            diagnostics::warning(format_args!(
                "`{tool}` is not listed: it is explained as a guarded tool without annotations"
            ));
        }
        let facts = known.map_or_else(|| unlisted(tool), |known| gateway.facts(known));
        let clean = Label::CLEAN;
        let context = args.as_ref().map(|args| CallContext {
            args: Some(args),
            name: None,
            time: SystemTime::now(),
            run: &clean,
            session: &clean,
        });
        let decision = engine.decide(&Query {
            requester: &requester,
            action: Action::Call,
            resource: Resource::Tool(&facts),
            context: context.as_ref(),
        });
        let text = match as_json {
            true => {
                let mut explained = serde_json::to_value(&decision)?;
                explained["principal"] = requester.entity_id().into();
                explained["tool"] = tool.into();
                explained["effect"] = facts.effect.clone().into();
                explained.to_string()
            }
            false => explained(&decision, &requester, &facts, source.as_deref()),
        };
        print(&text)?;
        Ok(match decision.is_permitted() {
            true => ExitCode::SUCCESS,
            false => ExitCode::FAILURE,
        })
    })
}

fn explained(
    decision: &Decision,
    requester: &Requester,
    tool: &ToolFacts,
    source: Option<&str>,
) -> String {
    let mut text = format!(
        "{}  {} ({}) for {requester}\n",
        decision.verdict.as_str(),
        tool.id,
        tool.effect
    );
    if let Some(error) = &decision.error {
        let _ = writeln!(
            text,
            "  a policy cannot be evaluated, which denies: {error}"
        );
    } else if decision.by.is_empty() {
        text.push_str("  no policy permits it\n");
    }
    for policy in &*decision.by {
        let _ = writeln!(text, "  by {policy}");
        if let PolicyOrigin::File { line, .. } = policy.origin
            && let Some(written) = source.and_then(|source| source.lines().nth(line - 1))
        {
            let _ = writeln!(text, "     {line} | {}", written.trim());
        }
        if let Some(message) = &policy.message {
            let _ = writeln!(text, "     {message}");
        }
    }
    if decision.depends_on_context {
        text.push_str("  the arguments or the time can change it\n");
    }
    text
}

fn test(config: Option<&Path>, file: &Path, as_json: bool) -> anyhow::Result<ExitCode> {
    let shown = file.display();
    let text = std::fs::read_to_string(file).with_context(|| format!("{shown} cannot be read"))?;
    let expectations = Expectations::parse(&text).with_context(|| shown.to_string())?;
    let settings = config::require(config)?;
    let (policy, path) = policy(&settings.servers)?;
    let policies = path.map(|path| PolicyFile::read(&path)).transpose()?;
    let engine = PolicyEngine::new(policies, &policy.glob_rules());
    let report = |differences: Vec<pml_policy::authorize::Difference>| {
        let text = match as_json {
            true => json!({ "expectations": expectations.len(), "differences": differences })
                .to_string(),
            false if differences.is_empty() => {
                format!("{shown}: {} decisions as expected", expectations.len())
            }
            false => {
                let lines = differences.iter().map(|one| format!("{shown}: {one}"));
                lines.collect::<Vec<_>>().join("\n")
            }
        };
        print(&text)?;
        Ok(match differences.is_empty() {
            true => ExitCode::SUCCESS,
            false => ExitCode::FAILURE,
        })
    };
    // Servers are started only for tools that the file does not describe.
    if expectations.undescribed().is_empty() {
        return report(expectations.differences(&engine, |_| None));
    }
    servers::with_gateway(settings.servers, async |gateway| {
        let (tools, _) = all_tools(gateway).await;
        let facts = |id: &str| {
            let tool = tools.iter().find(|tool| tool.id.as_str() == id)?;
            Some(gateway.facts(tool))
        };
        report(expectations.differences(&engine, facts))
    })
}

fn print_schema(config: Option<&Path>, as_json: bool) -> anyhow::Result<ExitCode> {
    let settings = config::load(config)?;
    servers::with_gateway(settings.servers, async |gateway| {
        let (tools, is_complete) = all_tools(gateway).await;
        let text = schema::schema(
            tools
                .iter()
                .map(|tool| (tool.id.as_str(), &tool.input_schema)),
        );
        print(&match as_json {
            true => json!({ "schema": text }).to_string(),
            false => text,
        })?;
        Ok(match is_complete {
            true => ExitCode::SUCCESS,
            false => ExitCode::FAILURE,
        })
    })
}
