//! Mistakes in test files: wrong usage, leaks between tests, uncaught errors.

use std::time::{Duration, Instant};

use super::{Project, command, statuses, strings, text};

#[test]
fn a_loop_that_never_ends_costs_the_time_of_its_test_and_the_rest_is_named() {
    let project = Project::of(
        "test('before', () => {});\n\
         test('loop', () => { for (;;); });\n\
         test('after', () => {});",
    );
    let began = Instant::now();
    let results = project.results(&["--timeout", "500ms"]);
    assert!(began.elapsed() < Duration::from_secs(15));
    assert_eq!(
        statuses(&results),
        strings([
            ("before", "passed"),
            ("loop", "failed"),
            ("after", "failed")
        ])
    );
    assert!(results[1].2.contains("500 ms"), "{results:?}");
    assert!(
        results[2].2.contains("did not run: \"loop\""),
        "{results:?}"
    );
}

#[test]
fn a_loop_in_what_comes_before_a_group_ends_too() {
    let project = Project::of(
        "describe('group', () => {\n\
           beforeAll(() => { for (;;); });\n\
           test('inside', () => {});\n\
         });",
    );
    let results = project.results(&["--timeout", "300ms"]);
    assert_eq!(
        statuses(&results),
        strings([
            ("group > beforeAll", "failed"),
            ("group > inside", "failed")
        ])
    );
}

#[test]
fn files_run_at_the_same_time() {
    let waits = "import { test } from 'pml/test';\n\
        test('waits', () => new Promise((done) => setTimeout(done, 1_500)));";
    let project = Project::new(&[("a.test.ts", waits), ("b.test.ts", waits)]);
    let began = Instant::now();
    let output = project.run(&["--jobs", "2"]);
    assert!(output.status.success(), "{}", text(&output.stdout));
    assert!(began.elapsed() < Duration::from_millis(2_900));
}

#[test]
fn only_is_for_the_desk_and_not_for_ci() {
    let project = Project::of("test.only('one', () => {});\ntest('other', () => {});");
    assert!(project.run(&[]).status.success());
    let output = command(project.path("").as_path(), &[])
        .env("CI", "true")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).contains("marked `only`"));
}

#[test]
fn snapshots_of_tests_with_the_same_name_are_kept_apart() {
    let project = Project::of(
        "test('same', () => expect('first').toMatchSnapshot());\n\
         test('same', () => expect('second').toMatchSnapshot());",
    );
    project.passes();
    let kept = project.read("__snapshots__/a.test.ts.snap");
    assert!(kept.contains("first") && kept.contains("second"), "{kept}");
    project.passes();
}

#[test]
fn a_mock_answers_one_call_at_a_time() {
    Project::of(
        "test('sequence', async () => {\n\
           const mock = mockTool('a:b', 'always')\n\
             .once('first')\n\
             .once(() => { throw new Error('second'); });\n\
           expect(await tools.a.b({})).toBe('first');\n\
           await expect(tools.a.b({})).rejects.toThrow('second');\n\
           expect(await tools.a.b({})).toBe('always');\n\
           expect(await tools.a.b({})).toBe('always');\n\
           expect(mock).toHaveBeenCalledTimes(4);\n\
         });",
    )
    .passes();
}

#[test]
fn a_test_without_a_name_is_refused() {
    let output = Project::of("test('', () => {});").run(&[]);
    assert_eq!(output.status.code(), Some(1));
    let printed = text(&output.stdout);
    assert!(printed.contains("test needs a name"), "{printed}");
}

#[test]
fn each_test_begins_with_nothing_stored() {
    Project::of(
        "beforeEach(() => store('given', 1));\n\
         test('stores', async () => {\n\
           await store('seen', { a: [1] });\n\
           expect(await load('seen')).toEqual({ a: [1] });\n\
           expect(await load('given')).toBe(1);\n\
         });\n\
         test('next', async () => {\n\
           expect(await load('seen')).toBe(undefined);\n\
           expect(await load('given')).toBe(1);\n\
         });",
    )
    .passes();
}

