//! `pml test`, through the binary.

mod mistakes;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{pml, repository, run_json};

/// A folder of scripts and tests.
struct Project {
    folder: TempDir,
}

impl Project {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let project = Self { folder };
        for (name, text) in files {
            project.write(name, text);
        }
        project
    }

    /// A project with one test file that imports everything.
    fn of(body: &str) -> Self {
        Self::new(&[("a.test.ts", &format!("{IMPORT}{body}"))])
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    fn run(&self, args: &[&str]) -> Output {
        command(self.folder.path(), args).output().unwrap()
    }

    /// Runs the tests and returns the JSON report.
    fn report(&self, args: &[&str]) -> Value {
        let output = self.run(&[&["--reporter", "json"], args].concat());
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
            panic!("{error}: {}{}", text(&output.stdout), text(&output.stderr))
        })
    }

    /// Name, status and failure message of each test.
    fn results(&self, args: &[&str]) -> Vec<(String, String, String)> {
        let report = self.report(args);
        let files = report["files"].as_array().unwrap();
        files
            .iter()
            .flat_map(|file| {
                assert_eq!(file["failed"], Value::Null, "{report:#}");
                file["tests"].as_array().unwrap()
            })
            .map(|test| {
                let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
                let message = word(&test["failed"]["message"]);
                (word(&test["name"]), word(&test["status"]), message)
            })
            .collect()
    }

    #[track_caller]
    fn passes(&self) {
        let output = self.run(&[]);
        assert!(
            output.status.success(),
            "{}{}",
            text(&output.stdout),
            text(&output.stderr)
        );
    }
}

const IMPORT: &str = "import { test, expect, describe, mockTool, useRecording, fakeTime, runScript, \
    beforeAll, afterAll, beforeEach, afterEach } from \"pml/test\";\n";

