//! `pml completions`: completion scripts for shells.

use std::io::{self, Write};

use clap::Args;
use clap_complete::{Shell, generate};

use crate::exit::{self, ExitCode};

/// Print a completion script for a shell
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pml completions bash > ~/.local/share/bash-completion/completions/pml\n  \
    pml completions zsh > ~/.zfunc/_pml\n  \
    pml completions fish > ~/.config/fish/completions/pml.fish")]
pub struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

pub fn run(args: &CompletionsArgs) -> ExitCode {
    // Into memory first: `generate` panics on a closed pipe.
    let mut script = Vec::new();
    let mut command = crate::command::definition();
    generate(args.shell, &mut command, "pml", &mut script);
    match exit::check_pipe(io::stdout().write_all(&script)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => exit::usage_error(error.into()),
    }
}
