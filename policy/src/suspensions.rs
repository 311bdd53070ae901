//! Tools and principals that are withdrawn until a person has looked at them.
//!
//! They are kept in a file, so that a restart lifts nothing, all processes with the same configuration
//! refuse the same, and a person lifts a suspension while they run (`pml suspensions lift`).

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use pml_files::{Access, write_atomic};
use serde::{Deserialize, Serialize};

/// How often the file is looked at: a suspension that another process adds or lifts holds after this time.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

/// What is withdrawn.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "what", content = "name", rename_all = "lowercase")]
pub enum Suspended {
    /// A tool, as `server:tool`: all its calls are refused.
    Tool(String),
    /// A principal: all its calls are refused.
    Principal(String),
}

impl std::fmt::Display for Suspended {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Tool(name) => write!(f, "tool {name}"),
            Self::Principal(name) => write!(f, "principal {name}"),
        }
    }
}

/// Why and since when something is withdrawn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suspension {
    /// What is withdrawn.
    #[serde(flatten)]
    pub suspended: Suspended,
    /// Milliseconds since 1970.
    pub since: u64,
    /// What happened.
    pub why: String,
}

/// A file of suspensions that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SuspensionError {
    /// It cannot be read or written.
    #[error("{}: {source}: free space or change its permissions", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// It is not what was written.
    #[error(
        "{}: {source}: see what it names, then remove it; that lifts all suspensions",
        path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: serde_json::Error,
    },
}

#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    suspended: Vec<Suspension>,
}

/// Inode, size and time of a file.
type FileVersion = (u64, u64, SystemTime);

type Known = BTreeMap<Suspended, Suspension>;

/// The suspensions of a configuration. Cheap to clone; clones are the same.
#[derive(Debug, Clone, Default)]
pub struct Suspensions(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    /// `None` where they end with the process.
    path: Option<PathBuf>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    known: Known,
    /// Of the file that was read; `None` for no file.
    version: Option<FileVersion>,
    looked: Option<Instant>,
}

impl Suspensions {
    /// The suspensions in a file, which need not exist.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is damaged: what was withdrawn is not known then.
    pub fn open(path: PathBuf) -> Result<Self, SuspensionError> {
        let suspensions = Self(Arc::new(Inner {
            path: Some(path),
            state: Mutex::default(),
        }));
        suspensions.look(&mut suspensions.state())?;
        Ok(suspensions)
    }

    /// Suspensions that end with the process.
    pub fn in_memory() -> Self {
        Self::default()
    }

    /// The suspension of a tool or of who calls it; `None` if neither is withdrawn.
    pub fn of_call(&self, tool: &str, principal: &str) -> Option<Suspension> {
        let mut state = self.state();
        let is_due = state
            .looked
            .is_none_or(|looked| looked.elapsed() >= LOOK_INTERVAL);
        if is_due && let Err(error) = self.look(&mut state) {
            // What was withdrawn stays so.
            tracing::warn!(%error, "the suspensions cannot be read");
        }
        if state.known.is_empty() {
            return None;
        }
        let of = |suspended| state.known.get(&suspended).cloned();
        of(Suspended::Tool(tool.to_owned()))
            .or_else(|| of(Suspended::Principal(principal.to_owned())))
    }

    /// All suspensions.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is damaged.
    pub fn all(&self) -> Result<Vec<Suspension>, SuspensionError> {
        let mut state = self.state();
        self.look(&mut state)?;
        Ok(state.known.values().cloned().collect())
    }

    /// Withdraws something. An earlier suspension of the same stays as it is.
    ///
    /// # Errors
    ///
    /// The file cannot be written. It is withdrawn in this process all the same.
    pub fn add(&self, suspended: Suspended, why: &str) -> Result<(), SuspensionError> {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let suspension = Suspension {
            suspended: suspended.clone(),
            since: u64::try_from(since.unwrap_or_default().as_millis()).unwrap_or(u64::MAX),
            why: why.to_owned(),
        };
        let mut state = self.state();
        let changed = self.change(&mut state, |known| {
            known.entry(suspended.clone()).or_insert(suspension.clone());
        });
        state.known.entry(suspended).or_insert(suspension);
        changed
    }

