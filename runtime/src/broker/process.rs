//! Starting and ending worker processes.
//!
//! Both happen on threads of their own. The kernel kills a worker when the *thread* that started
//! it ends, so that thread must live as long as the pool; and waiting for a killed process can
//! block, so nobody in a hurry does it.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as StdUnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;

use tokio::sync::oneshot;

use crate::worker::WorkerOptions;

/// A process and our end of the connection to it.
pub struct Worker {
    child: Option<Child>,
    pub socket: Option<StdUnixStream>,
    reaper: mpsc::Sender<Reap>,
}

struct Start {
    options: WorkerOptions,
    started: oneshot::Sender<io::Result<Worker>>,
}

struct Reap {
    child: Child,
    status: Option<oneshot::Sender<Option<ExitStatus>>>,
}

/// Starts workers, in the order they are asked for.
#[derive(Clone)]
pub struct Starter {
    requests: mpsc::Sender<Start>,
}

impl Starter {
    pub fn new(program: PathBuf) -> io::Result<Self> {
        let (requests, incoming) = mpsc::channel::<Start>();
        let (reaper, dead) = mpsc::channel::<Reap>();
        thread("pml-reaper", move || {
            for reap in dead {
                end(reap);
            }
        })?;
        thread("pml-starter", move || {
            for request in incoming {
                let worker = start(&program, request.options, reaper.clone());
                // A pool that was dropped meanwhile drops the worker, which ends it.
                let _ = request.started.send(worker);
            }
        })?;
        Ok(Self { requests })
    }

    /// Asks for a worker. It is started at once; the receiver hears when there is a process.
    pub fn request(&self, options: WorkerOptions) -> oneshot::Receiver<io::Result<Worker>> {
        let (started, worker) = oneshot::channel();
        // If the thread is gone the sender is dropped, and the receiver tells.
        let _ = self.requests.send(Start { options, started });
        worker
    }
}

fn thread(name: &str, body: impl FnOnce() + Send + 'static) -> io::Result<()> {
    std::thread::Builder::new()
        .name(name.to_owned())
        .stack_size(128 * 1024)
        .spawn(body)
        .map(drop)
}

fn start(
    program: &PathBuf,
    options: WorkerOptions,
    reaper: mpsc::Sender<Reap>,
) -> io::Result<Worker> {
    let (ours, theirs) = StdUnixStream::pair()?;
    ours.set_nonblocking(true)?;
    let mut command = Command::new(program);
    options.apply(&mut command);
    let child = command
        .env_clear()
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    Ok(Worker {
        child: Some(child),
        socket: Some(ours),
        reaper,
    })
}

fn end(reap: Reap) {
    let Reap { mut child, status } = reap;
    // Killing a process that has already ended is fine: it is still ours to wait for.
    let _ = child.kill();
    let ended = child.wait().ok();
    if let Some(status) = status {
        let _ = status.send(ended);
    }
}

impl Worker {
    /// The most memory the process has held, as the kernel counts it.
    pub fn peak_rss_bytes(&self) -> u64 {
        self.child
            .as_ref()
            .and_then(|child| std::fs::read_to_string(format!("/proc/{}/status", child.id())).ok())
            .and_then(|status| {
                let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
                let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
                Some(kib * 1024)
            })
            .unwrap_or(0)
    }

    /// Lets others have the processor first. All threads of the worker exist by now.
    pub fn stand_back(&self, niceness: i32) {
        let Some(child) = self.child.as_ref().filter(|_| niceness > 0) else {
            return;
        };
        let Ok(threads) = std::fs::read_dir(format!("/proc/{}/task", child.id())) else {
            return;
        };
        for thread in threads.flatten() {
            let name = thread.file_name();
            if let Some(id) = name.to_str().and_then(|name| name.parse().ok()) {
                // SAFETY: plain system call. A thread that has ended is no reason to worry.
                unsafe { libc::setpriority(libc::PRIO_PROCESS, id, niceness) };
            }
        }
    }

    /// A gauge of the memory that the process holds right now.
    pub fn gauge(&self) -> Option<MemoryGauge> {
        let pid = self.child.as_ref()?.id();
        // SAFETY: plain system call.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        Some(MemoryGauge {
            path: format!("/proc/{pid}/statm"),
            page_bytes: u64::try_from(page).unwrap_or(4096),
        })
    }

    /// Ends the process and tells how it ended, if it had done so by itself.
    pub async fn end(mut self) -> Option<ExitStatus> {
        let child = self.child.take()?;
        let (status, ended) = oneshot::channel();
        let reap = Reap {
            child,
            status: Some(status),
        };
        self.reaper.send(reap).ok()?;
        ended.await.ok().flatten()
    }
}

/// Reads how much memory a process holds.
pub struct MemoryGauge {
    path: String,
    page_bytes: u64,
}

impl MemoryGauge {
    /// `None` when the process is gone.
    pub fn resident_bytes(&self) -> Option<u64> {
        let sizes = std::fs::read_to_string(&self.path).ok()?;
        let pages: u64 = sizes.split(' ').nth(1)?.parse().ok()?;
        Some(pages * self.page_bytes)
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        if let Some(child) = self.child.take()
            && let Err(mpsc::SendError(reap)) = self.reaper.send(Reap {
                child,
                status: None,
            })
        {
            end(reap);
        }
    }
}
