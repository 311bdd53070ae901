//! Secrets that a program prints: `op`, the keyring of the desktop, or any other.

use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::Command;
use zeroize::Zeroizing;

use super::{MAX_BYTES, text};
use crate::error::SecretError;
use crate::reference::Reference;

/// Bytes of standard error that are read, and characters of its last line that an error quotes.
const MAX_STDERR: usize = 16 * 1024;
const MAX_QUOTED: usize = 200;

/// A field of 1Password.
pub async fn one_password(
    reference: &Reference,
    address: &str,
    timeout: Duration,
) -> Result<Zeroizing<String>, SecretError> {
    let remedy = "sign in with `op signin`, and try it with `op read`";
    let words = ["op", "read", "--no-newline", address];
    run(reference, &words, timeout, remedy).await
}

/// An entry of the keyring, in the attributes that the keyring libraries use.
pub async fn keyring(
    reference: &Reference,
    service: &str,
    account: &str,
    timeout: Duration,
) -> Result<Zeroizing<String>, SecretError> {
    if cfg!(target_os = "macos") {
        let remedy = "add it with `security add-generic-password -s SERVICE -a ACCOUNT -w`";
        let words = [
            "security",
            "find-generic-password",
            "-s",
            service,
            "-a",
            account,
            "-w",
        ];
        return run(reference, &words, timeout, remedy).await;
    }
    let remedy = "add it with `secret-tool store --label=LABEL service SERVICE username ACCOUNT`";
    let words = [
        "secret-tool",
        "lookup",
        "service",
        service,
        "username",
        account,
    ];
    run(reference, &words, timeout, remedy).await
}

/// What a program prints. No shell reads the words.
pub async fn exec(
    reference: &Reference,
    words: &[String],
    timeout: Duration,
) -> Result<Zeroizing<String>, SecretError> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    run(
        reference,
        &words,
        timeout,
        "run the program by hand to see why",
    )
    .await
}

async fn run(
    reference: &Reference,
    words: &[&str],
    timeout: Duration,
    remedy: &str,
) -> Result<Zeroizing<String>, SecretError> {
    let (name, arguments) = words.split_first().unwrap_or((&"", &[]));
    let program = match name.contains('/') {
        true => Some(name.into()),
        false => pml_files::find_executable(name),
    };
    let Some(program) = program else {
        return Err(SecretError::Missing {
            reference: reference.clone(),
            remedy: format!(
                "the program `{name}` was not found; install it, or write its full path"
            ),
        });
    };
    let unreachable = |reason: String| SecretError::Unreachable {
        reference: reference.clone(),
        reason,
        remedy: remedy.to_owned(),
    };
    let running = async {
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let (stdout, stderr) =
            tokio::join!(bounded(stdout, MAX_BYTES), bounded(stderr, MAX_STDERR));
        Ok::<_, std::io::Error>((child.wait().await?, stdout?, stderr?))
    };
    let ended = tokio::time::timeout(timeout, running).await;
    let (status, stdout, stderr) = ended
        .map_err(|_| {
            unreachable(format!(
                "`{name}` took longer than {} s",
                timeout.as_secs_f64()
            ))
        })?
        .map_err(|error| unreachable(format!("`{name}` cannot be run: {error}")))?;
    if status.success() {
        return text(reference, stdout);
    }
    Err(SecretError::Missing {
        reference: reference.clone(),
        remedy: format!("{}; {remedy}", ended_with(name, status, &stderr)),
    })
}

fn ended_with(name: &str, status: ExitStatus, stderr: &[u8]) -> String {
    let words = String::from_utf8_lossy(stderr);
    let last = words.lines().rev().find(|line| !line.trim().is_empty());
    match last {
        Some(line) => {
            let line: String = line.trim().chars().take(MAX_QUOTED).collect();
            format!("`{name}` ended with {status} and said “{line}”")
        }
        None => format!("`{name}` ended with {status}"),
    }
}

/// Reads up to one byte over `limit`, and then closes the pipe.
async fn bounded(
    pipe: Option<impl AsyncRead + Unpin>,
    limit: usize,
) -> std::io::Result<Zeroizing<Vec<u8>>> {
    let mut bytes = Zeroizing::new(Vec::with_capacity(limit + 1));
    if let Some(pipe) = pipe {
        let limit = u64::try_from(limit).unwrap_or(u64::MAX);
        pipe.take(limit + 1).read_to_end(&mut bytes).await?;
    }
    Ok(bytes)
}
