//! `pml init`: imports the servers of other MCP clients.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use pml_client_import::{
    Client, ClientDirs, Found, MergedServer, Scope, Snippet, find, merge, write_config,
};
use serde_json::{Map, Value, json};

use crate::annotation_trust::{AnnotationTrustArgs, trust_annotations};
use crate::exit::ExitCode;
use crate::{diagnostics, exit, trust};

const FILE_NAME: &str = ".mcp.json";

/// Import the servers of your other MCP clients into one file
///
/// Reads the configurations of Claude Desktop, Claude Code, Cursor, VS Code and Codex, writes their
/// servers to .mcp.json in this folder (or to the file named with --config), and prints how to
/// point each client at `pml serve`. It does not change the files of the clients.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pml init                                     write .mcp.json\n  \
    pml init --print                             print the file, write nothing\n  \
    pml init --config ~/.config/pml/mcp.json     for every folder\n  \
    pml init --no-trust-annotations              ask nothing\n\n\
    Exit codes: 0 written, 1 no server was found, 2 the file exists or cannot be written.")]
pub struct InitArgs {
    /// Replace an existing file; it is kept as FILE.old
    #[arg(long)]
    force: bool,

    /// Print the file on standard output instead of writing it
    #[arg(long)]
    print: bool,

    #[command(flatten)]
    annotations: AnnotationTrustArgs,
}

pub fn run(args: &InitArgs, config: Option<&Path>) -> ExitCode {
    init(args, config).unwrap_or_else(exit::usage_error)
}

fn init(args: &InitArgs, config: Option<&Path>) -> anyhow::Result<ExitCode> {
    let dirs = ClientDirs::current().context("there is no home folder: set HOME")?;
    let folder = std::env::current_dir().context("the working folder cannot be read")?;
    let file = folder.join(config.unwrap_or(Path::new(FILE_NAME)));
    let found = find(&dirs, Some(&folder));
    let clients = clients(&found, &dirs);
    for problem in &found.problems {
        let path = problem.source.path.display();
        diagnostics::warning(format_args!("{path}: {}", problem.message));
    }
    let mut servers = merge(found);
    if servers.is_empty() {
        diagnostics::line(nothing_found(&dirs, &folder));
        return Ok(ExitCode::FAILURE);
    }
    let is_refused = file.exists() && !args.force;
    let are_trusted = match args.print || is_refused {
        // Nothing is written, so nothing is asked.
        true => args.annotations.given() == Some(true),
        false => args
            .annotations
            .decide("Trust the annotations of these servers?"),
    };
    if are_trusted {
        for server in &mut servers {
            trust_annotations(&mut server.entry);
        }
    }
    if args.print {
        let printed = writeln!(io::stdout(), "{:#}", document(&servers));
        exit::check_pipe(printed)?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("the folder {} cannot be created", folder.display()))?;
    }
    if args.force {
        back_up(&file)?;
    }
    write_config(&file, &servers, args.force)?;
    trust::trust_own(&file);
    let snippets = snippets(&clients, &dirs, &file)?;
    exit::check_pipe(print_report(&servers, &file, &snippets))?;
    Ok(ExitCode::SUCCESS)
}

/// Copies the file to FILE.old: it may hold limits and a policy, which no other client has.
fn back_up(file: &Path) -> anyhow::Result<()> {
    let mut old = file.as_os_str().to_owned();
    old.push(".old");
    let old = PathBuf::from(old);
    match std::fs::copy(file, &old) {
        Ok(_) => diagnostics::line(format_args!("The old file is kept as {}", old.display())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => {
            let message = format!("{} cannot be kept as {}", file.display(), old.display());
            return Err(error).context(message);
        }
    }
    Ok(())
}

/// The clients of this user: those with servers, and those with a configuration file.
fn clients(found: &Found, dirs: &ClientDirs) -> Vec<Client> {
    let has_servers = |client| {
        let mut sources = found.servers.iter().map(|server| &server.source);
        sources.any(|source| source.client == client && source.scope == Scope::User)
    };
    let has_file = |client: Client| {
        let places = client.config_files(dirs, None);
        places.iter().any(|place| place.path.exists())
    };
    Client::ALL
        .into_iter()
        .filter(|client| has_servers(*client) || has_file(*client))
        .collect()
}

fn snippets(clients: &[Client], dirs: &ClientDirs, file: &Path) -> anyhow::Result<Vec<Snippet>> {
    let program = std::env::current_exe().context("the path of pml is not known")?;
    // A client starts programs in a folder of its own choice, so the path is absolute.
    let arguments = ["serve", "--config"].map(str::to_owned);
    let arguments = [&arguments[..], &[file.display().to_string()]].concat();
    let program = program.display().to_string();
    Ok(clients
        .iter()
        .map(|client| Snippet::new(*client, dirs, &program, &arguments))
        .collect())
}

fn print_report(servers: &[MergedServer], file: &Path, snippets: &[Snippet]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "Found:")?;
    for server in servers {
        let mut sources: Vec<&str> = server
            .sources
            .iter()
            .map(|source| source.client.name())
            .collect();
        sources.dedup();
        writeln!(out, "  {}  ({})", server.name, sources.join(", "))?;
        for note in &server.notes {
            writeln!(out, "    note: {note}")?;
        }
    }
    writeln!(out, "\nWritten to {}", file.display())?;
    writeln!(out, "`pml doctor` checks whether they work.")?;
    for snippet in snippets {
        writeln!(out, "\nTo use them from {}:", snippet.client.name())?;
        match &snippet.command {
            Some(command) => writeln!(out, "\n  {command}")?,
            None => {
                writeln!(out, "add this to {}", snippet.path.display())?;
                writeln!(out, "\n{}", indented(&snippet.text))?;
            }
        }
    }
    out.flush()
}

fn indented(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(|line| format!("  {line}")).collect();
    lines.join("\n")
}

fn nothing_found(dirs: &ClientDirs, folder: &Path) -> String {
    let places: Vec<PathBuf> = Client::ALL
        .into_iter()
        .flat_map(|client| client.config_files(dirs, Some(folder)))
        .map(|place| place.path)
        .collect();
    let places: Vec<String> = places
        .iter()
        .map(|path| format!("  {}\n", path.display()))
        .collect();
    let example = json!({
        "mcpServers": {
            "fs": {
                "command": "npx",
                "args": ["-y", "@modelcontextprotocol/server-filesystem", "."],
            },
        },
    });
    format!(
        "No MCP servers were found, and nothing was written. Files looked for:\n{}\n\
         Add the first server with `pml add`, or write {FILE_NAME} yourself, for example:\n{example:#}",
        places.concat()
    )
}

fn document(servers: &[MergedServer]) -> Value {
    let servers: Map<String, Value> = servers
        .iter()
        .map(|server| (server.name.clone(), Value::Object(server.entry.clone())))
        .collect();
    json!({ "mcpServers": servers })
}
