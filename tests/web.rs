//! The web globals of a script.

use serde_json::{Value, json};

use crate::support::{error_of, result_of, run_json};

fn assert_results(cases: &[(&str, Value)]) {
    for (script, expected) in cases {
        assert_eq!(result_of(script), *expected, "{script}");
    }
}

/// Name and message of the error that an expression throws.
fn thrown(expression: &str) -> String {
    let script = format!(
        "try {{ await ({expression}); return 'nothing' }} catch (e) {{ return `${{e.name}}: ${{e.message}}` }}"
    );
    result_of(&script).as_str().expect("a text").to_owned()
}

// structuredClone.

#[test]
fn structured_clone_copies_deeply() {
    assert_results(&[
        (
            "const a = { n: [1, { d: new Date(0) }] }; const b = structuredClone(a); b.n[0] = 2; [a.n[0], b.n[0], b.n[1].d instanceof Date]",
            json!([1, 2, true]),
        ),
        (
            "const m = structuredClone(new Map([['k', new Set([1])]])); m.get('k').has(1)",
            json!(true),
        ),
        (
            "const a = { self: null as any }; a.self = a; const b = structuredClone(a); b.self === b && b !== a",
            json!(true),
        ),
        (
            "const e = structuredClone(new RangeError('r')); [e instanceof RangeError, e.message]",
            json!([true, "r"]),
        ),
        ("structuredClone(new Uint8Array([1, 2])).length", json!(2)),
        (
            "const b = new ArrayBuffer(4); const c = structuredClone(b, { transfer: [b] }); [b.byteLength, c.byteLength]",
            json!([0, 4]),
        ),
    ]);
}

#[test]
fn structured_clone_refuses_functions() {
    assert!(thrown("structuredClone(() => 1)").starts_with("DataCloneError: "));
}

#[test]
fn structured_clone_refuses_objects_of_the_web() {
    for object in [
        "new URL('http://a')",
        "new URLSearchParams('a=1')",
        "new AbortController()",
        "AbortSignal.abort()",
        "new Event('x')",
        "new CustomEvent('x')",
        "new EventTarget()",
        "new TextEncoder()",
        "new TextDecoder()",
        "crypto",
        "performance",
    ] {
        for value in [object, &format!("{{ list: [{object}] }}")] {
            let message = thrown(&format!("structuredClone({value})"));
            assert!(
                message.starts_with("DataCloneError: "),
                "{value}: {message}"
            );
        }
    }
    assert_eq!(
        thrown("structuredClone({ inside: new DOMException('a') })"),
        "DataCloneError: A DOMException nested inside another value cannot be cloned"
    );
}

#[test]
fn structured_clone_copies_exceptions_of_the_web() {
    let copied = |value: &str| {
        format!(
            "const e = {value}; const c = structuredClone(e);\n\
             [c !== e, c instanceof DOMException, c.name, c.message, c.code, c.stack === e.stack]"
        )
    };
    assert_results(&[
        (
            &copied("new DOMException('a', 'AbortError')"),
            json!([true, true, "AbortError", "a", 20, true]),
        ),
        (
            &copied("AbortSignal.abort().reason"),
            json!([
                true,
                true,
                "AbortError",
                "The signal has been aborted",
                20,
                true
            ]),
        ),
    ]);
}

#[test]
fn structured_clone_needs_a_value() {
    assert_eq!(
        thrown("structuredClone()"),
        "TypeError: structuredClone needs a value to copy"
    );
    assert_eq!(result_of("structuredClone(undefined) === undefined"), true);
}

// Text.

#[test]
fn text_is_encoded_as_utf_8() {
    assert_results(&[
        (
            "[...new TextEncoder().encode('é€😀')]",
            json!([195, 169, 226, 130, 172, 240, 159, 152, 128]),
        ),
        (
            "new TextEncoder().encodeInto('é', new Uint8Array(1))",
            json!({ "read": 0, "written": 0 }),
        ),
        ("new TextEncoder().encoding", json!("utf-8")),
        (
            "[...new TextEncoder().encode('\\ud800')]",
            json!([239, 191, 189]),
        ),
    ]);
}

