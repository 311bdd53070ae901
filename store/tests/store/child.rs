//! Other processes that use a store: this test program, started again in a role.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use pml_store::{RunWriter, Store, StoreOptions, StoreUrl};

use crate::fixture::{answered, block_on, id, intent, new_run, tenant};

/// A process in a role. It is killed when this is dropped.
pub struct Process {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Process {
    /// Starts `role` on a store.
    pub fn start(role: &str, options: &StoreOptions) -> Self {
        Self::start_in(
            Command::new(std::env::current_exe().unwrap()),
            role,
            options,
        )
    }

    /// Starts `role` with a command that ends with the path of this program.
    pub fn start_in(mut command: Command, role: &str, options: &StoreOptions) -> Self {
        let url = match &options.url {
            StoreUrl::Sqlite(path) => format!("sqlite:{}", path.display()),
            StoreUrl::Postgres(url) => url.clone(),
        };
        let mut child = command
            .args(["child::role", "--exact", "--nocapture"])
            .env("PML_STORE_ROLE", role)
            .env("PML_STORE_URL", url)
            .env("PML_STORE_FOLDER", &options.data_folder)
            .env("PML_STORE_LEASE_MS", options.lease.as_millis().to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        Self {
            input: child.stdin.take().unwrap(),
            output: BufReader::new(child.stdout.take().unwrap()),
            child,
        }
    }

    /// The next line that the role says; `None` when it has ended.
    pub fn line(&mut self) -> Option<String> {
        loop {
            let mut line = String::new();
            if self.output.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            // The test harness prints lines of its own, and not always an end of line.
            if let Some((_, said)) = line.trim_end().split_once('@') {
                return Some(said.to_owned());
            }
        }
    }

    /// Asks the role something and returns its answer.
    pub fn ask(&mut self, question: &str) -> String {
        writeln!(self.input, "{question}").unwrap();
        self.line().expect("the process has ended")
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal.
    pub fn signal(&self, signal: i32) {
        // SAFETY: kill has no memory effects; the process is a child that was not waited for.
        let sent = unsafe { libc::kill(self.child.id() as i32, signal) };
        assert_eq!(sent, 0);
    }

    /// Kills the process and waits for its end.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Waits for the end of a role that ends by itself.
    pub fn wait(&mut self) {
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs the role of this process; nothing in the test run itself.
#[test]
fn role() {
    let Ok(role) = std::env::var("PML_STORE_ROLE") else {
        return;
    };
    let variable = |name| std::env::var(name).unwrap();
    let url = variable("PML_STORE_URL").parse().unwrap();
    let mut options = StoreOptions::new(url, variable("PML_STORE_FOLDER"));
    options.lease = Duration::from_millis(variable("PML_STORE_LEASE_MS").parse().unwrap());
    block_on(async {
        match role.as_str() {
            "hold" => hold(Store::open(options).await.unwrap()).await,
            "append" => append(Store::open(options).await.unwrap()).await,
            "fill" => fill(options).await,
            "share" => share(Store::open(options).await.unwrap()).await,
            other => panic!("{other}"),
        }
    });
}

fn say(line: impl std::fmt::Display) {
    let mut output = std::io::stdout().lock();
    // A closed pipe is the end of the test.
    let _ = writeln!(output, "@{line}").and_then(|()| output.flush());
}

/// Owns the run `r` and does what its input says.
async fn hold(store: Store) {
    let writer = store.begin(new_run("r"));
    writer.append_durable(intent(1)).await.unwrap();
    say("ready");
    loop {
        let line = tokio::task::spawn_blocking(|| {
            let mut line = String::new();
            std::io::stdin().read_line(&mut line).unwrap();
            line
        });
        let line = line.await.unwrap();
        say(match line.trim() {
            "" => return,
            "holds lease" => writer.holds_lease().to_string(),
            "append" => append_once(&writer).await,
            other => panic!("{other}"),
        });
    }
}

async fn append_once(writer: &RunWriter) -> String {
    match writer.append_durable(answered(1, 1)).await {
        Ok(()) => "appended".to_owned(),
        Err(error) => error.to_string(),
    }
}

/// Appends to the run `r` without end, and says the number of each entry that was acknowledged.
async fn append(store: Store) {
    let writer = store.begin(new_run("r"));
    for number in 1.. {
        writer.append(answered(2 * number, number));
        let entry = intent(2 * number + 1);
        writer.append_durable(entry).await.unwrap();
        say(2 * number + 1);
    }
}

/// Appends to the run `r` until the disk is full, then looks at what is there.
async fn fill(options: StoreOptions) {
    let store = Store::open(options.clone()).await.unwrap();
    let writer = store.begin(new_run("r"));
    let mut acknowledged = 0;
    let error = loop {
        let mut entry = answered(acknowledged + 1, 1);
        entry.answer = Some(vec![7; 20_000]);
        match writer.append_durable(entry).await {
            Ok(()) => acknowledged += 1,
            Err(error) => break error,
        }
    };
    say(error);
    assert_eq!(
        writer.flush().await.unwrap_err().to_string(),
        writer.flush().await.unwrap_err().to_string()
    );
    let found = store.journal(&tenant(), &id("r")).await.unwrap().len();
    say(format_args!("{acknowledged} {found}"));
}

/// Writes ten runs of twenty entries, then ends.
async fn share(store: Store) {
    let process = std::process::id();
    for run in 0..10 {
        let writer = store.begin(new_run(&format!("{process}-{run}")));
        for number in 1..=20 {
            writer.append_durable(intent(number)).await.unwrap();
        }
        let done = pml_store::RunState::Done;
        writer.finish(done, None, b"").await.unwrap();
    }
    store.close().await;
}
