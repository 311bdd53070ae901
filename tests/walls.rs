//! The sandbox of a worker, each layer probed from inside with native code; the lifecycle of worker
//! processes; and a broker that does not trust a compromised worker.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use pml_hosts::StaticHost;
use pml_protocol::framing::{FrameReader, encode};
use pml_protocol::message::{FromWorker, Report, Returned};
use pml_protocol::{ErrorKind, Level, Limits, Outcome, PrefetchPlan, RunError, Stats};
use pml_runtime::{Pool, PoolOptions, fd_passing};
use serde_json::value::RawValue;

use crate::support::{binary, pool, run_in};

const MIB: u64 = 1024 * 1024;

pub mod probe {
    //! A worker that runs no script, but tries the system calls that an exploit would try. Only
    //! binaries with debug assertions contain it.

    use super::*;

    #[derive(Debug, Default, PartialEq)]
    pub struct Findings {
        /// The outcome of each attempt, by stage and name.
        attempts: BTreeMap<String, String>,
        /// The ops that are registered in the worker.
        pub ops: BTreeSet<String>,
    }

    pub fn run(jit: bool) -> Findings {
        let mut command = Command::new(binary());
        command.env_clear();
        run_with(command, jit)
    }

    /// A worker that inherits open descriptors of its parent.
    pub fn run_with_inherited_descriptors() -> Findings {
        let mut command = Command::new("/bin/sh");
        command
            .env_clear()
            .args([
                "-c",
                "exec 7</dev/null 8</etc/passwd 9>/dev/null; exec \"$@\"",
                "sh",
            ])
            .arg(binary());
        run_with(command, true)
    }

    fn start(mut command: Command, jit: bool, roles: &[&str]) -> (Child, UnixStream) {
        let (ours, theirs) = UnixStream::pair().expect("a pair of sockets");
        let child = command
            .arg("__pml_worker")
            .arg(std::process::id().to_string())
            .arg((64 * MIB).to_string())
            .arg((16 * MIB).to_string())
            .arg(u8::from(jit).to_string())
            .args(roles)
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the worker starts");
        ours.set_read_timeout(Some(Duration::from_secs(30)))
            .expect("a socket can time out");
        (child, ours)
    }

    /// Two workers forked from one template: the first fork must not affect the second.
    pub fn run_forked(jit: bool) -> [Findings; 2] {
        let mut command = Command::new(binary());
        command.env_clear();
        let (mut template, mut broker) = start(command, jit, &["template", "probe"]);
        let findings = [(); 2].map(|()| fork(&mut broker));
        drop(broker);
        let status = template.wait().expect("the template ends");
        assert!(status.success(), "the template died: {status}");
        findings
    }

    fn fork(broker: &mut UnixStream) -> Findings {
        let (mut ours, theirs) = UnixStream::pair().expect("a pair of sockets");
        fd_passing::send(broker.as_fd(), theirs.as_fd()).expect("a socket can be passed");
        drop(theirs);
        let mut pid = [0; 4];
        broker.read_exact(&mut pid).expect("the pid of the fork");
        let pid = i32::from_le_bytes(pid);
        let mut bytes = Vec::new();
        ours.read_to_end(&mut bytes).expect("the fork reports");
        let mut status = 0;
        // SAFETY: the fork is a child of this process, because the template uses CLONE_PARENT.
        let waited = unsafe { libc::waitpid(pid, &raw mut status, 0) };
        assert_eq!((waited, status), (pid, 0), "the fork died");
        read(&bytes)
    }

    /// How a worker ends one of whose threads panics.
    pub fn panicking() -> std::process::ExitStatus {
        let mut command = Command::new(binary());
        command.env_clear();
        let (mut child, mut ours) = start(command, true, &["panic"]);
        let mut bytes = Vec::new();
        let _ = ours.read_to_end(&mut bytes);
        child.wait().expect("the worker ends")
    }

    fn run_with(command: Command, jit: bool) -> Findings {
        let (mut child, mut ours) = start(command, jit, &["probe"]);
        let mut bytes = Vec::new();
        let said = ours.read_to_end(&mut bytes);
        // A worker that hangs must not outlive the test.
        if said.is_err() {
            let _ = child.kill();
        }
        let status = child.wait().expect("the worker ends");
        said.expect("the worker says everything within half a minute");
        assert!(status.success(), "the probe died: {status}");
        read(&bytes)
    }

