//! The command line: the subcommands and their dispatch.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use pml_runtime::PreforkedWorker;

use crate::command_groups::with_groups;
use crate::exit::ExitCode;
use crate::{
    add, approvals, audit, call, capability, check, completions, control, demo_server, diagnostics,
    doctor, exit, functions, index, init, learn, lock, login, logout, model, policy, remove,
    resume, run, runs, scrub, search, secrets, serve, suggest, suspensions, test, token, tools,
    trust, types, workflow,
};

#[derive(Parser)]
#[command(
    name = "pml",
    version,
    about = "Every tool of every MCP server, through one sandboxed script",
    after_help = "Examples:\n  \
        pml run script.ts              run a script\n  \
        pml run -e 'return 6 * 7'      run a line of code\n  \
        pml run --json script.ts       print the whole outcome as JSON\n  \
        pml serve                      serve all tools to an AI client\n  \
        pml init                       import the servers of your other clients\n  \
        pml add fs -- npx SERVER .     add one server\n  \
        pml tools                      list their tools\n  \
        pml search read a file         find a tool by what it does\n\n\
        `pml help COMMAND` describes a command and its options."
)]
struct Cli {
    /// The configuration file [default: .mcp.json, else pml/mcp.json in the user's configuration folder]
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,

    /// The capability token that bounds what the command may see and call; @FILE reads it from a file
    /// [default: $PML_CAPABILITY]
    #[arg(long, global = true, value_name = "TOKEN", hide_short_help = true)]
    capability: Option<String>,

    #[command(subcommand)]
    command: Command,
}

/// `command_groups::GROUPS` lists each of these once.
#[derive(Subcommand)]
enum Command {
    Run(run::RunArgs),
    Resume(resume::ResumeArgs),
    Runs(runs::RunsArgs),
    Approvals(approvals::ApprovalsArgs),
    Workflow(workflow::WorkflowArgs),
    Test(test::TestArgs),
    Check(check::CheckArgs),
    Types(types::TypesArgs),
    Init(init::InitArgs),
    Add(add::AddArgs),
    Remove(remove::RemoveArgs),
    Trust(trust::TrustArgs),
    Lock(lock::LockArgs),
    Policy(policy::PolicyArgs),
    Token(token::TokenArgs),
    Secrets(secrets::SecretsArgs),
    Doctor(doctor::DoctorArgs),
    Tools(tools::ToolsArgs),
    Functions(functions::FunctionsArgs),
    Search(search::SearchArgs),
    Suggest(suggest::SuggestArgs),
    Learn(learn::LearnArgs),
    Call(call::CallArgs),
    Login(login::LoginArgs),
    Logout(logout::LogoutArgs),
    Index(index::IndexArgs),
    Model(model::ModelArgs),
    Serve(serve::ServeArgs),
    Logs(control::logs::LogsArgs),
    Restart(control::restart::RestartArgs),
    Audit(audit::AuditArgs),
    Suspensions(suspensions::SuspensionsArgs),
    Scrub(scrub::ScrubArgs),
    Completions(completions::CompletionsArgs),
    DemoServer(demo_server::DemoServerArgs),
}

impl Command {
    /// The name of a command that has no use for `--capability`.
    fn without_capability(&self) -> Option<&'static str> {
        match self {
            Self::Token(_) => Some("token"),
            other => other.without_config(),
        }
    }

    /// The name of a command that has no use for `--config`. The flag is global, so clap accepts it
    /// there too.
    fn without_config(&self) -> Option<&'static str> {
        match self {
            Self::Test(_) => Some("test"),
            Self::Model(_) => Some("model"),
            Self::Logs(_) => Some("logs"),
            Self::Restart(_) => Some("restart"),
            Self::Completions(_) => Some("completions"),
            Self::DemoServer(_) => Some("demo-server"),
            _ => None,
        }
    }
}

/// The command line as clap describes it.
pub fn definition() -> clap::Command {
    with_groups(Cli::command())
}

