//! TypeScript features.

use serde_json::json;

use super::assert_results;
use crate::support::{result_of, run_json};

#[test]
fn types_vanish() {
    assert_results(&[
        (
            "type A = { a: number }; interface B extends A { b: string }\nconst v: B = { a: 1, b: 'c' }; v",
            json!({ "a": 1, "b": "c" }),
        ),
        (
            "let u = 5 as const; let y = u!; y satisfies number",
            json!(5),
        ),
        (
            "const c = { a: 1 } satisfies Record<string, number>; c.a as unknown as string",
            json!(1),
        ),
        ("const a = <number>5; a", json!(5)),
        (
            "function is(x: unknown): x is string { return typeof x === 'string' } is('a')",
            json!(true),
        ),
        (
            "function must(x: unknown): asserts x { if (!x) throw 1 } must(1); 2",
            json!(2),
        ),
        (
            "let t: [a: number, b?: string, ...rest: boolean[]] = [1]; t",
            json!([1]),
        ),
        (
            "type Getters<T> = { [K in keyof T as `get${string & K}`]: () => T[K] }; 1",
            json!(1),
        ),
        (
            "declare const later: number; declare module 'x' {} declare global { var y: 1 }\n3",
            json!(3),
        ),
        (
            "function f(this: unknown, x?: number): number | undefined { return x } f(4)",
            json!(4),
        ),
        ("let x!: number; x = 1; x", json!(1)),
        (
            "const u: unique symbol = Symbol(); typeof u",
            json!("symbol"),
        ),
    ]);
}

#[test]
fn generics_are_not_jsx() {
    assert_results(&[
        ("const id = <T>(x: T): T => x; id<number>(4)", json!(4)),
        ("const id = <T,>(x: T) => x; id(3)", json!(3)),
        (
            "const f = async <T extends string>(x: T) => x; f('k')",
            json!("k"),
        ),
        (
            "class Box<T> { constructor(public v: T) {} map<U>(f: (v: T) => U) { return new Box(f(this.v)) } }\nnew Box(1).map((n) => n + 1).v",
            json!(2),
        ),
    ]);
}

#[test]
fn overloads_leave_one_function() {
    assert_eq!(
        result_of(
            "function f(a: string): string;\nfunction f(a: number): number;\nfunction f(a: any) { return a }\nf(3)"
        ),
        3
    );
}

#[test]
fn an_overloaded_run_is_still_called() {
    let script = "function run(): number;\nfunction run(n?: number): number { return n ?? 3 }";
    assert_eq!(result_of(script), 3);
}

#[test]
fn enums_work_in_every_form() {
    assert_results(&[
        (
            "enum A { X = 1, Y, Z = 'z' }\n({ x: A.X, name: A[1], y: A.Y, z: A.Z })",
            json!({ "x": 1, "name": "X", "y": 2, "z": "z" }),
        ),
        (
            "const enum C { A = 1 << 3, B = A | 1, D = 'a'.length }\n[C.A, C.B, C.D]",
            json!([8, 9, 1]),
        ),
        ("enum A { X }\nenum A { Y = 1 }\n[A.X, A.Y]", json!([0, 1])),
        (
            "export enum E { On = 'on' }\nexport default E.On",
            json!("on"),
        ),
        ("declare enum D { X }\n1", json!(1)),
    ]);
}

#[test]
fn namespaces_nest_and_merge() {
    assert_results(&[
        (
            "namespace N { export const x = 1; export namespace M { export function f() { return x + 1 } } }\n[N.x, N.M.f()]",
            json!([1, 2]),
        ),
        (
            "namespace N { export const a = 1 }\nnamespace N { export const b = N.a + 1 }\nN.b",
            json!(2),
        ),
        (
            "namespace T { export type Only = number }\nconst x: T.Only = 1; x",
            json!(1),
        ),
        (
            "namespace A.B { export const c = 3 }\nimport c = A.B.c;\nc",
            json!(3),
        ),
    ]);
}

#[test]
fn classes_have_all_that_typescript_adds() {
    assert_results(&[
        (
            "abstract class Shape { abstract area(): number; twice() { return this.area() * 2 } }\n\
             class Square extends Shape {\n  constructor(private readonly side: number, public name = 'sq') { super() }\n  override area() { return this.side ** 2 }\n}\n\
             const s = new Square(3); [s.twice(), s.name]",
            json!([18, "sq"]),
        ),
        (
            "class A { protected static x?: number = 1; readonly y: number = 2; declare z: string; [k: string]: unknown; static get() { return A.x } }\n[A.get(), new A().y, 'z' in new A()]",
            json!([1, 2, false]),
        ),
        (
            "interface I { a(): number } class A implements I { a() { return 1 } } new A().a()",
            json!(1),
        ),
        (
            "class A { m(): void; m(x?: number) { return x } } new A().m(5 as never)",
            json!(5),
        ),
    ]);
}

#[test]
fn fields_may_read_parameter_properties() {
    let script = "class Client {\n  url = this.base + '/x';\n  constructor(private base: string) {}\n}\nnew Client('http://a').url";
    assert_eq!(result_of(script), "http://a/x");
}

#[test]
fn auto_accessors_run_or_are_refused_with_a_clear_message() {
    let envelope = run_json(&[], "class A { accessor x = 1 }\nnew A().x");
    let message = envelope["error"]["message"].as_str().unwrap_or("accessor");
    assert!(
        envelope["result"] == 1 || message.contains("accessor"),
        "{envelope:#}"
    );
}

#[test]
fn using_disposes_at_the_end_of_its_block() {
    let script = "const log: string[] = [];\n\
        { using r = { [Symbol.dispose]() { log.push('disposed') } }; log.push('used') }\n\
        { await using r = { async [Symbol.asyncDispose]() { log.push('awaited') } } }\n\
        log";
    assert_eq!(result_of(script), json!(["used", "disposed", "awaited"]));
}

#[test]
fn an_alias_of_a_type_alone_is_erased() {
    assert_results(&[
        (
            "namespace N { export interface I { a: number } }\nimport I = N.I;\nconst x: I = { a: 1 };\nreturn x",
            json!({ "a": 1 }),
        ),
        (
            "namespace N { export const v = 2 }\nimport v = N.v;\nreturn v",
            json!(2),
        ),
    ]);
}