    /// Ends a suspension. Returns it; `None` if there is none.
    ///
    /// # Errors
    ///
    /// The file cannot be read or written: nothing is lifted.
    pub fn lift(&self, suspended: &Suspended) -> Result<Option<Suspension>, SuspensionError> {
        let mut lifted = None;
        let mut state = self.state();
        self.change(&mut state, |known| lifted = known.remove(suspended))?;
        Ok(lifted)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // The state is whole after each statement.
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the file, if it is another one than before.
    fn look(&self, state: &mut State) -> Result<(), SuspensionError> {
        state.looked = Some(Instant::now());
        let Some(path) = &self.0.path else {
            return Ok(());
        };
        let version = version_of(path)?;
        if version != state.version {
            state.known = read(path)?;
            state.version = version;
        }
        Ok(())
    }

    /// Changes the file, which other processes change too.
    fn change(
        &self,
        state: &mut State,
        change: impl FnOnce(&mut Known),
    ) -> Result<(), SuspensionError> {
        let Some(path) = &self.0.path else {
            change(&mut state.known);
            return Ok(());
        };
        let _lock = lock(path)?;
        let mut known = read(path)?;
        change(&mut known);
        let stored = Stored {
            suspended: known.values().cloned().collect(),
        };
        let json =
            serde_json::to_vec_pretty(&stored).map_err(|source| SuspensionError::Damaged {
                path: path.clone(),
                source,
            })?;
        write_atomic(path, &json, Access::OwnerOnly).map_err(file_error(path))?;
        state.version = version_of(path)?;
        state.known = known;
        Ok(())
    }
}

fn file_error(path: &Path) -> impl FnOnce(io::Error) -> SuspensionError {
    let path = path.to_owned();
    move |source| SuspensionError::File { path, source }
}

fn version_of(path: &Path) -> Result<Option<FileVersion>, SuspensionError> {
    match fs::metadata(path) {
        Ok(found) => {
            let changed = found.modified().map_err(file_error(path))?;
            Ok(Some((found.ino(), found.len(), changed)))
        }
        Err(error) if is_absent(&error) => Ok(None),
        Err(error) => Err(file_error(path)(error)),
    }
}

/// Whether there can be no file: a process of this user cannot have written below a folder that this one
/// may not enter.
fn is_absent(error: &io::Error) -> bool {
    use io::ErrorKind::{NotADirectory, NotFound, PermissionDenied};
    matches!(error.kind(), NotFound | NotADirectory | PermissionDenied)
}

fn read(path: &Path) -> Result<Known, SuspensionError> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Known::new()),
        Err(error) => return Err(file_error(path)(error)),
    };
    let stored: Stored =
        serde_json::from_slice(&bytes).map_err(|source| SuspensionError::Damaged {
            path: path.to_owned(),
            source,
        })?;
    let all = stored.suspended.into_iter();
    Ok(all.map(|one| (one.suspended.clone(), one)).collect())
}

/// Held by the one process that changes the file.
fn lock(path: &Path) -> Result<File, SuspensionError> {
    if let Some(folder) = path.parent() {
        pml_files::create_private_dir(folder).map_err(file_error(folder))?;
    }
    let path = path.with_extension("lock");
    let open = OpenOptions::new().create(true).append(true).open(&path);
    let file = open.map_err(file_error(&path))?;
    file.lock().map_err(file_error(&path))?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(name: &str) -> Suspended {
        Suspended::Tool(name.to_owned())
    }

    #[test]
    fn a_suspension_outlives_the_process_until_it_is_lifted_by_another_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/one.json");
        let server = Suspensions::open(path.clone()).unwrap();
        assert_eq!(server.of_call("s:t", "ci"), None);
        server.add(tool("s:t"), "it fails").unwrap();
        server
            .add(Suspended::Principal("ci".to_owned()), "it calls too much")
            .unwrap();
        server.add(tool("s:t"), "again").unwrap();
        assert_eq!(server.of_call("s:t", "x").unwrap().why, "it fails");
        assert!(server.of_call("s:other", "ci").is_some());
        assert_eq!(server.of_call("s:other", "x"), None);

        let restarted = Suspensions::open(path.clone()).unwrap();
        assert!(restarted.of_call("s:t", "x").is_some());
        let person = Suspensions::open(path).unwrap();
        assert_eq!(person.all().unwrap().len(), 2);
        assert_eq!(person.lift(&tool("s:other")).unwrap(), None);
        assert_eq!(person.lift(&tool("s:t")).unwrap().unwrap().why, "it fails");
        std::thread::sleep(LOOK_INTERVAL + Duration::from_millis(50));
        for running in [server, restarted] {
            assert_eq!(running.of_call("s:t", "x"), None);
            assert!(running.of_call("s:t", "ci").is_some());
        }
    }

    #[test]
    fn a_damaged_file_is_an_error_and_lifts_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("one.json");
        let server = Suspensions::open(path.clone()).unwrap();
        server.add(tool("s:t"), "it fails").unwrap();
        fs::write(&path, "{").unwrap();
        std::thread::sleep(LOOK_INTERVAL + Duration::from_millis(50));
        assert!(server.of_call("s:t", "x").is_some());
        assert!(server.lift(&tool("s:t")).is_err());
        let error = Suspensions::open(path).unwrap_err().to_string();
        assert!(error.contains("remove it"), "{error}");
    }

    #[test]
    fn processes_that_add_at_once_lose_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("one.json");
        std::thread::scope(|scope| {
            for worker in 0..8 {
                let path = path.clone();
                scope.spawn(move || {
                    let own = Suspensions::open(path).unwrap();
                    for number in 0..5 {
                        own.add(tool(&format!("s:{worker}-{number}")), "x").unwrap();
                    }
                });
            }
        });
        assert_eq!(Suspensions::open(path).unwrap().all().unwrap().len(), 40);
    }

    #[test]
    fn without_a_file_they_hold_in_the_process() {
        let own = Suspensions::in_memory();
        own.add(tool("s:t"), "it fails").unwrap();
        assert!(own.of_call("s:t", "x").is_some());
        assert!(own.lift(&tool("s:t")).unwrap().is_some());
        assert_eq!(own.of_call("s:t", "x"), None);
    }
}
