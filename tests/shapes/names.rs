//! Names stay as the author wrote them, and a mistake in them has a hint that names the fix.

use serde_json::json;

use super::assert_results;
use crate::support::error_of;

#[test]
fn a_local_that_shadows_a_global_keeps_its_name() {
    assert_results(&[
        (
            "{ class URL { a = 1 } return new URL().constructor.name }",
            json!("URL"),
        ),
        (
            "const f = () => { const performance = 1; return performance };\nperformance.now();\nreturn f.toString().includes('performance1')",
            json!(false),
        ),
        (
            "function g() { class NotFound extends Error {} return NotFound.name }\nclass NotFound {}\nreturn g()",
            json!("NotFound"),
        ),
        ("const result = 1;\nexport default result + 1;", json!(2)),
        ("const value = 1; let x;\nx = value", json!(1)),
        (
            "class C extends (false || Object) {}\nreturn new C() instanceof Object",
            json!(true),
        ),
        (
            "try { class C extends (() => {}) {} } catch (e) { return e.name }",
            json!("TypeError"),
        ),
    ]);
}

#[test]
fn a_name_that_is_declared_twice_is_refused() {
    for script in [
        "{ let t = 1; var t = 2 }",
        "let a = 1; { var a = 2 }",
        "switch (1) { case 0: let x; case 1: let x; }",
        "{ function f() {} let f }",
        "function f(a) { let a }",
        "try {} catch (e) { let e }",
    ] {
        let error = error_of(&[], script);
        assert_eq!(error["kind"], "syntax", "{script}\n{error:#}");
    }
}

#[test]
fn a_habit_of_another_language_has_a_hint_that_names_the_fix() {
    for (script, fix) in [
        ("print('x')", "console.log"),
        ("return len([1])", ".length"),
        (
            "const r = await github.create_issue({})",
            "tools.github.create_issue",
        ),
        ("return call_tool('a:b')", "callTool"),
        ("return ALL_TOOLS", "searchTools"),
        ("text('x')", "return value"),
        ("return 1 and 2", "&&"),
        ("def main():\n    return 1", "function"),
        ("return JSON.parse({})", "already parsed"),
        ("const xs = []; xs.append(1)", "push"),
    ] {
        let error = error_of(&[], script);
        let hint = error["hint"].as_str().unwrap_or_default();
        assert!(hint.contains(fix), "{script}\n{error:#}");
    }
}
