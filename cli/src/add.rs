//! `pml add`: adds a server to the configuration file.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use pml_client_import::add_server;
use pml_gateway::Config;
use pml_gateway::config::{ConfigError, ConfigFile, ConfigOrigin};
use serde_json::{Map, Value};

use crate::annotation_trust::{AnnotationTrustArgs, trust_annotations};
use crate::exit::ExitCode;
use crate::{exit, trust};

const FILE_NAME: &str = ".mcp.json";

/// Add a server to the configuration file
///
/// The server goes into the file that pml reads: the one named with --config, else .mcp.json of this
/// folder, else your own configuration. Without any of them, .mcp.json is created. Comments in the file
/// are kept.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    pml add fs -- npx -y @modelcontextprotocol/server-filesystem .\n  \
    pml add api --url https://api.example/mcp\n  \
    pml add api --url https://api.example/mcp --trust-annotations\n  \
    pml add pets --openapi petstore.yaml --base-url https://api.example/v1\n  \
    pml add local --functions 'tools/*.ts'       functions of your files\n\n\
    Exit codes: 0 added, 2 the name is taken, the file is invalid or cannot be written.")]
pub struct AddArgs {
    /// The name of the server, the first half of its tools' ids
    name: String,

    /// The URL of a server over HTTP
    #[arg(long, conflicts_with = "command", required_unless_present_any = ["command", "openapi", "functions"])]
    url: Option<String>,

    /// The OpenAPI document of a service, whose operations become tools
    #[arg(long, value_name = "FILE|URL", conflicts_with_all = ["command", "url"])]
    openapi: Option<String>,

    /// The address of the service, in place of the one in its document
    #[arg(long, value_name = "URL", requires = "openapi")]
    base_url: Option<String>,

    /// The files whose exported functions become tools, as a quoted pattern
    #[arg(long, value_name = "PATTERN", conflicts_with_all = ["command", "url", "openapi"])]
    functions: Option<String>,

    /// The program that is the server, and its arguments
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,

    #[command(flatten)]
    annotations: AnnotationTrustArgs,
}

pub fn run(args: &AddArgs, config: Option<&Path>) -> ExitCode {
    add(args, config).unwrap_or_else(exit::usage_error)
}

fn add(args: &AddArgs, config: Option<&Path>) -> anyhow::Result<ExitCode> {
    let (file, origin) = match Config::locate(config, Path::new("")) {
        Ok(ConfigFile { path, origin }) => (path, origin),
        Err(ConfigError::NotFound { .. }) => (PathBuf::from(FILE_NAME), ConfigOrigin::Project),
        Err(error) => return Err(error.into()),
    };
    // A project's file that the user does not trust stays untrusted.
    let is_trusted =
        !file.exists() || (origin == ConfigOrigin::Project && trust::is_trusted(&file));
    let mut entry = entry(args, &file)?;
    let question = format!("Trust the annotations of `{}`?", args.name);
    // The methods of a service decide the classes of its tools.
    if args.openapi.is_none() && args.annotations.decide(&question) {
        trust_annotations(&mut entry);
    }
    add_server(&file, &args.name, &entry)?;
    if is_trusted {
        trust::trust_own(&file);
    }
    let printed = writeln!(
        io::stdout(),
        "Added `{}` to {}. `pml doctor` checks whether it works.",
        args.name,
        file.display()
    );
    exit::check_pipe(printed)?;
    Ok(ExitCode::SUCCESS)
}

/// The entry of the server. clap has checked that there is a document, a pattern, a URL or a
/// command.
fn entry(args: &AddArgs, file: &Path) -> anyhow::Result<Map<String, Value>> {
    let mut entry = Map::new();
    if let Some(document) = &args.openapi {
        entry.insert(
            "openapi".to_owned(),
            document_address(document, file)?.into(),
        );
    }
    if let Some(pattern) = &args.functions {
        let pattern = from_configuration(pattern, file)?;
        entry.insert("functions".to_owned(), pattern.into());
    }
    if let Some(url) = &args.base_url {
        entry.insert("baseUrl".to_owned(), url.as_str().into());
    }
    if let Some(url) = &args.url {
        entry.insert("url".to_owned(), url.as_str().into());
    }
    if let Some((program, rest)) = args.command.split_first() {
        entry.insert("command".to_owned(), program.as_str().into());
        if !rest.is_empty() {
            entry.insert("args".to_owned(), rest.into());
        }
    }
    Ok(entry)
}

/// The document as the entry names it: an address as it is, a path relative to the configuration, or
/// absolute if that is in another folder.
fn document_address(document: &str, file: &Path) -> anyhow::Result<String> {
    if document.starts_with("http://") || document.starts_with("https://") {
        return Ok(document.to_owned());
    }
    let path = Path::new(document);
    anyhow::ensure!(
        path.is_file(),
        "there is no file `{document}`: pass the path or the address of an OpenAPI document"
    );
    from_configuration(document, file)
}

/// A path of the working folder as the configuration names it: as it is, or absolute if the configuration is
/// in another folder.
fn from_configuration(path: &str, file: &Path) -> anyhow::Result<String> {
    let folder = file.parent().unwrap_or(Path::new(""));
    match folder.as_os_str().is_empty() {
        true => Ok(path.to_owned()),
        false => Ok(std::path::absolute(path)?.to_string_lossy().into_owned()),
    }
}