#[test]
fn text_is_decoded_from_utf_8_and_other_encodings() {
    assert_results(&[
        (
            "new TextDecoder().decode(new Uint8Array([226, 130, 172]))",
            json!("€"),
        ),
        (
            "new TextDecoder().decode(new Uint8Array([0xef, 0xbb, 0xbf, 65]))",
            json!("A"),
        ),
        (
            "new TextDecoder('utf-8', { ignoreBOM: true }).decode(new Uint8Array([0xef, 0xbb, 0xbf, 65])).length",
            json!(2),
        ),
        (
            "new TextDecoder('utf-16le').decode(new Uint8Array([0x48, 0, 0x69, 0]))",
            json!("Hi"),
        ),
        (
            "new TextDecoder('latin1').decode(new Uint8Array([0xe9]))",
            json!("é"),
        ),
        (
            "new TextDecoder('shift_jis').decode(new Uint8Array([0x93, 0xfa, 0x96, 0x7b]))",
            json!("日本"),
        ),
        (
            "new TextDecoder().decode(new Uint8Array([255, 65]))",
            json!("\u{fffd}A"),
        ),
        (
            "const d = new TextDecoder(); d.decode(new Uint8Array([0xe2, 0x82]), { stream: true }) + d.decode(new Uint8Array([0xac]))",
            json!("€"),
        ),
    ]);
}

#[test]
fn a_fatal_decoder_throws_and_an_unknown_encoding_too() {
    assert!(
        thrown("new TextDecoder('utf-8', { fatal: true }).decode(new Uint8Array([255]))")
            .starts_with("TypeError: ")
    );
    assert!(thrown("new TextDecoder('klingon')").starts_with("RangeError: "));
}

#[test]
fn base64_goes_both_ways() {
    assert_results(&[
        ("btoa('hello')", json!("aGVsbG8=")),
        ("atob('aGVs bG8=')", json!("hello")),
        ("btoa('')", json!("")),
        ("new Uint8Array([1, 2, 255]).toBase64()", json!("AQL/")),
        ("[...Uint8Array.fromBase64('AQL/')]", json!([1, 2, 255])),
        ("Uint8Array.fromHex('00ff').toHex()", json!("00ff")),
    ]);
    assert!(thrown("btoa('€')").starts_with("InvalidCharacterError: "));
    assert!(thrown("atob('*')").starts_with("InvalidCharacterError: "));
}

// URLs.

#[test]
fn urls_are_parsed_resolved_and_changed() {
    assert_results(&[
        (
            "const u = new URL('https://user:pw@example.com:8080/a/b?q=1#h'); [u.protocol, u.username, u.password, u.host, u.port, u.pathname, u.search, u.hash, u.origin]",
            json!([
                "https:",
                "user",
                "pw",
                "example.com:8080",
                "8080",
                "/a/b",
                "?q=1",
                "#h",
                "https://example.com:8080"
            ]),
        ),
        (
            "new URL('../c?x', 'https://example.com/a/b/').href",
            json!("https://example.com/a/c?x"),
        ),
        (
            "const u = new URL('http://example.com'); u.pathname = '/ü'; u.searchParams.append('k', 'a b'); u.hash = 'x'; u.href",
            json!("http://example.com/%C3%BC?k=a+b#x"),
        ),
        (
            "new URL('https://münchen.example').hostname",
            json!("xn--mnchen-3ya.example"),
        ),
        (
            "[URL.canParse('nope'), URL.canParse('/a', 'https://e.com'), URL.parse('nope')]",
            json!([false, true, null]),
        ),
        (
            "JSON.stringify({ u: new URL('https://example.com') })",
            json!("{\"u\":\"https://example.com/\"}"),
        ),
    ]);
    assert_eq!(thrown("new URL('nope')"), "TypeError: Invalid URL: 'nope'");
}

