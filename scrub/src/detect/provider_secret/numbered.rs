//! Secrets without a prefix to search for: those that begin with the number of an account
//! (Telegram, Facebook, Discord), and the old tokens of Vault.

use std::ops::Range;

use crate::Kind;
use crate::detect::randomness::TokenStats;
use crate::detect::sample_value::is_sample_key;
use crate::scan::Scan;

pub(super) const KINDS: [&str; 4] = [
    "TELEGRAM_TOKEN",
    "FACEBOOK_APP_TOKEN",
    "DISCORD_TOKEN",
    "VAULT_TOKEN",
];

const TELEGRAM: Kind = Kind::new(KINDS[0]);
const FACEBOOK: Kind = Kind::new(KINDS[1]);
const DISCORD: Kind = Kind::new(KINDS[2]);
const VAULT: Kind = Kind::new(KINDS[3]);

/// The length of the secret part of a Telegram token; the one in its documentation is shorter by one.
const TELEGRAM_SECRET: usize = 35;

fn part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// `110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw` and `123456789012345|AbC…`: the number of a bot or
/// an app, and its secret.
pub(super) fn check_number(scan: &mut Scan<'_>, start: usize) {
    let digits = scan.leading_digits;
    let separator = start + digits;
    let (kind, lengths) = match (scan.at(separator), digits) {
        (b':', 6..=16) => (TELEGRAM, TELEGRAM_SECRET - 1..=TELEGRAM_SECRET),
        (b'|', 12..=18) => (FACEBOOK, 24..=40),
        _ => return,
    };
    let previous = scan.before(start);
    let joins = previous.is_ascii_alphanumeric() && !scan.bytes[..start].ends_with(b"/bot");
    if joins || matches!(previous, b'.' | b'_') {
        return;
    }
    let end = scan.run_at_most(separator + 1, lengths.end() + 1, part);
    let secret = &scan.bytes[separator + 1..end];
    let stats = TokenStats::of(secret);
    let random = stats.lower > 0 && stats.upper + stats.digits > 1 && !stats.has_words();
    if lengths.contains(&secret.len()) && random && !is_sample_key(secret) {
        scan.add(kind, start, end, 0.95);
    }
}

/// The length of an old Vault token, after its `s.`.
const VAULT_SECRET: usize = 24;

pub(super) fn check_token(scan: &mut Scan<'_>, range: Range<usize>) {
    check_discord(scan, &range);
    check_vault(scan, &range);
}

/// `s.7ekghykbyx3tnz5rw21jvjok`.
fn check_vault(scan: &mut Scan<'_>, range: &Range<usize>) {
    let token = &scan.bytes[range.clone()];
    let before = &scan.bytes[..range.start];
    if token.len() != VAULT_SECRET
        || !before.ends_with(b"s.")
        || part(scan.before(range.start - 2))
        || !token.iter().all(u8::is_ascii_alphanumeric)
    {
        return;
    }
    let stats = TokenStats::of(token);
    if stats.digits >= 2 && !stats.has_words() && !is_sample_key(token) {
        scan.add(VAULT, range.start - 2, range.end, 0.9);
    }
}

/// `MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ.ZnCjm1XVW7vRze4b7Cq4se7kKWs`: the number of a bot in base64, a time
/// and a signature.
fn check_discord(scan: &mut Scan<'_>, range: &Range<usize>) {
    let first = range.end - range.start;
    if !(24..=28).contains(&first) || !matches!(scan.at(range.start), b'M' | b'N' | b'O') {
        return;
    }
    let time = scan.run_at_most(range.end + 1, 7, part);
    let end = scan.run_at_most(time + 1, 41, part);
    let lengths = (time.saturating_sub(range.end), end.saturating_sub(time));
    let dots = scan.at(range.end) == b'.' && scan.at(time) == b'.';
    if dots && lengths.0 == 7 && (28..=41).contains(&lengths.1) {
        scan.add(DISCORD, range.start, end, 0.95);
    }
}

#[cfg(test)]
mod tests {
    use crate::cases;

    #[test]
    fn tokens_with_the_number_of_an_account_are_found() {
        cases::check(
            "TELEGRAM_TOKEN",
            &[(
                "bot 110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw ok",
                "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw",
            )],
            &[
                "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALD",
                "110201543:getElementsByClassNameAndOthersToo1",
            ],
        );
        cases::check(
            "DISCORD_TOKEN",
            &[(
                "t=\"MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ.ZnCjm1XVW7vRze4b7Cq4se7kKWs\"",
                "MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ.ZnCjm1XVW7vRze4b7Cq4se7kKWs",
            )],
            &["MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ"],
        );
        cases::check(
            "VAULT_TOKEN",
            &[("s.7ekghykbyx3tnz5rw21jvjok", "s.7ekghykbyx3tnz5rw21jvjok")],
            &["s.getElementsByClassName12", "as.7ekghykbyx3tnz5rw21jvjok"],
        );
        cases::check(
            "FACEBOOK_APP_TOKEN",
            &[(
                "access 123456781234567|kQz7xW2vJfHqPzBdKxM1nRtYu0s",
                "123456781234567|kQz7xW2vJfHqPzBdKxM1nRtYu0s",
            )],
            &["1234567|kQz7xW2vJfHqPzBdKxM1nRtYu0s"],
        );
    }
}
