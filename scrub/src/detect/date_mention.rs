//! Dates, off unless the configuration turns them on: HIPAA's list of identifiers has them. Numeric
//! ones, those with the name of a month, weekdays, and years after a word such as `in`.

use std::ops::Range;
use std::sync::LazyLock;

use super::date::{self, MONTHS, connective, month, number, ordinal, plausible, spaces, year};
use super::{DefaultPolicy, Detector, Repeats, Trigger};
use crate::Kind;
use crate::boundary::{begins, is_word};
use crate::context::has_word_before;
use crate::scan::Scan;

const DATE: Kind = Kind::new("DATE");

pub(super) static DETECTOR: Detector = Detector {
    name: "date",
    kinds: || vec![DATE],
    default_policy: DefaultPolicy::Off,
    repeats: Repeats::FoundByDetector,
    triggers: &[
        Trigger::NumberOrTimestamp(numeric_date),
        Trigger::Slash(slash_date),
        Trigger::Literals(|| &MONTH_NAMES, named_date),
        Trigger::Literals(|| WEEKDAYS, weekday),
        Trigger::Literals(|| YEAR_WORDS, year_after),
        Trigger::Literals(|| &["年", "년"], east_asian_date),
    ],
};

static MONTH_NAMES: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    MONTHS
        .iter()
        .flat_map(|names| names.iter().copied())
        .collect()
});

#[rustfmt::skip]
const WEEKDAYS: &[&str] = &[
    "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
    "montag", "dienstag", "mittwoch", "donnerstag", "freitag", "samstag", "sonntag",
];

/// A word and the first digits of a year.
#[rustfmt::skip]
const YEAR_WORDS: &[&str] = &[
    "in 19", "in 20", "since 19", "since 20", "until 19", "until 20", "till 19", "till 20", "from 19", "from 20", "by 19",
    "by 20", "year 19", "year 20", "year: 19", "year: 20", "during 19", "during 20", "of 19", "of 20", "around 19",
    "around 20", "before 19", "before 20", "after 19", "after 20", "between 19", "between 20", "and 19", "and 20",
    "to 19", "to 20", "early 19", "early 20", "late 19", "late 20", "seit 19", "seit 20", "en 19", "en 20", "nel 19",
    "nel 20", "jahr 19", "jahr 20", "(19", "(20",
];

fn numeric_date(scan: &mut Scan<'_>, start: usize) {
    if !begins(scan.bytes, start) || !scan.at(start).is_ascii_digit() {
        return;
    }
    let compact = compact_time(scan, start);
    let (end, confidence) = match date::end(scan, start, false).or(compact) {
        Some(end) => (time_end(scan, end), 0.8),
        None => match date::month_end(scan, start) {
            Some(end) => (end, 0.6),
            None => return,
        },
    };
    let is_part = confidence < 0.8 && goes_on(scan, end);
    if !scan.joins_at(end) && !is_part {
        scan.add(DATE, start, end, confidence);
    }
}

/// `20240515T101530Z`, the basic format of ISO 8601.
fn compact_time(scan: &Scan<'_>, start: usize) -> Option<usize> {
    let day = date::end(scan, start, true)?;
    let time = scan.run_at_most(day + 1, 7, |b| b.is_ascii_digit());
    let fits = scan.at(day) == b'T' && matches!(time - day, 5 | 7);
    let zone = usize::from(scan.at(time) == b'Z');
    fits.then_some(time + zone)
}

/// Whether a separator and more digits follow, so that two numbers are not a month and a year.
fn goes_on(scan: &Scan<'_>, end: usize) -> bool {
    matches!(scan.at(end), b'/' | b'-' | b'.' | b':') && scan.at(end + 1).is_ascii_digit()
}

/// `5/2021`, and `5/21` after a word such as `on`: too short for the numbers of the prefilter.
fn slash_date(scan: &mut Scan<'_>, slash: usize) {
    const WORDS: [&str; 12] = [
        "on", "date", "dated", "today", "by", "since", "until", "due", "before", "after", "from",
        "born",
    ];
    let start = scan.run_back(slash, |b| b.is_ascii_digit());
    if !begins(scan.bytes, start) {
        return;
    }
    let month = date::end(scan, start, false).or_else(|| date::month_end(scan, start));
    let day = || {
        let (first, _) = number(scan, start, 2)?;
        let (second, end) = number(scan, slash + 1, 2)?;
        let fits = plausible(2024, first, second) || plausible(2024, second, first);
        (fits && has_word_before(scan.text, start, 12, &WORDS)).then_some(end)
    };
    if let Some(end) = month.or_else(day)
        && !goes_on(scan, end)
        && !scan.joins_at(end)
    {
        scan.add(DATE, start, end, 0.6);
    }
}