    fn read(bytes: &[u8]) -> Findings {
        let mut frames = FrameReader::default();
        frames.push(bytes);
        let mut findings = Findings::default();
        while let Some(message) = frames.pop::<FromWorker>().expect("whole messages") {
            match message {
                FromWorker::Log { text, .. } => {
                    let (attempt, outcome) = text.split_once(": ").expect("`attempt: outcome`");
                    if attempt == "op" {
                        findings.ops.insert(outcome.to_owned());
                    } else {
                        let attempt = attempt.to_owned();
                        findings.attempts.insert(attempt, outcome.to_owned());
                    }
                }
                FromWorker::Ready { missing_walls } => {
                    assert!(missing_walls.is_empty(), "{missing_walls:?}");
                }
                other => panic!("a probe says nothing like {other:?}"),
            }
        }
        findings
    }

    impl Findings {
        /// With the layers that are applied before V8 starts.
        #[track_caller]
        pub fn before_seccomp(&self, attempt: &str) -> &str {
            self.outcome("before seccomp", attempt)
        }

        #[track_caller]
        pub fn behind_all(&self, attempt: &str) -> &str {
            self.outcome("behind all walls", attempt)
        }

        #[track_caller]
        fn outcome(&self, stage: &str, attempt: &str) -> &str {
            self.attempts
                .get(&format!("{stage} / {attempt}"))
                .unwrap_or_else(|| panic!("no attempt to {attempt}: {:#?}", self.attempts))
        }

        pub fn attempts_behind_all(&self) -> impl Iterator<Item = (&str, &str)> {
            self.attempts.iter().filter_map(|(attempt, outcome)| {
                let attempt = attempt.strip_prefix("behind all walls / ")?;
                Some((attempt, outcome.as_str()))
            })
        }
    }
}

#[test]
fn landlock_alone_refuses_every_file() {
    let findings = probe::run(true);
    for attempt in [
        "read a file",
        "list a folder",
        "write a file",
        "start a program",
    ] {
        assert_eq!(
            findings.before_seccomp(attempt),
            "refused EACCES",
            "{attempt}"
        );
    }
}

#[test]
fn landlock_alone_refuses_tcp_where_the_kernel_can() {
    let findings = probe::run(true);
    // Kernels before 6.7 have no such rule. Nothing listens on the port, so an attempt that passes
    // Landlock fails with ECONNREFUSED.
    let outcome = findings.before_seccomp("connect to a port");
    assert!(
        ["refused EACCES", "failed 111"].contains(&outcome),
        "{outcome}"
    );
}

#[test]
fn no_new_privileges_can_be_gained() {
    assert_eq!(probe::run(true).before_seccomp("gain privileges"), "never");
}

#[test]
fn the_system_call_filter_refuses_everything_that_reaches_outside() {
    let findings = probe::run(true);
    for attempt in [
        "read a file",
        "list a folder",
        "write a file",
        "make an internet socket",
        "make a local socket",
        "connect to a port",
        "start a program",
        "start a process",
        "trace",
        "signal the parent",
        "duplicate a descriptor",
        "map shared memory",
        "map memory that grows down",
        "map huge pages",
        "map locked memory",
        "map memory in advance",
        "protect memory that grows down",
        "send out of band",
        "gain privileges",
    ] {
        assert_eq!(findings.behind_all(attempt), "refused EPERM", "{attempt}");
    }
}

#[test]
fn no_kind_of_map_escapes_the_limit_of_memory() {
    let findings = probe::run(true);
    // ENOMEM: the kernel counts it towards RLIMIT_DATA.
    let outcome = findings.behind_all("map more than the limit of memory");
    assert_eq!(outcome, "failed 12");
    // Nothing but the filter keeps a worker from a map that RLIMIT_DATA does not count.
    assert_eq!(
        findings.before_seccomp("map memory that grows down"),
        "allowed"
    );
}

#[test]
fn a_panic_of_any_thread_ends_the_worker() {
    use std::os::unix::process::ExitStatusExt;
    let status = probe::panicking();
    assert_eq!(status.signal(), Some(libc::SIGABRT), "{status}");
}

#[test]
fn nothing_the_probe_knows_is_allowed_behind_all_walls() {
    // With the JIT, V8 needs executable memory.
    let expected = ["map executable memory"];
    let findings = probe::run(true);
    let allowed: Vec<&str> = findings
        .attempts_behind_all()
        .filter(|(_, outcome)| *outcome == "allowed")
        .map(|(attempt, _)| attempt)
        .collect();
    assert_eq!(allowed, expected);
}

