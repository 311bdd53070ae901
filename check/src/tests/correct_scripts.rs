//! Correct scripts as agents write them: none has a finding.

use std::collections::BTreeMap;
use std::sync::Arc;

use pml_catalog::{Catalog, ListingStatus};
use serde_json::json;

use super::tool;
use crate::check;

const SCRIPTS: &[(&str, &str)] = &[
    (
        "alias",
        r#"const c = callTool;
const r = await c('demo:read_file', { path: 'q' });
return r.success ? r.result : r.error.message;"#,
    ),
    (
        "andcall",
        r#"const ok = args.length > 0; ok && await tools.demo.list_files(); return ok;"#,
    ),
    (
        "argumentsobj",
        r#"function f() { return arguments.length } return f(1,2);"#,
    ),
    (
        "arrowret",
        r#"const read = (path: string) => tools.demo.read_file({ path });
const texts = [];
for (const p of ['a']) texts.push(await read(p));
return texts;"#,
    ),
    (
        "batch",
        r#"const out = await callToolsBatch([{ tool: 'demo:read_file', args: { path: 'a' } }, { tool: 'demo:list_notes' }], { concurrency: 2 });
for (const o of out) if (o.success) console.log(o.result);"#,
    ),
    (
        "batchmap",
        r#"const { files } = await tools.demo.list_files();
const out = await callToolsBatch(files.map(({ path }) => ({ tool: 'demo:read_file', args: { path } })));
return out.filter(o => !o.success).length;"#,
    ),
    (
        "catch",
        r#"await tools.demo.read_file({ path: 'x' }).catch((error) => { if (error instanceof ToolError && error.retryable) return null; throw error; });"#,
    ),
    (
        "cls",
        r#"class Store { #x = new Map<string, unknown>(); async get(k: string) { return this.#x.get(k) ?? this.#x.set(k, await tools.demo.read_json({ path: k })).get(k); } }
return await new Store().get('a.json');"#,
    ),
    (
        "declaredbehind",
        r#"tools.demo.list_files().then(count)
function count(x: { files: unknown[] }) { return x.files.length }"#,
    ),
    (
        "extendstypes",
        r#"interface Row extends Record<string, unknown> { id: number }
class Rows implements Iterable<Row> { *[Symbol.iterator]() { yield { id: 1 } } }
return [...new Rows()];"#,
    ),
    (
        "overruled",
        r#"return await (tools as any).beta.soon({ anything: 1 });"#,
    ),
    (
        "cond",
        r#"const head = args[0] ? Number(args[0]) : undefined;
await tools.demo.read_file({ path: 'a', head });
await tools.demo.read_file({ path: 'a', ...(head ? { head } : {}) });"#,
    ),
    (
        "date",
        r#"const since = new Date(Date.now() - 7 * 24 * 3600e3).toISOString().slice(0, 10); return since;"#,
    ),
    (
        "destr",
        r#"const { read_file, list_files: list } = tools.demo;
await list();
return await read_file({ path: 'a' });"#,
    ),
    (
        "dyn",
        r#"const name = 'read_' + 'file';
return await tools.demo[name]({ path: 'a' });"#,
    ),
    (
        "enumTs",
        r#"enum Level { Low, High }
interface Row { a: string }
type R = Record<string, Row>;
namespace N { export const x = 1 }
const r: R = {}; declare const missing: string;
return [Level.High, r, N.x];"#,
    ),
    (
        "export_default",
        r#"import { callTool } from 'pml';
export default async function () {
  const r = await callTool('demo:read_file', { path: 'a.txt' });
  if (!r.success) throw r.error;
  return r.result;
}"#,
    ),
    (
        "finally",
        r#"try { await tools.demo.slow({ ms: 5 }); } finally { console.timeEnd?.('x'); await tools.demo.list_files(); }"#,
    ),
    (
        "forEachsync",
        r#"const out: string[] = []; ['a'].forEach((x) => { out.push(x); }); return out;"#,
    ),
    (
        "gen",
        r#"async function* pages() { let cursor: string | undefined; do { const p: any = await tools.demo.list_notes({ cursor }); yield* p.notes ?? []; cursor = p.next; } while (cursor); }
const all = []; for await (const n of pages()) all.push(n); return all;"#,
    ),
    (
        "getset",
        r#"const o = { get x() { return 1 }, set x(v) {}, async *it() {}, [Symbol.iterator]: null }; return o.x;"#,
    ),
    (
        "globalThis",
        r#"const g = globalThis as any; g.counter = (g.counter ?? 0) + 1; return g.counter;"#,
    ),
    (
        "helperwrap",
        r#"const call = async (id: string, input: object) => { const r = await callTool(id, input); if (!r.success) throw r.error; return r.result; };
return await call('demo:read_file', { path: 'x' });"#,
    ),
    (
        "iife",
        r#"(async () => {
  const r = await tools.demo.list_files();
  console.log(r);
})();"#,
    ),
    (
        "intl",
        r#"const f = new Intl.NumberFormat('de');
const u = new URL('https://x.org/a?b=c'); u.searchParams.set('d','e');
return [f.format(1), u.href, structuredClone({ a: 1 }), crypto.randomUUID(), new TextEncoder().encode('x').length, btoa('a'), performance.now() > 0];"#,
    ),
    (
        "jsonimport",
        r#"import * as pml from 'pml';
const r = await pml.callTool('demo:list_files', {}); return r;"#,
    ),
    (
        "labels",
        r#"outer: for (const a of [1]) { for (const b of [2]) { if (a < b) continue outer; } }
switch (args.length) { case 0: break; default: return 1 }
let i = 0; do { i++ } while (i < 3);
return i;"#,
    ),
    (
        "later",
        r#"const p = tools.demo.list_files();
const q = tools.demo.list_notes({});
const [a, b] = await Promise.all([p, q]);
return { a, b };"#,
    ),
    (
        "main",
        r#"async function main() {
  const all = await Promise.all(['a','b'].map((path) => tools.demo.read_file({ path })));
  return all.join('');
}"#,
    ),
    (
        "nullish",
        r#"const opts: { head?: number } | null = null;
return await tools.demo.read_file({ path: 'a', head: opts?.head ?? 5 });"#,
    ),
    (
        "optional",
        r#"const r = await callTool('demo:read_json', { path: 'a.json' });
const x = r?.result?.deep?.[0] ?? 'none';
return x;"#,
    ),
    (
        "push",
        r#"const jobs: Promise<unknown>[] = [];
for (const path of ['a', 'b']) jobs.push(tools.demo.read_file({ path }));
return await Promise.allSettled(jobs);"#,
    ),
    (
        "race",
        r#"const timeout = (ms: number) => new Promise<never>((_, no) => setTimeout(() => no(new Error('slow')), ms));
return await Promise.race([tools.demo.slow({ ms: 10 }), timeout(1000)]);"#,
    ),
    (
        "reduce",
        r#"return await ['a','b'].reduce(async (acc, p) => [...(await acc), await tools.demo.read_file({ path: p })], Promise.resolve([] as string[]));"#,
    ),
    (
        "regexp",
        r#"const m = /(?<y>\d{4})/u.exec('2026'); return m?.groups?.y;"#,
    ),
    (
        "result_prop",
        r#"const result = callTool('demo:list_files'); return (await result).result;"#,
    ),
    (
        "retry",
        r#"async function retry<T>(f: () => Promise<T>, n = 3): Promise<T> {
  for (let i = 0; ; i++) {
    try { return await f(); } catch (e) { if (i === n) throw e; await new Promise(r => setTimeout(r, 2 ** i * 100)); }
  }
}
return await retry(() => tools.demo.flaky({ key: 'a', failures: 1 }));"#,
    ),
    (
        "returnawaitmap",
        r#"return await Promise.all(args.map(async (a) => { const t = await tools.demo.read_file({ path: a }); return [a, t.length] as const; }));"#,
    ),
    (
        "run_fn",
        r#"export async function run(): Promise<number> { const x = await tools.demo.list_files({}); return x.files.length }"#,
    ),
    (
        "satisfies",
        r#"const input = { path: 'a' } satisfies { path: string }; return await tools.demo.read_file(input);"#,
    ),
    (
        "searchfirst",
        r#"const [hit] = await searchTools('read a file', 3);
if (!hit) return 'none';
const d = await describeTool(hit.id);
return await callTool(hit.id, { path: 'a' });"#,
    ),
    (
        "shadow",
        r#"function process(x: number) { return x }
const fetch = (id: string) => callTool(id, { path: 'a' });
return [process(1), await fetch('demo:read_file')];"#,
    ),
    (
        "shorthand",
        r#"const title = 'a', text = 'b';
await tools.demo.add_note({ title, text });"#,
    ),
    (
        "spread",
        r#"const base = { title: 't' };
await tools.demo.add_note({ ...base, text: 'b' });
await tools.demo.add_note({ ...{ title: 'x' }, text: 'y' });"#,
    ),
    (
        "storeload",
        r#"await store('seen', [1]);
const seen = await load('seen');
return seen;"#,
    ),
    (
        "ternaryawait",
        r#"const ok = args.length > 0; ok ? await tools.demo.list_files() : await tools.demo.list_notes({}); return ok;"#,
    ),
    (
        "thenchain",
        r#"return tools.demo.list_files().then(({ files }) => Promise.all(files.map(f => tools.demo.read_file({ path: f.path })))).then(t => t.length);"#,
    ),
    (
        "top_await",
        r#"const { files } = await tools.demo.list_files();
console.log(files.length);
return files.map(f => f.path);"#,
    ),
    (
        "tpl",
        r#"const server = 'demo';
return await callTool(`${server}:read_file`, { path: `a/${1+1}.txt` });"#,
    ),
    (
        "typeimport",
        r#"import type { ToolResult } from 'pml';
import { type ToolHit, searchTools } from 'pml';
const h: ToolHit[] = await searchTools('x'); return h;"#,
    ),
    (
        "typeofp",
        r#"const isNode = typeof process !== 'undefined';
return isNode;"#,
    ),
    (
        "usingAbort",
        r#"const c = new AbortController(); setTimeout(() => c.abort(), 10);
c.signal.addEventListener('abort', () => console.log('x'));
return await tools.demo.list_files();"#,
    ),
    (
        "void_op",
        r#"void tools.demo.add_note({ title: 'a', text: 'b' });
return 1;"#,
    ),
];