#[test]
fn the_timeout_of_a_signal_is_by_the_clock_of_the_test() {
    Project::of(
        "test('signal', async () => {\n\
           const time = fakeTime(0);\n\
           const signal = AbortSignal.timeout(1_000);\n\
           await time.advance(999);\n\
           expect(signal.aborted).toBe(false);\n\
           await time.advance(1);\n\
           expect(signal.aborted).toBe(true);\n\
           expect(signal.reason.name).toBe('TimeoutError');\n\
         });",
    )
    .passes();
}

#[test]
fn what_fails_before_a_group_does_not_fail_what_is_skipped_there() {
    let project = Project::of(
        "describe('group', () => {\n\
           beforeAll(() => { throw new Error('no'); });\n\
           test('one', () => {});\n\
           test.skip('two', () => {});\n\
           test.todo('three');\n\
         });",
    );
    assert_eq!(
        statuses(&project.results(&[])),
        strings([
            ("group > one", "failed"),
            ("group > two", "skipped"),
            ("group > three", "todo"),
        ])
    );
}

#[test]
fn an_uncaught_error_fails_the_running_test() {
    let project = Project::of(
        "const pause = () => new Promise((done) => setTimeout(done, 20));\n\
         const early = Promise.reject(new Error('handled later'));\n\
         test('rejects', () => { Promise.reject(new Error('one')); });\n\
         test('throws in a timer', async () => {\n\
           setTimeout(() => { throw new Error('two') }, 1);\n\
           Promise.reject(new Error('three'));\n\
           await pause();\n\
         });\n\
         test('fails itself too', () => {\n\
           Promise.reject(new Error('four'));\n\
           expect(1).toBe(2);\n\
         });\n\
         describe('group', () => {\n\
           beforeAll(() => { Promise.reject(new Error('five')); });\n\
           test('behind it', () => {});\n\
         });\n\
         test('handles late', async () => {\n\
           const late = Promise.reject(new Error('late'));\n\
           await pause();\n\
           await expect(late).rejects.toThrow('late');\n\
           await expect(early).rejects.toThrow('handled later');\n\
         });",
    );
    let results = project.results(&[]);
    assert_eq!(
        statuses(&results),
        strings([
            ("rejects", "failed"),
            ("throws in a timer", "failed"),
            ("fails itself too", "failed"),
            ("group > behind it", "failed"),
            ("handles late", "passed"),
        ])
    );
    assert_eq!(results[0].2, "Error: one");
    assert_eq!(
        results[1].2,
        "Error: two\n\nalso uncaught: Error: three (a.test.ts:7:16)"
    );
    assert!(
        results[2].2.starts_with("AssertionError: toBe"),
        "{results:?}"
    );
    assert!(
        results[2]
            .2
            .ends_with("also uncaught: Error: four (a.test.ts:11:16)"),
        "{results:?}"
    );
    assert_eq!(results[3].2, "Error: five");
}

