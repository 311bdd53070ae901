//! `pml completions`: for the shell.

use std::io::{self, Write};

use clap::{Args, CommandFactory};
use clap_complete::{Shell, generate};

use crate::command::Cli;
use crate::exit::{self, ExitCode};

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
    // It would panic where a reader has gone.
    let mut script = Vec::new();
    generate(args.shell, &mut Cli::command(), "pml", &mut script);
    match exit::check_pipe(io::stdout().write_all(&script)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => exit::mistake(error.into()),
    }
}
