//! Tries to break out of the walls with native code, and reports what happened. Only tests start a
//! worker this way, and only debug builds contain it; it reads nothing and runs no script.

use std::ffi::{CStr, OsString};
use std::io;

use deno_core::JsRuntime;
use pml_ops::REFUSED_OPS;
use pml_protocol::Level;
use pml_protocol::message::FromWorker;

use super::connection::Writer;

const PROBE: &str = "probe";
const PANIC: &str = "panic";

pub fn is_requested(args: &[OsString]) -> bool {
    args.last().is_some_and(|arg| arg == PROBE)
}

/// Whether the worker is to panic in one of its threads.
pub fn is_panic_requested(args: &[OsString]) -> bool {
    args.last().is_some_and(|arg| arg == PANIC)
}

/// Panics in a thread of its own, and returns if that does not end the process.
pub fn panic_in_a_thread() {
    let thread = std::thread::spawn(|| panic!("a panic that a test asked for"));
    let _ = thread.join();
}

/// Lists the ops, and tries the walls that stand before the system-call filter.
pub fn before_seccomp(writer: &Writer, runtime: &JsRuntime) {
    list_ops(writer, runtime);
    run(writer, "before seccomp");
}

/// Tries all walls.
pub fn behind_all_walls(writer: &Writer) {
    run(writer, "behind all walls");
}

/// Sends one line per attempt: `stage / attempt: outcome`.
fn run(writer: &Writer, stage: &str) {
    for (attempt, outcome) in attempts() {
        let _ = writer.send(&FromWorker::Log {
            level: Level::Log,
            text: format!("{stage} / {attempt}: {outcome}"),
        });
    }
}

/// Sends one line per registered op.
fn list_ops(writer: &Writer, runtime: &JsRuntime) {
    for op in runtime.op_names() {
        let refused = if REFUSED_OPS.contains(&op) {
            " (refused)"
        } else {
            ""
        };
        let _ = writer.send(&FromWorker::Log {
            level: Level::Log,
            text: format!("op: {op}{refused}"),
        });
    }
}

fn attempts() -> Vec<(&'static str, String)> {
    vec![
        // First, because descriptors that the others open stay open.
        ("descriptors", open_descriptors()),
        ("read a file", open(c"/etc/passwd", libc::O_RDONLY)),
        (
            "list a folder",
            open(c"/", libc::O_RDONLY | libc::O_DIRECTORY),
        ),
        (
            "write a file",
            open(c"/tmp/pml-probe", libc::O_WRONLY | libc::O_CREAT),
        ),
        ("make an internet socket", socket(libc::AF_INET)),
        ("make a local socket", socket(libc::AF_UNIX)),
        ("connect to a port", connect()),
        ("start a program", exec()),
        ("start a process", fork()),
        ("trace", trace()),
        (
            "signal the parent",
            // SAFETY: takes integers; signal 0 only checks whether a signal could be sent.
            outcome(i64::from(unsafe { libc::kill(libc::getppid(), 0) })),
        ),
        (
            "duplicate a descriptor",
            // SAFETY: takes an integer; the duplicate is never used.
            outcome(i64::from(unsafe { libc::dup(0) })),
        ),
        (
            "map executable memory",
            map(libc::PROT_EXEC, libc::MAP_PRIVATE),
        ),
        ("map shared memory", map(0, libc::MAP_SHARED)),
        (
            "map memory that grows down",
            map(0, libc::MAP_PRIVATE | libc::MAP_GROWSDOWN),
        ),
        (
            "map huge pages",
            map(0, libc::MAP_PRIVATE | libc::MAP_HUGETLB),
        ),
        (
            "map locked memory",
            map(0, libc::MAP_PRIVATE | libc::MAP_LOCKED),
        ),
        (
            "map memory in advance",
            map(0, libc::MAP_PRIVATE | libc::MAP_POPULATE),
        ),
        (
            "map more than the limit of memory",
            map_bytes(2 << 30, 0, libc::MAP_PRIVATE),
        ),
        ("protect memory that grows down", protect_growing()),
        ("send out of band", send_out_of_band()),
        ("gain privileges", no_new_privileges()),
        (
            "environment",
            format!("{} variables", std::env::vars_os().count()),
        ),
    ]
}

fn outcome(result: i64) -> String {
    if result >= 0 {
        return "allowed".to_owned();
    }
    match io::Error::last_os_error().raw_os_error() {
        Some(libc::EPERM) => "refused EPERM".to_owned(),
        Some(libc::EACCES) => "refused EACCES".to_owned(),
        Some(libc::EMFILE) => "refused EMFILE".to_owned(),
        Some(other) => format!("failed {other}"),
        None => "failed".to_owned(),
    }
}