fn command(folder: &Path, args: &[&str]) -> std::process::Command {
    let mut command = pml();
    command
        .arg("test")
        .args(args)
        .current_dir(folder)
        .env_clear()
        .env("HOME", folder);
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn strings<const N: usize>(items: [(&str, &str); N]) -> Vec<(String, String)> {
    items
        .map(|(name, status)| (name.to_owned(), status.to_owned()))
        .into()
}

fn statuses(results: &[(String, String, String)]) -> Vec<(String, String)> {
    let pair = |(name, status, _): &(String, String, String)| (name.clone(), status.clone());
    results.iter().map(pair).collect()
}

#[test]
fn a_script_is_tested_with_mocked_tools() {
    let project = Project::new(&[
        (
            "audit.ts",
            "export default async function audit(folder: string) {\n\
               const names: string[] = await tools.fs.list({ folder });\n\
               const files = await Promise.all(names.map((path) => tools.fs.read({ path })));\n\
               return files.filter((file: any) => file.debug).length;\n\
             }\n",
        ),
        (
            "audit.test.ts",
            "import { test, expect, mockTool } from 'pml/test';\n\
             import audit from './audit.ts';\n\
             test('counts files with debug', async () => {\n\
               const list = mockTool('fs:list', ['a', 'b']);\n\
               const read = mockTool('fs:read', ({ path }) => ({ debug: path === 'a' }));\n\
               expect(await audit('conf')).toBe(1);\n\
               expect(list).toHaveBeenCalledWith({ folder: 'conf' });\n\
               expect(read.calls).toEqual([{ path: 'a' }, { path: 'b' }]);\n\
             });\n",
        ),
    ]);
    project.passes();
}

#[test]
fn a_failure_is_reported_with_its_diff_and_its_line() {
    let project = Project::of(
        "test('adds up', () => {\n  const sum = { a: 1, b: [1, 2] };\n  expect(sum).toEqual({ a: 1, b: [1, 3] });\n});",
    );
    let output = project.run(&[]);
    assert_eq!(output.status.code(), Some(1));
    let printed = text(&output.stdout);
    assert!(printed.contains("FAIL a.test.ts"), "{printed}");
    assert!(printed.contains("-     3,"), "{printed}");
    assert!(printed.contains("+     2,"), "{printed}");
    assert!(printed.contains("at a.test.ts:4:15"), "{printed}");
    assert!(printed.contains("> 4 |   expect(sum).toEqual"), "{printed}");
    assert!(
        printed.contains("1 failed, 0 passed in 1 file"),
        "{printed}"
    );
}

#[test]
fn only_skip_todo_and_groups_decide_what_runs() {
    let project = Project::of(
        "test('one', () => {});\n\
         test.skip('two', () => expect.fail());\n\
         test.todo('three');\n\
         describe('group', () => {\n\
           test('four', () => {});\n\
           describe.skip('inner', () => { test('five', () => expect.fail()); });\n\
         });\n\
         test.each([[1, 2], [2, 4]])('%s twice is %s', (a, b) => expect(a * 2).toBe(b));",
    );
    assert_eq!(
        statuses(&project.results(&[])),
        strings([
            ("one", "passed"),
            ("two", "skipped"),
            ("three", "todo"),
            ("group > four", "passed"),
            ("group > inner > five", "skipped"),
            ("1 twice is 2", "passed"),
            ("2 twice is 4", "passed"),
        ])
    );
    assert_eq!(
        statuses(&project.results(&["-t", "group"])),
        strings([
            ("group > four", "passed"),
            ("group > inner > five", "skipped")
        ])
    );
    let project = Project::of(
        "test('one', () => expect.fail());\n\
         test.only('two', () => {});\n\
         describe('group', () => { test.only('three', () => {}); test('four', () => {}); });\n\
         describe.only('whole', () => { test('five', () => {}); });",
    );
    assert_eq!(
        statuses(&project.results(&[])),
        strings([
            ("one", "skipped"),
            ("two", "passed"),
            ("group > three", "passed"),
            ("group > four", "skipped"),
            ("whole > five", "passed"),
        ])
    );
}

#[test]
fn setup_and_teardown_run_around_the_tests() {
    let project = Project::of(
        "const order: string[] = [];\n\
         const note = (word: string) => () => { order.push(word); };\n\
         beforeAll(note('all')); afterAll(() => console.log(order.join(' ')));\n\
         beforeEach(note('each')); afterEach(note('/each'));\n\
         test('a', note('a'));\n\
         describe('group', () => {\n\
           beforeAll(note('inner-all')); afterAll(note('/inner-all'));\n\
           beforeEach(note('inner')); afterEach(note('/inner'));\n\
           test('b', note('b'));\n\
         });",
    );
    let output = project.run(&["--verbose"]);
    let printed = text(&output.stdout);
    assert!(
        printed.contains("all each a /each inner-all each inner b /inner /each /inner-all"),
        "{printed}"
    );
}

#[test]
fn a_failing_setup_fails_its_tests_and_the_teardown_still_runs() {
    let project = Project::of(
        "beforeEach(() => { throw new Error('no setup'); });\n\
         afterEach(() => console.log('torn down'));\n\
         test('a', () => {});\n",
    );
    let output = project.run(&[]);
    let printed = text(&output.stdout);
    assert!(
        printed.contains("no setup") && printed.contains("torn down"),
        "{printed}"
    );
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn every_claim_holds_and_its_opposite_fails() {
    let claims = [
        ("toBe(1)", "1", "2"),
        (
            "toEqual({ a: [1], b: undefined })",
            "{ a: [1] }",
            "{ a: [2] }",
        ),
        (
            "toStrictEqual({ a: 1 })",
            "{ a: 1 }",
            "{ a: 1, b: undefined }",
        ),
        (
            "toMatchObject({ a: { b: 1 } })",
            "{ a: { b: 1, c: 2 } }",
            "{ a: {} }",
        ),
        ("toBeTruthy()", "'x'", "0"),
        ("toBeFalsy()", "''", "1"),
        ("toBeNull()", "null", "undefined"),
        ("toBeUndefined()", "undefined", "null"),
        ("toBeDefined()", "null", "undefined"),
        ("toBeNaN()", "NaN", "1"),
        ("toBeInstanceOf(Map)", "new Map()", "new Set()"),
        ("toBeTypeOf('string')", "''", "1"),
        ("toBeGreaterThan(1)", "2", "1"),
        ("toBeGreaterThanOrEqual(1)", "1", "0"),
        ("toBeLessThan(1)", "0", "1"),
        ("toBeLessThanOrEqual(1)", "1", "2"),
        ("toBeCloseTo(0.3, 5)", "0.1 + 0.2", "0.31"),
        ("toMatch(/b+/)", "'abbc'", "'ac'"),
        ("toMatch('b')", "'abc'", "'ac'"),
        ("toContain(2)", "[1, 2]", "new Set([1])"),
        ("toContain('b')", "'abc'", "'ac'"),
        ("toContainEqual({ a: 1 })", "[{ a: 1 }]", "[{ a: 2 }]"),
        ("toHaveLength(2)", "[1, 2]", "'abc'"),
        (
            "toHaveProperty('a.b', 1)",
            "{ a: { b: 1 } }",
            "{ a: { b: 2 } }",
        ),
        (
            "toThrow('bad')",
            "() => { throw new Error('too bad'); }",
            "() => {}",
        ),
        (
            "toThrow(TypeError)",
            "() => { throw new TypeError(''); }",
            "() => { throw new Error(''); }",
        ),
        (
            "toEqual(new Map([['a', { x: 1 }]]))",
            "new Map([['a', { x: 1 }]])",
            "new Map([['a', { x: 2 }]])",
        ),
        (
            "toEqual(new Set([{ x: 1 }]))",
            "new Set([{ x: 1 }])",
            "new Set([{ x: 2 }])",
        ),
        ("toEqual(new Date(5))", "new Date(5)", "new Date(6)"),
        ("toEqual(/a/g)", "/a/g", "/a/i"),
        (
            "toEqual(new Error('x'))",
            "new Error('x')",
            "new Error('y')",
        ),
        ("toEqual(expect.any(String))", "''", "1"),
        (
            "toEqual({ id: expect.anything() })",
            "{ id: 0 }",
            "{ id: null }",
        ),
        (
            "toEqual(expect.objectContaining({ a: 1 }))",
            "{ a: 1, b: 2 }",
            "{ b: 2 }",
        ),
        (
            "toEqual(expect.arrayContaining([1, 2]))",
            "[2, 3, 1]",
            "[2, 3]",
        ),
        ("toEqual(expect.stringContaining('b'))", "'abc'", "'ac'"),
        ("toEqual(expect.stringMatching(/^a/))", "'abc'", "'cab'"),
        ("toEqual(expect.closeTo(1, 1))", "1.01", "1.2"),
    ];
    let mut body = String::new();
    for (claim, good, bad) in claims {
        let name = serde_json::to_string(claim).unwrap();
        body.push_str(&format!(
            "test({name}, () => {{\n\
               expect({good}).{claim}; expect({bad}).not.{claim};\n\
               expect(() => expect({bad}).{claim}).toThrow();\n\
               expect(() => expect({good}).not.{claim}).toThrow();\n\
             }});\n"
        ));
    }
    body.push_str(
        "test('promises', async () => {\n\
           await expect(Promise.resolve(1)).resolves.toBe(1);\n\
           await expect(Promise.reject(new Error('bad'))).rejects.toThrow('bad');\n\
           await expect(async () => { throw new TypeError('x'); }).rejects.toBeInstanceOf(TypeError);\n\
           await expect(Promise.resolve(1)).resolves.not.toBe(2);\n\
           await expect(expect(Promise.resolve(1)).rejects.toBe(1)).rejects.toThrow('fulfilled');\n\
         });\n\
         test('cycles', () => {\n\
           const a: any = { n: 1 }; a.self = a;\n\
           const b: any = { n: 1 }; b.self = b;\n\
           expect(a).toEqual(b);\n\
         });\n",
    );
    let project = Project::of(&body);
    for (name, status, message) in project.results(&[]) {
        assert_eq!(status, "passed", "{name}: {message}");
    }
}

#[test]
fn mocks_count_answer_fail_and_end_with_their_test() {
    Project::of(
        "const always = mockTool('db:query', () => 'rows');\n\
         test('of the file', async () => {\n\
           expect(await tools.db.query({ n: 1 })).toBe('rows');\n\
           expect(always).toHaveBeenCalledTimes(1);\n\
         });\n\
         test('counted anew, and hidden by a newer one', async () => {\n\
           expect(always).not.toHaveBeenCalled();\n\
           const newer = mockTool('db:query', (args, tool) => ({ args, tool }));\n\
           expect(await tools.db.query({ n: 2 })).toEqual({ args: { n: 2 }, tool: 'db:query' });\n\
           expect(always).not.toHaveBeenCalled();\n\
           expect(newer).toHaveBeenLastCalledWith({ n: expect.any(Number) });\n\
           newer.answer('later');\n\
           expect(await tools.db.query()).toBe('later');\n\
           expect(newer).toHaveBeenNthCalledWith(2, {});\n\
         });\n\
         test('the older one is back', async () => expect(await tools.db.query()).toBe('rows'));\n\
         test('failures', async () => {\n\
           mockTool('fs:*', (_args, tool) => { throw new Error(`${tool} is down`); });\n\
           const { success, error } = await callTool('fs:read', {});\n\
           expect(success).toBe(false);\n\
           expect(error).toMatchObject({ kind: 'tool', message: 'fs:read is down', tool: 'fs:read' });\n\
           mockTool('fs:read', () => { throw new ToolError('fs:read', { kind: 'timeout', message: 'slow', retryable: true }); });\n\
           await expect(tools.fs.read()).rejects.toMatchObject({ kind: 'timeout', retryable: true });\n\
         });\n\
         test('answers are JSON, as from a server', async () => {\n\
           mockTool('a:b', () => ({ at: new Date(0), gone: undefined, big: 5n }));\n\
           expect(await tools.a.b()).toStrictEqual({ at: '1970-01-01T00:00:00.000Z', big: 5 });\n\
           mockTool('a:c');\n\
           expect(await tools.a.c()).toBeNull();\n\
         });\n",
    )
    .passes();
}

#[test]
fn a_call_without_a_mock_says_what_to_mock() {
    let project = Project::of(
        "test('calls', async () => { await tools.fs.read_file({ path: 'a' }); });\n\
         test('searches', async () => { await searchTools('read a file'); });",
    );
    let results = project.results(&[]);
    assert!(
        results[0]
            .2
            .contains("write mockTool(\"fs:read_file\", (args) => ...)"),
        "{results:?}"
    );
    assert!(results[1].2.contains("useRecording"), "{results:?}");
}

#[test]
fn a_claim_that_fails_inside_a_mock_fails_the_test() {
    let project = Project::of(
        "test('inside', async () => {\n\
           mockTool('a:b', (args) => expect(args).toEqual({ right: true }));\n\
           await callTool('a:b', { wrong: true });\n\
         });",
    );
    let results = project.results(&[]);
    assert_eq!(results[0].1, "failed");
    assert!(results[0].2.contains("AssertionError"), "{results:?}");
}

fn recording() -> String {
    json!({
        "format": "pml-recording/1", "script": "a.ts", "scrubbed": true,
        "world": { "seed": 5, "timeMs": 1_790_000_000_000_u64 },
        "requests": [
            { "call": { "tool": "fs:read", "args": { "path": "a" } }, "value": "text of a" },
            { "call": { "tool": "fs:read", "args": { "path": "b" } },
              "failure": { "kind": "tool", "message": "no b", "retryable": false } },
        ],
    })
    .to_string()
}

#[test]
fn recordings_answer_the_tests_that_use_them() {
    let project = Project::of(
        "test('replays', async () => {\n\
           await useRecording('./a.json');\n\
           expect(await tools.fs.read({ path: 'a' })).toBe('text of a');\n\
           await expect(tools.fs.read({ path: 'b' })).rejects.toThrow('no b');\n\
           expect(new Date().toISOString()).toBe('2026-09-21T14:13:20.000Z');\n\
           await new Promise((done) => setTimeout(done, 3_600_000));\n\
         });\n\
         test('each test begins anew, and a mock comes first', async () => {\n\
           await useRecording('./a.json');\n\
           mockTool('fs:read', ({ path }) => `mock of ${path}`);\n\
           expect(await tools.fs.read({ path: 'a' })).toBe('mock of a');\n\
         });\n\
         test('it ends with the test', async () => {\n\
           await expect(tools.fs.read({ path: 'a' })).rejects.toThrow('mockTool');\n\
           expect(Math.abs(Date.now() - 1790000000000)).toBeGreaterThan(1000);\n\
         });\n\
         test('a missing file', async () => {\n\
           await expect(useRecording('./gone.json')).rejects.toThrow('pml run --record');\n\
           await expect(useRecording('../../etc/passwd')).rejects.toThrow('outside');\n\
         });",
    );
    project.write("a.json", &recording());
    project.passes();
}

#[test]
fn time_moves_only_when_a_test_moves_it() {
    Project::of(
        "test('fake', async () => {\n\
           const time = fakeTime('2026-01-01T00:00:00Z');\n\
           const fired: string[] = [];\n\
           setTimeout(() => fired.push('late'), 60_000);\n\
           const ticker = setInterval(() => fired.push('tick'), 20_000);\n\
           const waiting = (async () => {\n\
             await new Promise((done) => setTimeout(done, 30_000));\n\
             return new Date().toISOString();\n\
           })();\n\
           await time.advance(29_999);\n\
           expect(fired).toEqual(['tick']);\n\
           await time.advance(1);\n\
           expect(await waiting).toBe('2026-01-01T00:00:30.000Z');\n\
           clearInterval(ticker);\n\
           await time.runAll();\n\
           expect(fired).toEqual(['tick', 'late']);\n\
           expect(new Date(time.now).getUTCMinutes()).toBe(1);\n\
           time.set('2027-01-01');\n\
           expect(new Date().getUTCFullYear()).toBe(2027);\n\
           expect(Temporal.Now.plainDateISO().year).toBe(2027);\n\
         });\n\
         test('real again', () => {\n\
           expect(new Date().getTime()).not.toBe(new Date('2027-01-01').getTime());\n\
           expect(Date.now).not.toBe(undefined);\n\
         });\n\
         test('chance is the same for the same seed', () => {\n\
           const draw = () => [Math.random(), crypto.randomUUID()];\n\
           fakeTime(0, { seed: 3 }); const one = draw();\n\
           fakeTime(0, { seed: 3 }); const same = draw();\n\
           fakeTime(0, { seed: 4 }); const other = draw();\n\
           expect(one).toEqual(same);\n\
           expect(one).not.toEqual(other);\n\
         });",
    )
    .passes();
}

#[test]
fn a_whole_script_is_run_as_pml_run_does() {
    let project = Project::new(&[
        (
            "script.ts",
            "const names = await tools.fs.list({ folder: args[0] ?? 'none' });\nreturn { names, at: new Date(0) };",
        ),
        (
            "script.test.ts",
            "import { test, expect, mockTool, runScript } from 'pml/test';\n\
             test('runs', async () => {\n\
               const list = mockTool('fs:list', () => ['a']);\n\
               const result = await runScript('./script.ts', { args: ['conf'] });\n\
               expect(result).toEqual({ names: ['a'], at: '1970-01-01T00:00:00.000Z' });\n\
               expect(list).toHaveBeenCalledWith({ folder: 'conf' });\n\
               await runScript('./script.ts');\n\
               expect(list).toHaveBeenLastCalledWith({ folder: 'none' });\n\
             });",
        ),
        (
            "wrong.test.ts",
            "import { test } from 'pml/test';\nimport x from './script.ts';\ntest('x', () => x);",
        ),
    ]);
    assert!(project.run(&["script.test"]).status.success());
    let printed = text(&project.run(&["wrong"]).stdout);
    assert!(printed.contains("runScript(\"./file.ts\")"), "{printed}");
}

#[test]
fn imports_stay_in_the_folder_of_the_tests() {
    let project = Project::new(&[
        ("lib/deep.ts", "export const deep: number = 7;"),
        (
            "lib/index.ts",
            "import { deep } from './deep.ts';\nexport const value = deep + 1;",
        ),
        (
            "tests/good.test.ts",
            "import { test, expect } from 'pml/test';\nimport { value } from '../lib/index.ts';\n\
             test('imports', () => expect(value).toBe(8));",
        ),
        (
            "tests/outside.test.ts",
            "import { test } from 'pml/test';\nimport x from '../../secret.ts';\ntest('x', () => x);",
        ),
        (
            "tests/ending.test.ts",
            "import { test } from 'pml/test';\nimport x from '../lib/index';\ntest('x', () => x);",
        ),
        (
            "tests/package.test.ts",
            "import { test } from 'pml/test';\nimport x from 'left-pad';\ntest('x', () => x);",
        ),
    ]);
    assert!(project.run(&["good"]).status.success());
    for (name, expected) in [
        ("outside", "secret.ts"),
        ("ending", "lib/index.ts"),
        ("package", "left-pad"),
    ] {
        let output = project.run(&[name]);
        assert_eq!(output.status.code(), Some(1), "{name}");
        let report = text(&output.stdout);
        assert!(report.contains(expected), "{name}: {report}");
    }
}

#[test]
fn pml_run_has_neither_the_module_for_tests_nor_relative_imports() {
    for script in [
        "import { test } from 'pml/test'; return 1",
        "import x from './x.ts'; return 1",
        "const { test } = await import('pml/test'); return 1",
        "const x = await import('./x.ts'); return 1",
        "const x = await import('node:pml/test'); return 1",
    ] {
        let envelope = run_json(&[], script);
        assert_eq!(
            envelope["error"]["kind"], "denied",
            "{script}: {envelope:#}"
        );
    }
}

#[test]
fn snapshots_are_written_compared_and_updated() {
    let test = |value: &str| {
        format!(
            "{IMPORT}test('report', () => {{ expect({value}).toMatchSnapshot(); expect('text\\nof two lines').toMatchSnapshot('words'); }});"
        )
    };
    let project = Project::new(&[("deep/a.test.ts", &test("{ b: 1, a: [2] }"))]);
    let file = "deep/__snapshots__/a.test.ts.snap";
    let ci = command(project.folder.path(), &[])
        .env("CI", "true")
        .output()
        .unwrap();
    assert_eq!(ci.status.code(), Some(1));
    assert!(
        text(&ci.stdout).contains("pml test --update"),
        "{}",
        text(&ci.stdout)
    );
    assert!(!project.path(file).exists());

    let first = project.run(&[]);
    assert!(
        text(&first.stdout).contains("2 snapshots written"),
        "{}",
        text(&first.stdout)
    );
    assert!(
        project
            .read(file)
            .contains("=== report: words\ntext\nof two lines\n")
    );
    project.passes();

    project.write("deep/a.test.ts", &test("{ b: 1, a: [3] }"));
    let changed = project.run(&[]);
    assert_eq!(changed.status.code(), Some(1));
    let printed = text(&changed.stdout);
    assert!(
        printed.contains("-     2") && printed.contains("+     3"),
        "{printed}"
    );
    let kept = project.read(file);
    assert!(project.run(&["--update"]).status.success());
    assert_ne!(project.read(file), kept);
    project.passes();

    project.write(
        "deep/a.test.ts",
        &format!("{IMPORT}test('report', () => {{}});"),
    );
    assert!(text(&project.run(&[]).stdout).contains("2 snapshots belong to no test"));
    project.run(&["--update"]);
    assert!(!project.path(file).exists());
}

#[test]
fn a_test_that_takes_too_long_fails_and_the_next_one_runs() {
    let project = Project::of(
        "test('slow', () => new Promise(() => setTimeout(() => {}, 60_000)), { timeout: 50 });\n\
         test('next', () => {});",
    );
    let results = project.results(&[]);
    assert_eq!(
        statuses(&results),
        strings([("slow", "failed"), ("next", "passed")])
    );
    assert!(results[0].2.contains("50 ms"), "{results:?}");
    let project = Project::of("test('slow', () => new Promise((done) => setTimeout(done, 400)));");
    assert!(project.run(&[]).status.success());
    let output = project.run(&["--timeout", "100ms"]);
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn a_test_that_kills_its_worker_is_named_and_other_files_run() {
    let project = Project::new(&[
        (
            "hog.test.ts",
            "import { test } from 'pml/test';\ntest('fine', () => {});\n\
             test('hog', () => { const all = []; for (;;) all.push(new Array(1000).fill(all.length)); });",
        ),
        (
            "ok.test.ts",
            "import { test } from 'pml/test';\ntest('ok', () => {});",
        ),
    ]);
    let report = project.report(&[]);
    let tests = &report["files"][0]["tests"];
    assert_eq!(tests[0]["status"], "passed", "{report:#}");
    assert_eq!(tests[1]["name"], "hog", "{report:#}");
    assert!(
        tests[1]["failed"]["message"]
            .as_str()
            .unwrap()
            .contains("heap")
    );
    assert_eq!(report["files"][1]["tests"][0]["status"], "passed");
}

#[test]
fn a_file_that_cannot_run_is_a_failure_of_its_own() {
    let project = Project::new(&[
        (
            "syntax.test.ts",
            "import { test } from 'pml/test';\ntest('x', () => {",
        ),
        (
            "throws.test.ts",
            "import { test } from 'pml/test';\nthrow new Error('at the top');",
        ),
        ("empty.test.ts", "const nothing = 1;"),
        (
            "rejects.test.ts",
            "import { test } from 'pml/test';\ntest('x', () => { Promise.reject(new Error('left behind')); });",
        ),
    ]);
    let output = project.run(&[]);
    assert_eq!(output.status.code(), Some(1));
    let printed = text(&output.stdout);
    for words in [
        "at the top",
        "there is no test in this file",
        "left behind",
        "1 failed, 3 files broken",
    ] {
        assert!(printed.contains(words), "{words}: {printed}");
    }
}

#[test]
fn reports_are_what_ci_systems_read() {
    let project = Project::of(
        "test('good', () => {});\ntest('bad <&>', () => expect('\u{1b}').toBe(\"]]>\"));\ntest.skip('off # 1', () => {});",
    );
    let tap = text(&project.run(&["--reporter", "tap"]).stdout);
    assert!(
        tap.starts_with("TAP version 14\nok 1 - a.test.ts: good\nnot ok 2 - "),
        "{tap}"
    );
    assert!(
        tap.contains("ok 3 - a.test.ts: off \\# 1 # SKIP") && tap.ends_with("1..3\n"),
        "{tap}"
    );
    let output = project.run(&["--reporter", "junit", "--output", "out.xml"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).contains("1 failed, 1 passed, 1 skipped"));
    let xml = project.read("out.xml");
    assert!(xml.contains("tests=\"3\" failures=\"1\""), "{xml}");
    assert!(xml.contains("name=\"bad &lt;&amp;&gt;\""), "{xml}");
    assert!(well_formed(&xml), "{xml}");
}

/// Checks that every element is closed by its end tag, and that no text has an unescaped bracket.
fn well_formed(xml: &str) -> bool {
    let mut open = Vec::new();
    for piece in xml.split('<').skip(1) {
        let Some((tag, rest)) = piece.split_once('>') else {
            return false;
        };
        if rest.contains('>') {
            return false;
        }
        if let Some(name) = tag.strip_prefix('/') {
            if open.pop() != Some(name.to_owned()) {
                return false;
            }
        } else if !tag.ends_with('/') && !tag.starts_with('?') {
            let name = tag.split(' ').next().unwrap_or_default();
            open.push(name.to_owned());
        }
    }
    open.is_empty()
}

#[test]
fn coverage_counts_the_lines_of_the_typescript_source() {
    let source = "interface Size {\n  bytes: number;\n}\n\nexport function sort(sizes: Size[]): string {\n  if (sizes.length === 0) {\n    return \"none\";\n  }\n  let total = 0;\n  for (const size of sizes) {\n    total += size.bytes;\n  }\n  return total > 100 ? \"big\" : \"small\";\n}\n\nexport function never(): number {\n  return 1;\n}\n";
    let project = Project::new(&[
        ("sort.ts", source),
        (
            "sort.test.ts",
            "import { test, expect } from 'pml/test';\nimport { sort } from './sort.ts';\n\
             test('sorts', () => expect(sort([{ bytes: 1 }, { bytes: 2 }])).toBe('small'));",
        ),
    ]);
    let output = project.run(&["--coverage", "lcov.info"]);
    assert!(output.status.success(), "{}", text(&output.stdout));
    let lcov = project.read("lcov.info");
    assert!(
        lcov.contains("SF:sort.ts\n") && !lcov.contains("sort.test.ts"),
        "{lcov}"
    );
    for line in [
        "DA:6,1", "DA:7,0", "DA:9,1", "DA:11,2", "DA:13,1", "DA:17,0",
    ] {
        assert!(lcov.contains(&format!("\n{line}\n")), "{line}\n{lcov}");
    }
    for line in ["DA:1,", "DA:2,", "DA:4,"] {
        assert!(!lcov.contains(&format!("\n{line}")), "{line}\n{lcov}");
    }
}

#[test]
fn wrong_usage_and_no_tests_are_exit_code_two() {
    let empty = Project::new(&[("a.ts", "1")]);
    let output = empty.run(&[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("pml test --help"));
    let project = Project::of("test('a', () => {});");
    for args in [
        &["nowhere"][..],
        &["-t", "no such name"],
        &["--reporter", "xml"],
        &["--timeout", "soon"],
    ] {
        assert_eq!(project.run(args).status.code(), Some(2), "{args:?}");
    }
}

#[test]
fn a_watched_folder_is_tested_again_when_a_file_changes() {
    let project = Project::new(&[
        ("value.ts", "export const value = 1;"),
        (
            "a.test.ts",
            "import { test, expect } from 'pml/test';\nimport { value } from './value.ts';\ntest('a', () => expect(value).toBe(1));",
        ),
        (
            "b.test.ts",
            "import { test } from 'pml/test';\ntest('b', () => {});",
        ),
    ]);
    let out = project.path("out.txt");
    let mut child = command(project.folder.path(), &["--watch"])
        .stdout(fs::File::create(&out).unwrap())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let wait_for_output = |words: &str| {
        let until = Instant::now() + Duration::from_secs(20);
        loop {
            let printed = fs::read_to_string(&out).unwrap();
            if printed.contains(words) {
                return printed;
            }
            assert!(Instant::now() < until, "{words}: {printed}");
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    wait_for_output("2 passed in 2 files");
    project.write("value.ts", "export const value = 22;");
    wait_for_output("1 failed, 0 passed in 1 file");
    project.write("value.ts", "export const value = 1;");
    wait_for_output("1 passed in 1 file");
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn each_file_has_a_sandbox_of_its_own() {
    let test = "import { test, expect } from 'pml/test';\n\
        test('alone', () => {\n\
          expect((globalThis as any).mark).toBeUndefined();\n\
          (globalThis as any).mark = 1;\n\
          (Array.prototype as any).push = () => expect.fail();\n\
          expect(typeof (globalThis as any).Deno).toBe('undefined');\n\
        });";
    Project::new(&[
        ("a.test.ts", test),
        ("b.test.ts", test),
        (
            "c.test.js",
            "import { test } from 'pml/test'; test('js', () => {});",
        ),
    ])
    .passes();
}

/// The names that lines of a file declare after one of the prefixes, sorted.
fn declared(text: &str, before: &[&str]) -> Vec<String> {
    let mut names: Vec<String> = text
        .lines()
        .filter_map(|line| before.iter().find_map(|word| line.strip_prefix(word)))
        .filter_map(|rest| rest.split(|c: char| !c.is_alphanumeric()).next())
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect();
    names.sort();
    names.dedup();
    names
}

#[test]
fn the_typings_name_what_a_test_has_no_more_and_no_less() {
    let typings = fs::read_to_string(repository().join("typings/test.d.ts")).unwrap();
    let exports = declared(
        &typings,
        &["  export const ", "  export function ", "  export class "],
    );
    let claims = typings.split("interface Claims<Result> {").nth(1).unwrap();
    let claims = declared(claims.split("\n  }").next().unwrap(), &["    "]);
    let project = Project::of(&format!(
        "import * as api from 'pml/test';\n\
         test('exports', () => expect(Object.keys(api).sort()).toEqual({exports:?}));\n\
         test('claims', () => {{\n\
           const claims = Object.keys(Object.getPrototypeOf(expect(1))).sort();\n\
           expect(claims).toEqual({claims:?});\n\
         }});"
    ));
    for (name, status, message) in project.results(&[]) {
        assert_eq!(status, "passed", "{name}: {message}");
    }
}
