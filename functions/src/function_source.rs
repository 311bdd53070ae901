//! The source of an entry: each call is a child run.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use async_trait::async_trait;
use pml_gateway::config::Functions;
use pml_gateway::policy::retry::Failure;
use pml_gateway::{
    CallError, CallErrorKind, ChangedFunctions, FailedAttempt, SourceInfo, ToolCall, ToolId,
    ToolSource,
};
use pml_protocol::{ErrorKind, Outcome, RequestedLimits, RunContext, RunError};
use pml_runtime::{ChildRun, Event, Script};
use serde_json::Value;
use tokio::task::AbortHandle;

use crate::files::{self, FoundFile};
use crate::function_pools::Pools;
use crate::function_set::{FunctionSet, ReadFunction, SkippedEntry};

/// Skipped functions that a report names.
const MAX_REMARKS: usize = 20;

/// How often the files are looked at.
const WATCH_INTERVAL: Duration = Duration::from_secs(1);

/// The functions of one entry, as tools.
pub(crate) struct FunctionSource {
    functions: Functions,
    set: RwLock<Arc<FunctionSet>>,
    pools: Arc<Pools>,
    watch: AbortHandle,
}

impl FunctionSource {
    /// Reads the files, and looks at them from time to time: after a change, `changed` is called, and the
    /// next listing reads them again.
    ///
    /// # Errors
    /// There are none, or too many.
    pub async fn open(
        functions: Functions,
        pools: Arc<Pools>,
        changed: ChangedFunctions,
    ) -> Result<Self, String> {
        let set = read(&functions).await?;
        let watch = tokio::spawn(watch(functions.clone(), set.files.clone(), changed));
        Ok(Self {
            functions,
            set: RwLock::new(Arc::new(set)),
            pools,
            watch: watch.abort_handle(),
        })
    }

    /// The functions as they were read last.
    fn set(&self) -> Arc<FunctionSet> {
        // A set is replaced in one step.
        let set = self.set.read();
        set.unwrap_or_else(PoisonError::into_inner).clone()
    }

    async fn run(
        &self,
        function: &ReadFunction,
        call: ToolCall<'_>,
    ) -> Result<Value, FailedAttempt> {
        let tool = call.tool;
        let Some(children) = call.children else {
            let message = format!("`{tool}` is a function, and functions are not called here");
            return Err(refused(CallErrorKind::Unavailable, tool, message));
        };
        let limits = &self.functions.limits;
        let requested = RequestedLimits {
            wall_ms: u64::try_from(call.limit.as_millis()).ok(),
            cpu_ms: limits.cpu.map(|cpu| cpu.as_millis()),
            heap_bytes: limits.memory.map(|memory| memory.bytes()),
            calls: limits.calls,
            ..RequestedLimits::default()
        };
        let child = children
            .child(tool, call.class, &requested)
            .map_err(|error| FailedAttempt {
                error,
                failure: Failure::Answered,
                unhealthy: false,
            })?;
        let parent = match call.request {
            Some(request) => request.clone(),
            None => RunContext::local(),
        };
        let flow = parent.flow().part(parent.seen().clone());
        let run = ChildRun {
            parent: &parent,
            flow: flow.clone(),
            script: Script {
                name: function.file.clone(),
                source: function.script(),
                args: vec![Value::Object(call.arguments).to_string()],
            },
            // The result is not shown: what is too large for a model may be read by a script.
            limits: child.limits,
            host: child.host,
            clock: None,
        };
        let mut on_event = |event: Event<'_>| {
            if let Event::Log(line) = event {
                tracing::debug!(%tool, text = %line.text, "a function logged");
            }
        };
        let pool = self.pools.at(child.depth);
        let outcome = run.run(pool.get(), &mut on_event).await;
        // What the function has read, its caller gets.
        parent.received(&flow.current());
        result_of(tool, function, outcome)
    }
}

#[async_trait]
impl ToolSource for FunctionSource {
    fn info(&self) -> SourceInfo {
        SourceInfo {
            protocol: "TypeScript".to_owned(),
            ..SourceInfo::default()
        }
    }

    async fn list(&self) -> Result<Vec<Value>, String> {
        let set = Arc::new(read(&self.functions).await?);
        *self.set.write().unwrap_or_else(PoisonError::into_inner) = set.clone();
        let functions = set.functions.values();
        Ok(functions.map(ReadFunction::described).collect())
    }

    async fn call(&self, call: ToolCall<'_>) -> Result<Value, FailedAttempt> {
        let tool = call.tool;
        match self.set().functions.get(tool.tool()) {
            Some(function) => self.run(function, call).await,
            None => {
                let message = format!("`{tool}` is not a function of the files any more");
                Err(refused(CallErrorKind::Unknown, tool, message))
            }
        }
    }

    async fn ping(&self, _: Duration) -> Option<Duration> {
        Some(Duration::ZERO)
    }

    fn closed(&self) -> bool {
        false
    }

    async fn close(&self) {
        self.watch.abort();
    }

    fn remarks(&self) -> Vec<String> {
        let set = self.set();
        let skipped = set.skipped.iter().take(MAX_REMARKS);
        let mut remarks: Vec<String> = skipped.map(remark).collect();
        let more = set.skipped.len().saturating_sub(MAX_REMARKS);
        if more > 0 {
            remarks.push(format!(
                "and {more} more functions that cannot be used: see `pml functions check`"
            ));
        }
        remarks
    }
}