/// Runs the command that argv names. Only `pml run` uses `worker`.
pub fn run(worker: Option<PreforkedWorker>) -> ExitCode {
    let cli = match parse(std::env::args_os().collect()) {
        Ok(cli) => cli,
        Err(error) => {
            // The reader may have closed the pipe.
            let _ = error.print();
            if error.kind() == ErrorKind::UnknownArgument && run::is_requested() {
                diagnostics::line(run::WHERE_ARGUMENTS_GO);
            }
            return if error.use_stderr() {
                exit::usage()
            } else {
                ExitCode::SUCCESS
            };
        }
    };
    let config = cli.config.as_deref();
    if let (Some(_), Some(name)) = (config, cli.command.without_config()) {
        return exit::usage_error(anyhow::anyhow!(
            "`pml {name}` reads no configuration file: leave out --config"
        ));
    }
    if let (Some(_), Some(name)) = (&cli.capability, cli.command.without_capability()) {
        return exit::usage_error(anyhow::anyhow!(
            "`pml {name}` calls no tool: leave out --capability"
        ));
    }
    if let Err(error) = capability::set_flag(cli.capability.as_deref()) {
        return exit::usage_error(error);
    }
    match cli.command {
        Command::Run(args) => run::run(&args, config, worker),
        Command::Resume(args) => resume::run(&args, config),
        Command::Runs(args) => runs::run(&args, config),
        Command::Approvals(args) => approvals::run(&args, config),
        Command::Workflow(args) => workflow::run(&args, config),
        Command::Test(args) => test::run(&args),
        Command::Check(args) => check::run(&args, config),
        Command::Types(args) => types::run(&args, config),
        Command::Init(args) => init::run(&args, config),
        Command::Add(args) => add::run(&args, config),
        Command::Remove(args) => remove::run(&args, config),
        Command::Trust(args) => trust::run(&args),
        Command::Lock(args) => lock::run(&args, config),
        Command::Policy(args) => policy::run(&args, config),
        Command::Token(args) => token::run(&args, config),
        Command::Secrets(args) => secrets::run(&args, config),
        Command::Doctor(args) => doctor::run(&args, config),
        Command::Tools(args) => tools::run(&args, config),
        Command::Functions(args) => functions::run(&args, config),
        Command::Search(args) => search::run(&args, config),
        Command::Suggest(args) => suggest::run(&args, config),
        Command::Learn(args) => learn::run(&args, config),
        Command::Call(args) => call::run(&args, config),
        Command::Login(args) => login::run(&args, config),
        Command::Logout(args) => logout::run(&args, config),
        Command::Index(args) => index::run(&args, config),
        Command::Model(args) => model::run(&args),
        Command::Serve(args) => serve::run(&args, config),
        Command::Logs(args) => control::logs::run(&args),
        Command::Restart(args) => control::restart::run(&args),
        Command::Audit(args) => audit::run(&args, config),
        Command::Suspensions(args) => suspensions::run(&args, config),
        Command::Scrub(args) => scrub::run(&args, config),
        Command::Completions(args) => completions::run(&args),
        Command::DemoServer(args) => demo_server::run(&args),
    }
}

fn parse(argv: Vec<OsString>) -> Result<Cli, clap::Error> {
    let mut command = definition();
    command
        .try_get_matches_from_mut(&argv)
        .and_then(|mut matches| Cli::from_arg_matches_mut(&mut matches))
        .map_err(|error| with_suggestion(error, &command, &argv))
}

