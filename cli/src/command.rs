//! The command line: which subcommands there are.

use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{Parser, Subcommand};
use pml_runtime::Ahead;

use crate::exit::ExitCode;
use crate::{
    call, check, complain, completions, demo_server, doctor, exit, index, init, login, logout,
    model, run, scrub, search, serve, test, tools, types,
};

#[derive(Parser)]
#[command(
    name = "pml",
    version,
    about = "Every tool of every MCP server, through one sandboxed script",
    after_help = "Examples:\n  \
        pml run script.ts              run a script\n  \
        pml run -e 'return 6 * 7'      run a line of code\n  \
        pml run --json script.ts       the whole outcome as JSON\n  \
        pml serve                      be the one MCP server of an AI client\n  \
        pml init                       collect the servers of your other clients\n  \
        pml tools                      list their tools\n  \
        pml search read a file         find a tool by what it does\n\n\
        `pml help COMMAND` tells more about each command."
)]
pub struct Cli {
    /// The configuration file [default: .mcp.json, else pml/mcp.json in the user's configuration folder]
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,

    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Run(run::RunArgs),
    Test(test::TestArgs),
    Init(init::InitArgs),
    Tools(tools::ToolsArgs),
    Types(types::TypesArgs),
    Check(check::CheckArgs),
    Search(search::SearchArgs),
    Index(index::IndexArgs),
    Model(model::ModelArgs),
    Call(call::CallArgs),
    Doctor(doctor::DoctorArgs),
    Login(login::LoginArgs),
    Logout(logout::LogoutArgs),
    Serve(serve::ServeArgs),
    Scrub(scrub::ScrubArgs),
    DemoServer(demo_server::DemoServerArgs),
    Completions(completions::CompletionsArgs),
}

/// `worker` is for the one command that runs one script.
pub fn run(worker: Option<Ahead>) -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // A closed pipe is no reason to fail twice.
            let _ = error.print();
            if error.kind() == ErrorKind::UnknownArgument && run::is_asked_for() {
                complain::line(run::WHERE_ARGUMENTS_GO);
            }
            return if error.use_stderr() {
                exit::usage()
            } else {
                ExitCode::SUCCESS
            };
        }
    };
    let config = cli.config.as_deref();
    match cli.command {
        Command::Run(args) => run::run(&args, config, worker),
        Command::Test(args) => test::run(&args),
        Command::Init(args) => init::run(&args, config),
        Command::Tools(args) => tools::run(&args, config),
        Command::Types(args) => types::run(&args, config),
        Command::Check(args) => check::run(&args, config),
        Command::Search(args) => search::run(&args, config),
        Command::Index(args) => index::run(&args, config),
        Command::Model(args) => model::run(&args),
        Command::Call(args) => call::run(&args, config),
        Command::Doctor(args) => doctor::run(&args, config),
        Command::Login(args) => login::run(&args, config),
        Command::Logout(args) => logout::run(&args, config),
        Command::Serve(args) => serve::run(&args, config),
        Command::Scrub(args) => scrub::run(&args, config),
        Command::DemoServer(args) => demo_server::run(&args),
        Command::Completions(args) => completions::run(&args),
    }
}
