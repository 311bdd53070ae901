//! Every form that a script may have, every TypeScript feature it may use, and the errors for the
//! rest. Lines and columns are always those of the original script.

mod dialects;
mod ending;
mod imports;
mod names;
mod places;
mod plain;
mod refused;
mod result;
mod typescript;

use serde_json::{Value, json};

use crate::support::{error_of, result_of};

/// Runs each script and compares its result.
fn assert_results(cases: &[(&str, Value)]) {
    for (script, expected) in cases {
        assert_eq!(result_of(script), *expected, "{script}");
    }
}

/// Checks a script that is refused before it runs: kind, message, line, column.
fn assert_rejected(script: &str, kind: &str, message: &str, line: u32, column: u32) {
    let error = error_of(&[], script);
    assert_eq!(error["kind"], kind, "{script}\n{error:#}");
    assert_eq!(error["message"], message, "{script}");
    assert_eq!(
        (&error["line"], &error["column"]),
        (&json!(line), &json!(column)),
        "{script}\n{error:#}"
    );
}
