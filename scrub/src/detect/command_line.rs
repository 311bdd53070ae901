//! Credentials on a command line: `curl -u user:password`, `mysql -ppassword`, `sshpass -p password`.

use std::ops::Range;

use super::randomness::TokenStats;
use super::sample_value::is_sample;
use super::{DefaultPolicy, Detector, Repeats, Trigger};
use crate::Kind;
use crate::scan::Scan;

const COMMAND_CREDENTIALS: Kind = Kind::new("COMMAND_CREDENTIALS");

pub(super) static DETECTOR: Detector = Detector {
    name: "command_line",
    kinds: || vec![COMMAND_CREDENTIALS],
    default_policy: DefaultPolicy::OneWay,
    repeats: Repeats::SearchedAfterColon,
    triggers: &[
        Trigger::Literals(|| &COMMAND_NAMES, check),
        Trigger::Literals(|| STATEMENTS, check_statement),
    ],
};

/// How the value of an option is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// `user:password`.
    Pair,
    /// `user%password`.
    PercentPair,
    /// The password as the next word.
    Next,
    /// The password in the same word: `-pPASSWORD`.
    Joined,
    /// `pass:PASSWORD`, as `openssl` has it.
    Source,
}

/// An option and the form of its value.
type SecretOption = (&'static str, Form);

#[rustfmt::skip]
const COMMANDS: &[(&str, &[SecretOption])] = &[
    ("curl", &[
        ("-u", Form::Pair), ("--user", Form::Pair), ("-U", Form::Pair), ("--proxy-user", Form::Pair),
        ("--oauth2-bearer", Form::Next),
    ]),
    ("http ", &[("-a", Form::Pair), ("--auth", Form::Pair)]),
    ("wget", &[("--http-password", Form::Next), ("--ftp-password", Form::Next)]),
    ("mysql", &[("-p", Form::Joined)]),
    ("mariadb", &[("-p", Form::Joined)]),
    ("sshpass", &[("-p", Form::Next), ("-p", Form::Joined)]),
    ("redis-cli", &[("-a", Form::Next), ("--pass", Form::Next)]),
    ("docker login", &[("-p", Form::Next)]),
    ("podman login", &[("-p", Form::Next)]),
    ("mongo", &[("-p", Form::Next)]),
    ("mongosh", &[("-p", Form::Next)]),
    ("mongodump", &[("-p", Form::Next)]),
    ("az login", &[("-p", Form::Next)]),
    ("oc login", &[("-p", Form::Next)]),
    ("ldapsearch", &[("-w", Form::Next)]),
    ("ldapmodify", &[("-w", Form::Next)]),
    ("smbclient", &[("-U", Form::PercentPair)]),
    ("sqlcmd", &[("-P", Form::Next)]),
    ("unzip", &[("-P", Form::Next)]),
    ("openssl", &[("-passin", Form::Source), ("-passout", Form::Source), ("-pass", Form::Source)]),
    ("convertto-securestring", &[("-string", Form::Next), ("", Form::Next)]),
];

const COMMAND_NAMES: [&str; COMMANDS.len()] = {
    let mut names = [""; COMMANDS.len()];
    let mut index = 0;
    while index < names.len() {
        names[index] = COMMANDS[index].0;
        index += 1;
    }
    names
};

/// What precedes a quoted password in SQL and in libcurl's interface.
const STATEMENTS: &[&str] = &[
    "identified by ",
    "identified with mysql_native_password by ",
    "identified with caching_sha2_password by ",
    "curlopt_userpwd",
    "curlopt_proxyuserpwd",
    "curlopt_proxypassword",
    "curlopt_password",
    "curlopt_xoauth2_bearer",
];

/// A command extends at most this far, over lines that end in a backslash.
const MAX_COMMAND_BYTES: usize = 1024;
/// Longer values are not passwords.
const MAX_VALUE_BYTES: usize = 256;

fn check(scan: &mut Scan<'_>, command: usize, hit: Range<usize>) {
    let previous = scan.before(hit.start);
    if previous.is_ascii_alphanumeric() || matches!(previous, b'_' | b'-' | b'.') {
        return;
    }
    let words = words(scan, hit.end);
    for (name, form) in COMMANDS[command].1 {
        for (index, word) in words.iter().enumerate() {
            let next = words.get(index + 1);
            if let Some(value) = option_value(scan, name, *form, word, next)
                && let Some(range) = secret(scan, *form, value)
            {
                scan.add(COMMAND_CREDENTIALS, range.start, range.end, 0.9);
            }
        }
    }
}

/// The words of the command line from `start`, without the quotes around them.
fn words(scan: &Scan<'_>, start: usize) -> Vec<Range<usize>> {
    const MAX_WORDS: usize = 64;
    let limit = scan.bytes.len().min(start + MAX_COMMAND_BYTES);
    let (mut words, mut at) = (Vec::new(), start);
    while at < limit && words.len() < MAX_WORDS {
        match scan.bytes[at] {
            b' ' | b'\t' => at += 1,
            // A line that goes on.
            b'\\' if matches!(scan.at(at + 1), b'\n' | b'\r') => at += 2,
            b'\n' | b'\r' | b'|' | b';' | b'`' => break,
            quote @ (b'"' | b'\'') => {
                let end = scan.run_at_most(at + 1, limit - at, |b| b != quote && b != b'\n');
                words.push(at + 1..end);
                at = end + 1;
            }
            _ => {
                let end = word_end(scan, at, limit);
                words.push(at..end);
                at = end;
            }
        }
    }
    words
}

/// The end of a word without quotes around it; quotes within it are a part: `-u'user:password'`.
fn word_end(scan: &Scan<'_>, start: usize, limit: usize) -> usize {
    let (mut at, mut quote) = (start, 0);
    while at < limit {
        match scan.bytes[at] {
            b'\n' | b'\r' => break,
            b if b == quote => quote = 0,
            b @ (b'"' | b'\'') if quote == 0 => quote = b,
            b' ' | b'\t' | b'|' | b';' | b'`' if quote == 0 => break,
            _ => {}
        }
        at += 1;
    }
    at
}

/// The value of an option in this word or the next.
fn option_value(
    scan: &Scan<'_>,
    name: &str,
    form: Form,
    word: &Range<usize>,
    next: Option<&Range<usize>>,
) -> Option<Range<usize>> {
    let text = scan.text.get(word.clone())?;
    let rest = match scan.text.get(word.start..word.start + name.len()) {
        Some(option) if option == name => &text[name.len()..],
        // The options of PowerShell are in any case.
        Some(option) if name == "-string" && option.eq_ignore_ascii_case(name) => {
            &text[name.len()..]
        }
        _ => return None,
    };
    if name.is_empty() {
        // The first word after the command, if it is quoted.
        let quoted = matches!(scan.before(word.start), b'"' | b'\'');
        return quoted.then(|| word.clone());
    }
    let from = word.end - rest.len();
    match rest.as_bytes().first() {
        None if form != Form::Joined => next.cloned(),
        Some(b'=') => Some(from + 1..word.end),
        // `-uuser:password`, and not another option: `--user-agent`.
        Some(_) if name.len() == 2 && form != Form::Next => Some(from..word.end),
        _ => None,
    }
}

/// The range of the secret in the value of an option, unless it is a variable or a sample.
fn secret(scan: &Scan<'_>, form: Form, value: Range<usize>) -> Option<Range<usize>> {
    let text = scan.text.get(value.clone())?;
    let inner = text.trim_matches(['"', '\'']);
    let start = value.start + text.find(inner)?;
    let range = start..start + inner.len();
    let is_pair = |user: &str, password: &str| match password {
        // `-u TOKEN:`: the user is the secret.
        "" => is_random(user),
        _ => is_password(password),
    };
    let found = match form {
        // `<user:password>` stands for both.
        Form::Pair if inner.starts_with('<') => false,
        Form::Pair => inner.split_once(':').is_some_and(|(u, p)| is_pair(u, p)),
        Form::PercentPair => inner.split_once('%').is_some_and(|(u, p)| is_pair(u, p)),
        Form::Source => inner.strip_prefix("pass:").is_some_and(is_password),
        Form::Joined | Form::Next => is_password(inner),
    };
    (found && inner.len() <= MAX_VALUE_BYTES).then_some(range)
}

fn is_password(text: &str) -> bool {
    let text = text.trim_matches(['"', '\'']);
    let variable =
        text.starts_with(['$', '<', '{', '%', '[', '(', '-', '/']) || text.contains("${");
    let code = ["process.env", "os.environ"]
        .iter()
        .any(|p| text.starts_with(p))
        || text.strip_prefix("env.").is_some_and(is_variable_name);
    text.len() >= 4 && !variable && !code && !text.contains("...") && !is_sample(text.as_bytes())
}

/// Whether a name is one of a variable: `DB_PASSWORD2`, `dbPassword`, and not `Kq81z`.
fn is_variable_name(name: &str) -> bool {
    let part = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.');
    let is_constant = !name.bytes().any(|b| b.is_ascii_lowercase());
    name.bytes().all(part) && (is_constant || !name.bytes().any(|b| b.is_ascii_digit()))
}

fn is_random(text: &str) -> bool {
    let stats = TokenStats::of(text.as_bytes());
    text.len() >= 10 && stats.digits >= 2 && !text.starts_with('$') && !is_sample(text.as_bytes())
}

/// `IDENTIFIED BY 'password'`, `curl_easy_setopt(c, CURLOPT_USERPWD, "user:password")`.
fn check_statement(scan: &mut Scan<'_>, statement: usize, hit: Range<usize>) {
    let opening = scan.run_at_most(hit.end, 4, |b| matches!(b, b' ' | b',' | b'=' | b'>'));
    let quote = scan.at(opening);
    if !matches!(quote, b'"' | b'\'') {
        // Some dialects want no quotes: `IDENTIFIED BY Sq1Pa5s;`.
        let end = scan.run_at_most(opening, MAX_VALUE_BYTES, |b| {
            !b.is_ascii_whitespace() && !matches!(b, b';' | b'"' | b'\'' | b'\\' | b')' | b',')
        });
        let value = scan.text.get(opening..end).unwrap_or_default();
        let mixed = value.bytes().any(|b| b.is_ascii_digit())
            && value.bytes().any(|b| b.is_ascii_alphabetic());
        let number = value.starts_with("0b") || value.starts_with("0x");
        if statement == 0 && mixed && !number && is_password(value) {
            scan.add(COMMAND_CREDENTIALS, opening, end, 0.8);
        }
        return;
    }
    let end = scan.run_at_most(opening + 1, MAX_VALUE_BYTES, |b| b != quote && b != b'\n');
    let value = scan.text.get(opening + 1..end).unwrap_or_default();
    let password = value
        .rsplit_once(':')
        .map_or(value, |(_, password)| password);
    if scan.at(end) == quote && is_password(password) {
        scan.add(COMMAND_CREDENTIALS, opening + 1, end, 0.9);
    }
}

#[cfg(test)]
mod tests {
    use crate::cases;

    #[test]
    fn credentials_of_commands_are_found_and_variables_are_not() {
        cases::check(
            "COMMAND_CREDENTIALS",
            &[
                ("curl -u jo:hunter22 https://x.example", "jo:hunter22"),
                (
                    "curl -X POST -u 'jo:hunter22' \\\n  https://x",
                    "jo:hunter22",
                ),
                ("curl \\\n --user \"jo:p4ss word\" x", "jo:p4ss word"),
                ("curl -sS --user=jo:hunter22 x", "jo:hunter22"),
                ("curl -ujo:hunter22 x", "jo:hunter22"),
                ("curl -u jo:env.Kq81z x", "jo:env.Kq81z"),
                ("curl https://x -u a8f3k2m9q1z7: -d y", "a8f3k2m9q1z7:"),
                ("mysql -u root -ph4ckme db", "h4ckme"),
                ("sshpass -p 'h4ckme' ssh jo@host", "h4ckme"),
                ("redis-cli -h cache -a h4ckme ping", "h4ckme"),
                ("docker login -u jo -p h4ckme reg.example", "h4ckme"),
                ("openssl rsa -passin pass:h4ckme -in k", "pass:h4ckme"),
                ("CREATE USER jo IDENTIFIED BY 'h4ckme'", "h4ckme"),
                (
                    "curl_easy_setopt(c, CURLOPT_USERPWD, \"jo:h4ckme\");",
                    "jo:h4ckme",
                ),
            ],
            &[
                "curl -u $USER:$PASS x",
                "curl -u \"${USER}:${PASS}\" x",
                "curl -u user:password x",
                "curl -u user:process.env.TOKEN x",
                "curl -u user:env.TOKEN2 x",
                "curl -u <user>:<password> x",
                "curl --user-agent jo:hunter22 x",
                "curl https://x | sort -u a:b1234",
                "mysql -p db",
                "my-curl -u jo:hunter22 x",
                "docker login -p $TOKEN",
                "curling -x jo:hunter22",
                "IDENTIFIED BY 'password'",
                "the functionality identified by 0b0100.",
            ],
        );
    }
}
