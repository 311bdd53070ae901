//! The side of `pml serve`.

use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use pml_gateway::Gateway;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

use super::{Answer, MAX_BYTES, Request, folder};

/// How long a command has to send its request.
const REQUEST_TIME: Duration = Duration::from_secs(5);
/// Requests that are answered at the same time.
const CONNECTIONS: usize = 8;

/// Answers the requests of other commands until it is dropped. The socket is removed then.
pub struct Listening {
    socket: PathBuf,
    task: JoinHandle<()>,
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.task.abort();
        // Where it is gone already, there is nothing to remove.
        let _ = std::fs::remove_file(&self.socket);
    }
}

/// Answers the requests of other commands. A server that cannot listen works without: those commands do
/// not find it.
pub fn listen(gateway: &Gateway) -> Option<Listening> {
    let socket = folder()?.join(format!("{}.sock", std::process::id()));
    match bind(&socket) {
        Ok((listener, user)) => {
            let task = tokio::spawn(accept(listener, user, gateway.clone()));
            Some(Listening { socket, task })
        }
        Err(error) => {
            tracing::debug!(%error, "`pml logs` and `pml restart` do not reach this server");
            None
        }
    }
}

/// The socket, and the user whose processes may use it.
fn bind(socket: &Path) -> io::Result<(UnixListener, u32)> {
    if let Some(folder) = socket.parent() {
        pml_files::create_private_dir(folder)?;
    }
    // A command that finds a socket without a listener removes it, so it gets its name last.
    let unnamed = socket.with_extension("new");
    // Left behind by a process that had the same number.
    if let Err(error) = std::fs::remove_file(&unnamed)
        && error.kind() != io::ErrorKind::NotFound
    {
        return Err(error);
    }
    let listener = UnixListener::bind(&unnamed)?;
    std::fs::set_permissions(&unnamed, std::fs::Permissions::from_mode(0o600))?;
    std::fs::rename(&unnamed, socket)?;
    Ok((listener, std::fs::symlink_metadata(socket)?.uid()))
}

async fn accept(listener: UnixListener, user: u32, gateway: Gateway) {
    let permits = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        // Never closed.
        let Ok(permit) = permits.clone().acquire_owned().await else {
            return;
        };
        let Ok((stream, _)) = listener.accept().await else {
            // Out of descriptors: some will be free later.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        if !stream.peer_cred().is_ok_and(|peer| peer.uid() == user) {
            continue;
        }
        let gateway = gateway.clone();
        tokio::spawn(async move {
            // A command that went away needs no answer.
            let _ = serve(stream, &gateway).await;
            drop(permit);
        });
    }
}

async fn serve(mut stream: UnixStream, gateway: &Gateway) -> io::Result<()> {
    let (reading, mut writing) = stream.split();
    let mut line = Vec::new();
    let mut reading = BufReader::new(reading.take(MAX_BYTES));
    let read = tokio::time::timeout(REQUEST_TIME, reading.read_until(b'\n', &mut line));
    read.await.map_err(|_| io::ErrorKind::TimedOut)??;
    let answer = match serde_json::from_slice(&line) {
        Ok(request) => answer(request, gateway).await,
        Err(_) => Answer::Unreadable,
    };
    let mut answer = serde_json::to_vec(&answer)?;
    answer.push(b'\n');
    writing.write_all(&answer).await
}

async fn answer(request: Request, gateway: &Gateway) -> Answer {
    let answer = match &request {
        Request::Logs { server, lines } => gateway.recent_logs(server, *lines).map(Answer::Logs),
        Request::Restart { server } => {
            let began = Instant::now();
            gateway
                .restart(server)
                .await
                .map(|restarted| match restarted {
                    Ok(()) => Answer::Restarted {
                        ms: began.elapsed().as_millis().try_into().unwrap_or(u64::MAX),
                    },
                    Err(error) => Answer::Failed(error.to_string()),
                })
        }
    };
    answer.unwrap_or_else(|| Answer::NoServer(gateway.servers().map(str::to_owned).collect()))
}