/// A date around the name of a month: with a day or a year before or after it.
fn named_date(scan: &mut Scan<'_>, _: usize, hit: Range<usize>) {
    let first = scan.bytes[hit.start];
    let Some((month_number, name_end)) = month(scan, hit.start) else {
        return;
    };
    // The literal may be the beginning of a longer name, which is a literal too.
    if is_word(scan.before(hit.start)) || scan.run(hit.start, is_word) != hit.end {
        return;
    }
    let day_start = day_before(scan, hit.start, month_number);
    let start = day_start.unwrap_or(hit.start);
    let (after, has_year) = rest_end(scan, name_end, month_number, day_start.is_some());
    let has_day = day_start.is_some() || after > name_end && !has_year;
    // `may 21 people` is a verb, and `mar`, `mars` and `dec` are words.
    let capital = first.is_ascii_uppercase() || first >= 0x80;
    let is_date = match capital {
        true => has_day || has_year,
        false => has_day && has_year || day_start.is_some(),
    };
    if !is_date {
        return;
    }
    let end = if after > name_end { after } else { hit.end };
    let end = time_end(scan, end);
    if !is_word(scan.at(end)) {
        let start = weekday_before(scan, start);
        scan.add(DATE, start, end, 0.8);
    }
}

/// The end of the day and the year that follow the name of a month, and whether there is a year.
fn rest_end(scan: &Scan<'_>, name_end: usize, month: u32, has_day: bool) -> (usize, bool) {
    let next = connective(scan, spaces(scan, name_end));
    let ends = |end: usize| !is_word(scan.at(end));
    let full_year =
        |at: usize| year(scan, at).filter(|(year, end)| (1850..=2100).contains(year) && ends(*end));
    let long = |at: usize| full_year(at).filter(|(_, end)| end - at >= 3);
    if has_day {
        return full_year(next).map_or((name_end, false), |(_, end)| (end, true));
    }
    if let Some((_, end)) = long(next) {
        return (end, true);
    }
    let digits = number(scan, next, 2).map(|(day, end)| (day, ordinal(scan, end)));
    let Some((day, end)) = digits.or_else(|| ordinal_after(scan, next)) else {
        return (name_end, false);
    };
    let bare = scan.run(next, |b| b.is_ascii_digit()).max(next);
    let day_end = if scan.before(end) == b'.' && bare > next {
        bare
    } else {
        end
    };
    if !(plausible(2024, month, day) || day <= 99 && scan.at(name_end) == b'-') {
        return (name_end, false);
    }
    match long(connective(scan, spaces(scan, end))) {
        Some((_, end)) => (end, true),
        None if is_word(scan.at(day_end)) => (name_end, false),
        None => (day_end, false),
    }
}

/// The start of the day before the name of a month: `21 `, `21-`, `the 21st of `, `the third of `.
fn day_before(scan: &Scan<'_>, month_start: usize, month: u32) -> Option<usize> {
    const CONNECTIVES: [&str; 6] = [" of ", " de ", " del ", " do ", " di ", " of the month of "];
    let text = &scan.text[..month_start];
    let connective = CONNECTIVES.iter().find(|word| text.ends_with(**word));
    let gap = match connective {
        Some(word) => word.len(),
        None => text.len() - text.trim_end_matches([' ', '-', '/', '.', ',']).len(),
    };
    let end = month_start - gap;
    if !(1..=16).contains(&gap) || connective.is_none() && gap > 2 {
        return None;
    }
    let start = scan.run_back(end, is_word);
    let word = scan.text.get(start..end)?.to_ascii_lowercase();
    let digits = word.bytes().take_while(u8::is_ascii_digit).count();
    let day = match digits {
        1 | 2 if ordinal(scan, start + digits) == end || digits == word.len() => {
            word[..digits].parse().ok()?
        }
        0 => {
            // `twenty-` before `first`.
            let hyphen = start - usize::from(scan.before(start) == b'-');
            let from = scan.run_back(hyphen, |b| b.is_ascii_alphabetic());
            let joined = scan.text.get(from..hyphen).filter(|_| hyphen < start);
            let day = ordinal_word(&word, joined)?;
            let from = joined.map_or(start, |tens| start - 1 - tens.len());
            return plausible(2024, month, day).then_some(from);
        }
        _ => return None,
    };
    (plausible(2024, month, day) && !matches!(scan.before(start), b'.' | b':')).then_some(start)
}