fn open(path: &CStr, flags: libc::c_int) -> String {
    // SAFETY: the path is a C string that outlives the call. A descriptor is left open on purpose.
    outcome(i64::from(unsafe {
        libc::open(path.as_ptr(), flags, 0o600)
    }))
}

fn socket(family: libc::c_int) -> String {
    // SAFETY: takes three integers and touches no memory of this process.
    outcome(i64::from(unsafe {
        libc::socket(family, libc::SOCK_STREAM, 0)
    }))
}

/// Port 9 of the loopback, on which nothing listens: refused by a wall, or with ECONNREFUSED.
fn connect() -> String {
    // SAFETY: all-zero bytes are a valid `sockaddr_in`, and the pointer is to a local of the given size
    // that outlives the call.
    unsafe {
        let socket = libc::socket(libc::AF_INET, libc::SOCK_STREAM, 0);
        if socket < 0 {
            return outcome(-1);
        }
        let mut address: libc::sockaddr_in = std::mem::zeroed();
        address.sin_family = libc::AF_INET as libc::sa_family_t;
        address.sin_port = 9u16.to_be();
        address.sin_addr.s_addr = u32::from_ne_bytes([127, 0, 0, 1]);
        let size = size_of::<libc::sockaddr_in>() as libc::socklen_t;
        outcome(i64::from(libc::connect(
            socket,
            (&raw const address).cast(),
            size,
        )))
    }
}

fn exec() -> String {
    let path = c"/bin/true";
    let argv = [path.as_ptr(), std::ptr::null()];
    // SAFETY: the path is a C string and the argument list ends with a null pointer. Success replaces
    // this process, which the test sees as a missing line.
    outcome(i64::from(unsafe {
        libc::execv(path.as_ptr(), argv.as_ptr())
    }))
}

fn fork() -> String {
    // SAFETY: a child only calls `_exit`, which is async-signal-safe; the status pointer may be null.
    unsafe {
        let child = libc::fork();
        if child == 0 {
            libc::_exit(0);
        }
        if child > 0 {
            libc::waitpid(child, std::ptr::null_mut(), 0);
        }
        outcome(i64::from(child))
    }
}

/// Reads memory of the parent. Without a wall the error is ESRCH: the parent is not being traced.
fn trace() -> String {
    // SAFETY: takes integers; the call fails, because this process does not trace the parent.
    outcome(unsafe {
        libc::syscall(
            libc::SYS_ptrace,
            libc::PTRACE_PEEKDATA,
            libc::getppid(),
            0,
            0,
        )
    })
}

fn map(protection: libc::c_int, kind: libc::c_int) -> String {
    map_bytes(4096, protection, kind)
}

fn map_bytes(size: usize, protection: libc::c_int, kind: libc::c_int) -> String {
    // SAFETY: without MAP_FIXED the kernel picks unused addresses, and the page is never accessed.
    let page = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            size,
            libc::PROT_READ | libc::PROT_WRITE | protection,
            kind | libc::MAP_ANONYMOUS,
            -1,
            0,
        )
    };
    outcome(if page == libc::MAP_FAILED { -1 } else { 0 })
}

/// Changes the whole stack of this thread at once, which only PROT_GROWSDOWN can. The protection
/// stays what it is.
fn protect_growing() -> String {
    let local = 0u8;
    let page = ((&raw const local) as usize & !4095) as *mut libc::c_void;
    let protection = libc::PROT_READ | libc::PROT_WRITE | libc::PROT_GROWSDOWN;
    // SAFETY: the page is of this thread's stack, which is readable and writable before and after.
    outcome(i64::from(unsafe { libc::mprotect(page, 4096, protection) }))
}

/// Sends no byte: what matters is whether the call reaches the kernel.
fn send_out_of_band() -> String {
    // SAFETY: the length is zero, so the null pointer is not read.
    let sent = unsafe { libc::send(0, std::ptr::null(), 0, libc::MSG_OOB | libc::MSG_NOSIGNAL) };
    outcome(sent as i64)
}

fn no_new_privileges() -> String {
    // SAFETY: this option takes only integers and touches no memory of this process.
    match unsafe { libc::prctl(libc::PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) } {
        1 => "never".to_owned(),
        0 => "allowed".to_owned(),
        _ => outcome(-1),
    }
}

/// Counts the open descriptors: `poll` reports POLLNVAL for a closed one. It needs neither a
/// descriptor nor the file system.
fn open_descriptors() -> String {
    let open = (0..256)
        .filter(|descriptor| {
            let mut one = libc::pollfd {
                fd: *descriptor,
                events: 0,
                revents: 0,
            };
            // SAFETY: the pointer is to one `pollfd`, a local that outlives the call.
            let answered = unsafe { libc::poll(&raw mut one, 1, 0) };
            answered >= 0 && one.revents & libc::POLLNVAL == 0
        })
        .count();
    format!("{open} open")
}