#[test]
fn a_forked_worker_is_walled_in_like_a_spawned_one() {
    for jit in [true, false] {
        let spawned = probe::run(jit);
        for forked in probe::run_forked(jit) {
            assert_eq!(forked, spawned);
        }
    }
}

#[test]
fn forked_workers_do_not_draw_the_same_numbers() {
    let pool = pool(Limits::default());
    let script = "return [Math.random(), crypto.randomUUID(), await new Promise((done) => \
                  setTimeout(() => done(Math.random()), 1))]";
    let mut seen = BTreeSet::new();
    event_loop().block_on(async {
        for _ in 0..8 {
            let host = Arc::new(StaticHost::empty());
            let outcome = run_in(&pool, host, script).await;
            let drawn = outcome.result.expect("three values");
            let drawn: Vec<serde_json::Value> =
                serde_json::from_str(drawn.get()).expect("a result is JSON");
            seen.extend(drawn.iter().map(ToString::to_string));
        }
    });
    assert_eq!(seen.len(), 24, "{seen:#?}");
}

#[test]
fn a_template_that_is_killed_is_replaced() {
    let named = NamedBinary::new("pml-seedling");
    let pool = named.pool(1);
    let run = || {
        event_loop().block_on(async {
            let host = Arc::new(StaticHost::empty());
            run_in(&pool, host, "1 + 1").await
        })
    };
    assert!(run().ok);
    for (process, _) in named.processes() {
        // SAFETY: kill has no memory effects; this test started the process.
        unsafe { libc::kill(process.cast_signed(), libc::SIGKILL) };
    }
    // The warm worker is lost with it; the next run starts another.
    let outcomes: Vec<Outcome> = (0..4).map(|_| run()).collect();
    assert!(outcomes[1..].iter().all(|outcome| outcome.ok));
}

#[test]
fn without_machine_code_no_memory_becomes_executable() {
    let findings = probe::run(false);
    assert_eq!(
        findings.behind_all("map executable memory"),
        "refused EPERM"
    );
}

#[test]
fn a_worker_has_no_environment() {
    assert_eq!(probe::run(true).behind_all("environment"), "0 variables");
}

#[test]
fn a_worker_closes_the_descriptors_it_inherits() {
    let plain = probe::run(true);
    let laden = probe::run_with_inherited_descriptors();
    assert_eq!(
        laden.before_seccomp("descriptors"),
        plain.before_seccomp("descriptors")
    );
}

#[test]
fn a_worker_holds_the_socket_its_event_loop_its_timer_and_nothing_else() {
    // The socket and its duplicate for reading, the descriptors of the event loop, and the
    // watchdog's timerfd.
    let findings = probe::run(true);
    let open: u32 = findings
        .before_seccomp("descriptors")
        .trim_end_matches(" open")
        .parse()
        .expect("a count of descriptors");
    assert!(open <= 9, "{open} descriptors are open");
}

#[test]
fn the_broker_passes_none_of_its_environment_on() {
    let fake = FakeWorker::new("cat /proc/$$/environ > \"$0.environ\"; exit 0");
    assert!(
        std::env::vars_os().count() > 0,
        "there is nothing to pass on"
    );
    let outcome = fake.run(Limits::default());
    assert_eq!(kind_of(&outcome), ErrorKind::Internal);
    let environ = std::fs::read(fake.beside("environ")).expect("the worker wrote it");
    assert_eq!(String::from_utf8_lossy(&environ), "");
}

#[test]
fn a_worker_that_begins_before_its_program_has_nothing_of_it() {
    let named = NamedBinary::new("pml-ahead-test");
    let secret = "the-token-of-another-user";
    let mut broker = named
        .command()
        .args(["run", "--cpu", "60s", "--timeout", "60s", "-e"])
        .args(["for (;;) {}", "--", "a-word-for-the-script"])
        .env("SOME_TOKEN", secret)
        .spawn()
        .expect("the program starts");
    named.settle("a program and its worker", |processes| processes.len() >= 2);
    let worker = named
        .processes()
        .into_iter()
        .map(|(process, _)| process)
        .find(|&process| process != broker.id())
        .expect("a worker runs");
    let about = |what: &str| format!("/proc/{worker}/{what}");
    wait_for("the system-call filter", || {
        let status = std::fs::read_to_string(about("status")).unwrap_or_default();
        status.contains("Seccomp:\t2") && status.contains("NoNewPrivs:\t1")
    });

    let words = std::fs::read(about("cmdline")).expect("the kernel shows the words");
    assert!(words.iter().all(|byte| *byte == 0), "{words:?}");
    // Only root may read the memory of a worker.
    if let Ok(environment) = std::fs::read(about("environ")) {
        assert!(environment.iter().all(|byte| *byte == 0), "{environment:?}");
        assert!(holds(broker.id(), secret), "the search finds nothing");
        assert!(!holds(worker, secret), "the secret is in the worker");
    }
    broker.kill().expect("the program can be killed");
    broker.wait().expect("it ends");
}

