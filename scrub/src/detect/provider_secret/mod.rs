//! Secrets of well-known providers, by the documented prefix and shape of each.

mod keyword_table;
mod numbered;
mod prefix_table;
mod shape;

use std::ops::Range;
use std::sync::LazyLock;

use super::randomness::TokenStats;
use super::sample_value::is_sample_key;
use super::{DefaultPolicy, Detector, Repeats, Trigger};
use crate::Kind;
use crate::scan::Scan;
use keyword_table::KEYWORDS;
use prefix_table::PREFIXES;
use shape::Shape;

pub(super) static DETECTOR: Detector = Detector {
    name: "provider_secret",
    kinds: || {
        let names = PREFIXES
            .iter()
            .map(|(name, _)| *name)
            .chain(KEYWORDS.iter().map(|k| k.0))
            .chain(numbered::KINDS);
        let mut kinds: Vec<_> = names.map(Kind::new).collect();
        kinds.sort_unstable();
        kinds.dedup();
        kinds
    },
    default_policy: DefaultPolicy::OneWay,
    repeats: Repeats::SearchedIfDigits,
    triggers: &[
        Trigger::Literals(|| &LITERALS, check),
        Trigger::Number(numbered::check_number),
        Trigger::Token(numbered::check_token),
    ],
};

/// A secret with a prefix that identifies it.
struct Prefixed {
    kind: Kind,
    shape: Shape,
}

/// A secret whose shape is ambiguous: the provider's name must precede it.
struct Named {
    kind: Kind,
    shape: Shape,
}

static PREFIXED: LazyLock<Vec<Prefixed>> = LazyLock::new(|| {
    let one = |(name, shape): &(&'static str, &'static str)| Prefixed {
        kind: Kind::new(name),
        shape: Shape::parse(shape),
    };
    PREFIXES.iter().map(one).collect()
});

static NAMED: LazyLock<Vec<Named>> = LazyLock::new(|| {
    let one = |(name, _, shape): &(&'static str, &'static str, &'static str)| Named {
        kind: Kind::new(name),
        shape: Shape::parse(shape),
    };
    KEYWORDS.iter().map(one).collect()
});

/// First the prefixes, then the keywords, in the order of the tables.
static LITERALS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let prefixes = PREFIXES.iter().map(|(_, shape)| shape::anchor(shape));
    prefixes
        .chain(KEYWORDS.iter().map(|(_, keyword, _)| *keyword))
        .collect()
});

fn check(scan: &mut Scan<'_>, literal: usize, hit: Range<usize>) {
    match PREFIXED.get(literal) {
        Some(secret) => check_prefixed(scan, secret, hit.start),
        None => check_named(scan, &NAMED[literal - PREFIXED.len()], hit),
    }
}

fn check_prefixed(scan: &mut Scan<'_>, secret: &Prefixed, anchor: usize) {
    let Some(start) = anchor.checked_sub(secret.shape.lead()) else {
        return;
    };
    let previous = scan.before(start);
    // A letter before the prefix makes it a part of a longer word.
    let file = previous == b'.' && start >= 2 && scan.bytes[start - 2].is_ascii_alphanumeric();
    let joins = previous.is_ascii_alphanumeric() || previous == b'_' || file;
    if joins && secret.shape.is_word() {
        return;
    }
    if let Some(end) = secret.shape.end(scan.bytes, start) {
        let body = &scan.bytes[start..end];
        let rest = &body[secret.shape.prefix_length()..];
        let anchor = secret.shape.anchor_length();
        let random = match anchor > LONG_ANCHOR {
            true => !is_words(rest),
            false => is_random(rest, anchor),
        };
        if random && !is_sample_key(body) && !is_in_data(scan, start) {
            scan.add(secret.kind, start, end, 0.98);
        }
    }
}

/// Whether a secret would begin within a long text in base64, where any short prefix occurs.
fn is_in_data(scan: &Scan<'_>, start: usize) -> bool {
    const LONG: usize = 48;
    let data = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/');
    matches!(scan.before(start), b'+' | b'/') && start - scan.run_back(start, data) >= LONG
}

/// Whether the characters after a prefix are words: `test_commandWithLocalPixels`.
fn is_words(rest: &[u8]) -> bool {
    let stats = TokenStats::of(rest);
    stats.digits == 0 && stats.upper < stats.lower && stats.has_words()
}

/// A longer anchor identifies a secret, unless words follow it.
const LONG_ANCHOR: usize = 4;

/// Whether the characters after a short prefix are random: in source code, words are an identifier.
fn is_random(rest: &[u8], anchor: usize) -> bool {
    let stats = TokenStats::of(rest);
    match stats.digits {
        0 => stats.pairs >= 8 && !stats.has_words(),
        1 => anchor > 2,
        _ => anchor > 2 || !stats.has_words(),
    }
}

