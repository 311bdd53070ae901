//! `pml call --batch`: executes the calls that a model emitted, and answers in its provider's form.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use clap::Args;
use futures_util::future::join_all;
use pml_gateway::{Gateway, Tool};
use pml_hosts::StaticHost;
use pml_hosts::stack::{self, LiveRun};
use pml_protocol::{Request, RunContext, ToolHost, split_version};
use pml_provider_formats::{Answer, Batch, Format, ModelCall, ToolNames, answers, parse};
use pml_scrub::{PlaceholderMap, Scrubber};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::config::Settings;
use crate::exit::ExitCode;
use crate::tools::LISTING_TIMEOUT;
use crate::{diagnostics, exit, servers, suspensions};

/// The options of a batch.
#[derive(Args)]
pub struct BatchArgs {
    /// Execute the calls that a model emitted, from this file or - for standard input
    ///
    /// The calls run in parallel. One that fails is answered with its error.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["tool", "json"])]
    pub batch: Option<String>,

    /// The form of the calls: auto, openai, openai-responses, anthropic, anthropic-xml, gemini or json
    #[arg(long, value_name = "FORMAT", default_value = "auto", value_parser = parse_from, requires = "batch")]
    from: Named,

    /// The form of the answers: same, or one of those of --from
    #[arg(long, value_name = "FORMAT", default_value = "same", value_parser = parse_to, requires = "batch")]
    to: Named,

    /// Replace personal data and secrets in the answers
    #[arg(long, requires = "batch")]
    scrub: bool,
}

/// A format, or `None` for the one that is found.
#[derive(Clone, Copy)]
struct Named(Option<Format>);

fn parse_from(text: &str) -> Result<Named, String> {
    match text {
        "auto" => Ok(Named(None)),
        text => text.parse().map(|format| Named(Some(format))),
    }
}

fn parse_to(text: &str) -> Result<Named, String> {
    match text {
        "same" => Ok(Named(None)),
        text => text.parse().map(|format| Named(Some(format))),
    }
}

/// Executes the batch. The exit code says whether all calls succeeded.
pub fn run(
    file: &str,
    args: &BatchArgs,
    timeout: Option<Duration>,
    settings: Settings,
) -> anyhow::Result<ExitCode> {
    let batch = read(file, args.from.0)?;
    let scrubber = match args.scrub {
        true => Some(Arc::new(Scrubber::new(&settings.scrub)?)),
        false => None,
    };
    let limits = settings.limits.limits();
    let suspensions = suspensions::open(&settings)?;
    let tool_timeout = timeout.or_else(|| settings.limits.tool_timeout());
    servers::with_gateway(settings.servers, async |gateway| {
        let tools = tools_of(gateway, &batch).await;
        let names = ToolNames::new(tools.keys().map(String::as_str));
        let host = stack::live(LiveRun {
            gateway: gateway.clone(),
            search: Arc::new(StaticHost::empty()),
            storage: Arc::default(),
            placeholders: None,
            // A model wrote the calls: those that need approval are refused.
            person: None,
            script_observer: None,
            observers: Vec::new(),
            limits,
            tool_timeout,
            journal: None,
            approvals: None,
            telemetry: None,
            costs: Default::default(),
            suspensions,
            speculated: None,
            audit: None,
            progress: Arc::new(|_| {}),
        });
        let run = RunContext::local();
        let results = batch.calls.iter().map(|call| async {
            let run = run.for_request();
            let result = execute(call, &names, &tools, &*host, &run).await;
            Answer { call, result }
        });
        let mut answered = join_all(results).await;
        for warning in run.made_calls().take_warnings() {
            diagnostics::warning(warning);
        }
        let is_ok = answered.iter().all(|answer| answer.result.is_ok());
        if let Some(scrubber) = scrubber {
            scrub(&mut answered, scrubber)?;
        }
        let text = answers(args.to.0.unwrap_or(batch.format), &answered);
        let mut out = io::stdout().lock();
        exit::check_pipe(out.write_all(text.as_bytes()).and_then(|()| out.flush()))?;
        Ok(match is_ok {
            true => ExitCode::SUCCESS,
            false => ExitCode::FAILURE,
        })
    })
}

