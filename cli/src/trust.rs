//! `pml trust`: the configuration files of projects that may start programs.
//!
//! `.mcp.json` of the working folder comes with the project. Its servers are used once the user trusts
//! the file; until then each of them is an error that says what to do. Entries that start the demo
//! server of this program need no trust.

use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};

use anyhow::Context;
use clap::Args;
use pml_gateway::Config;
use pml_gateway::config::{Command, ConfigError, Endpoint, ServerConfig, TrustStore};
use serde_json::Value;

use crate::confirm::confirm;
use crate::exit::ExitCode;
use crate::{diagnostics, exit, servers};

const FILE_NAME: &str = ".mcp.json";
/// The variable with which every file is trusted, for CI and containers.
const VARIABLE: &str = "PML_TRUST";
/// Characters of a command that are shown.
const MAX_SHOWN: usize = 300;

/// Trust the .mcp.json of a project, until it changes
///
/// A project's own file names programs to start and variables to give them. pml asks on a terminal
/// before it uses such a file for the first time, and refuses elsewhere. Files named with --config
/// and your own configuration need no trust, and neither do entries that start `pml demo-server`.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pml trust                       trust .mcp.json of this folder\n  \
    pml trust ~/work/project        of another folder\n  \
    pml trust --list\n  \
    pml trust --remove              trust it no longer\n\n\
    With PML_TRUST=1 every file is trusted, for CI and containers.\n\
    Exit codes: 0 done, 1 the file to remove was not trusted, 2 wrong usage or configuration.")]
pub struct TrustArgs {
    /// The file, or its folder [default: .mcp.json]
    path: Option<PathBuf>,

    /// List the trusted files
    #[arg(long, conflicts_with_all = ["path", "remove"])]
    list: bool,

    /// Trust the file no longer
    #[arg(long)]
    remove: bool,
}

pub fn run(args: &TrustArgs) -> ExitCode {
    change(args).unwrap_or_else(exit::usage_error)
}

fn change(args: &TrustArgs) -> anyhow::Result<ExitCode> {
    let store = TrustStore::of_user().context("there is no home folder: set HOME")?;
    if args.list {
        exit::check_pipe(print_list(&store))?;
        return Ok(ExitCode::SUCCESS);
    }
    let file = match args.path.as_deref() {
        Some(folder) if folder.is_dir() => folder.join(FILE_NAME),
        Some(file) => file.to_owned(),
        None => PathBuf::from(FILE_NAME),
    };
    let shown = file.display();
    if args.remove {
        return Ok(match store.remove(&file)? {
            true => {
                println!("{shown} is no longer trusted");
                ExitCode::SUCCESS
            }
            false => {
                diagnostics::error(format_args!("{shown} was not trusted"));
                ExitCode::FAILURE
            }
        });
    }
    let text = Config::read_text(&file)?;
    let config = Config::parse(&file, &text, &|name| std::env::var(name).ok())?;
    store
        .trust(&file, &text)
        .with_context(|| format!("{shown} cannot be trusted"))?;
    diagnostics::line(format_args!(
        "{shown} is trusted until it changes. It starts:\n{}",
        with_sections(&config, description(&config, config.servers.values()))
    ));
    Ok(ExitCode::SUCCESS)
}

fn print_list(store: &TrustStore) -> io::Result<()> {
    let mut out = io::stdout().lock();
    for trusted in store.list()? {
        let state = match Config::read_text(&trusted.file) {
            Ok(text) if store.trusts(&trusted.file, &text) => "",
            Ok(_) => "  (changed since: not trusted)",
            Err(_) => "  (gone)",
        };
        writeln!(out, "{}{state}", trusted.file.display())?;
    }
    out.flush()
}

/// Trusts a file that this program has just written.
pub fn trust_own(file: &Path) {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let trusted = TrustStore::of_user().map(|store| store.trust(file, &text));
    if !matches!(trusted, Some(Ok(_))) {
        diagnostics::warning(format_args!("run `{}` before you use it", command(file)));
    }
}

/// Whether the user trusts a file, or nothing in it needs trust. A file that cannot be read is not
/// trusted.
pub fn is_trusted(file: &Path) -> bool {
    let Ok(text) = std::fs::read_to_string(file) else {
        return false;
    };
    let parsed = Config::parse(file, &text, &|name| std::env::var(name).ok());
    let needs_none = |config: Config| {
        let is_guarded = |name: &&str| config.raw_section(name).is_some();
        config.servers.values().all(needs_no_trust) && !GUARDED_SECTIONS.iter().any(is_guarded)
    };
    parsed.is_ok_and(needs_none)
        || TrustStore::of_user().is_some_and(|store| store.trusts(file, &text))
}

/// Whether to ask the user about a file that is not trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Question {
    /// On a terminal; elsewhere the file is refused.
    OnTerminal,
    /// The command starts no server, so there is nothing to decide.
    Never,
}

