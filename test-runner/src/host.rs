//! The other side of a file of tests: its modules, its recordings, its snapshots, and what it says
//! about its tests.

use std::future::ready;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use pml_replay::{Kept, Moment, Replay};
use pml_runtime::{Answer, Failure, HostFuture, Offer, ToolHit, ToolHost};
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};

use crate::folder::Folder;
use crate::message::{Ended, FileLines, Message};
use crate::snapshots::Snapshots;

/// Modules that one file may import, with those that they import.
const MAX_MODULES: usize = 256;
/// More tests in one file are a mistake.
const MAX_TESTS: usize = 10_000;

pub struct TestHost {
    folder: Folder,
    /// The file of tests, from the folder.
    test: PathBuf,
    state: Mutex<State>,
    /// What scripts store, from the beginning of a test to the next.
    kept: Kept,
}

#[derive(Default)]
pub struct State {
    /// The names of all tests.
    pub planned: Vec<String>,
    pub ended: Vec<Ended>,
    pub running: Option<Running>,
    pub snapshots: Snapshots,
    pub coverage: Vec<FileLines>,
    /// Files that the tests had a part of.
    pub used: Vec<PathBuf>,
    modules: usize,
    recording: Option<Arc<Replay>>,
}

impl State {
    /// How many answers of the recording wait for the clock.
    fn hear(&self, moment: Moment) -> usize {
        let replay = self.recording.as_ref();
        replay.map_or(0, |replay| replay.hear(moment))
    }
}

/// What runs now: a test, or what comes before or after a group of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Running {
    pub name: String,
    pub since: Instant,
    /// The worker ends it after this time, if it still listens.
    pub allowed: Duration,
}

impl TestHost {
    pub fn new(folder: Folder, test: PathBuf, snapshots: Snapshots) -> Self {
        let state = State {
            snapshots,
            ..State::default()
        };
        Self {
            folder,
            test,
            state: Mutex::new(state),
            kept: Kept::default(),
        }
    }

    /// What was said so far.
    pub fn take(&self) -> State {
        std::mem::take(&mut *self.lock())
    }