#[test]
#[expect(clippy::zombie_processes, reason = "`wait4` waits for it")]
fn a_program_waits_for_the_worker_of_its_script() {
    let script = "for (let i = 0; i < 3e8; i++);";
    let named = NamedBinary::new("pml-burial");
    for more in [None, Some("--no-jit")] {
        let child = named
            .command()
            .args(["run", "-e", script])
            .args(more)
            .spawn()
            .expect("the program starts");
        // CPU time with that of its reaped children, which `Child::wait` does not return.
        let number = child.id().cast_signed();
        let mut status = -1;
        // SAFETY: zeros are valid counts, and the process is our child and has not been waited for.
        let usage = unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            assert_eq!(
                libc::wait4(number, &raw mut status, 0, &raw mut usage),
                number
            );
            usage
        };
        assert_eq!(status, 0);
        let used = usage.ru_utime;
        let millis = used.tv_sec * 1000 + used.tv_usec / 1000;
        // Without its worker the program uses a tenth of that.
        assert!(millis >= 50, "{millis} ms with {more:?}");
    }
}

/// Whether the writable memory of a process contains `text`.
fn holds(process: u32, text: &str) -> bool {
    let maps = std::fs::read_to_string(format!("/proc/{process}/maps")).expect("its memory map");
    let memory = std::fs::File::open(format!("/proc/{process}/mem")).expect("its memory");
    maps.lines().any(|line| {
        let mut words = line.split(' ');
        let range = words.next().and_then(|range| range.split_once('-'));
        let (Some((start, end)), Some("rw-p")) = (range, words.next()) else {
            return false;
        };
        let address = |hex| u64::from_str_radix(hex, 16).expect("an address");
        let (start, end) = (address(start), address(end));
        // Skips the gigabytes of address space that V8 only reserves.
        let mut bytes = vec![0; (end - start).min(64 * MIB) as usize];
        let count = memory.read_at(&mut bytes, start).unwrap_or(0);
        let text = text.as_bytes();
        bytes[..count]
            .windows(text.len())
            .any(|window| window == text)
    })
}

