//! Tests that go wrong in ways of their own.

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
    let told = text(&output.stdout);
    assert!(told.contains("test needs a name"), "{told}");
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