#[test]
fn an_object_url_cannot_be_made() {
    assert_eq!(result_of("typeof URL.createObjectURL"), "undefined");
}

#[test]
fn search_parameters_are_a_list_of_pairs() {
    assert_results(&[
        (
            "const p = new URLSearchParams('b=2&a=1&a=%20x'); [p.get('a'), p.getAll('a'), p.has('c'), p.size]",
            json!(["1", ["1", " x"], false, 3]),
        ),
        (
            "const p = new URLSearchParams({ q: 'a&b', n: '1' }); p.sort(); p.delete('n'); p.set('z', 'ü'); String(p)",
            json!("q=a%26b&z=%C3%BC"),
        ),
        (
            "[...new URLSearchParams([['x', '1'], ['y', '2']])]",
            json!([["x", "1"], ["y", "2"]]),
        ),
        (
            "Object.fromEntries(new URLSearchParams('a=1'))",
            json!({ "a": "1" }),
        ),
    ]);
}

// Aborting and events.

#[test]
fn an_abort_reaches_the_signal_and_its_listeners() {
    assert_results(&[
        (
            "const c = new AbortController(); let heard = ''; c.signal.addEventListener('abort', (e) => { heard = e.type }); c.abort('why'); [c.signal.aborted, c.signal.reason, heard]",
            json!([true, "why", "abort"]),
        ),
        (
            "const c = new AbortController(); c.abort(); const r = c.signal.reason; [r instanceof DOMException, r.name, r.code]",
            json!([true, "AbortError", 20]),
        ),
        (
            "const c = new AbortController(); const any = AbortSignal.any([new AbortController().signal, c.signal]); c.abort(1); any.reason",
            json!(1),
        ),
        ("AbortSignal.abort('x').reason", json!("x")),
    ]);
    assert_eq!(
        thrown("AbortSignal.abort().throwIfAborted()"),
        "AbortError: The signal has been aborted"
    );
}

#[test]
fn a_signal_can_abort_after_a_time() {
    let script = "const s = AbortSignal.timeout(20);\n\
        await new Promise((done) => s.addEventListener('abort', done));\n[s.aborted, s.reason.name]";
    assert_eq!(result_of(script), json!([true, "TimeoutError"]));
}

#[test]
fn an_unused_timeout_signal_does_not_delay_the_run() {
    let script = "const s = AbortSignal.timeout(20_000);\nconst aborted = s.aborted;";
    assert_eq!(run_json(&["--timeout", "5s"], script)["ok"], true);
}

#[test]
fn events_can_be_dispatched() {
    let script = "const t = new EventTarget(); const heard: unknown[] = [];\n\
        t.addEventListener('x', (e) => heard.push((e as CustomEvent).detail), { once: true });\n\
        t.dispatchEvent(new CustomEvent('x', { detail: 1 })); t.dispatchEvent(new CustomEvent('x', { detail: 2 }));\n\
        const e = new Event('y', { cancelable: true }); e.preventDefault(); [heard, e.defaultPrevented]";
    assert_eq!(result_of(script), json!([[1], true]));
}

// Timers.

#[test]
fn timers_fire_in_the_order_of_their_delay() {
    let script = "const seen: string[] = []; const wait = (ms: number) => new Promise((done) => setTimeout(done, ms));\n\
        setTimeout(() => seen.push('c'), 30); setTimeout((x: string) => seen.push(x), 1, 'a'); setTimeout(() => seen.push('b'), 10);\n\
        await wait(60); seen";
    assert_eq!(result_of(script), json!(["a", "b", "c"]));
}