#[test]
fn values_that_are_too_large_to_show_are_reported_by_the_paths_that_differ() {
    let project = Project::of(
        "const numbers = Array.from({ length: 5_000 }, (_, i) => i);\n\
         const rows = numbers.map((id) => ({ id, tags: ['a', 'b'] }));\n\
         test('numbers', () => expect(numbers.with(4000, -1)).toEqual(numbers));\n\
         test('rows', () => {\n\
           const other = structuredClone({ rows });\n\
           other.rows[4000].tags[1] = 'c';\n\
           expect(other).toEqual({ rows });\n\
         });\n\
         test('one more', () => expect([...numbers, 1]).toEqual(numbers));\n\
         test('all of them', () => expect(numbers.map((n) => -1 - n)).toEqual(numbers));\n\
         test('text', () => expect('x'.repeat(30_000) + 'a').toBe('x'.repeat(30_000) + 'b'));\n\
         test('snapshot', () => expect(numbers.join('\\n')).toMatchSnapshot());",
    );
    project.run(&[]);
    let snapshots = "__snapshots__/a.test.ts.snap";
    let kept = project.read(snapshots).replace("\n4000\n", "\nfour\n");
    project.write(snapshots, &kept);
    let messages: Vec<String> = project
        .results(&[])
        .into_iter()
        .map(|test| test.2)
        .collect();
    let head = "AssertionError: toEqual: the values differ (- expected, + actual):\n";
    assert_eq!(messages[0], format!("{head}  at [4000]:\n- 4000\n+ -1"));
    assert_eq!(
        messages[1],
        format!("{head}  at rows[4000].tags[1]:\n- \"b\"\n+ \"c\"")
    );
    assert_eq!(
        messages[2],
        format!("{head}  at length:\n- 5000\n+ 5001\n  at [5000]:\n- undefined\n+ 1")
    );
    assert!(
        messages[3].ends_with("  at [9]:\n- 9\n+ -10\n  ..."),
        "{}",
        messages[3]
    );
    assert!(messages[4].contains("xxb\"\n+ ...\"xx"), "{}", messages[4]);
    assert!(
        messages[5].ends_with("\n  ...\n  3998\n  3999\n- four\n+ 4000\n  4001\n  4002\n  ..."),
        "{}",
        messages[5]
    );
}

#[test]
fn a_hole_is_not_undefined_to_a_strict_claim() {
    Project::of(
        "test('holes', () => {\n\
           expect([1, , 3]).toEqual([1, undefined, 3]);\n\
           expect([1, , 3]).toStrictEqual([1, , 3]);\n\
           expect([1, , 3]).not.toStrictEqual([1, undefined, 3]);\n\
           expect([1, undefined, 3]).not.toStrictEqual([1, , 3]);\n\
         });",
    )
    .passes();
}

#[test]
fn the_fields_of_a_row_fill_the_title_of_its_test() {
    let project = Project::of(
        "test.each([{ a: 1, b: { c: 'x' } }, { a: [2], b: null }])('$a, $b.c, $none costs $5', () => {});\n\
         test.each([[1, 2]])('%s and %s, not $a', () => {});",
    );
    assert_eq!(
        statuses(&project.results(&[])),
        strings([
            ("1, x, $none costs $5", "passed"),
            ("[2], $b.c, $none costs $5", "passed"),
            ("1 and 2, not $a", "passed"),
        ])
    );
}

#[test]
fn a_file_without_its_imports_fails_with_the_import_to_add() {
    let project = Project::new(&[
        ("globals.test.ts", "test('x', () => {});"),
        (
            "half.test.ts",
            "import { test } from 'pml/test';\ntest('x', () => { expect(1).toBe(1); });",
        ),
        (
            "other.test.ts",
            "import { test } from 'vitest';\ntest('x', () => {});",
        ),
        (
            "later.test.ts",
            "import { test } from 'pml/test';\ntest('x', async () => { await import('vitest'); });",
        ),
    ]);
    let refused = "the import of \"vitest\" is refused: a test can import \"pml\", \"pml/test\" \
        and files by their path, such as \"./audit.ts\"";
    for (name, expected) in [
        (
            "globals",
            "test is not defined; write import { test, expect } from \"pml/test\"",
        ),
        (
            "half",
            "expect is not defined; write import { expect } from \"pml/test\"",
        ),
        ("other", refused),
        ("later", refused),
    ] {
        let report = text(&project.run(&[name]).stdout);
        assert!(report.contains(expected), "{name}: {report}");
    }
    let output = crate::support::pml()
        .args(["check", "other.test.ts"])
        .current_dir(project.path(""))
        .output()
        .unwrap();
    assert!(text(&output.stdout).contains(refused), "{output:?}");
}
