//! Dates of birth: a date right after a context word or below such a JSON key.

use std::ops::Range;

use super::{DefaultPolicy, Detector, Repeats, Trigger, date};
use crate::Kind;
use crate::boundary::is_word;
use crate::scan::Scan;

const BIRTH_DATE: Kind = Kind::new("BIRTH_DATE");

pub(super) static DETECTOR: Detector = Detector {
    name: "birth_date",
    kinds: || vec![BIRTH_DATE],
    default_policy: DefaultPolicy::Reversible,
    repeats: Repeats::SearchedIfDigits,
    triggers: &[Trigger::Literals(|| WORDS, check)],
};

#[rustfmt::skip]
const WORDS: &[&str] = &[
    "date of birth", "dob", "d.o.b", "born", "birthday", "birth date", "birthdate", "birth_date", "date_of_birth",
    "dateofbirth", "geburtsdatum", "geboren", "fecha de nacimiento", "fecha_nacimiento", "nacido", "nacida",
    "date de naissance", "né le", "née le", "data di nascita", "nato il", "nata il", "data de nascimento",
    "data urodzenia", "urodzon",
];

/// How far after the words the date may begin, in bytes.
const REACH: usize = 32;

fn check(scan: &mut Scan<'_>, _: usize, hit: Range<usize>) {
    let previous = scan.before(hit.start);
    if is_word(previous)
        && !(previous.is_ascii_lowercase() && scan.bytes[hit.start].is_ascii_uppercase())
    {
        return;
    }
    let limit = scan.bytes.len().min(hit.end + REACH);
    let mut at = hit.end;
    while at < limit {
        let ends = |end: &usize| !scan.joins_at(*end) || scan.at(*end) == b'T';
        if is_word(scan.bytes[at])
            && !scan.joins_before(at)
            && let Some(end) = date::end(scan, at, true).filter(ends)
        {
            return scan.add(BIRTH_DATE, at, end, 0.85);
        }
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use crate::cases;

    #[test]
    fn a_date_after_a_context_word_is_a_birth_date() {
        cases::check(
            "BIRTH_DATE",
            &[
                ("born on 10/23/1951.", "10/23/1951"),
                ("DOB: 1990-05-17", "1990-05-17"),
                ("date of birth. It's 11/3/1995", "11/3/1995"),
                ("born 17 May 1990 in", "17 May 1990"),
                ("born on May 17th, 1990", "May 17th, 1990"),
                ("Geburtsdatum: 17.05.1990", "17.05.1990"),
                (r#"{"dateOfBirth":"1990-05-17T00:00:00Z"}"#, "1990-05-17"),
                ("birthdate=19900517", "19900517"),
            ],
            &[
                "[BIRTH_DATE_1], hired 10/23/1951",
                "on 1990-05-17",
                "born in the city",
                "reborn 1990-05-17",
                "born 1990-15-47",
                "stubborn on 10/23/1951",
            ],
        );
    }
}
