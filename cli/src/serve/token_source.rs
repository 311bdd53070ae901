//! Where the bearer tokens of `pml serve --http` come from: a file, a variable, or a new one.

use std::env::VarError;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use anyhow::Context;
use pml_server::log::Format;
use pml_server::{BearerTokens, ListenAddress};
use serde_json::json;

/// The variable with the bearer token: an argument would be visible to every user of the machine.
const TOKEN: &str = "PML_TOKEN";

/// What decides about the tokens.
pub struct TokenOptions<'a> {
    /// `--token-file`
    pub file: Option<&'a Path>,
    /// `--no-token`
    pub without: bool,
    /// Where the server listens.
    pub address: &'a ListenAddress,
    /// The format of lines on standard error.
    pub format: Format,
}

/// The tokens of the server. A new one is printed once, on standard error, and not by the log, which
/// would scrub it.
pub fn read(options: &TokenOptions<'_>) -> anyhow::Result<BearerTokens> {
    if options.without {
        return Ok(BearerTokens::none());
    }
    if let Some(file) = options.file {
        return from_file(file, options.format);
    }
    match std::env::var(TOKEN) {
        Ok(token) => return BearerTokens::parse(&token).context(TOKEN),
        Err(VarError::NotPresent) => {}
        Err(error) => anyhow::bail!("{TOKEN} cannot be used: {error}"),
    }
    match options.address {
        // The kernel says whose process connects.
        ListenAddress::Unix(_) => Ok(BearerTokens::none()),
        address if address.is_local() => {
            let (token, tokens) = BearerTokens::generate()?;
            print(&token, options.format);
            Ok(tokens)
        }
        // The server refuses to start, and says why.
        ListenAddress::Tcp(_) => Ok(BearerTokens::none()),
    }
}

fn from_file(file: &Path, format: Format) -> anyhow::Result<BearerTokens> {
    match std::fs::read_to_string(file) {
        Ok(text) => BearerTokens::parse(&text).with_context(|| file.display().to_string()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let (token, tokens) = BearerTokens::generate()?;
            write_new(file, &token)
                .with_context(|| format!("{} cannot be written", file.display()))?;
            print(&token, format);
            Ok(tokens)
        }
        Err(error) => Err(error).with_context(|| format!("{} cannot be read", file.display())),
    }
}

/// Writes a file that only its owner can read. A file that appeared meanwhile is not replaced.
fn write_new(file: &Path, token: &str) -> io::Result<()> {
    let mut out = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(file)?;
    writeln!(out, "{token}")
}

fn print(token: &str, format: Format) {
    let line = match format {
        Format::Text => format!("clients need this header: Authorization: Bearer {token}"),
        Format::Json => json!({ "message": "clients need this token", "token": token }).to_string(),
    };
    // Without a standard error the token is lost, and the server still closed to strangers.
    let _ = writeln!(io::stderr(), "{line}");
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_file_that_does_not_exist_is_made_for_its_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("token");
        assert!(!from_file(&file, Format::Text).unwrap().is_empty());
        let mode = file.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let written = std::fs::read_to_string(&file).unwrap();
        from_file(&file, Format::Text).unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), written);
        std::fs::write(&file, "").unwrap();
        assert!(from_file(&file, Format::Text).is_err(), "an empty file");
    }
}