/// The sections of `pml` that take data somewhere: where runs are stored and with which key, who is told
/// of approvals, whether and where is recorded what happens, which Vault gets the token of the user, and
/// which collector gets telemetry.
const GUARDED_SECTIONS: [&str; 5] = ["approvals", "audit", "secrets", "store", "telemetry"];

/// Makes the servers and the settings of a project's file unusable that the user does not trust. `text`
/// is the content of the file that `config` was read from.
pub fn check(config: &mut Config, text: &str, question: Question) {
    let Some(file) = config.file.clone() else {
        return;
    };
    if std::env::var_os(VARIABLE).is_some_and(|value| value == "1") {
        return;
    }
    let names: Vec<String> = match question {
        // No server is started, and unknown ones can be listed.
        Question::Never => Vec::new(),
        Question::OnTerminal => config
            .servers
            .values()
            .filter(|server| !needs_no_trust(server))
            .map(|server| server.name.clone())
            .collect(),
    };
    let has_section = |name: &&str| config.raw_section(name).is_some();
    let sections: Vec<&str> = GUARDED_SECTIONS.into_iter().filter(has_section).collect();
    if names.is_empty() && sections.is_empty() {
        return;
    }
    let store = TrustStore::of_user();
    if store
        .as_ref()
        .is_some_and(|store| store.trusts(&file, text))
    {
        return;
    }
    if question == Question::OnTerminal && ask(config, &file, &names) {
        let stored = store.map(|store| store.trust(&file, text));
        if !matches!(stored, Some(Ok(_))) {
            diagnostics::warning("this decision cannot be stored; pml will ask again");
        }
        return;
    }
    for name in names {
        if let Some(server) = config.servers.get_mut(&name) {
            server.endpoint = Err(ConfigError::Untrusted {
                file: file.clone(),
                command: command(&file),
            });
        }
    }
    for section in sections {
        diagnostics::warning(format_args!(
            "`pml.{section}` of {} is not used: the file is not trusted; look at it, then `{}`",
            file.display(),
            command(&file)
        ));
        config.leave_out_section(section);
    }
}

/// Asks on a terminal. `false` elsewhere.
fn ask(config: &Config, file: &Path, names: &[String]) -> bool {
    let servers = config.servers.values();
    let servers = servers.filter(|server| names.contains(&server.name));
    let about = format!(
        "{} belongs to this folder. With your rights, it would start:\n{}",
        file.display(),
        with_sections(config, description(config, servers))
    );
    confirm(about, "Trust this file until it changes?")
}

/// A line for each server: what it starts or reaches, and the variables that it gets.
fn description<'a>(config: &Config, servers: impl Iterator<Item = &'a ServerConfig>) -> String {
    let lines: Vec<String> = servers
        .map(|server| {
            let mut variables: Vec<&str> = server.expansions.names().collect();
            let what = match &server.endpoint {
                Ok(Endpoint::Stdio(command)) => {
                    variables.extend(command.env.keys().map(String::as_str));
                    let words = std::iter::once(&command.program).chain(&command.args);
                    words.map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
                }
                Ok(Endpoint::Http(_) | Endpoint::Sse(_)) => {
                    server.address.clone().unwrap_or_default()
                }
                Ok(Endpoint::OpenApi(service)) => {
                    let document = server.address.clone().unwrap_or_default();
                    let places = service.base_url.iter().chain(&service.origins);
                    let places: String = places.map(|url| format!(", at {url}")).collect();
                    format!("the service of {document}{places}")
                }
                Ok(Endpoint::Functions(functions)) => {
                    format!("functions of {}, in sandboxes", functions.files.join(", "))
                }
                Err(error) => format!("nothing yet ({error})"),
            };
            let references: Vec<String> =
                server.references.iter().map(ToString::to_string).collect();
            variables.extend(references.iter().map(String::as_str));
            variables.sort_unstable();
            variables.dedup();
            let variables = match variables.is_empty() {
                true => String::new(),
                false => format!("  (with {})", variables.join(", ")),
            };
            let off = if server.disabled { "  (disabled)" } else { "" };
            let what = config.secrets().hide_for_people(what);
            let shown = shortened(&visible(&what));
            format!(
                "  {}: {shown}{}{off}",
                visible(&server.name),
                visible(&variables)
            )
        })
        .collect();
    lines.join("\n")
}

/// The description, and a line for each setting that takes data somewhere.
fn with_sections(config: &Config, description: String) -> String {
    let sections = GUARDED_SECTIONS.iter().filter_map(|name| {
        let section = without_secrets(config.raw_section(name)?);
        // Where data goes stands first and is not cut.
        let address = section
            .get("url")
            .or_else(|| section.get("notify")?.get("url"))
            .or_else(|| section.get("endpoint"))
            .or_else(|| section.get("sinks")?.get(0)?.get("url"));
        let address = address.map_or(String::new(), |address| format!("{address} "));
        let rest = config.secrets().hide_for_people(section.to_string());
        Some(format!(
            "\n  pml.{name}: {}{}",
            visible(&address),
            shortened(&visible(&rest))
        ))
    });
    std::iter::once(description).chain(sections).collect()
}

