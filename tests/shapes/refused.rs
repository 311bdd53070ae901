//! Scripts that are refused before they run, and the position of the error.

use serde_json::json;

use super::assert_rejected;
use crate::support::{error_of, run_json};

// Unsupported syntax.
#[test]
fn jsx_is_refused_with_a_clear_message() {
    let words = "JSX is not supported; return plain data or a string instead";
    assert_rejected("let x = <div>hi</div>;\nx", "syntax", words, 1, 9);
    assert_rejected(
        "const a = 1;\nreturn (\n  <><b/></>\n);",
        "syntax",
        words,
        3,
        3,
    );
}

#[test]
fn decorators_are_refused_with_a_clear_message() {
    let words = "decorators are not supported; call the function on the class instead";
    assert_rejected("@sealed\nclass A {}", "syntax", words, 1, 1);
    assert_rejected("class A {\n  @log() m() {}\n}", "syntax", words, 2, 3);
    assert_rejected(
        "class A { constructor(@inject x: string) {} }",
        "syntax",
        words,
        1,
        23,
    );
}

#[test]
fn sloppy_mode_syntax_is_refused() {
    for script in ["with (Math) { floor(1.5) }", "010", "let a; delete a"] {
        assert_eq!(error_of(&[], script)["kind"], "syntax", "{script}");
    }
}

#[test]
fn await_stays_a_reserved_word_everywhere() {
    for script in [
        "enum E { A = await (1) }\nreturn E.A",
        "namespace N { export function f() { return await (1) } }",
        "namespace N { export function await() { return 1 } }",
        "function f() { var \\u0061wait = 1; return \\u0061wait }",
    ] {
        assert_eq!(error_of(&[], script)["kind"], "syntax", "{script}");
    }
}

#[test]
fn a_script_that_nests_too_deeply_is_refused_with_this_message() {
    let words = "the script nests too deeply to be parsed";
    for script in [
        format!("return {}1{}", "(() => ".repeat(2000), ")".repeat(2000)),
        format!("return {}1{}", "[".repeat(20_000), "]".repeat(20_000)),
    ] {
        assert_eq!(error_of(&[], &script)["message"], words);
    }
}

#[test]
fn an_export_assignment_does_not_vanish() {
    let envelope = run_json(&[], "export = { a: 1 };");
    assert!(
        envelope["result"] == json!({ "a": 1 }) || envelope["error"]["kind"] == "syntax",
        "{envelope:#}"
    );
}

// Parse errors.
#[test]
fn a_parse_error_has_a_line_a_column_and_a_frame() {
    let error = error_of(&[], "const a = 1;\nconst b = [1, 2;\na + b");
    assert_eq!(
        error,
        json!({
            "kind": "syntax",
            "message": "Expected ',', got ';'",
            "line": 2,
            "column": 16,
            "frame": "  1 | const a = 1;\n> 2 | const b = [1, 2;\n    |                ^\n  3 | a + b",
        })
    );
}

#[test]
fn common_mistakes_are_placed_where_they_are() {
    for (script, line, column) in [
        ("let x: number = ;", 1, 17),
        ("\n\n  foo bar", 3, 7),
        ("const x;", 1, 7),
        ("if (true) {\n  1", 2, 4),
        ("break;", 1, 1),
        ("'unterminated", 1, 1),
        ("`unterminated", 1, 1),
        ("const x = { a: 1,, b: 2 }", 1, 18),
        ("let a = 1;\nlet a = 2;", 2, 5),
        ("function f() {\n  await g();\n}\nconst x = f();", 2, 3),
        ("const re = /(/;", 1, 12),
        ("retrun 5", 1, 8),
    ] {
        let error = error_of(&[], script);
        assert_eq!(error["kind"], "syntax", "{script}\n{error:#}");
        assert_eq!(
            (&error["line"], &error["column"]),
            (&json!(line), &json!(column)),
            "{script}\n{error:#}"
        );
    }
}

#[test]
fn a_mistake_that_v8_finds_reads_like_one_that_the_parser_finds() {
    let error = error_of(&[], "let a = 1;\nlet a = 2;");
    assert_eq!(error["message"], "Identifier 'a' has already been declared");
}

#[test]
fn a_string_that_is_broken_over_lines_is_named_as_such() {
    let error = error_of(&[], "const a = 1;\nconst text = \"one\ntwo\";\na");
    assert_eq!(
        error["message"], "Unterminated string constant",
        "{error:#}"
    );
    assert_eq!(error["line"], 2);
    assert_eq!(error["column"], 14);
}

#[test]
fn columns_count_characters_as_an_editor_does() {
    let error = error_of(&[], "const größe = 'äöü'; const = 1;");
    assert_eq!(error["column"], 28, "{error:#}");
}

#[test]
fn nothing_runs_when_the_script_does_not_parse() {
    let envelope = run_json(&[], "console.log('ran');\nlet x = ;");
    assert_eq!(envelope["logs"], json!([]));
}