#[test]
fn a_timer_can_be_cleared() {
    let script = "let fired = false; clearTimeout(setTimeout(() => { fired = true }, 1)); clearTimeout(undefined); clearTimeout(9999);\n\
        await new Promise((done) => setTimeout(done, 20)); fired";
    assert_eq!(result_of(script), false);
}

#[test]
fn an_interval_repeats_until_it_is_cleared() {
    let script = "let n = 0; await new Promise<void>((done) => { const id = setInterval(() => { if (++n === 3) { clearInterval(id); done() } }, 2) }); n";
    assert_eq!(result_of(script), 3);
}

#[test]
fn a_timer_waits_at_least_as_long_as_asked() {
    let waited = result_of(
        "const t = performance.now(); await new Promise((done) => setTimeout(done, 50)); performance.now() - t",
    );
    assert!(
        (49.0..5_000.0).contains(&waited.as_f64().expect("a number")),
        "{waited}"
    );
}

#[test]
fn microtasks_run_before_timers_and_after_the_current_code() {
    let script = "const seen: string[] = [];\n\
        setTimeout(() => seen.push('timer'), 0); queueMicrotask(() => seen.push('micro')); Promise.resolve().then(() => seen.push('promise')); seen.push('now');\n\
        await new Promise((done) => setTimeout(done, 10)); seen";
    assert_eq!(
        result_of(script),
        json!(["now", "micro", "promise", "timer"])
    );
}

#[test]
fn an_error_in_a_microtask_fails_the_run() {
    let error = error_of(
        &[],
        "queueMicrotask(() => { throw new Error('tiny') });\nawait new Promise((done) => setTimeout(done, 10));",
    );
    assert_eq!(error["message"], "Error: tiny");
}

#[test]
fn a_timer_takes_no_code_as_text() {
    for name in ["setTimeout", "setInterval"] {
        let error = error_of(&[], &format!("const a = 1;\n{name}('a + 1' as never, 1);"));
        assert_eq!(error["kind"], "denied", "{error:#}");
        assert_eq!(error["line"], 2, "{error:#}");
        let expected = format!("{name} needs a function to call, not text");
        assert!(
            error["message"].as_str().unwrap().ends_with(&expected),
            "{error:#}"
        );
    }
}

#[test]
fn a_timer_without_a_function_is_refused_where_it_is_set() {
    let folder = tempfile::tempdir().unwrap();
    let recording = folder.path().join("calls.json");
    let recording = recording.to_str().unwrap();
    for flags in [&[][..], &["--record", recording]] {
        for name in ["setTimeout", "setInterval"] {
            for (callback, given) in [
                ("undefined", "undefined"),
                ("null", "null"),
                ("{}", "object"),
                ("5", "number"),
            ] {
                let script = format!("const a = 1;\n{name}({callback} as never, 5);");
                let error = error_of(flags, &script);
                let expected = format!("TypeError: {name} needs a function to call, not {given}");
                assert_eq!(error["message"], expected, "{error:#}");
                assert_eq!(error["line"], 2, "{error:#}");
            }
        }
    }
    assert_eq!(
        result_of("new Promise((done) => setTimeout(done, 1, 'given'))"),
        "given"
    );
}

// Time.

#[test]
fn the_clock_is_coarse_and_never_goes_back() {
    let script = "const seen = new Set<number>(); let last = 0;\n\
        for (let i = 0; i < 200_000; i++) { const t = performance.now(); if (t < last) throw new Error('back'); last = t; seen.add(t) }\n\
        const list = [...seen]; list.every((t) => Math.abs(t * 10 - Math.round(t * 10)) < 1e-6)";
    assert_eq!(result_of(script), true);
}

#[test]
fn the_clock_starts_with_the_script() {
    let now = result_of("performance.now()").as_f64().expect("a number");
    assert!((0.0..5_000.0).contains(&now), "{now}");
    let origin =
        result_of("Math.abs(performance.timeOrigin + performance.now() - Date.now()) < 1000");
    assert_eq!(origin, true);
}