fn catalog() -> Arc<Catalog> {
    let servers = BTreeMap::from([("demo".to_owned(), ListingStatus::Listed)]);
    let text = || json!({ "type": "string", "minLength": 1 });
    let takes = |properties: serde_json::Value, required: &[&str]| {
        json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        })
    };
    let head = json!({ "type": "integer", "minimum": 1 });
    let number = json!({ "type": "integer" });
    let tools = [
        tool("demo:list_files", takes(json!({ "path": text() }), &[])),
        tool("demo:list_notes", takes(json!({ "cursor": text() }), &[])),
        tool(
            "demo:read_file",
            takes(json!({ "path": text(), "head": head }), &["path"]),
        ),
        tool(
            "demo:read_json",
            takes(json!({ "path": text(), "pointer": text() }), &["path"]),
        ),
        tool(
            "demo:add_note",
            takes(
                json!({ "title": text(), "text": text() }),
                &["title", "text"],
            ),
        ),
        tool("demo:slow", takes(json!({ "ms": number }), &["ms"])),
        tool(
            "demo:flaky",
            takes(json!({ "key": text(), "failures": number }), &["key"]),
        ),
    ];
    Arc::new(Catalog::new("", 0, servers, &tools))
}

#[test]
fn correct_scripts_have_no_findings() {
    let catalog = catalog();
    for (name, source) in SCRIPTS {
        let findings = check("script.ts", source, Some(&catalog));
        assert!(findings.is_empty(), "{name}: {findings:#?}");
    }
}
