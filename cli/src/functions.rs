//! `pml functions`: the functions of the configuration, and what keeps others from being tools.

use std::io::{self, Write};
use std::path::Path;

use anyhow::bail;
use clap::{Args, Subcommand};
use pml_functions::{FunctionSet, ReadFunction, SkippedEntry};
use pml_gateway::Config;
use pml_gateway::config::Endpoint;
use pml_typegen::ToolSchemas;
use serde::Serialize;
use serde_json::Value;

use crate::exit::ExitCode;
use crate::style::Style;
use crate::{config, exit};

/// Show which functions of your files are tools
///
/// An entry `"NAME": { "functions": "tools/*.ts" }` of `mcpServers` makes a tool of every async function
/// that the files export. Its arguments are those of the function, by name.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pml functions check                        the tools, and what cannot be one\n  \
    pml functions check local --json | jq '.skipped'\n\n\
    Exit codes: 0 every exported async function is a tool, 1 one is not, 2 wrong usage or\n\
    configuration.")]
pub struct FunctionsArgs {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    Check(CheckArgs),
}

/// Read the files, and name what cannot be a tool
///
/// Nothing is run.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pml functions check                        all entries with functions\n  \
    pml functions check local --json | jq '.skipped'")]
struct CheckArgs {
    /// The entry of `mcpServers`; all with functions by default
    #[arg(value_name = "NAME")]
    name: Option<String>,

    /// Print the result as JSON on standard output
    #[arg(long)]
    json: bool,
}

pub fn run(args: &FunctionsArgs, config: Option<&Path>) -> ExitCode {
    let Verb::Check(args) = &args.verb;
    check(args, config).unwrap_or_else(exit::usage_error)
}

#[derive(Serialize)]
struct Checked {
    functions: Vec<CheckedFunction>,
    skipped: Vec<Skipped>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CheckedFunction {
    tool: String,
    file: String,
    line: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    effect: Option<String>,
    input_schema: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_schema: Option<Value>,
    /// Why the result has no schema although it has a type.
    #[serde(skip_serializing_if = "Option::is_none")]
    output_problem: Option<String>,
    #[serde(skip)]
    signature: String,
}

#[derive(Serialize)]
struct Skipped {
    server: String,
    #[serde(flatten)]
    entry: SkippedEntry,
}

fn check(args: &CheckArgs, config: Option<&Path>) -> anyhow::Result<ExitCode> {
    let settings = config::require(config)?;
    let checked = read(&settings.servers, args.name.as_deref())?;
    exit::check_pipe(match args.json {
        true => print_json(&checked),
        false => print(&checked, Style::for_stdout()),
    })?;
    Ok(match checked.skipped.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

fn read(servers: &Config, name: Option<&str>) -> anyhow::Result<Checked> {
    let mut checked = Checked {
        functions: Vec::new(),
        skipped: Vec::new(),
    };
    let mut entries = 0;
    for (server, entry) in &servers.servers {
        if name.is_some_and(|name| name != server) {
            continue;
        }
        let functions = match &entry.endpoint {
            Ok(Endpoint::Functions(functions)) => functions,
            Ok(_) if name.is_some() => bail!("`{server}` has no `functions`: it is a server"),
            Err(error) if name.is_some() => return Err(error.clone().into()),
            _ => continue,
        };
        entries += 1;
        let set = FunctionSet::read(functions)
            .map_err(|reason| anyhow::anyhow!("mcpServers.{server}: {reason}"))?;
        let read = set.functions.values();
        checked
            .functions
            .extend(read.map(|function| checked_function(server, function)));
        checked
            .skipped
            .extend(set.skipped.into_iter().map(|entry| Skipped {
                server: server.clone(),
                entry,
            }));
    }
    match (entries, name) {
        (0, Some(name)) => bail!(
            "there is no entry `{name}`: add `\"{name}\": {{ \"functions\": \"tools/*.ts\" }}` to `mcpServers`"
        ),
        (0, None) => bail!(
            "the configuration has no functions: add `\"local\": {{ \"functions\": \"tools/*.ts\" }}` to `mcpServers`"
        ),
        _ => Ok(checked),
    }
}

fn checked_function(server: &str, function: &ReadFunction) -> CheckedFunction {
    let tool = &function.tool;
    let signature = pml_typegen::signature(&ToolSchemas {
        server,
        name: &tool.name,
        description: "",
        input: &tool.input_schema,
        output: tool.output_schema.as_ref(),
        observed: None,
    });
    CheckedFunction {
        tool: format!("{server}:{}", tool.name),
        file: function.file.clone(),
        line: tool.line,
        effect: tool.effect.clone(),
        input_schema: tool.input_schema.clone(),
        output_schema: tool.output_schema.clone(),
        output_problem: tool.output_problem.clone(),
        signature,
    }
}

fn print_json(checked: &Checked) -> io::Result<()> {
    let mut out = Style::escaped_stdout();
    serde_json::to_writer_pretty(&mut out, checked)?;
    writeln!(out)?;
    out.flush()
}

fn print(checked: &Checked, style: Style) -> io::Result<()> {
    let mut out = Style::escaped_stdout();
    for function in &checked.functions {
        let place = format!("{}:{}", function.file, function.line);
        let effect = match &function.effect {
            Some(effect) => format!("  @effect {effect}"),
            None => String::new(),
        };
        let tool = style.green(&function.tool);
        writeln!(out, "{tool}  {}{effect}", style.dim(&place))?;
        writeln!(out, "  {}", function.signature)?;
        if let Some(problem) = &function.output_problem {
            let note = format!("note: its result has no type for callers: {problem}");
            writeln!(out, "  {}", style.dim(&note))?;
        }
    }
    for Skipped { server, entry } in &checked.skipped {
        let place = format!("{}:{}", entry.file, entry.line);
        let what = match &entry.function {
            Some(name) => format!("{server}:{name}"),
            None => place.clone(),
        };
        let skipped = style.red(&format!("{what} is no tool"));
        writeln!(out, "{skipped}  {}", style.dim(&place))?;
        writeln!(out, "  {}", entry.reason)?;
    }
    out.flush()
}