#[track_caller]
fn wait_for(what: &str, mut is_there: impl FnMut() -> bool) {
    let patience = Instant::now() + Duration::from_secs(10);
    while !is_there() {
        assert!(Instant::now() < patience, "no {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

// Processes.

/// The binary under a name that is unique to one test: the kernel shows 15 characters of it, also
/// for a zombie.
struct NamedBinary {
    folder: tempfile::TempDir,
    name: &'static str,
}

impl NamedBinary {
    fn new(name: &'static str) -> Self {
        assert!(name.len() <= 15);
        // Beside the binary, so that a hard link is possible: a program resolves its own path
        // through it, and starts its workers under that name.
        let beside = binary();
        let beside = beside.parent().expect("a binary lies in a folder");
        let folder = tempfile::tempdir_in(beside).expect("a folder");
        std::fs::hard_link(binary(), folder.path().join(name)).expect("a link to the binary");
        Self { folder, name }
    }

    fn pool(&self, warm: usize) -> Pool {
        let options = PoolOptions {
            program: self.folder.path().join(self.name),
            warm,
            limits: Limits {
                cpu_ms: 200,
                ..Limits::default()
            },
            ..PoolOptions::new().expect("this program has a path")
        };
        Pool::new(options)
    }

    fn command(&self) -> Command {
        let mut command = Command::new(self.folder.path().join(self.name));
        // Nothing is written to the folders of the user.
        command
            .env("HOME", self.folder.path())
            .env_remove("XDG_DATA_HOME");
        command
    }

    /// Pid and state of all processes with the name.
    fn processes(&self) -> Vec<(u32, char)> {
        let own = format!("({})", self.name);
        std::fs::read_dir("/proc")
            .expect("a /proc")
            .filter_map(|entry| {
                let process: u32 = entry.ok()?.file_name().to_str()?.parse().ok()?;
                let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
                let rest = stat.split_once(&own)?.1;
                Some((process, rest.trim_start().chars().next()?))
            })
            .collect()
    }

    /// Waits until the processes are as expected.
    #[track_caller]
    fn settle(&self, what: &str, settled: impl Fn(&[(u32, char)]) -> bool) {
        let patience = Instant::now() + Duration::from_secs(10);
        loop {
            let processes = self.processes();
            if settled(&processes) {
                return;
            }
            assert!(Instant::now() < patience, "not {what}: {processes:?}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

fn event_loop() -> tokio::runtime::Runtime {
    tokio::runtime::Runtime::new().expect("an event loop starts")
}

#[test]
fn a_pool_that_is_dropped_leaves_no_process() {
    let named = NamedBinary::new("pml-dropped");
    let pool = named.pool(3);
    named.settle("three warm workers and their template", |processes| {
        processes.len() == 4
    });
    drop(pool);
    named.settle("gone", <[_]>::is_empty);
}

#[test]
fn workers_that_ended_leave_no_zombie() {
    let named = NamedBinary::new("pml-zombies");
    let pool = named.pool(1);
    let runtime = event_loop();
    for script in ["1", "throw 1", "for (;;);", "new Array(1e9).fill(1)"] {
        runtime.block_on(run_in(&pool, Arc::new(StaticHost::empty()), script));
    }
    named.settle("one warm worker and its template", |processes| {
        processes.len() == 2 && processes.iter().all(|(_, state)| *state != 'Z')
    });
}

#[test]
fn a_run_that_is_dropped_ends_its_worker() {
    let named = NamedBinary::new("pml-abandoned");
    let pool = named.pool(0);
    let runtime = event_loop();
    let script = "await new Promise((resolve) => setTimeout(resolve, 60_000))";
    runtime.block_on(async {
        let run = run_in(&pool, Arc::new(StaticHost::empty()), script);
        let ended = tokio::time::timeout(Duration::from_millis(300), run).await;
        assert!(ended.is_err(), "the script ended by itself");
    });
    named.settle("gone", <[_]>::is_empty);
}

#[test]
fn an_idle_worker_dies_with_its_parent() {
    dies_with_its_parent(
        "pml-idle",
        "await new Promise((resolve) => setTimeout(resolve, 60_000))",
    );
}

#[test]
fn a_busy_worker_dies_with_its_parent() {
    dies_with_its_parent("pml-busy", "for (;;);");
}

#[test]
fn forked_workers_and_their_template_die_with_their_parent() {
    let named = NamedBinary::new("pml-forked");
    std::fs::write(
        named.folder.path().join(".mcp.json"),
        r#"{ "mcpServers": {} }"#,
    )
    .expect("a configuration");
    let mut parent = named
        .command()
        .arg("serve")
        .current_dir(named.folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary starts");
    named.settle("a parent, a template and a worker", |processes| {
        processes.len() >= 3
    });
    // SIGKILL: the parent cannot clean up.
    parent.kill().expect("the parent can be killed");
    parent.wait().expect("the parent ends");
    // The first process of the machine reaps them in its own time.
    named.settle("dead", |processes| {
        processes.iter().all(|(_, state)| *state == 'Z')
    });
}

#[track_caller]
fn dies_with_its_parent(name: &'static str, script: &str) {
    let named = NamedBinary::new(name);
    let mut parent = named
        .command()
        .args(["run", "--cpu", "60s", "--timeout", "60s", "-e", script])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary starts");
    named.settle("a parent and its worker", |processes| processes.len() >= 2);
    // SIGKILL: the parent cannot clean up.
    parent.kill().expect("it was still running");
    parent.wait().expect("it is ours to wait for");
    // PID 1 of a container may not reap orphans; a zombie runs nothing.
    named.settle("gone", |processes| {
        processes.iter().all(|(_, state)| *state == 'Z')
    });
}

// A compromised worker.

/// A program that is started as a worker and sends the messages of a test.
struct FakeWorker {
    folder: tempfile::TempDir,
}

impl FakeWorker {
    fn new(shell: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let program = folder.path().join("worker");
        std::fs::write(&program, format!("#!/bin/sh\n{shell}\n")).expect("a script");
        let executable = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(&program, executable).expect("it becomes a program");
        Self { folder }
    }

    /// Sends these messages and then waits to be killed.
    fn saying(messages: &[FromWorker]) -> Self {
        Self::sending(&frames(messages), "cat \"$0.bytes\" >&0; exec sleep 60")
    }

    /// Sends the first messages once and the others repeatedly.
    fn repeating(first: &[FromWorker], again: &[FromWorker]) -> Self {
        let again = frames(again);
        let times = 100_000 / again.len() + 1;
        let fake = Self::sending(
            &frames(first),
            "cat \"$0.bytes\" >&0; while cat \"$0.again\" >&0; do :; done 2>/dev/null",
        );
        std::fs::write(fake.beside("again"), again.repeat(times)).expect("a file");
        fake
    }

    fn sending(bytes: &[u8], shell: &str) -> Self {
        let fake = Self::new(shell);
        std::fs::write(fake.beside("bytes"), bytes).expect("a file");
        fake
    }

    fn beside(&self, extension: &str) -> std::path::PathBuf {
        self.folder.path().join("worker").with_extension(extension)
    }

    fn pool(&self, limits: Limits, allow_missing_walls: bool) -> Pool {
        let options = PoolOptions {
            program: self.folder.path().join("worker"),
            warm: 0,
            limits,
            allow_missing_walls,
            ..PoolOptions::new().expect("this program has a path")
        };
        Pool::new(options)
    }

    /// Runs a script with this worker; the outcome must arrive in time.
    #[track_caller]
    fn run(&self, limits: Limits) -> Outcome {
        let pool = self.pool(limits, false);
        // On a busy machine the broker may start its worker late, but it must not wait forever.
        let patience = Duration::from_millis(limits.wall_ms) + Duration::from_secs(10);
        let ended = event_loop().block_on(async {
            let host = Arc::new(StaticHost::empty());
            tokio::time::timeout(patience, run_in(&pool, host, "1")).await
        });
        ended.unwrap_or_else(|_| panic!("no outcome within {patience:?}"))
    }
}

fn frames(messages: &[FromWorker]) -> Vec<u8> {
    messages
        .iter()
        .flat_map(|message| encode(message).expect("a message fits a frame"))
        .collect()
}

fn ready() -> FromWorker {
    FromWorker::Ready {
        missing_walls: Vec::new(),
    }
}

fn parsed() -> FromWorker {
    FromWorker::Parsed {
        micros: 1,
        plan: PrefetchPlan::default(),
    }
}

fn log(text: &str) -> FromWorker {
    FromWorker::Log {
        level: Level::Log,
        text: text.to_owned(),
    }
}

fn done(result: Result<&str, RunError>) -> FromWorker {
    FromWorker::Done(Box::new(Report {
        result: result.map(|json| {
            Returned::Json(RawValue::from_string(json.to_owned()).expect("a result is JSON"))
        }),
        stats: Stats {
            wall_ms: 1.0,
            cpu_ms: 1.0,
            heap_bytes: 1,
            peak_rss_bytes: 1,
            speculation: None,
        },
    }))
}

fn short() -> Limits {
    Limits {
        wall_ms: 500,
        ..Limits::default()
    }
}

#[track_caller]
fn kind_of(outcome: &Outcome) -> ErrorKind {
    match &outcome.error {
        Some(error) => error.kind,
        None => panic!("the run succeeded: {outcome:?}"),
    }
}

#[test]
fn a_worker_that_speaks_nonsense_is_an_internal_failure() {
    let fake = FakeWorker::sending(b"\x05\0\0\0hello", "cat \"$0.bytes\" >&0; exec sleep 60");
    assert_eq!(kind_of(&fake.run(short())), ErrorKind::Internal);
}

#[test]
fn a_worker_that_announces_a_giant_message_is_an_internal_failure() {
    let fake = FakeWorker::sending(
        b"\xff\xff\xff\xff",
        "cat \"$0.bytes\" >&0; exec cat /dev/zero >&0",
    );
    assert_eq!(kind_of(&fake.run(short())), ErrorKind::Internal);
}

#[test]
fn a_worker_that_dies_at_once_is_an_internal_failure() {
    assert_eq!(
        kind_of(&FakeWorker::new("exit 3").run(short())),
        ErrorKind::Internal
    );
}

#[test]
fn a_worker_that_never_reports_ends_at_the_wall_limit() {
    let fake = FakeWorker::saying(&[ready(), parsed()]);
    assert_eq!(kind_of(&fake.run(short())), ErrorKind::Timeout);
}

#[test]
fn a_worker_that_is_ready_again_and_again_gains_no_time() {
    let fake = FakeWorker::repeating(&[ready()], &[ready()]);
    let kind = kind_of(&fake.run(short()));
    assert!(
        matches!(kind, ErrorKind::Timeout | ErrorKind::Internal),
        "{kind}"
    );
}

#[test]
fn a_worker_that_never_stops_talking_gains_no_time() {
    let fake = FakeWorker::repeating(&[ready()], &[parsed()]);
    let kind = kind_of(&fake.run(short()));
    assert!(
        matches!(kind, ErrorKind::Timeout | ErrorKind::Internal),
        "{kind}"
    );
}

#[test]
fn a_worker_that_is_always_stopping_is_ended() {
    let stopping = FromWorker::Stopping(Box::new(RunError::new(ErrorKind::Cpu, "soon")));
    let fake = FakeWorker::repeating(&[ready(), parsed()], &[stopping]);
    assert_eq!(kind_of(&fake.run(short())), ErrorKind::Cpu);
}

#[test]
fn the_broker_counts_logged_bytes_itself() {
    let fake = FakeWorker::repeating(&[ready(), parsed()], &[log(&"x".repeat(1000))]);
    let outcome = fake.run(Limits::default());
    assert_eq!(kind_of(&outcome), ErrorKind::Output);
    let kept: usize = outcome.logs.iter().map(|line| line.text.len()).sum();
    assert!(kept as u64 <= Limits::default().log_bytes);
}

#[test]
fn the_broker_counts_empty_lines_too() {
    let fake = FakeWorker::repeating(&[ready(), parsed()], &[log("")]);
    let limits = Limits {
        log_bytes: 10_000,
        ..Limits::default()
    };
    let outcome = fake.run(limits);
    assert_eq!(kind_of(&outcome), ErrorKind::Output);
    assert!(outcome.logs.len() <= 10_000);
}

#[test]
fn the_broker_limits_the_result_itself() {
    let result = format!("\"{}\"", "x".repeat(100_000));
    let fake = FakeWorker::saying(&[ready(), parsed(), done(Ok(&result))]);
    let outcome = fake.run(Limits::default());
    assert_eq!(kind_of(&outcome), ErrorKind::Output);
    assert!(outcome.result.is_none());
}

#[test]
fn the_broker_limits_the_words_of_an_error_itself() {
    let error = RunError {
        line: Some(u32::MAX),
        column: Some(u32::MAX),
        stack: Some("s".repeat(1_000_000)),
        hint: Some("h".repeat(1_000_000)),
        frame: Some("f".repeat(1_000_000)),
        ..RunError::new(ErrorKind::Runtime, "m".repeat(1_000_000))
    };
    let fake = FakeWorker::saying(&[ready(), parsed(), done(Err(error))]);
    let outcome = fake.run(Limits::default());
    let envelope = serde_json::to_string(&outcome).expect("an outcome is JSON");
    assert!(envelope.len() < 100_000, "{} bytes", envelope.len());
}

#[test]
fn a_worker_without_its_walls_runs_nothing() {
    let missing = FromWorker::Ready {
        missing_walls: vec!["seccomp: not here".to_owned()],
    };
    let fake = FakeWorker::saying(&[missing, parsed(), done(Ok("1"))]);
    let outcome = fake.run(Limits::default());
    let error = outcome.error.expect("the run was refused");
    assert_eq!(error.kind, ErrorKind::Internal);
    assert!(
        error.message.contains("seccomp: not here"),
        "{}",
        error.message
    );
}

#[test]
fn a_worker_without_its_walls_runs_if_the_operator_allows_it() {
    let missing = FromWorker::Ready {
        missing_walls: vec!["landlock: not here".to_owned()],
    };
    let fake = FakeWorker::saying(&[missing, parsed(), done(Ok("1"))]);
    let pool = fake.pool(Limits::default(), true);
    let host = Arc::new(StaticHost::empty());
    let outcome = event_loop().block_on(run_in(&pool, host, "1"));
    assert!(outcome.ok, "{:?}", outcome.error);
}
