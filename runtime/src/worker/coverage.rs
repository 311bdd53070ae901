//! Line coverage of test files.
//!
//! V8 counts how often each block of JavaScript runs; the source map maps blocks to lines of
//! TypeScript.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use deno_core::{
    InspectorMsg, InspectorMsgKind, InspectorSessionKind, JsRuntimeInspector,
    LocalInspectorSession, ModuleSpecifier,
};
use pml_ops::BrokerClient;
use pml_protocol::Request;
use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::to_raw_value;
use sourcemap::SourceMap;

use super::connection::Connection;
use super::isolate::Isolate;
use super::loader::Loaded;

type Responses = Rc<RefCell<HashMap<i32, String>>>;

/// A coverage measurement that is running.
pub struct Coverage {
    session: LocalInspectorSession,
    responses: Responses,
}

/// The lines of one file that have code, with how often each ran.
#[derive(Debug, Serialize)]
struct FileLines {
    path: String,
    lines: BTreeMap<u32, u64>,
}

impl Coverage {
    /// Starts counting. Call it before the script is compiled.
    pub fn begin(isolate: &mut Isolate) -> Self {
        isolate.runtime.maybe_init_inspector();
        let responses = Responses::default();
        let received = responses.clone();
        let session = JsRuntimeInspector::create_local_session(
            isolate.runtime.inspector(),
            Box::new(move |message: InspectorMsg| {
                if let InspectorMsgKind::Message(id) = message.kind {
                    received.borrow_mut().insert(id, message.content);
                }
            }),
            InspectorSessionKind::NonBlocking {
                wait_for_disconnect: false,
            },
        );
        let mut coverage = Self { session, responses };
        coverage.ask(1, "Profiler.enable", json!({}));
        let precise = json!({ "callCount": true, "detailed": true });
        coverage.ask(2, "Profiler.startPreciseCoverage", precise);
        coverage
    }

    /// Sends a command to V8's profiler. V8 responds before `post_message` returns.
    fn ask(&mut self, id: i32, method: &str, params: serde_json::Value) -> Option<String> {
        self.session.post_message(id, method, Some(params));
        self.responses.borrow_mut().remove(&id)
    }

    /// Sends the counts to the test harness.
    pub async fn finish(mut self, isolate: &Isolate, connection: &Connection) {
        let taken = self.ask(3, "Profiler.takePreciseCoverage", json!({}));
        let files = taken
            .and_then(|text| serde_json::from_str::<Response>(&text).ok())
            .map(|response| lines_of(&response.result.result, &isolate.loader.loaded()))
            .unwrap_or_default();
        // Numbers and paths always serialize. That the broker is gone is noticed elsewhere.
        if let Ok(message) = to_raw_value(&json!({ "coverage": files })) {
            let _ = connection.ask(Request::Harness { message }).await;
        }
    }
}

#[derive(Deserialize)]
struct Response {
    result: Taken,
}

#[derive(Deserialize)]
struct Taken {
    result: Vec<ScriptCoverage>,
}

#[derive(Deserialize)]
struct ScriptCoverage {
    url: String,
    functions: Vec<FunctionCoverage>,
}

#[derive(Deserialize)]
struct FunctionCoverage {
    ranges: Vec<Range>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Range {
    start_offset: usize,
    end_offset: usize,
    count: u64,
}

fn lines_of(scripts: &[ScriptCoverage], loaded: &HashMap<String, Loaded>) -> Vec<FileLines> {
    let mut files: BTreeMap<String, BTreeMap<u32, u64>> = BTreeMap::new();
    for script in scripts {
        let (Some(module), Ok(specifier)) =
            (loaded.get(&script.url), ModuleSpecifier::parse(&script.url))
        else {
            continue;
        };
        let ranges = script
            .functions
            .iter()
            .flat_map(|function| &function.ranges);
        let lines = count_lines(module, ranges.copied().collect());
        let file = files
            .entry(specifier.path().trim_start_matches('/').to_owned())
            .or_default();
        // A script that a test runs twice is compiled twice.
        for (line, count) in lines {
            *file.entry(line).or_default() += count;
        }
    }
    let files = files.into_iter();
    files
        .map(|(path, lines)| FileLines { path, lines })
        .collect()
}

/// The count of each source line: the highest count of the blocks on it.
fn count_lines(module: &Loaded, mut ranges: Vec<Range>) -> BTreeMap<u32, u64> {
    let Ok(map) = SourceMap::from_slice(&module.mapping.source_map()) else {
        return BTreeMap::new();
    };
    // V8's offsets and the source map count UTF-16 units.
    let mut starts = vec![0];
    let mut length = 0;
    for unit in module.code.encode_utf16() {
        length += 1;
        if unit == u16::from(b'\n') {
            starts.push(length);
        }
    }
    // Inner ranges after the ones that contain them: the last count written stands.
    ranges.sort_by_key(|range| (range.start_offset, usize::MAX - range.end_offset));
    let mut counts = vec![0; length];
    for range in ranges {
        let end = range.end_offset.min(length);
        if let Some(block) = counts.get_mut(range.start_offset..end) {
            block.fill(range.count);
        }
    }
    let mut lines: BTreeMap<u32, u64> = BTreeMap::new();
    for token in map.tokens().filter(|token| token.has_source()) {
        let offset = starts
            .get(token.get_dst_line() as usize)
            .map(|start| start + token.get_dst_col() as usize);
        if let Some(count) = offset.and_then(|offset| counts.get(offset)) {
            let line = lines.entry(token.get_src_line() + 1).or_default();
            *line = (*line).max(*count);
        }
    }
    lines
}
