//! Allowed and refused imports.

use serde_json::json;

use super::assert_results;
use crate::support::{error_of, result_of};

#[test]
fn imports_of_types_vanish_from_anywhere() {
    assert_results(&[
        (
            "import type { Foo } from 'elsewhere';\nconst x: Foo = 1; x",
            json!(1),
        ),
        (
            "import { type Foo } from 'pml';\nexport type { Bar } from './bar.ts';\n5",
            json!(5),
        ),
        (
            "import { MCPTool, callTool } from 'pml';\nconst t: MCPTool[] = []; [t, typeof callTool]",
            json!([[], "function"]),
        ),
    ]);
}

#[test]
fn any_import_but_pml_is_denied_with_its_line() {
    for (statement, specifier) in [
        ("import fs from 'fs';", "fs"),
        ("import * as path from 'node:path';", "node:path"),
        ("import { z } from 'npm:zod';", "npm:zod"),
        ("import './side-effect.js';", "./side-effect.js"),
        (
            "export * from 'https://example.com/mod.ts';",
            "https://example.com/mod.ts",
        ),
        ("export { a } from 'jsr:@std/assert';", "jsr:@std/assert"),
        ("import fs = require('fs');", "fs"),
    ] {
        let error = error_of(&[], &format!("const a = 1;\n{statement}\na"));
        assert_eq!(error["kind"], "denied", "{statement}\n{error:#}");
        assert_eq!(error["line"], 2, "{statement}");
        let message = format!(
            "the import of \"{specifier}\" is refused: a script can import \"pml\" and nothing else"
        );
        assert_eq!(error["message"], message, "{statement}");
    }
}

#[test]
fn a_dynamic_import_is_denied_too() {
    let error = error_of(&[], "const fs = await import('node:fs');\nfs");
    assert_eq!(error["kind"], "denied");
    assert!(
        error["message"]
            .as_str()
            .is_some_and(|text| text.contains("the import of \"node:fs\" is refused")),
        "{error:#}"
    );
}

#[test]
fn a_denied_import_can_be_caught() {
    let script = "try { await import('node:fs') } catch (e) { (e as Error).name }\nawait import('x').catch((e) => e.constructor.name)";
    assert_eq!(result_of(script), "TypeError");
}

#[test]
fn pml_can_be_imported_in_every_form() {
    assert_results(&[
        (
            "import { callTool as call } from 'pml'; call === callTool",
            json!(true),
        ),
        (
            "import * as pml from \"pml\"; Object.keys(pml).sort()",
            json!([
                "ToolError",
                "args",
                "callTool",
                "callToolsBatch",
                "checkpoint",
                "describeTool",
                "getPrompt",
                "listPrompts",
                "listResources",
                "load",
                "readResource",
                "runWorkflow",
                "searchTools",
                "store",
                "streamTool",
                "tools"
            ]),
        ),
        (
            "(await import('pml')).searchTools === searchTools",
            json!(true),
        ),
        ("export * from 'pml';\n5", json!(5)),
    ]);
}

#[test]
fn a_name_that_pml_does_not_export_is_a_syntax_error_with_its_place() {
    let error = error_of(
        &[],
        "import {\n  callTool,\n  listTools,\n} from 'pml';\nlistTools()",
    );
    assert_eq!(error["kind"], "syntax");
    assert_eq!(error["line"], 3);
    let message = error["message"].as_str().expect("a message");
    assert!(
        message.contains("'pml' does not provide an export named 'listTools'"),
        "{message}"
    );
}

#[test]
fn commonjs_is_explained() {
    let error = error_of(&[], "const fs = require('fs')");
    assert_eq!(error["message"], "ReferenceError: require is not defined");
    assert!(
        error["hint"]
            .as_str()
            .is_some_and(|hint| hint.contains("There is no require"))
    );
}
