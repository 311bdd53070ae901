//! What an attacker tries with data that is scrubbed: stop the process, or get a value through.

use std::sync::Arc;

use pml_scrub::{PlaceholderMap, ScrubConfig, Scrubbed, Scrubber};
use proptest::prelude::*;
use serde_json::{Value, json};

fn placeholder_map() -> PlaceholderMap {
    let scrubber = Scrubber::new(&ScrubConfig::default()).expect("a valid configuration");
    PlaceholderMap::new(Arc::new(scrubber))
}

fn text(map: &mut PlaceholderMap, text: &str) -> String {
    map.scrub_text(text, None)
        .map(Scrubbed::into_inner)
        .expect("nothing is blocked")
}

fn json(map: &mut PlaceholderMap, value: Value) -> String {
    let scrubbed = map.scrub_json(value, None).expect("nothing is blocked");
    scrubbed.into_inner().to_string()
}

#[test]
fn a_base64_name_beside_a_value_does_not_stop_the_scrubber() {
    const NAME: &str = "am9AZXhhbXBsZS5jb20=";
    for title in ["name", "Name", "key", "Key", "label", "type", "field"] {
        for value in [
            json!("OK"),
            json!(12345678),
            json!(["OK", 4111111111111111u64]),
            json!({ "a": "OK" }),
            json!(""),
        ] {
            let mut map = placeholder_map();
            let out = json(&mut map, json!({ title: NAME, "value": value }));
            assert!(!out.contains(NAME), "{out}");
        }
    }
    let mut map = placeholder_map();
    let out = json(
        &mut map,
        json!({ NAME: "OK", "n": { NAME: [1, "jo@example.com"] } }),
    );
    assert!(!out.contains(NAME) && !out.contains("jo@"), "{out}");
}

#[test]
fn placeholder_like_text_beside_a_value_does_not_hide_it() {
    for (sent, secret) in [
        ("password: hunter2xyz9[A_1]", "hunter2"),
        ("password: [A_1]hunter2xyz9", "hunter2"),
        ("password: \"[A_1]hunter2xyz9\"", "hunter2"),
        ("password: hunter2[A_1]xyz9qq", "xyz9qq"),
        ("api_key=[X_1]8f2b7c1d9e0a4b6c8d7e", "8f2b7c1d"),
        ("api_key=8f2b7c1d9e0a4b6c8d7e[X_1]", "8f2b7c1d"),
        ("https://jo:hunter2xyz[EMAIL_1]@host.example/db", "hunter2"),
        ("https://[A_1]:hunter2xyz@host.example/db", "hunter2"),
        ("https://jo:[EMAIL_1]hunter2xyz@host.example/db", "hunter2"),
        ("[EMAIL_1]4111111111111111[CARD_1]", "4111111111111111"),
        ("[A_1]q8Zt1LmX0vRb7KpYc3WdN5sHj2Gf9TuEa4[A_2]", "q8Zt1LmX"),
        ("[A_1]jo@example.com[A_1]", "jo@"),
    ] {
        let out = text(&mut placeholder_map(), sent);
        assert!(!out.contains(secret), "{sent} became {out}");
    }
    for value in [
        "hunter2xyz9[A_1]",
        "[A_1]hunter2xyz9",
        "[A_1] [INFO] hunter2xyz9",
    ] {
        let out = json(&mut placeholder_map(), json!({ "password": value }));
        assert!(!out.contains("hunter2"), "{value} became {out}");
    }
}

#[test]
fn signs_in_the_password_of_a_url_do_not_show_it() {
    for (sent, secret) in [
        ("redis://:p%2Fq%2Fr99x@h:6379", "r99x"),
        ("amqp://u:pa%20ss%20w0rd@h/v", "w0rd"),
        ("postgres://app:s3cr3t%23x@db", "s3cr3t"),
        ("postgres://app:p%40ss%3Aword%2F99@db.example/x", "word"),
        ("postgres://app:%70%61%2Fss9w0rd@db", "ss9w0rd"),
        ("https%3A%2F%2Fjo%3Ap%252Fq9w0rd%40host", "q9w0rd"),
        ("db=postgres://app:pa,ss'w0rd@db/x", "w0rd"),
        ("db=postgres://app:“pa,ss”w0rd@db/x", "w0rd"),
    ] {
        let out = text(&mut placeholder_map(), sent);
        assert!(!out.contains(secret), "{sent} became {out}");
        let out = json(&mut placeholder_map(), json!({ "u": [sent] }));
        assert!(!out.contains(secret), "{sent} became {out}");
        let inner = json!({ "u": sent }).to_string().replace('/', "\\/");
        let out = text(&mut placeholder_map(), &inner);
        assert!(!out.contains(secret), "{inner} became {out}");
    }
}

