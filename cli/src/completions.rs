//! `pml completions`: for the shell.

use std::io;

use clap::{Args, CommandFactory};
use clap_complete::{Shell, generate};

use crate::command::Cli;
use crate::exit::ExitCode;

/// Print a completion script for a shell
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pml completions bash > ~/.local/share/bash-completion/completions/pml\n  \
    pml completions zsh > ~/.zfunc/_pml\n  \
    pml completions fish > ~/.config/fish/completions/pml.fish")]
pub struct CompletionsArgs {
    shell: Shell,
}

pub fn run(args: &CompletionsArgs) -> ExitCode {
    generate(args.shell, &mut Cli::command(), "pml", &mut io::stdout());
    ExitCode::SUCCESS
}
