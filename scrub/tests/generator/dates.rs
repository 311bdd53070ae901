//! Dates in their notations.

use super::{Kind, Random};

pub fn kinds() -> Vec<Kind> {
    vec![Kind {
        name: "DATE",
        value: date,
        near_miss: |r| match r.below(4) {
            0 => format!("version {}.{}.{}", r.below(9), r.below(30), r.below(9)),
            1 => format!("{}/{} of it", r.range(1, 3), r.range(40, 99)),
            2 => format!(
                "{}-{}-{}",
                r.range(13, 99),
                r.range(32, 99),
                r.range(100, 999)
            ),
            _ => format!("it may {} times", r.range(32, 99)),
        },
        labels: &[],
    }]
}

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const GERMAN: [&str; 12] = [
    "Januar",
    "Februar",
    "März",
    "April",
    "Mai",
    "Juni",
    "Juli",
    "August",
    "September",
    "Oktober",
    "November",
    "Dezember",
];
const SPANISH: [&str; 12] = [
    "enero",
    "febrero",
    "marzo",
    "abril",
    "mayo",
    "junio",
    "julio",
    "agosto",
    "septiembre",
    "octubre",
    "noviembre",
    "diciembre",
];
const FRENCH: [&str; 12] = [
    "janvier",
    "février",
    "mars",
    "avril",
    "mai",
    "juin",
    "juillet",
    "août",
    "septembre",
    "octobre",
    "novembre",
    "décembre",
];

fn date(r: &mut Random) -> (String, &'static str) {
    let (year, month, day) = (r.range(1930, 2030), r.range(1, 12), r.range(1, 28));
    let (name, short) = (MONTHS[month - 1], &MONTHS[month - 1][..3]);
    let (hour, minute, second) = (r.below(24), r.below(60), r.below(60));
    let ordinal = match day {
        1 | 21 => "st",
        2 | 22 => "nd",
        3 | 23 => "rd",
        _ => "th",
    };
    match r.below(20) {
        0 => (format!("{year}-{month:02}-{day:02}"), "ISO"),
        1 => (format!("{month}/{day}/{year}"), "American"),
        2 => (format!("{day:02}.{month:02}.{year}"), "German"),
        3 => (format!("{day}. {month}. {year}"), "German, spaced"),
        4 => (format!("{day}-{short}-{year}"), "with a short month"),
        5 => (format!("{name} {day}, {year}"), "American, in words"),
        6 => (format!("{day}{ordinal} of {name} {year}"), "ordinal"),
        7 => (format!("{day} {name} {year}"), "British, in words"),
        8 => (
            format!("{day}. {} {year}", GERMAN[month - 1]),
            "German, in words",
        ),
        9 => (
            format!("{day} de {} de {year}", SPANISH[month - 1]),
            "Spanish",
        ),
        10 => (format!("{day} {} {year}", FRENCH[month - 1]), "French"),
        11 => (format!("{name} {year}"), "month and year"),
        12 => (format!("{short}-{year}"), "short month and year"),
        13 => (format!("{month:02}/{year}"), "numeric month and year"),
        14 => (
            format!("{year}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z"),
            "RFC 3339",
        ),
        15 => (
            format!("{day:02}/{short}/{year}:{hour:02}:{minute:02}:{second:02} +0000"),
            "Common Log Format",
        ),
        16 => (format!("{name} {day}{ordinal}"), "without a year"),
        17 => (format!("{year}年{month}月{day}日"), "Chinese"),
        18 => (format!("{year}/{month:02}/{day:02}"), "year first, slashes"),
        _ => (
            format!("{day}/{month}/{:02}", year % 100),
            "two digits of the year",
        ),
    }
}
