//! Which events `pml audit query` and `pml audit export` are about.

use std::time::{Duration, SystemTime};

use clap::Args;
use pml_audit::{Filter, timestamp};

use crate::amounts::parse_time;

/// Which events are wanted.
#[derive(Args)]
pub struct FilterArgs {
    /// The beginning of the type, such as pml.call
    #[arg(long = "type", value_name = "TYPE")]
    kind: Option<String>,

    /// server:tool
    #[arg(long, value_name = "TOOL")]
    tool: Option<String>,

    /// Who asked for it
    #[arg(long, value_name = "NAME")]
    principal: Option<String>,

    /// Whose data it is about
    #[arg(long, value_name = "TENANT")]
    tenant: Option<String>,

    /// The id of a run
    #[arg(long, value_name = "RUN")]
    run: Option<String>,

    /// The id of the session of a client
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,

    /// The id of a trace, 32 hexadecimal digits
    #[arg(long, value_name = "TRACE", value_parser = parse_trace)]
    trace: Option<String>,

    /// From this time on: how long ago, such as 24h, or a time in UTC, such as 2026-02-01T08:30
    #[arg(long, value_name = "TIME", value_parser = parse_moment)]
    since: Option<String>,

    /// Before this time, written in the same way
    #[arg(long, value_name = "TIME", value_parser = parse_moment)]
    until: Option<String>,

    /// At most this many, the newest
    #[arg(short = 'n', long, value_name = "N")]
    last: Option<usize>,
}

impl FilterArgs {
    pub fn filter(&self) -> Filter {
        Filter {
            kind: self.kind.clone(),
            subject: self.tool.clone(),
            principal: self.principal.clone(),
            tenant: self.tenant.clone(),
            run: self.run.clone(),
            session: self.session.clone(),
            trace: self.trace.clone(),
            since: self.since.clone(),
            until: self.until.clone(),
            last: self.last,
        }
    }
}

fn parse_trace(text: &str) -> Result<String, String> {
    let is_trace = text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    match is_trace {
        true => Ok(text.to_ascii_lowercase()),
        false => Err(
            "expected 32 hexadecimal digits, such as 0af7651916cd43dd8448eb211c80319c".to_owned(),
        ),
    }
}

/// A time as events have it, or the beginning of one. Those are compared as text.
fn parse_moment(text: &str) -> Result<String, String> {
    if let Ok(ms) = parse_time(text) {
        let time = SystemTime::now().checked_sub(Duration::from_millis(ms));
        return Ok(timestamp(time.unwrap_or(SystemTime::UNIX_EPOCH)));
    }
    // Without the zone, it is the beginning of the text of every later time.
    let moment = text.strip_suffix(['Z', 'z']).unwrap_or(text);
    let moment = moment.replacen(['t', ' '], "T", 1);
    match is_moment(&moment) {
        true => Ok(moment),
        false => Err(
            "expected how long ago, such as 24h, or a time in UTC, such as 2026-02-01 or 2026-02-01T08:30:00Z"
                .to_owned(),
        ),
    }
}

/// Whether a text is a date, or a date with a time to the minute, the second or a part of it.
fn is_moment(text: &str) -> bool {
    const FORM: &str = "dddd-dd-ddTdd:dd:dd.dddddd";
    let fits = text
        .bytes()
        .zip(FORM.bytes())
        .all(|(byte, form)| match form {
            b'd' => byte.is_ascii_digit(),
            form => byte == form,
        });
    let in_range = |at: usize, range: std::ops::RangeInclusive<u32>| {
        text.get(at..at + 2)
            .is_none_or(|number| number.parse().is_ok_and(|number| range.contains(&number)))
    };
    fits && (matches!(text.len(), 10 | 16 | 19) || (21..=26).contains(&text.len()))
        && in_range(5, 1..=12)
        && in_range(8, 1..=31)
        && in_range(11, 0..=23)
        && in_range(14, 0..=59)
        && in_range(17, 0..=60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_how_long_ago_or_a_moment_in_utc() {
        for (text, moment) in [
            ("2026-02-01", "2026-02-01"),
            ("2026-02-01 08:30", "2026-02-01T08:30"),
            ("2026-02-01T08:30:00Z", "2026-02-01T08:30:00"),
            ("2026-02-01t08:30:00.25z", "2026-02-01T08:30:00.25"),
        ] {
            assert_eq!(parse_moment(text).as_deref(), Ok(moment), "{text}");
        }
        let ago = parse_moment("24h").unwrap();
        assert!(ago.as_str() < timestamp(SystemTime::now()).as_str());
        for text in [
            "",
            "yesterday",
            "2026-2-1",
            "2026-13-01",
            "2026-02-01T24:00",
            "2026-02-01T08:30+01:00",
            "2026-02-01T08",
            "2026-02-01T08:30:00.",
            "é026-02-01",
        ] {
            assert!(parse_moment(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_trace_is_hexadecimal() {
        let trace = "0AF7651916cd43dd8448eb211c80319c";
        assert_eq!(parse_trace(trace), Ok(trace.to_lowercase()));
        assert!(parse_trace("0af7").is_err());
    }
}
