//! The translation alone. End-to-end tests run the result.

use super::{Goal, Rejection, RejectionKind, transpile};

fn code(source: &str) -> String {
    match transpile("test.ts", source) {
        Ok(translation) => translation.code,
        Err(rejection) => panic!("{source}\n{rejection:?}"),
    }
}

fn rejection(source: &str) -> Rejection {
    match transpile("test.ts", source) {
        Ok(translation) => panic!("{source}\nbecame\n{}", translation.code),
        Err(rejection) => rejection,
    }
}

#[test]
fn types_vanish_and_enums_become_code() {
    let code = code("enum Size { Big = 3 }\nconst n: number = Size.Big;\nn as unknown");
    assert!(code.contains("3"), "{code}");
    assert!(
        !code.contains("number") && !code.contains("unknown"),
        "{code}"
    );
}

#[test]
fn the_last_expression_is_returned() {
    assert!(code("const a = 1;\na + 1").contains("return a + 1"));
}

#[test]
fn a_script_becomes_an_async_function() {
    let code = code("if (args.length) return 1;\nreturn await callTool('a:b')");
    let function = "\"use strict\";\n[\n    async ()=>";
    assert!(code.starts_with(function), "{code}");
}

#[test]
fn imports_stay_outside_a_body_with_return() {
    let code = code("import { callTool } from 'pml';\nreturn callTool('a:b')");
    assert!(code.starts_with("import { callTool }"), "{code}");
}

#[test]
fn only_module_syntax_makes_a_module() {
    let goal = |source: &str| match transpile("test.ts", source) {
        Ok(translation) => translation.goal,
        Err(rejection) => panic!("{source}\n{rejection:?}"),
    };
    for source in [
        "6 * 7",
        "import type { A } from './types';\nexport default 1",
        "class A { b = this; c() { return this } }\nfunction d() { return [this, () => this] }",
        "await import('pml')",
    ] {
        assert_eq!(goal(source), Goal::Script, "{source}");
    }
    for source in [
        "import { args } from 'pml';\nargs",
        "import.meta.url",
        "function a() { return import.meta }",
        "typeof this",
        "[1].map(() => this)",
        "class A extends (this ?? Object) {}",
        "class A extends (class extends (class extends Object { [this] = 1 }) {}) {}",
        "enum E { A = await (1) }",
        "namespace N { export function f() { return await (1) } }",
        "namespace N { export function await() { return 1 } }",
        "function f() { var \\u0061wait = 1; return \\u0061wait }",
        "class A { static [typeof this] = 1 }",
    ] {
        assert_eq!(goal(source), Goal::Module, "{source}");
    }
}

#[test]
fn a_default_export_is_evaluated_in_its_place_and_returned_last() {
    let code = code("const result = 1;\nexport default f();\nlog(result);");
    let (evaluated, logged) = (code.find("= f()"), code.find("log("));
    assert!(
        evaluated < logged && code.contains("return result"),
        "{code}"
    );
}

#[test]
fn an_entry_point_is_called_only_if_nothing_else_mentions_it() {
    assert!(code("async function main() {}").contains("return main;"));
    assert!(code("const run = async () => 1;\nlet x = 2;").contains("return run;"));
    assert!(code("function main() { return 1 }\nmain()").contains("return main();"));
}

#[test]
fn braces_around_the_whole_text_are_an_object() {
    assert!(code("{ a: await f(), b: 2 }").contains("return {"));
    assert!(!code("{ const a = 1; }").contains("return"));
}

#[test]
fn nothing_breaks_out_of_the_parentheses_around_an_expression() {
    for source in [
        "1); evil(); (2",
        "async function () {}) (evil()",
        "{a:1}); evil(({b:2}",
    ] {
        assert_eq!(rejection(source).kind, RejectionKind::Syntax, "{source}");
    }
}

#[test]
fn a_fenced_block_keeps_its_line_numbers() {
    let rejection = rejection("```ts\nlet a = 1;\nlet b = ;\n```");
    assert_eq!((rejection.line, rejection.column), (3, 9));
}

#[test]
fn a_fenced_script_in_prose_is_found() {
    assert!(code("Here you are:\n\n```ts\n6 * 7\n```\n\nEnjoy!").contains("6 * 7"));
}

#[test]
fn jsx_and_decorators_are_refused_by_name() {
    assert!(rejection("const a = <b>c</b>;").message.contains("JSX"));
    assert!(
        rejection("@sealed class A {}")
            .message
            .contains("decorators")
    );
}

#[test]
fn only_pml_can_be_imported_and_types_from_anywhere() {
    let refused = rejection("let a = 1;\nimport fs from 'node:fs';");
    assert_eq!(refused.kind, RejectionKind::Import);
    assert_eq!(refused.line, 2);
    for source in [
        "export * from './x'",
        "import x = require('x')",
        "import './x'",
    ] {
        assert_eq!(rejection(source).kind, RejectionKind::Import, "{source}");
    }
    code("import type { A } from './types';\nimport { type B } from './types';\nlet a: A | B;");
}

#[test]
fn comments_do_not_survive() {
    let code = code("1 //# sourceMappingURL=data:application/json,{}\n/*! keep */");
    assert!(!code.contains("sourceMappingURL"), "{code}");
}