/// A section without its key, its secret, and the passwords of its addresses.
fn without_secrets(section: &Value) -> Value {
    match section {
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| match name.as_str() {
                "key" | "secret" => (name.clone(), Value::from("…")),
                _ => (name.clone(), without_secrets(value)),
            })
            .collect(),
        Value::String(text) => match url::Url::parse(text) {
            Ok(mut url) if url.password().is_some() || url.query().is_some() => {
                url.set_query(url.query().is_some().then_some("…"));
                let hidden = match url.password() {
                    Some(_) => url.set_password(Some("…")),
                    None => Ok(()),
                };
                hidden.map_or(Value::from("…"), |()| Value::from(url.as_str()))
            }
            _ => section.clone(),
        },
        other => other.clone(),
    }
}

/// The text in one line, with every character escaped that a terminal does not show as it is: the
/// file that the question is about must not write the question.
fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match pml_gateway::is_unsafe_to_show(c) {
            true => shown.extend(c.escape_unicode()),
            false => shown.push(c),
        }
    }
    shown
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => {
            let more = text[end..].chars().count();
            format!("{}… ({more} more characters)", &text[..end])
        }
        None => text.to_owned(),
    }
}

/// Whether the entry starts nothing but this program, as a demo server over a folder of the project.
fn needs_no_trust(server: &ServerConfig) -> bool {
    match &server.endpoint {
        Ok(Endpoint::Stdio(command)) => {
            servers::is_this_gateway(command) || is_demo_server(command)
        }
        Ok(
            Endpoint::Http(_) | Endpoint::Sse(_) | Endpoint::OpenApi(_) | Endpoint::Functions(_),
        )
        | Err(_) => false,
    }
}

fn is_demo_server(command: &Command) -> bool {
    let is_pml = command.program == "pml"
        || std::env::current_exe().is_ok_and(|own| own == Path::new(&command.program));
    let folder = match command.args.as_slice() {
        [verb] if verb == "demo-server" => Path::new("."),
        [verb, folder] if verb == "demo-server" && !folder.starts_with('-') => Path::new(folder),
        _ => return false,
    };
    // A variable such as LD_PRELOAD would start more than this program.
    is_pml && command.env.is_empty() && command.cwd.is_none() && is_within_project(folder)
}

/// Whether a folder is below the working folder, also behind symbolic links.
fn is_within_project(folder: &Path) -> bool {
    let is_plain = |part| matches!(part, Component::Normal(_) | Component::CurDir);
    let (Ok(project), Ok(resolved)) = (Path::new(".").canonicalize(), folder.canonicalize()) else {
        // A folder that does not exist: the demo server says so.
        return folder.components().all(is_plain);
    };
    resolved.starts_with(project)
}

/// The command that trusts the file, for a shell.
fn command(file: &Path) -> String {
    format!("pml trust {}", quoted(&file.display().to_string()))
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_@%+=:,./-".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn a_file_does_not_write_lines_of_the_question() {
        let shown = visible("npx 'x'\n  demo: pml demo-server\u{1b}[8m\u{202e}");
        assert!(!shown.contains(['\n', '\u{1b}', '\u{202e}']), "{shown}");
    }

    fn pml(args: &[&str]) -> Command {
        Command {
            program: "pml".to_owned(),
            args: args.iter().map(|arg| (*arg).to_owned()).collect(),
            env: BTreeMap::new(),
            cwd: None,
        }
    }

    #[test]
    fn only_a_demo_server_of_the_project_needs_no_trust() {
        for args in [
            &["demo-server"][..],
            &["demo-server", "src"],
            &["demo-server", "."],
        ] {
            assert!(is_demo_server(&pml(args)), "{args:?}");
        }
        for args in [
            &["demo-server", "/etc"][..],
            &["demo-server", ".."],
            &["demo-server", "src/../.."],
            &["demo-server", "--journal", "x"],
            &["demo-server", "--journal=x"],
            &["serve", "--config", "evil.json"],
            &["--config", "evil.json", "serve"],
            &["run", "-e", "1"],
        ] {
            assert!(!is_demo_server(&pml(args)), "{args:?}");
        }
        let env = BTreeMap::from([("LD_PRELOAD".to_owned(), "./evil.so".to_owned())]);
        let preloaded = Command {
            env,
            ..pml(&["demo-server"])
        };
        assert!(!is_demo_server(&preloaded));
        let elsewhere = Command {
            cwd: Some("/".into()),
            ..pml(&["demo-server"])
        };
        assert!(!is_demo_server(&elsewhere));
        let other = Command {
            program: "./pml".to_owned(),
            ..pml(&["demo-server"])
        };
        assert!(!is_demo_server(&other));
    }

    #[test]
    fn the_command_to_trust_a_file_survives_a_shell() {
        assert_eq!(command(Path::new(".mcp.json")), "pml trust .mcp.json");
        let odd = command(Path::new("a b/it's/.mcp.json"));
        assert_eq!(odd, "pml trust 'a b/it'\\''s/.mcp.json'");
    }
}
