//! The side of the commands that reach a running `pml serve`.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use super::{Answer, MAX_BYTES, Request, folder};

/// The longest time that the start of a server can be given, and some more.
const ANSWER_TIME: Duration = Duration::from_secs(600);

/// The answer of one running server.
pub struct Answered {
    /// The number of its process.
    pub pid: u32,
    pub answer: Answer,
}

/// Asks every `pml serve` of this user that has the MCP server. Each client has a process of its own, so
/// there may be several.
///
/// # Errors
/// No `pml serve` runs, or none has the MCP server.
pub fn ask_all(request: &Request) -> anyhow::Result<Vec<Answered>> {
    let mut known = Vec::new();
    let mut answered = Vec::new();
    let mut is_other_version = false;
    for (pid, answer) in running(request) {
        match answer {
            Answer::NoServer(servers) => known.extend(servers),
            Answer::Unreadable => is_other_version = true,
            answer => answered.push(Answered { pid, answer }),
        }
    }
    if !answered.is_empty() {
        return Ok(answered);
    }
    let server = request.server();
    anyhow::ensure!(
        !is_other_version,
        "a running `pml serve` is of another version: restart the AI client that started it"
    );
    anyhow::ensure!(
        !known.is_empty(),
        "no `pml serve` with servers runs as this user; `pml doctor` starts every server once and shows what it says"
    );
    known.sort_unstable();
    known.dedup();
    let names: Vec<&str> = known.iter().map(String::as_str).collect();
    let hint = match pml_nearest::typo_of(server, names.iter().copied()) {
        Some(name) => format!("did you mean `{name}`?"),
        None => format!("they have {}", pml_nearest::quoted_list(&names, "and")),
    };
    anyhow::bail!("no running `pml serve` has a server `{server}`; {hint}")
}

/// The answers of all that run. The sockets of processes that were killed are removed.
fn running(request: &Request) -> Vec<(u32, Answer)> {
    let Some(Ok(entries)) = folder().map(std::fs::read_dir) else {
        return Vec::new();
    };
    let mut answers = Vec::new();
    for path in entries.flatten().map(|entry| entry.path()) {
        let is_socket = path.extension().is_some_and(|suffix| suffix == "sock");
        let pid = path
            .file_stem()
            .and_then(|stem| stem.to_str()?.parse().ok());
        let Some(pid) = pid.filter(|_| is_socket) else {
            continue;
        };
        match ask(&path, request) {
            Ok(answer) => answers.push((pid, answer)),
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                // Another command may have been faster.
                let _ = std::fs::remove_file(&path);
            }
            // It is ending.
            Err(_) => {}
        }
    }
    answers.sort_unstable_by_key(|(pid, _)| *pid);
    answers
}

fn ask(socket: &Path, request: &Request) -> io::Result<Answer> {
    let mut stream = UnixStream::connect(socket)?;
    stream.set_read_timeout(Some(ANSWER_TIME))?;
    let mut line = serde_json::to_vec(request)?;
    line.push(b'\n');
    stream.write_all(&line)?;
    let mut answer = Vec::new();
    BufReader::new(stream.take(MAX_BYTES)).read_until(b'\n', &mut answer)?;
    Ok(serde_json::from_slice(&answer)?)
}