/// Suggests the command that a mistyped one is nearest to.
///
/// clap compares by Jaro similarity, which is low for swapped letters in a short name: `rnu` and `run`
/// have 0.56, and clap suggests from 0.7. Its suggestion stays where no name is a typing mistake away.
fn with_suggestion(
    mut error: clap::Error,
    command: &clap::Command,
    argv: &[OsString],
) -> clap::Error {
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidSubcommand) else {
        return error;
    };
    // The mistyped name is a verb of the last command before it.
    let mut parent = command;
    for word in argv
        .iter()
        .skip(1)
        .take_while(|word| *word != typed.as_str())
    {
        parent = parent.find_subcommand(word).unwrap_or(parent);
    }
    let visible = parent.get_subcommands().filter(|verb| !verb.is_hide_set());
    let nearest = pml_nearest::typo_of(typed, visible.map(clap::Command::get_name));
    let suggested = match nearest {
        Some(name) => vec![name.to_owned()],
        None if std::ptr::eq(parent, command) => names_for(typed),
        None => Vec::new(),
    };
    if !suggested.is_empty() {
        error.insert(
            ContextKind::SuggestedSubcommand,
            ContextValue::Strings(suggested),
        );
    }
    error
}

/// The commands for what other programs call differently.
fn names_for(typed: &str) -> Vec<String> {
    let names: &[&str] = match typed {
        "list" | "ls" => &["tools", "runs"],
        "exec" | "execute" | "eval" => &["run"],
        "config" | "configure" | "setup" => &["init", "add", "doctor"],
        "install" | "register" => &["add"],
        "rm" | "delete" | "uninstall" => &["remove"],
        "status" | "ping" | "inspect" => &["doctor"],
        "start" | "server" | "mcp" => &["serve"],
        "stop" | "kill" => &["restart"],
        "log" => &["logs", "audit"],
        _ => &[],
    };
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(argv: &[&str]) -> String {
        let argv = argv.iter().map(OsString::from).collect();
        match parse(argv) {
            Ok(_) => panic!("the command line is accepted"),
            Err(error) => error.to_string(),
        }
    }

    /// The command and all its descendants, with the words that call them.
    fn commands(command: &clap::Command, words: &str) -> Vec<(String, clap::Command)> {
        let mut all = vec![(words.to_owned(), command.clone())];
        for verb in command.get_subcommands() {
            all.extend(commands(verb, &format!("{words} {}", verb.get_name())));
        }
        all
    }

    #[test]
    fn the_definition_is_consistent() {
        definition().debug_assert();
    }

    #[test]
    fn a_mistyped_command_gets_the_nearest_one() {
        for (argv, suggested) in [
            (["pml", "rnu", "a.ts"].as_slice(), "'run'"),
            (&["pml", "serach", "files"], "'search'"),
            (&["pml", "demoserver"], "'demo-server'"),
            (&["pml", "--config", "a.json", "model", "lsit"], "'list'"),
            (&["pml", "model", "sue", "x"], "'use'"),
            (&["pml", "list"], "'tools'"),
            (&["pml", "exec", "a.ts"], "'run'"),
            (&["pml", "config"], "'init'"),
        ] {
            let refusal = refusal(argv);
            assert!(refusal.contains(suggested), "{argv:?}\n{refusal}");
        }
        assert!(!refusal(&["pml", "xyz"]).contains("similar"));
    }

    #[test]
    fn json_and_config_mean_the_same_everywhere() {
        for (words, command) in commands(&definition(), "pml") {
            for flag in command.get_arguments() {
                let help = flag.get_help().map(ToString::to_string);
                match flag.get_long() {
                    Some("json") => assert_eq!(
                        help.as_deref(),
                        Some("Print the result as JSON on standard output"),
                        "{words}"
                    ),
                    // A global flag, which no subcommand defines again.
                    Some("config") => assert_eq!(words, "pml"),
                    _ => {}
                }
            }
        }
    }

    #[test]
    fn every_command_has_examples() {
        for (words, command) in commands(&definition(), "pml") {
            let help = command.get_after_help().map(ToString::to_string);
            let help = help.unwrap_or_default();
            assert!(help.contains("Examples:\n"), "{words}: {help}");
            // Of the command itself: `pml model` shows those of its verbs.
            assert!(
                help.contains(&format!("\n  {words}")) || help.contains(&format!("| {words}")),
                "{words}: {help}"
            );
        }
    }
}
