//! `pml demo-server`: an MCP server to try pml with.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use pml_demo::{DemoOptions, DemoServer, Journal, ServedFolder};

use crate::exit;
use crate::exit::ExitCode;

/// Run a small MCP server over standard input and output, to try pml with
///
/// It reads files below one folder, queries JSON, counts text, keeps notes in memory, and has a
/// slow and a flaky tool. It needs no other program and writes no file.
#[derive(Args)]
#[command(
    after_help = "In a configuration file, where the command `pml` always means this program:\n  \
    { \"mcpServers\": { \"demo\": { \"command\": \"pml\", \"args\": [\"demo-server\", \"docs\"] } } }\n\n\
    Examples:\n  \
    pml demo-server docs      wait for an MCP client on standard input\n  \
    pml tools demo            with the configuration above\n  \
    pml call demo:list_files\n  \
    pml run -e 'return (await tools.demo.read_file({ path: \"README.md\" })).length'"
)]
pub struct DemoServerArgs {
    /// The folder whose files can be read
    #[arg(default_value = ".")]
    folder: PathBuf,

    /// Append a line to this file for every call
    #[arg(long, value_name = "FILE", hide = true)]
    journal: Option<PathBuf>,

    /// Print lines between the messages, as faulty servers do
    #[arg(long, hide = true)]
    noise: bool,
}

pub fn run(args: &DemoServerArgs) -> ExitCode {
    serve(args).unwrap_or_else(exit::usage_error)
}

fn serve(args: &DemoServerArgs) -> anyhow::Result<ExitCode> {
    let journal = args.journal.as_deref().map(open).transpose()?;
    let server = DemoServer::new(DemoOptions {
        folder: ServedFolder::new(&args.folder)?,
        journal,
        noise: args.noise,
    });
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?
        .block_on(server.serve_stdio())?;
    Ok(ExitCode::SUCCESS)
}

fn open(path: &Path) -> anyhow::Result<Journal> {
    Journal::open(path).with_context(|| format!("{} cannot be written", path.display()))
}
