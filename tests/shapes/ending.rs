//! When a run ends.

use serde_json::json;

use crate::support::{error_of, result_of, run_json};

#[test]
fn an_unhandled_rejection_fails_the_run() {
    let error = error_of(&[], "Promise.reject(new Error('lost'));\n5");
    assert_eq!(error["kind"], "runtime");
    assert_eq!(error["message"], "Error: lost");
    assert_eq!(error["line"], 1);
}

#[test]
fn a_rejection_that_is_handled_later_is_fine() {
    let script = "const p = Promise.reject(new Error('late'));\nawait new Promise((done) => setTimeout(done, 10));\np.catch(() => 'caught')";
    assert_eq!(result_of(script), "caught");
}

#[test]
fn a_script_without_a_result_runs_until_nothing_is_left_to_do() {
    let envelope = run_json(
        &[],
        "setTimeout(() => { console.log('later') }, 30);\nconst x = 1;",
    );
    assert_eq!(envelope["logs"][0]["text"], "later");
}

#[test]
fn a_timer_as_the_last_line_still_fires() {
    let envelope = run_json(&[], "setTimeout(() => console.log('later'), 10)");
    assert_eq!(envelope["logs"][0]["text"], "later", "{envelope:#}");
}

#[test]
fn a_leftover_timer_does_not_hold_up_a_result() {
    let script =
        "setTimeout(() => console.log('never'), 20_000);\nsetInterval(() => {}, 5);\n'done'";
    let envelope = run_json(&["--timeout", "5s"], script);
    assert_eq!(envelope["result"], "done");
    assert_eq!(envelope["logs"], json!([]));
}

#[test]
fn an_error_in_a_timer_fails_the_run() {
    let error = error_of(
        &[],
        "setTimeout(() => { throw new Error('in timer') }, 5);\nconst x = 1;",
    );
    assert_eq!(error["message"], "Error: in timer");
    assert_eq!(error["line"], 1);
}

#[test]
fn waiting_for_what_can_never_happen_is_an_error_and_not_a_timeout() {
    for script in [
        "await new Promise(() => {})",
        "return new Promise(() => {})",
        "[new Promise(() => {})]",
    ] {
        let error = error_of(&["--timeout", "5s"], script);
        assert_eq!(error["kind"], "runtime", "{script}\n{error:#}");
        assert_eq!(
            error["hint"],
            "Make sure that every promise you await is resolved or rejected by something.",
            "{script}"
        );
    }
}
