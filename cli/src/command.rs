//! The command line: which subcommands there are.

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::{completions, exit, run};

#[derive(Parser)]
#[command(
    name = "pml",
    version,
    about = "Every tool of every MCP server, through one sandboxed script",
    after_help = "Examples:\n  \
        pml run script.ts              run a script\n  \
        pml run -e 'return 6 * 7'      run a line of code\n  \
        pml run --json script.ts       the whole outcome as JSON\n\n\
        `pml help COMMAND` tells more about each command."
)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Run(run::RunArgs),
    Completions(completions::CompletionsArgs),
}

pub fn run() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // A closed pipe is no reason to fail twice.
            let _ = error.print();
            return if error.use_stderr() {
                exit::usage()
            } else {
                ExitCode::SUCCESS
            };
        }
    };
    match cli.command {
        Command::Run(args) => run::run(args),
        Command::Completions(args) => completions::run(&args),
    }
}