#[test]
fn dates_are_in_utc() {
    assert_results(&[
        (
            "new Date(2026, 0, 2, 3, 4, 5).toISOString()",
            json!("2026-01-02T03:04:05.000Z"),
        ),
        ("new Date(0).getTimezoneOffset()", json!(0)),
        (
            "String(new Date(0))",
            json!("Thu Jan 01 1970 00:00:00 GMT+0000 (Coordinated Universal Time)"),
        ),
        (
            "Intl.DateTimeFormat().resolvedOptions().timeZone",
            json!("UTC"),
        ),
        (
            "Math.abs(Date.now() - new Date().getTime()) < 1000 && Date.now() > 1.7e12",
            json!(true),
        ),
    ]);
}

#[test]
fn dates_are_in_utc_wherever_the_machine_is() {
    let output = crate::support::pml()
        .env("TZ", "America/New_York")
        .args(["run", "-e", "new Date(0).getHours()"])
        .output()
        .expect("the binary starts");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "0\n");
}

#[test]
fn temporal_is_there() {
    assert_results(&[
        (
            "Temporal.PlainDate.from('2026-01-31').add({ months: 1 }).toString()",
            json!("2026-02-28"),
        ),
        (
            "Temporal.Duration.from({ minutes: 90 }).round({ largestUnit: 'hours' }).toString()",
            json!("PT1H30M"),
        ),
        ("Temporal.Now.timeZoneId()", json!("UTC")),
        (
            "Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO('Europe/Berlin').hour",
            json!(1),
        ),
        (
            "({ d: Temporal.PlainDate.from('2026-01-31') })",
            json!({ "d": "2026-01-31" }),
        ),
    ]);
}

// Intl.

#[test]
fn numbers_dates_and_lists_are_formatted_for_any_language() {
    assert_results(&[
        (
            "new Intl.NumberFormat('de-DE', { style: 'currency', currency: 'EUR' }).format(1234.5)",
            json!("1.234,50\u{a0}€"),
        ),
        (
            "(1234567.891).toLocaleString('en-US')",
            json!("1,234,567.891"),
        ),
        (
            "new Intl.DateTimeFormat('fr-FR', { dateStyle: 'long' }).format(new Date(0))",
            json!("1 janvier 1970"),
        ),
        (
            "new Date(0).toLocaleString('en-US', { timeZone: 'Asia/Tokyo', hour: 'numeric', hour12: false })",
            json!("09"),
        ),
        (
            "new Intl.ListFormat('en', { type: 'conjunction' }).format(['a', 'b', 'c'])",
            json!("a, b, and c"),
        ),
        (
            "new Intl.RelativeTimeFormat('es', { numeric: 'auto' }).format(-1, 'day')",
            json!("ayer"),
        ),
        (
            "new Intl.PluralRules('en', { type: 'ordinal' }).select(2)",
            json!("two"),
        ),
        (
            "['ä', 'z', 'a'].sort(new Intl.Collator('de').compare)",
            json!(["a", "ä", "z"]),
        ),
        (
            "[...new Intl.Segmenter('en', { granularity: 'grapheme' }).segment('👩‍👩‍👧é')].length",
            json!(2),
        ),
        (
            "'ǅ'.toLocaleLowerCase('hr') + 'i'.toLocaleUpperCase('tr')",
            json!("ǆİ"),
        ),
        ("'é'.normalize('NFD').length", json!(2)),
        (
            "new Intl.DisplayNames('en', { type: 'region' }).of('JP')",
            json!("Japan"),
        ),
    ]);
}

#[test]
fn without_a_language_the_format_is_american_on_every_machine() {
    let output = crate::support::pml()
        .env("LANG", "de_DE.UTF-8")
        .env("LC_ALL", "de_DE.UTF-8")
        .args(["run", "-e", "(1234.5).toLocaleString()"])
        .output()
        .expect("the binary starts");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "1,234.5\n");
}