impl Drop for FunctionSource {
    fn drop(&mut self) {
        self.watch.abort();
    }
}

async fn read(functions: &Functions) -> Result<FunctionSet, String> {
    let functions = functions.clone();
    let read = tokio::task::spawn_blocking(move || FunctionSet::read(&functions)).await;
    read.map_err(|_| "reading the files makes pml panic".to_owned())?
}

/// Calls `changed` once for every change of the files, until it is aborted.
async fn watch(functions: Functions, mut known: Vec<FoundFile>, changed: ChangedFunctions) {
    loop {
        tokio::time::sleep(WATCH_INTERVAL).await;
        let (folder, patterns) = (functions.folder.clone(), functions.files.clone());
        let found = tokio::task::spawn_blocking(move || files::find(&folder, &patterns)).await;
        if let Ok(Ok(now)) = found
            && now != known
        {
            known = now;
            changed();
        }
    }
}

fn remark(skipped: &SkippedEntry) -> String {
    let SkippedEntry {
        file,
        line,
        function,
        reason,
    } = skipped;
    match function {
        Some(name) => format!("the function {name} ({file}:{line}) cannot be used: {reason}"),
        None => format!("{file}:{line} cannot be used: {reason}"),
    }
}

fn refused(kind: CallErrorKind, tool: &ToolId, message: String) -> FailedAttempt {
    FailedAttempt {
        error: CallError::permanent(kind, tool.as_str(), message),
        failure: Failure::Answered,
        unhealthy: false,
    }
}

fn result_of(
    tool: &ToolId,
    function: &ReadFunction,
    outcome: Outcome,
) -> Result<Value, FailedAttempt> {
    if let Some(error) = outcome.error {
        return Err(failed(tool, function, &error));
    }
    let Some(json) = outcome.result else {
        return Ok(Value::Null);
    };
    serde_json::from_str(json.get()).map_err(|error| {
        let message = format!("the result of `{tool}` cannot be read: {error}");
        refused(CallErrorKind::Output, tool, message)
    })
}

fn failed(tool: &ToolId, function: &ReadFunction, error: &RunError) -> FailedAttempt {
    let (kind, failure) = match error.kind {
        ErrorKind::Timeout => (CallErrorKind::Timeout, Failure::Unanswered),
        ErrorKind::Internal => (CallErrorKind::Internal, Failure::Unanswered),
        ErrorKind::Cancelled => (CallErrorKind::Cancelled, Failure::Unanswered),
        ErrorKind::Output => (CallErrorKind::Output, Failure::Answered),
        ErrorKind::Calls => (CallErrorKind::Calls, Failure::Answered),
        _ => (CallErrorKind::Tool, Failure::Answered),
    };
    let place = match (error.line, error.column) {
        (Some(line), Some(column)) => format!("{}:{line}:{column}", function.file),
        _ => function.file.clone(),
    };
    let message = format!("`{tool}` failed: {} ({place})", error.message);
    FailedAttempt {
        error: CallError::permanent(kind, tool.as_str(), message),
        failure,
        unhealthy: false,
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use pml_gateway::FunctionSources;
    use pml_runtime::PoolOptions;
    use tokio::sync::Notify;

    use super::*;
    use crate::FunctionPools;

    fn entry(folder: &Path) -> Functions {
        Functions {
            files: vec!["*.ts".to_owned()],
            folder: folder.to_owned(),
            limits: Default::default(),
        }
    }

    async fn names(source: &dyn ToolSource) -> Vec<String> {
        let listed = source.list().await.unwrap();
        let name = |tool: &Value| tool["name"].as_str().unwrap().to_owned();
        listed.iter().map(name).collect()
    }

    #[tokio::test]
    async fn a_change_of_the_files_is_announced_and_listed() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            std::fs::write(folder.path().join(name), text).unwrap();
        };
        write("a.ts", "export async function one() {}");
        let changed = Arc::new(Notify::new());
        let pools = FunctionPools::new(PoolOptions::new().unwrap());
        let announce = changed.clone();
        let source = pools
            .open(
                &entry(folder.path()),
                Box::new(move || announce.notify_one()),
            )
            .await
            .unwrap();
        assert_eq!(names(&*source).await, ["one"]);
        write("b.ts", "export async function two() {}");
        tokio::time::timeout(Duration::from_secs(20), changed.notified())
            .await
            .unwrap();
        assert_eq!(names(&*source).await, ["one", "two"]);
        write("b.ts", "export async function two(when: Date) {}");
        tokio::time::timeout(Duration::from_secs(20), changed.notified())
            .await
            .unwrap();
        assert_eq!(names(&*source).await, ["one"]);
        let remarks = source.remarks();
        assert!(
            remarks[0].contains("the function two (b.ts:1)"),
            "{remarks:?}"
        );
        // Files that are gone leave the functions that were read last.
        std::fs::remove_file(folder.path().join("a.ts")).unwrap();
        std::fs::remove_file(folder.path().join("b.ts")).unwrap();
        assert!(source.list().await.unwrap_err().contains("no file matches"));
    }

    #[tokio::test]
    async fn an_entry_without_files_does_not_open() {
        let folder = tempfile::tempdir().unwrap();
        let pools = FunctionPools::new(PoolOptions::new().unwrap());
        let opened = pools.open(&entry(folder.path()), Box::new(|| {})).await;
        let reason = opened.err().unwrap();
        assert!(reason.contains("no file matches `*.ts`"), "{reason}");
    }
}