#[test]
fn a_hidden_value_does_not_come_back_in_a_key_or_in_a_later_answer() {
    let secret = "Tr0ub4dor-and-3xyz9";
    let mut map = placeholder_map();
    let out = json(
        &mut map,
        json!({ "seen": { secret: 1, "x": { "a Tr0ub4dor-and-3xyz9 b": [secret] } },
            "password": secret, "v": [secret], "upper": secret.to_uppercase() }),
    );
    assert!(!out.to_lowercase().contains("tr0ub4dor"), "{out}");
    for later in [
        secret.to_owned(),
        format!("x={secret};"),
        format!("“{secret}”"),
        "Tr0ub4dor%2Dand%2D3xyz9".to_owned(),
    ] {
        let out = text(&mut map, &later);
        assert!(!out.contains("Tr0ub4dor"), "{later} became {out}");
        let out = json(&mut map, json!({ &later: [1, &later] }));
        assert!(!out.contains("Tr0ub4dor"), "{later} became {out}");
    }

    let mut map = placeholder_map();
    let hidden = json(
        &mut map,
        json!({ "first_name": "Johanna Quistorp", "ssn": 536221234 }),
    );
    assert!(!hidden.contains("Quistorp"), "{hidden}");
    for later in [
        json!("Johanna Quistorp"),
        json!("johanna quistorp"),
        json!({ "JohannaQuistorp": 1 }),
        json!([536221234, "file 536221234", "536-22-1234"]),
    ] {
        let out = json(&mut map, later.clone()).to_lowercase();
        let bare = out.replace(['-', ' '], "");
        assert!(
            !bare.contains("quistorp") && !bare.contains("536221234"),
            "{later}: {out}"
        );
    }
}

#[test]
fn the_parts_of_one_reply_share_their_private_values() {
    let secret = "Tr0ub4dor-and-3xyz9";
    let mut map = placeholder_map();
    let (log, result, error) = map.scrub_reply(|map| {
        let log = map.scrub_text(secret, None).expect("scrubbed");
        let result = map
            .scrub_json(json!({ secret: 123456 }), None)
            .expect("scrubbed");
        let error = map
            .scrub_text(&format!("password: {secret}, passcode: 1a3456"), None)
            .expect("scrubbed");
        (
            map.complete_text(log, None).expect("scrubbed"),
            map.complete_json(result, None).expect("scrubbed"),
            error,
        )
    });
    let all = format!("{} {} {}", *log, *result, *error);
    assert!(!all.contains("Tr0ub4dor"), "{all}");
}

/// Characters that are neither letters nor digits, from every corner of Unicode.
fn separator() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        '“', '”', '„', '«', '»', '‹', '›', '‘', '’', '…', '–', '—', '•', '·', '。', '、', '「',
        '」', '『', '』', '【', '】', '《', '》', '・', '｡', '😀', '👍', '❤', '→', '✓', '€', '£',
        '¥', '™', '®', '©', '°', '§', '¶', '¿', '¡', '×', '÷', '،', '؛', '؟', '۔', '।', '׃',
        '\u{a0}', '\u{2028}', '\u{3000}', '\u{fffd}', '\u{e000}', '\u{85}',
    ]);
    // The forms of ASCII signs in another width are ASCII signs, which may join a value to a word.
    let any =
        "[[\\p{P}\\p{S}]--[!-~\u{ff01}-\u{ff5e}\u{2010}\u{2011}\u{2024}\u{fe52}\u{fe63}\u{fe6b}]]";
    prop_oneof![known.prop_map(String::from), any.prop_map(String::from)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn typographic_signs_around_a_value_do_not_show_it(
        before in separator(), after in separator(), word in prop::bool::ANY,
    ) {
        for (value, secret) in [
            ("jane.doe@acme-corp.com", "jane.doe"),
            ("DE89370400440532013000", "0532013000"),
            ("4111111111111111", "1111111111"),
            ("+49 30 901820123", "901820"),
            ("203.0.113.7", "203.0.113"),
            ("2001:db8::8a2e:370:7334", "8a2e:370"),
            ("00:1A:2b:3c:4d:5e", "1A:2b"),
            ("ghp_a1b2c3d4e5f6a1b2c3d4e5f6a1b2c3d4e5f6", "ghp_a1b2"),
            ("q8Zt1LmX0vRb7KpYc3WdN5sHj2Gf9TuEa4", "q8Zt1LmX"),
            ("password: hunter2xyz9", "hunter2"),
            ("ssn 536-22-1234", "536-22"),
            ("postgres://app:s3cr3t99x@db", "s3cr3t"),
        ] {
            let (left, right) = if word { ("see", "there") } else { ("", "") };
            let sent = format!("{left}{before}{value}{after}{right}");
            let out = text(&mut placeholder_map(), &sent);
            prop_assert!(!out.contains(secret), "{} became {}", sent, out);
        }
    }
}

#[test]
fn letters_of_a_script_without_spaces_around_a_number_do_not_show_it() {
    for value in [
        "DE89370400440532013000",
        "4111111111111111",
        "+49 30 901820123",
        "203.0.113.7",
        "00:1A:2b:3c:4d:5e",
        "jane.doe@acme-corp.com",
    ] {
        for (before, after) in [("联系", "谢谢"), ("번호는", "입니다"), ("โทร", "ครับ")]
        {
            let sent = format!("{before}{value}{after}");
            let out = text(&mut placeholder_map(), &sent);
            assert!(!out.contains(value), "{sent} became {out}");
        }
    }
}
