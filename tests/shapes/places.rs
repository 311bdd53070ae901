//! Positions and stacks of failing scripts.

use serde_json::json;

use crate::support::{error_of, result_of};

const TYPED: &str = "\
import type { Reader } from \"somewhere\";

interface Order {
  id: number;
  lines: Array<{ sku: string; price: number }>;
}

type Totals = Record<string, number>;

enum State {
  Open = 1,
  Closed,
}

/**
 * A comment that does not survive.
 */
declare function vanish(x: Reader): void;

function total(order: Order, seen: Totals = {}): number {
  // Another comment.
  return order.lines.reduce((sum: number, line): number => {
    seen[line.sku] = line.price;
    return sum + line.price.valueOf();
  }, 0);
}

class Ledger<T extends Order> {
  constructor(
    private readonly orders: readonly T[],
    protected state: State = State.Open,
  ) {}

  async sum(): Promise<number> {
    await null;
    return this.orders.map((order) => total(order)).length;
  }
}

const broken = { id: 1, lines: [{ sku: \"a\", price: null! }] } satisfies Order;
await new Ledger<Order>([broken]).sum();
";

#[test]
fn an_error_line_is_the_line_of_the_script_as_written() {
    let error = error_of(&[], TYPED);
    assert_eq!(error["kind"], "runtime");
    assert_eq!(
        error["message"],
        "TypeError: Cannot read properties of null (reading 'valueOf')"
    );
    assert_eq!(error["line"], 24);
    assert_eq!(error["column"], 29);
    assert_eq!(
        error["frame"],
        "  22 |   return order.lines.reduce((sum: number, line): number => {\n  \
           23 |     seen[line.sku] = line.price;\n\
         > 24 |     return sum + line.price.valueOf();\n     \
              |                             ^\n  \
           25 |   }, 0);\n  \
           26 | }"
    );
}

#[test]
fn a_stack_names_functions_methods_and_lines_of_the_script() {
    let stack = error_of(&[], TYPED)["stack"].clone();
    let stack: Vec<&str> = stack.as_str().expect("a stack").lines().collect();
    assert_eq!(
        stack[0],
        "TypeError: Cannot read properties of null (reading 'valueOf')"
    );
    let places: Vec<&str> = stack[1..].iter().map(|line| line.trim()).collect();
    assert!(places[0].contains("stdin.ts:24:29"), "{stack:#?}");
    assert!(
        places
            .iter()
            .any(|place| place.starts_with("at total (stdin.ts:22:")),
        "{stack:#?}"
    );
    assert!(
        places
            .iter()
            .any(|place| place.contains("Ledger.sum (stdin.ts:36:")),
        "{stack:#?}"
    );
    assert!(
        places
            .last()
            .is_some_and(|place| place.contains("stdin.ts:41:")),
        "{stack:#?}"
    );
}

#[test]
fn the_stack_that_a_script_sees_has_the_same_lines() {
    let script = "type A = {\n  a: 1;\n};\nenum E { X }\nconst e = new Error('here');\ne.stack";
    assert_eq!(
        result_of(script),
        "Error: here\n    at file:///stdin.ts:5:11"
    );
}

#[test]
fn lines_are_right_in_a_body_with_return_too() {
    let error = error_of(
        &[],
        "interface A {\n  a: 1\n}\nif (args.length) return 1;\nnull!.x;\nreturn 2",
    );
    assert_eq!(error["line"], 5);
    assert_eq!(error["column"], 7);
}

#[test]
fn an_error_in_the_last_expression_has_its_place() {
    for (script, line, column) in [
        ("missing", 1, 1),
        ("  missing.part", 1, 3),
        ("missing()", 1, 1),
        ("const a = 1\nmissing(a)", 2, 1),
        ("type A = 1;\nawait missing()", 2, 1),
        ("export default missing", 1, 16),
        ("[1, missing]", 1, 5),
        ("const main = async () => { missing() }", 1, 28),
    ] {
        let error = error_of(&[], script);
        assert_eq!(error["message"], "ReferenceError: missing is not defined");
        assert_eq!(
            (&error["line"], &error["column"]),
            (&json!(line), &json!(column)),
            "{script}\n{error:#}"
        );
    }
}

#[test]
fn lines_are_right_in_a_function_alone_too() {
    let error = error_of(
        &[],
        "async (): Promise<void> => {\n  const x: any = null;\n  x.y;\n}",
    );
    assert_eq!(error["line"], 3);
    assert_eq!(error["column"], 5);
}

#[test]
fn a_source_map_comment_of_the_script_changes_nothing() {
    let error = error_of(
        &[],
        "type A = 1;\nnull!.x;\n//# sourceMappingURL=data:application/json;base64,e30=\n",
    );
    assert_eq!(error["line"], 2);
}

#[test]
fn a_thrown_value_that_is_not_an_error_is_shown() {
    assert_eq!(error_of(&[], "throw 'just words'")["message"], "just words");
    assert_eq!(error_of(&[], "throw 42")["message"], "the script threw 42");
    assert_eq!(
        error_of(&[], "throw { code: 5, why: 'full' }")["message"],
        "the script threw { code: 5, why: \"full\" }"
    );
}

#[test]
fn the_cause_of_an_error_is_in_its_stack() {
    let error = error_of(
        &[],
        "const low = new RangeError('low');\nthrow new Error('high', { cause: low })",
    );
    assert_eq!(error["message"], "Error: high");
    let stack = error["stack"].as_str().expect("a stack");
    assert!(stack.contains("Caused by: RangeError: low"), "{stack}");
    assert!(stack.contains("stdin.ts:1:13"), "{stack}");
}

#[test]
fn the_errors_of_an_aggregate_are_in_its_stack() {
    let error = error_of(
        &[],
        "await Promise.any([Promise.reject(new Error('one')), Promise.reject(new Error('two'))])",
    );
    assert_eq!(
        error["message"],
        "AggregateError: All promises were rejected"
    );
    let stack = error["stack"].as_str().expect("a stack");
    assert!(
        stack.contains("Error: one") && stack.contains("Error: two"),
        "{stack}"
    );
}

#[test]
fn what_a_listener_throws_has_its_place() {
    for (script, message, line) in [
        (
            "const target = new EventTarget();\n\
             target.addEventListener('x', () => {\n  throw new Error('heard');\n});\n\
             target.dispatchEvent(new Event('x'));\nreturn 1",
            "Error: heard",
            3,
        ),
        (
            "const control = new AbortController();\n\
             control.signal.onabort = () => { throw new RangeError('ended') };\n\
             await null;\ncontrol.abort();\nreturn 1",
            "RangeError: ended",
            2,
        ),
    ] {
        let error = error_of(&[], script);
        assert_eq!(error["message"], message, "{error:#}");
        assert_eq!(error["line"], line, "{error:#}");
    }
}