// Randomness.

#[test]
fn random_uuids_are_version_4_and_differ() {
    let script = "const a = crypto.randomUUID(), b = crypto.randomUUID(); [/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(a), a !== b]";
    assert_eq!(result_of(script), json!([true, true]));
}

#[test]
fn two_runs_do_not_share_their_randomness() {
    assert_ne!(
        result_of("crypto.randomUUID()"),
        result_of("crypto.randomUUID()")
    );
    assert_ne!(result_of("Math.random()"), result_of("Math.random()"));
}

#[test]
fn random_values_fill_exactly_the_view() {
    assert_results(&[
        (
            "const all = new Uint8Array(64); const part = all.subarray(8, 56); const same = crypto.getRandomValues(part) === part; [same, all.slice(0, 8).every((b) => b === 0), all.slice(56).every((b) => b === 0), part.some((b) => b !== 0)]",
            json!([true, true, true, true]),
        ),
        (
            "crypto.getRandomValues(new Uint32Array(8)).some((n) => n > 0xffff)",
            json!(true),
        ),
        (
            "crypto.getRandomValues(new BigUint64Array(1)).length",
            json!(1),
        ),
    ]);
}

#[test]
fn random_values_have_the_limits_of_the_web() {
    assert!(
        thrown("crypto.getRandomValues(new Uint8Array(65537))").starts_with("QuotaExceededError: ")
    );
    assert!(
        thrown("crypto.getRandomValues(new Float64Array(1))").starts_with("TypeMismatchError: ")
    );
    assert!(thrown("crypto.getRandomValues([1])").starts_with("TypeError: "));
}

// The language.

#[test]
fn the_language_is_this_years() {
    assert_results(&[
        ("[3, 1, 2].toSorted().with(0, 9)", json!([9, 2, 3])),
        ("new Set([1, 2]).union(new Set([3])).size", json!(3)),
        (
            "Iterator.from([1, 2, 3]).filter((n) => n > 1).map((n) => n * 2).toArray()",
            json!([4, 6]),
        ),
        (
            "const { promise, resolve } = Promise.withResolvers(); resolve(4); promise",
            json!(4),
        ),
        ("Promise.try(() => 5)", json!(5)),
        ("await Array.fromAsync([Promise.resolve(1)])", json!([1])),
        ("RegExp.escape('a.b')", json!("\\x61\\.b")),
        ("Math.sumPrecise([0.1, 0.2, 0.3])", json!(0.6)),
        ("new Float16Array([1.337])[0]", json!(1.3369140625)),
        ("Error.isError(new TypeError())", json!(true)),
        ("new Map([['a', 1]]).getOrInsert('b', 2)", json!(2)),
        (
            "'a-b-c'.replaceAll('-', '+') + 'x'.at(-1) + 'ab'.isWellFormed()",
            json!("a+b+cxtrue"),
        ),
    ]);
}

#[test]
fn what_reaches_outside_is_not_there() {
    for name in [
        "fetch",
        "Deno",
        "process",
        "require",
        "WebSocket",
        "Worker",
        "WebAssembly",
        "SharedArrayBuffer",
        "eval",
        "XMLHttpRequest",
        "localStorage",
        "Buffer",
        "BroadcastChannel",
        "navigator",
        "window",
    ] {
        assert_eq!(result_of(&format!("typeof {name}")), "undefined", "{name}");
    }
}

#[test]
fn the_globals_do_not_clutter_the_global_object() {
    assert_eq!(result_of("Object.keys(globalThis)"), json!([]));
}

#[test]
fn a_script_can_have_names_of_its_own_that_are_globals() {
    assert_results(&[
        (
            "const URL = 1, tools = 2, args = 3, crypto = 4; URL + tools + args + crypto",
            json!(10),
        ),
        (
            "function setTimeout() { return 'mine' } setTimeout()",
            json!("mine"),
        ),
    ]);
}