fn read(file: &str, format: Option<Format>) -> anyhow::Result<Batch> {
    let (text, origin) = match file {
        "-" => {
            let mut text = String::new();
            let read = io::stdin().lock().read_to_string(&mut text);
            read.context("standard input cannot be read")?;
            (text, "standard input")
        }
        file => {
            let read = std::fs::read_to_string(Path::new(file));
            (
                read.with_context(|| format!("{file} cannot be read"))?,
                file,
            )
        }
    };
    parse(&text, format).with_context(|| origin.to_owned())
}

/// The tools of the servers that the calls name, by id; of all servers, if one call names none.
async fn tools_of(gateway: &Gateway, batch: &Batch) -> BTreeMap<String, Arc<Tool>> {
    let servers: Vec<&str> = gateway.servers().collect();
    let named: Option<BTreeSet<&str>> = batch
        .calls
        .iter()
        .map(|call| {
            servers
                .iter()
                .copied()
                .find(|server| names_server(&call.name, server))
        })
        .collect();
    let listings = match named {
        Some(named) => {
            let list = |server| gateway.list(Some(server), LISTING_TIMEOUT);
            join_all(named.into_iter().map(list)).await
        }
        None => vec![gateway.list(None, LISTING_TIMEOUT).await],
    };
    let mut tools = BTreeMap::new();
    for listing in listings {
        for (server, problem) in &listing.problems {
            diagnostics::warning(format_args!("server `{server}`: {problem}"));
        }
        let listed = listing.tools.into_iter();
        tools.extend(listed.map(|tool| (tool.id.as_str().to_owned(), tool)));
    }
    tools
}

/// Whether the name of a tool begins with that of a server.
fn names_server(name: &str, server: &str) -> bool {
    let name = name.strip_prefix("mcp__").unwrap_or(name);
    let rest = name.strip_prefix(server);
    rest.is_some_and(|rest| {
        [":", "__", ".", "/"]
            .iter()
            .any(|sign| rest.starts_with(sign))
    })
}

async fn execute(
    call: &ModelCall,
    names: &ToolNames,
    tools: &BTreeMap<String, Arc<Tool>>,
    host: &dyn ToolHost,
    run: &RunContext,
) -> Result<Value, String> {
    let (name, version) = split_version(&call.name);
    let id = names.id(name).map_err(|error| error.to_string())?;
    let schema = tools.get(id).map(|tool| &tool.input_schema);
    let arguments = call.arguments.to_object(schema.unwrap_or(&Value::Null))?;
    let arguments =
        RawValue::from_string(arguments.to_string()).map_err(|error| error.to_string())?;
    let request = match version {
        Some(version) => Request::call(&format!("{id}@{version}"), arguments),
        None => Request::call(id, arguments),
    };
    match host.handle(&request, run).await {
        Ok(value) => serde_json::from_str(value.get()).map_err(|error| error.to_string()),
        Err(failure) => Err(format!("{} [{}]", failure.message, failure.kind.as_str())),
    }
}

/// Replaces private values in all answers, with one numbering.
fn scrub(answered: &mut [Answer<'_>], scrubber: Arc<Scrubber>) -> anyhow::Result<()> {
    let mut placeholders = PlaceholderMap::new(scrubber);
    for answer in answered {
        let tool = Some(answer.call.name.as_str());
        let result = std::mem::replace(&mut answer.result, Ok(Value::Null));
        answer.result = match result {
            Ok(value) => Ok(placeholders.scrub_json(value, tool)?.into_parts().0),
            Err(message) => Err(placeholders.scrub_text(&message, tool)?.into_parts().0),
        };
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_servers_that_calls_name_are_started() {
        for name in ["fs:read", "fs__read", "mcp__fs__read", "fs.read", "fs/read"] {
            assert!(names_server(name, "fs"), "{name}");
        }
        for name in ["fsx:read", "read", "fs", "fs_read"] {
            assert!(!names_server(name, "fs"), "{name}");
        }
    }
}