/// Names that precede a secret, after the name of the provider.
#[rustfmt::skip]
const SECRET_WORDS: [&str; 17] = [
    "key", "token", "secret", "pass", "auth", "cred", "pat", "client", "app", "api", "id", "login", "access", "sign", "hook",
    "licen", "pwd",
];

/// `DATADOG_API_KEY=…`: the name, at most a few words, a separator, and a value of the shape.
fn check_named(scan: &mut Scan<'_>, secret: &Named, hit: Range<usize>) {
    const REACH: usize = 40;
    if scan.before(hit.start).is_ascii_alphabetic() && !scan.bytes[hit.start].is_ascii_uppercase() {
        return;
    }
    let name_end = scan.run_at_most(hit.end, REACH + 1, |b| {
        b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b' ')
    });
    if name_end - hit.end > REACH {
        return;
    }
    let Some(value) = scan.value_after(name_end) else {
        return;
    };
    let name = scan.text[hit.end..name_end].to_ascii_lowercase();
    let named = SECRET_WORDS.iter().any(|word| name.contains(word));
    if !named && !name.trim().is_empty() {
        return;
    }
    if let Some(end) = secret.shape.end(scan.bytes, value) {
        let body = &scan.bytes[value..end];
        let stats = TokenStats::of(body);
        let random = match stats.digits {
            0 => stats.pairs >= 8 && !stats.has_words(),
            1..=3 => !stats.has_words(),
            _ => true,
        };
        if random && !is_sample_key(body) {
            scan.add(secret.kind, value, end, 0.93);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases;

    #[test]
    fn at_least_150_providers_are_known() {
        let mut names: Vec<_> = (DETECTOR.kinds)()
            .iter()
            .map(|kind| kind.as_str().split('_').next().unwrap_or_default())
            .collect();
        names.dedup();
        assert!(names.len() >= 150, "{} providers", names.len());
    }

    #[test]
    fn every_secret_of_the_tables_is_found_and_a_truncated_one_is_not() {
        let scrubber = cases::scrubber();
        let found =
            |text: &str, kind: Kind| scrubber.find(text, None).iter().any(|f| f.kind == kind);
        let kind_or_other = |text: &str, kind: Kind| {
            // Some shapes match another kind too, with at least the same confidence.
            found(text, kind) || !scrubber.find(text, None).is_empty()
        };
        for secret in PREFIXED.iter() {
            let sample = secret.shape.sample();
            assert!(
                kind_or_other(&sample, secret.kind),
                "{} {sample}",
                secret.kind
            );
            let quoted = format!("key = \"{sample}\";");
            assert!(
                kind_or_other(&quoted, secret.kind),
                "{} {quoted}",
                secret.kind
            );
            // What follows the first word of `FlyV1 fm2_…` or `xoxe.xoxb-…` is a token of its own.
            let longer = format!("a{sample}");
            let may_join =
                !secret.shape.is_word() || sample.contains(' ') || sample.starts_with("xoxe.");
            assert!(
                may_join || !found(&longer, secret.kind),
                "{} {longer}",
                secret.kind
            );
            let cut = &sample[..sample.len().min(10)];
            assert!(!found(cut, secret.kind), "{} {cut}", secret.kind);
        }
        for (secret, (_, keyword, _)) in NAMED.iter().zip(KEYWORDS) {
            let sample = secret.shape.sample();
            let text = format!("{}_API_KEY={sample}", keyword.to_uppercase());
            assert!(kind_or_other(&text, secret.kind), "{} {text}", secret.kind);
            assert!(!found(&sample, secret.kind), "{} {sample}", secret.kind);
        }
    }

    #[test]
    fn a_prefix_before_words_or_within_data_is_none() {
        cases::check(
            "MOLLIE_KEY",
            &[(
                "live_dHar4XY7LxsDOtmnkVtjNVWXLSlXsM",
                "live_dHar4XY7LxsDOtmnkVtjNVWXLSlXsM",
            )],
            &["def test_commandWithLocalPixelTestsTrue(self)"],
        );
        let data = "AGFzbQEAAAABJwdgAX8Bf2ADf39B".repeat(3);
        let token = format!("EAA{}", "q7Zt1LmX0v".repeat(9));
        cases::check(
            "FACEBOOK_TOKEN",
            &[(&token, &token)],
            &[&format!("{data}/{token}")],
        );
    }

    #[test]
    fn samples_in_documentation_are_left_alone() {
        cases::check(
            "GITHUB_TOKEN",
            &[],
            &[
                "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
                "ghp_****",
                "ghp_...",
            ],
        );
    }
}