#[rustfmt::skip]
const ORDINALS: [&str; 20] = [
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth",
    "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth", "twentieth",
];

/// The day that an ordinal number in words names: `third`, `twenty-first`.
fn ordinal_word(word: &str, tens: Option<&str>) -> Option<u32> {
    let ones = ORDINALS
        .iter()
        .position(|o| *o == word)
        .map(|i| i as u32 + 1);
    match tens {
        Some(tens) if tens.eq_ignore_ascii_case("twenty") => ones.map(|ones| 20 + ones),
        Some(tens) if tens.eq_ignore_ascii_case("thirty") => ones.map(|ones| 30 + ones),
        _ if word == "thirtieth" => Some(30),
        _ => ones,
    }
}

/// The day that follows a month in words, and its end: `May the fourth`, `May twenty-first`.
fn ordinal_after(scan: &Scan<'_>, at: usize) -> Option<(u32, usize)> {
    let rest = scan.text.get(at..)?;
    let at = at + if rest.starts_with("the ") { 4 } else { 0 };
    let end = scan.run_at_most(at, 24, |b| b.is_ascii_alphabetic() || b == b'-');
    let text = scan.text.get(at..end)?.to_ascii_lowercase();
    let (tens, word) = match text.split_once('-') {
        Some((tens, word)) => (Some(tens), word),
        None => (None, text.as_str()),
    };
    Some((ordinal_word(word, tens)?, end))
}

/// The start of the weekday before a date: `Monday, 5 May`, `Tue, 15 Nov`.
fn weekday_before(scan: &Scan<'_>, start: usize) -> usize {
    let text = &scan.text[..start];
    let trimmed = text.trim_end_matches([' ', ',']);
    let from = scan.run_back(trimmed.len(), |b| b.is_ascii_alphabetic());
    let word = scan.text[from..trimmed.len()].to_ascii_lowercase();
    let short = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
    let known = WEEKDAYS.contains(&word.as_str()) || short.contains(&word.as_str());
    match known && (1..=2).contains(&(text.len() - trimmed.len())) {
        true => from,
        false => start,
    }
}

fn weekday(scan: &mut Scan<'_>, _: usize, hit: Range<usize>) {
    let plural = usize::from(scan.at(hit.end) == b's');
    let capital = scan.bytes[hit.start].is_ascii_uppercase()
        && scan.bytes[hit.start + 1].is_ascii_lowercase();
    if capital && !is_word(scan.before(hit.start)) && !is_word(scan.at(hit.end + plural)) {
        scan.add(DATE, hit.start, hit.end, 0.55);
    }
}

/// A year after a word: `in 1990`, `since 2004`.
fn year_after(scan: &mut Scan<'_>, _: usize, hit: Range<usize>) {
    const UNITS: [&str; 12] = [
        "people", "users", "items", "files", "times", "lines", "bytes", "kg", "km", "ms", "words",
        "dollars",
    ];
    let start = hit.end - 2;
    let end = scan.run_at_most(start, 5, |b| b.is_ascii_digit());
    let bracket = scan.bytes[hit.start] == b'(';
    if end - start != 4 || !bracket && is_word(scan.before(hit.start)) {
        return;
    }
    let (next, after) = (scan.at(end), scan.at(end + 1));
    let joins = matches!(next, b'.' | b',' | b'-' | b'/' | b':') && after.is_ascii_digit();
    let alone = !is_word(next) && !joins;
    let decade = next == b's' && !is_word(after);
    let unit = scan
        .text
        .get(end + 1..)
        .is_some_and(|t| UNITS.iter().any(|u| t.starts_with(u)));
    let closed = !bracket || matches!(next, b')' | b',' | b'-' | b';');
    if (alone || decade) && closed && !unit && !matches!(next, b'%' | b'_' | b'(') {
        scan.add(DATE, start, end, 0.55);
    }
}

