//! The base host of a test file: answers the harness with modules, recordings and snapshots, and
//! records what the harness reports about the tests.

use std::future::ready;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use pml_hosts::{ClockMoment, Replay, SessionStorage};
use pml_protocol::{
    Failure, FailureKind, HostFuture, Request, RunContext, ToolHost, ToolResult, to_result,
};
use serde_json::value::RawValue;

use crate::harness_message::{FileLines, HarnessMessage, TestEnded};
use crate::snapshots::Snapshots;
use crate::test_root::TestRoot;

/// Modules that one test file may import, with those that they import.
const MAX_MODULES: usize = 256;
/// More tests in one file are a mistake.
const MAX_TESTS: usize = 10_000;

pub struct TestHost {
    root: TestRoot,
    /// The test file, relative to the root.
    test_file: PathBuf,
    state: Mutex<FileState>,
    /// What scripts store. Cleared when a test begins.
    storage: SessionStorage,
}

/// What is known about the run of a test file.
#[derive(Default)]
pub struct FileState {
    /// The names of all tests.
    pub planned: Vec<String>,
    pub ended: Vec<TestEnded>,
    pub running: Option<RunningTest>,
    pub snapshots: Snapshots,
    pub coverage: Vec<FileLines>,
    /// Files that the tests imported or replayed, relative to the root.
    pub dependencies: Vec<PathBuf>,
    modules: usize,
    recording: Option<Arc<Replay>>,
}

impl FileState {
    /// Moves the virtual clock; returns how many answers of the recording wait for it.
    fn advance_clock(&self, moment: ClockMoment) -> usize {
        let replay = self.recording.as_ref();
        replay.map_or(0, |replay| replay.advance(moment))
    }
}

/// The test that is running, or a hook before or after a group of tests.
#[derive(Debug, Clone, PartialEq)]
pub struct RunningTest {
    pub name: String,
    pub since: Instant,
    /// The worker ends it after this time, unless its event loop is blocked.
    pub timeout: Duration,
}

impl TestHost {
    pub fn new(root: TestRoot, test_file: PathBuf, snapshots: Snapshots) -> Self {
        let state = FileState {
            snapshots,
            ..FileState::default()
        };
        Self {
            root,
            test_file,
            state: Mutex::new(state),
            storage: SessionStorage::default(),
        }
    }

    /// Takes what was reported so far.
    pub fn take(&self) -> FileState {
        std::mem::take(&mut *self.lock())
    }

    pub fn running(&self) -> Option<RunningTest> {
        self.lock().running.clone()
    }

    fn lock(&self) -> MutexGuard<'_, FileState> {
        // Every change is one step.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answer_harness(&self, message: &RawValue) -> ToolResult {
        let message = serde_json::from_str(message.get())
            .map_err(|error| refusal(format!("invalid message of the test harness: {error}")))?;
        let mut state = self.lock();
        match message {
            HarnessMessage::Planned(names) => {
                if names.len() > MAX_TESTS {
                    return Err(too_many_tests());
                }
                state.planned = names;
            }
            HarnessMessage::Began(began) => {
                self.storage.clear();
                state.running = began.map(|began| RunningTest {
                    name: began.name,
                    since: Instant::now(),
                    timeout: Duration::try_from_secs_f64(began.timeout_ms / 1_000.0)
                        .unwrap_or(Duration::MAX),
                });
            }
            HarnessMessage::Ended(ended) => {
                if state.ended.len() == MAX_TESTS {
                    return Err(too_many_tests());
                }
                state.running = None;
                state.ended.push(ended);
            }
            HarnessMessage::Snapshot(snapshot) => {
                state.snapshots.record(snapshot.name, snapshot.text);
            }
            HarnessMessage::UseRecording(None) => state.recording = None,
            HarnessMessage::UseRecording(Some(path)) => {
                let replay = self.load_recording(&path, &mut state)?;
                let clock = replay.clock();
                state.recording = Some(Arc::new(replay));
                return to_result(&clock);
            }
            HarnessMessage::Module(path) => {
                state.modules += 1;
                if state.modules > MAX_MODULES {
                    return Err(refusal(format!(
                        "a test file imports at most {MAX_MODULES} modules"
                    )));
                }
                let path = percent_decode(&path);
                let relative = path.trim_start_matches('/');
                state.dependencies.push(PathBuf::from(relative));
                return to_result(&self.root.module(&path).map_err(refusal)?);
            }
            HarnessMessage::Coverage(files) => state.coverage = files,
            HarnessMessage::Clock(now) => {
                return to_result(&state.advance_clock(ClockMoment::Clock(now)));
            }
            HarnessMessage::Idle(next) => {
                return to_result(&state.advance_clock(ClockMoment::Idle(next)));
            }
        }
        to_result(&())
    }

    fn load_recording(&self, path: &str, state: &mut FileState) -> Result<Replay, Failure> {
        let beside = self.test_file.parent().unwrap_or(Path::new("")).join(path);
        let shown = beside.to_string_lossy().into_owned();
        let file = self.root.resolve(&shown).map_err(|missing| {
            refusal(format!(
                "{missing}; make the recording with `pml run --record {shown} SCRIPT`"
            ))
        })?;
        // The canonical path: the watcher reports changes by it.
        let below = file.strip_prefix(self.root.path()).unwrap_or(&beside);
        state.dependencies.push(below.to_owned());
        Replay::load(&file).map_err(|error| refusal(error.to_string()))
    }

    fn recording(&self) -> Option<Arc<Replay>> {
        self.lock().recording.clone()
    }
}

