//! Kinds that are off unless the configuration turns them on: ages and plain URLs. They are on HIPAA's
//! list of identifiers.

use std::ops::Range;

use super::{DefaultPolicy, Detector, Repeats, Trigger};
use crate::Kind;
use crate::boundary::is_word;
use crate::scan::Scan;

const AGE_KIND: Kind = Kind::new("AGE");
const URL_KIND: Kind = Kind::new("URL");

pub(super) static AGE: Detector = Detector {
    name: "age",
    kinds: || vec![AGE_KIND],
    default_policy: DefaultPolicy::Off,
    repeats: Repeats::FoundByDetector,
    triggers: &[
        Trigger::Literals(|| WORDS_AFTER_AGE, age_before),
        Trigger::Literals(|| WORDS_BEFORE_AGE, age_after),
    ],
};

pub(super) static URL: Detector = Detector {
    name: "url",
    kinds: || vec![URL_KIND],
    default_policy: DefaultPolicy::Off,
    repeats: Repeats::FoundByDetector,
    triggers: &[
        Trigger::Literals(|| &["://"], url_with_scheme),
        Trigger::Literals(|| &["www."], url_without_scheme),
    ],
};

/// Words after an age.
#[rustfmt::skip]
const WORDS_AFTER_AGE: &[&str] = &[
    " years old", " year old", "-year-old", "-years-old", " y/o", "y/o", " yrs old", " y.o.", " years of age",
    " jahre alt", " ans", " años", " anni",
];
/// Words before an age.
const WORDS_BEFORE_AGE: &[&str] = &[
    "age of ", "aged ", "turned ", "turns ", "turn ", "age: ", "age is ", "age ", "ages ",
    "age\": ",
];

fn age_before(scan: &mut Scan<'_>, _: usize, hit: Range<usize>) {
    let start = scan.run_back(hit.start, |b| b.is_ascii_digit());
    check_age(scan, start..hit.start);
}

fn age_after(scan: &mut Scan<'_>, _: usize, hit: Range<usize>) {
    if !is_word(scan.before(hit.start)) {
        let end = scan.run(hit.end, |b| b.is_ascii_digit());
        check_age(scan, hit.end..end);
    }
}

fn check_age(scan: &mut Scan<'_>, Range { start, end }: Range<usize>) {
    let years = scan
        .text
        .get(start..end)
        .and_then(|t| t.parse::<u32>().ok());
    let bounded = !is_word(scan.before(start)) && !is_word(scan.at(end));
    if years.is_some_and(|y| (1..=120).contains(&y)) && bounded && scan.at(end) != b'%' {
        scan.add(AGE_KIND, start, end, 0.7);
    }
}

/// Browsers accept no longer URLs, and without a bound many schemes in one long run would take
/// quadratic time.
const MAX_URL_BYTES: usize = 2048;
const MAX_HOST_BYTES: usize = 256;

fn url_with_scheme(scan: &mut Scan<'_>, _: usize, hit: Range<usize>) {
    let start = scan.run_back(hit.start, |b| {
        b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.')
    });
    check_url(scan, start, &hit, hit.end);
}

fn url_without_scheme(scan: &mut Scan<'_>, _: usize, hit: Range<usize>) {
    if !matches!(scan.before(hit.start), b'/' | b'@' | b'.') {
        check_url(scan, hit.start, &hit, hit.start);
    }
}

fn check_url(scan: &mut Scan<'_>, start: usize, hit: &Range<usize>, host_start: usize) {
    let part = |b: u8| {
        b > b' '
            && b != 0x7F
            && !matches!(
                b,
                b'"' | b'\'' | b'<' | b'>' | b'`' | b'{' | b'}' | b'|' | b'\\' | b'^'
            )
    };
    let mut end = scan.run_at_most(hit.start, MAX_URL_BYTES, part);
    while !scan.text.is_char_boundary(end) {
        end -= 1;
    }
    while matches!(
        scan.before(end),
        b'.' | b',' | b';' | b':' | b'!' | b'?' | b')' | b']'
    ) {
        end -= 1;
    }
    let host_end = scan
        .run_at_most(host_start, MAX_HOST_BYTES, |b| {
            is_word(b) || matches!(b, b'.' | b'-')
        })
        .min(end);
    let host = scan.text.get(host_start..host_end).unwrap_or_default();
    let top = host.rsplit('.').next().unwrap_or_default();
    if host.contains('.') && top.len() >= 2 && start < hit.end {
        scan.add(URL_KIND, start, end, 0.7);
    }
}

#[cfg(test)]
mod tests {
    use crate::cases;
    use crate::{ScrubConfig, Scrubber};

    #[test]
    fn ages_and_urls_are_found_when_turned_on() {
        cases::check(
            "AGE",
            &[("He is 75 years old", "75"), ("at the age of 68", "68")],
            &["75 years", "page of 12", "return 5"],
        );
        cases::check(
            "URL",
            &[
                (
                    "see https://example.com/a?b=1.",
                    "https://example.com/a?b=1",
                ),
                ("www.example.com", "www.example.com"),
            ],
            &["http://localhost", "a://b"],
        );
    }

    #[test]
    fn dates_ages_and_urls_are_left_alone_by_default() {
        let scrubber = Scrubber::new(&ScrubConfig::default()).expect("a valid configuration");
        assert!(
            scrubber
                .find(
                    "75 years old, since 2021-05-21, see https://example.com",
                    None
                )
                .is_empty()
        );
    }
}