/// `2024年5月15日`, `2024년 5월 15일`.
fn east_asian_date(scan: &mut Scan<'_>, _: usize, hit: Range<usize>) {
    let start = scan.run_back(hit.start, |b| b.is_ascii_digit());
    if hit.start - start != 4 {
        return;
    }
    let mut end = hit.end;
    for marks in [["月", "월"], ["日", "일"]] {
        let at = scan.run_at_most(end, 2, |b| b == b' ');
        let Some((_, after)) = number(scan, at, 2) else {
            break;
        };
        let rest = scan.text.get(after..).unwrap_or_default();
        match marks.iter().find(|mark| rest.starts_with(**mark)) {
            Some(mark) => end = after + mark.len(),
            None => break,
        }
    }
    scan.add(DATE, start, end, 0.7);
}

/// The end of the time of day and the time zone that may follow a date.
fn time_end(scan: &Scan<'_>, end: usize) -> usize {
    let rest = scan.text.get(end..).unwrap_or_default();
    let gap = ["T", " at ", ", ", " ", ":"].iter().find(|gap| {
        let next = end + gap.len();
        rest.starts_with(**gap) && scan.at(next).is_ascii_digit()
    });
    let Some(gap) = gap else {
        return end;
    };
    let start = end + gap.len();
    let time = scan.run_at_most(start, 18, |b| {
        b.is_ascii_digit() || matches!(b, b':' | b'.')
    });
    let time = time - usize::from(scan.before(time) == b'.');
    if !scan.bytes[start..time].contains(&b':') {
        return end;
    }
    let rest = scan.text.get(time..).unwrap_or_default();
    let zones = [
        "Z", " UTC", " GMT", " AM", " PM", " am", " pm", "am", "pm", "AM", "PM",
    ];
    if let Some(zone) = zones.iter().find(|zone| rest.starts_with(**zone)) {
        return time + zone.len();
    }
    let sign = time + usize::from(scan.at(time) == b' ');
    let zone = scan.run_at_most(sign + 1, 6, |b| b.is_ascii_digit() || b == b':');
    match scan.at(sign) {
        b'+' | b'-' if zone - sign >= 3 => zone,
        // `Tue Nov 15 08:12:31 1994`
        _ if sign > time
            && number(scan, sign, 4)
                .is_some_and(|(y, e)| e - sign == 4 && (1850..=2100).contains(&y)) =>
        {
            sign + 4
        }
        _ => time,
    }
}

#[cfg(test)]
mod tests {
    use crate::cases;

    #[test]
    fn dates_are_found_in_every_notation_when_turned_on() {
        cases::check(
            "DATE",
            &[
                ("on 2021-05-21.", "2021-05-21"),
                ("May 1st, 1977", "May 1st, 1977"),
                ("2024-03-15T14:30:00Z", "2024-03-15T14:30:00Z"),
                ("on 12. 5. 2021 in", "12. 5. 2021"),
                ("exp 05/2021", "05/2021"),
                ("since 2021-W05-3", "2021-W05-3"),
                ("at 20240515T101530Z", "20240515T101530Z"),
                ("the 21st of May", "21st of May"),
                ("on May the fourth", "May the fourth"),
                (
                    "on the twenty-first of June 2020",
                    "twenty-first of June 2020",
                ),
                ("am 3. Oktober 1990", "3. Oktober 1990"),
                ("le 14 juillet 1989", "14 juillet 1989"),
                ("el 5 de mayo de 2021", "5 de mayo de 2021"),
                (
                    "Tue, 15 Nov 1994 08:12:31 GMT",
                    "Tue, 15 Nov 1994 08:12:31 GMT",
                ),
                ("[15/Nov/1994:08:12:31 +0000]", "15/Nov/1994:08:12:31 +0000"),
                ("Nov 15 08:12:31 1994", "Nov 15 08:12:31 1994"),
                ("2024年5月15日", "2024年5月15日"),
                ("see you on Monday", "Monday"),
                ("he moved in 1990.", "1990"),
                ("met May-21 and", "May-21"),
                ("due on 5/21", "5/21"),
            ],
            &[
                "in 2021.5",
                "21-5",
                "it may 21 people",
                "1/2 cup",
                "in 2000 people",
                "sunday",
                "marching 5",
                "3/4 inch",
                "decode 12",
                "24/7",
            ],
        );
    }
}