fn too_many_tests() -> Failure {
    refusal(format!("a file has at most {MAX_TESTS} tests; split it"))
}

fn refusal(message: String) -> Failure {
    Failure::new(FailureKind::Test, message)
}

/// `%20` as a space. An invalid encoding stays as it is: no file has such a name.
fn percent_decode(path: &str) -> String {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code = (*first == b'%')
            .then(|| after.get(..2))
            .flatten()
            .and_then(|code| std::str::from_utf8(code).ok())
            .and_then(|code| u8::from_str_radix(code, 16).ok());
        match code {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| path.to_owned())
}

/// The failure of a request that the test neither mocks nor replays.
fn unmocked(request: &Request) -> Failure {
    let recording = "call useRecording(\"FILE.json\")";
    let (subject, advice) = match request {
        Request::Call { tool, .. } => (
            format!("the call of {tool}"),
            format!("write mockTool(\"{tool}\", (args) => ...), or {recording}"),
        ),
        Request::Search { query, .. } => {
            (format!("the search for \"{query}\""), recording.to_owned())
        }
        Request::Describe { tool } => (format!("the description of {tool}"), recording.to_owned()),
        Request::Resource { server, .. } => (
            format!("the request to server {server}"),
            recording.to_owned(),
        ),
        _ => ("the request".to_owned(), recording.to_owned()),
    };
    let message = format!("{subject} has no answer in this test: {advice}");
    Failure::new(FailureKind::Unmocked, message)
}

impl ToolHost for TestHost {
    fn handle<'a>(
        &'a self,
        request: &'a Request,
        run: &'a RunContext,
    ) -> HostFuture<'a, ToolResult> {
        match request {
            Request::Store { .. } | Request::Load { .. } => {
                Box::pin(ready(self.storage.answer(request)))
            }
            Request::Harness { message } => Box::pin(ready(self.answer_harness(message))),
            _ => match self.recording() {
                Some(replay) => Box::pin(async move { replay.handle(request, run).await }),
                None => Box::pin(ready(Err(unmocked(request)))),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use serde_json::{Value, json};

    use super::*;

    fn host(root: &Path) -> TestHost {
        let root = TestRoot::new(root).unwrap();
        TestHost::new(root, "a.test.ts".into(), Snapshots::default())
    }

    fn ask(host: &TestHost, request: Value) -> Result<Value, Failure> {
        let request: Request = serde_json::from_value(request).unwrap();
        let run = RunContext::local();
        let answer = host.handle(&request, &run).now_or_never().unwrap()?;
        Ok(serde_json::from_str(answer.get()).unwrap())
    }

    #[test]
    fn stored_values_are_gone_when_the_next_test_begins() {
        let folder = tempfile::tempdir().unwrap();
        let host = host(folder.path());
        let load = json!({ "load": { "key": "a" } });
        ask(&host, json!({ "store": { "key": "a", "value": 1 } })).unwrap();
        assert_eq!(ask(&host, load.clone()), Ok(json!([1])));
        let began = json!({ "began": { "name": "b", "timeoutMs": 5000 } });
        ask(&host, json!({ "harness": { "message": began } })).unwrap();
        assert_eq!(ask(&host, load), Ok(json!([])));
        assert_eq!(
            host.running().map(|running| running.name),
            Some("b".to_owned())
        );
    }

    #[test]
    fn a_request_without_mock_and_recording_says_how_to_answer_it() {
        let folder = tempfile::tempdir().unwrap();
        let host = host(folder.path());
        for (request, message) in [
            (
                json!({ "call": { "tool": "fs:read", "args": {} } }),
                "the call of fs:read has no answer in this test: write mockTool(\"fs:read\", (args) => ...), or call useRecording(\"FILE.json\")",
            ),
            (
                json!({ "describe": { "tool": "fs:read" } }),
                "the description of fs:read has no answer in this test: call useRecording(\"FILE.json\")",
            ),
        ] {
            let failure = ask(&host, request).unwrap_err();
            assert_eq!(failure.kind, FailureKind::Unmocked);
            assert_eq!(failure.message, message);
        }
    }

    #[test]
    fn an_unknown_message_of_the_harness_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let failure = ask(
            &host(folder.path()),
            json!({ "harness": { "message": { "other": 1 } } }),
        );
        assert_eq!(failure.unwrap_err().kind, FailureKind::Test);
    }

    #[test]
    fn percent_encoded_addresses_become_paths() {
        for (address, path) in [
            ("/a%20b/%C3%A9.ts", "/a b/é.ts"),
            ("/100%", "/100%"),
            ("/%zz", "/%zz"),
            ("/%ff", "/%ff"),
        ] {
            assert_eq!(percent_decode(address), path);
        }
    }
}