    pub fn running(&self) -> Option<Running> {
        self.lock().running.clone()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Every change is one step.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn hear(&self, message: Message) -> Answer {
        let mut state = self.lock();
        match message {
            Message::Planned(names) => {
                if names.len() > MAX_TESTS {
                    return Err(too_many());
                }
                state.planned = names;
            }
            Message::Began(began) => {
                self.kept.clear();
                state.running = began.map(|began| Running {
                    name: began.name,
                    since: Instant::now(),
                    allowed: Duration::try_from_secs_f64(began.timeout_ms / 1_000.0)
                        .unwrap_or(Duration::MAX),
                });
            }
            Message::Ended(ended) => {
                if state.ended.len() == MAX_TESTS {
                    return Err(too_many());
                }
                state.running = None;
                state.ended.push(ended);
            }
            Message::Snapshot(snapshot) => state.snapshots.note(snapshot.name, snapshot.text),
            Message::UseRecording(None) => state.recording = None,
            Message::UseRecording(Some(path)) => {
                let replay = self.recording(&path, &mut state)?;
                let world = replay.world();
                state.recording = Some(Arc::new(replay));
                return answer(&world);
            }
            Message::Module(path) => {
                state.modules += 1;
                if state.modules > MAX_MODULES {
                    return Err(refusal(format!(
                        "a file of tests imports at most {MAX_MODULES} others"
                    )));
                }
                let path = decode(&path);
                state.used.push(PathBuf::from(path.trim_start_matches('/')));
                return answer(&self.folder.module(&path).map_err(refusal)?);
            }
            Message::Coverage(files) => state.coverage = files,
            Message::Clock(now) => return answer(&state.hear(Moment::Clock(now))),
            Message::Idle(next) => return answer(&state.hear(Moment::Idle(next))),
        }
        answer(&json!(null))
    }

    fn recording(&self, path: &str, state: &mut State) -> Result<Replay, Failure> {
        let beside = self.test.parent().unwrap_or(Path::new("")).join(path);
        let shown = beside.to_string_lossy().into_owned();
        let file = self.folder.resolve(&shown).map_err(|missing| {
            refusal(format!(
                "{missing}; make the recording with `pml run --record {shown} SCRIPT`"
            ))
        })?;
        // By the path that a change of it would have.
        let below = file.strip_prefix(self.folder.path()).unwrap_or(&beside);
        state.used.push(below.to_owned());
        Replay::load(&file).map_err(|error| refusal(error.to_string()))
    }

    fn replay(&self) -> Option<Arc<Replay>> {
        self.lock().recording.clone()
    }
}

fn too_many() -> Failure {
    refusal(format!("a file has at most {MAX_TESTS} tests; split it"))
}

fn refusal(message: String) -> Failure {
    Failure::new("test", message)
}

fn answer(value: &impl serde::Serialize) -> Answer {
    to_raw_value(value).map_err(|error| Failure::new("internal", error.to_string()))
}

/// `%20` as a space. What is no valid encoding stays as it is: no file has such a name then.
fn decode(path: &str) -> String {
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

/// What a test is told of a request that nothing answers.
fn unmocked(what: &str, advice: &str) -> Failure {
    Failure::new(
        "unmocked",
        format!("{what} has no answer in this test: {advice} call useRecording(\"FILE.json\")"),
    )
}

impl ToolHost for TestHost {
    fn search<'a>(
        &'a self,
        query: &'a str,
        limit: u32,
        threshold: Option<f64>,
    ) -> HostFuture<'a, Result<Vec<ToolHit>, Failure>> {
        Box::pin(async move {
            match self.replay() {
                Some(replay) => replay.search(query, limit, threshold).await,
                None => Err(unmocked(&format!("the search for \"{query}\""), "")),
            }
        })
    }

    fn describe<'a>(&'a self, tool: &'a str) -> HostFuture<'a, Answer> {
        Box::pin(async move {
            match self.replay() {
                Some(replay) => replay.describe(tool).await,
                None => Err(unmocked(&format!("the description of {tool}"), "")),
            }
        })
    }

    fn offer<'a>(&'a self, server: &'a str, offer: &'a Offer) -> HostFuture<'a, Answer> {
        Box::pin(async move {
            match self.replay() {
                Some(replay) => replay.offer(server, offer).await,
                None => Err(unmocked(&format!("the request to server {server}"), "")),
            }
        })
    }

    fn call<'a>(&'a self, tool: &'a str, args: &'a RawValue) -> HostFuture<'a, Answer> {
        Box::pin(async move {
            match self.replay() {
                Some(replay) => replay.call(tool, args).await,
                None => {
                    let advice = format!("write mockTool(\"{tool}\", (args) => ...), or");
                    Err(unmocked(&format!("the call of {tool}"), &advice))
                }
            }
        })
    }

    fn store<'a>(&'a self, key: &'a str, value: &'a RawValue) -> HostFuture<'a, Answer> {
        Box::pin(ready(self.kept.store(key, value)))
    }

    fn load<'a>(&'a self, key: &'a str) -> HostFuture<'a, Answer> {
        Box::pin(ready(self.kept.load(key)))
    }

    fn harness<'a>(&'a self, message: &'a RawValue) -> HostFuture<'a, Answer> {
        Box::pin(async move {
            let message = serde_json::from_str(message.get())
                .map_err(|error| refusal(format!("this is no message of a test: {error}")))?;
            self.hear(message)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_become_paths() {
        for (address, path) in [
            ("/a%20b/%C3%A9.ts", "/a b/é.ts"),
            ("/100%", "/100%"),
            ("/%zz", "/%zz"),
            ("/%ff", "/%ff"),
        ] {
            assert_eq!(decode(address), path);
        }
    }
}
