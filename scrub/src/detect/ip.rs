//! IPv4 and IPv6 addresses, with zone and prefix length.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::{DefaultPolicy, Detector, Repeats, Trigger};
use crate::boundary::is_word;
use crate::scan::Scan;
use crate::{Kind, context};

const IP: Kind = Kind::new("IP");

pub(super) static DETECTOR: Detector = Detector {
    name: "ip",
    kinds: || vec![IP],
    default_policy: DefaultPolicy::Reversible,
    repeats: Repeats::FoundByDetector,
    triggers: &[Trigger::Number(check_v4), Trigger::HexSeparator(check_v6)],
};

const WORDS: &[&str] = &[
    "ip",
    "ipv4",
    "ipv6",
    "address",
    "addr",
    "host",
    "server",
    "subnet",
    "cidr",
    "client",
    "localhost",
    "loopback",
    "gateway",
    "dns",
    "broadcast",
    "unspecified",
    "prefix",
    "network",
    "remote",
    "peer",
    "from",
    "endpoint",
];
const VERSION_WORDS: &[&str] = &[
    "version", "ver", "v", "release", "chrome", "firefox", "safari", "edge", "build", "assembly",
    "oid", "section",
];
/// How close before the address they must be: a browser's name at the end of a log line is not
/// context for the address at the beginning of the next.
const VERSION_REACH: usize = 16;

/// The length of `255.255.255.255`.
const MAX_V4_BYTES: usize = 15;

fn check_v4(scan: &mut Scan<'_>, start: usize) {
    if !scan.at(start).is_ascii_digit() {
        return;
    }
    let Some((address, end)) = v4_at(scan, start) else {
        return;
    };
    let previous = scan.before(start);
    if scan.joins_before(start)
        || matches!(previous, b'.' | b'-' | b'_' | b'+' | b':') && joined(scan, start)
    {
        return;
    }
    let range = scan.at(end) == b'-' && v4_at(scan, end + 1).is_some();
    let joins = scan.at(end) == b'-' && scan.at(end + 1).is_ascii_alphanumeric();
    if scan.joins_at(end) || joins && !range && !is_last_number(scan, end + 1) {
        return;
    }
    let surrounded = range || has_port(scan, end) || prefix_end(scan, end) > end;
    let end = prefix_end(scan, end);
    let named = scan.has_word_near(start, end, WORDS);
    let version = follows_version(scan, start);
    scan.add(
        IP,
        start,
        end,
        confidence(address, named || surrounded, version, scan.key_end > 0),
    );
}

/// Whether a version word precedes, without another number in between: `build 42 on 203.0.113.7` is
/// a host.
fn follows_version(scan: &Scan<'_>, start: usize) -> bool {
    let gap = start - scan.run_back(start, |b| !b.is_ascii_digit());
    context::has_word_before(scan.text, start, gap.min(VERSION_REACH), VERSION_WORDS)
}

/// The IPv4 address at an offset and its end. A port may follow after a dot, as `tcpdump` writes it.
fn v4_at(scan: &Scan<'_>, start: usize) -> Option<(Ipv4Addr, usize)> {
    const MAX_PORT_BYTES: usize = 6;
    let dotted = |b: u8| b.is_ascii_digit() || b == b'.';
    let most = MAX_V4_BYTES + MAX_PORT_BYTES;
    let run = scan.run_at_most(start, most + 1, dotted);
    let run = run - usize::from(run > start && scan.before(run) == b'.');
    let text = scan.text.get(start..run)?;
    if let Ok(address) = text.parse() {
        return Some((address, run));
    }
    let (head, port) = text.rsplit_once('.')?;
    let is_port = port
        .parse::<u32>()
        .is_ok_and(|port| (256..65536).contains(&port));
    let listed = matches!(scan.at(run), b':' | b' ');
    let address = head.parse().ok().filter(|_| is_port && listed)?;
    Some((address, start + head.len()))
}

/// Whether the last number of a range follows: `10.0.0.1-254`.
fn is_last_number(scan: &Scan<'_>, at: usize) -> bool {
    let end = scan.run_at_most(at, 4, |b| b.is_ascii_digit());
    let number = scan.text.get(at..end).and_then(|n| n.parse::<u32>().ok());
    number.is_some_and(|n| n < 256) && !is_word(scan.at(end)) && scan.at(end) != b'.'
}

/// Whether a port follows: `:8080`.
fn has_port(scan: &Scan<'_>, end: usize) -> bool {
    let after = scan.run_at_most(end + 1, 6, |b| b.is_ascii_digit());
    scan.at(end) == b':' && (2..=6).contains(&(after - end)) && !is_word(scan.at(after))
}

/// Whether the separator before the first digit joins it to a longer number or name; `ip-` and
/// `host_` are labels.
fn joined(scan: &Scan<'_>, start: usize) -> bool {
    let separator = start - 1;
    let label = scan.run_back(separator, |b| b.is_ascii_alphabetic());
    let is_label = ["ip", "host", "addr", "server", "node", "client"]
        .iter()
        .any(|l| scan.text[label..separator].eq_ignore_ascii_case(l));
    let named = matches!(scan.bytes[separator], b'-' | b'_') && is_label;
    start >= 2 && scan.joins_before(separator) && scan.before(start) != b':' && !named
}

fn confidence(address: Ipv4Addr, named: bool, version: bool, keyed: bool) -> f32 {
    let [a, b, c, d] = address.octets();
    let harmless = address.is_loopback() || address.is_unspecified() || address.is_broadcast();
    // 1.2.3.4 is a version more often than a host, and a mask is not a host.
    let small = a < 10 && b < 30 && c < 100 && d < 100;
    match (harmless || a == 255 || a == 0, version) {
        // Loopback, unspecified or broadcast: private only if a key says that it is an address.
        (true, _) => {
            if named && keyed {
                0.6
            } else {
                0.2
            }
        }
        (false, true) => 0.3,
        (false, false) if small && !named => 0.4,
        (false, false) => {
            if named {
                0.95
            } else {
                0.85
            }
        }
    }
}

fn check_v6(scan: &mut Scan<'_>, at: usize) {
    let part = |b: u8| b.is_ascii_hexdigit() || matches!(b, b':' | b'.');
    let run = scan.run_back(at, part);
    // An address begins with two colons or none: one or three are one of the text, as in
    // `地址：2001:db8::1` and `地址：::ffff:192.0.2.1`.
    let follows_colon = (scan.run_at_most(run, 4, |b| b == b':') - run) % 2 == 1;
    let start = after_label(scan, run + usize::from(follows_colon));
    // A run is checked once, at the first colon of the address.
    if start > at && scan.at(start) != b':' || scan.bytes[start.min(at)..at].contains(&b':') {
        return;
    }
    // The longest address has 45 characters.
    let mut end = scan.run_at_most(at.max(start), 64, part);
    while end > start && scan.before(end) == b'.' {
        end -= 1;
    }
    if end > start && scan.before(end) == b':' && !scan.text[start..end].ends_with("::") {
        end -= 1;
    }
    if scan.joins_at(end) || scan.at(end) == b'_' {
        return;
    }
    let begins = !scan.joins_before(start) && !matches!(scan.before(start), b'_' | b'.' | b'%');
    // A MAC address has six groups and belongs to another detector.
    let whole = scan.text[start..end].parse().ok().filter(|_| begins);
    let Some((start, address)) = whole
        .map(|address| (start, address))
        .or_else(|| after_word(scan, start, end))
    else {
        return;
    };
    let text = &scan.text[start..end];
    let colons = text.bytes().filter(|b| *b == b':').count();
    let digits = text.bytes().filter(u8::is_ascii_hexdigit).count();
    let plain = address.is_loopback() || address.is_unspecified();
    let named = scan.has_word_near(start, end, WORDS);
    let end = prefix_end(scan, zone_end(scan, end));
    // `a::b` is a path in many programming languages: an address needs digits.
    let has_digit = text.bytes().any(|b| b.is_ascii_digit());
    let confidence = match (plain, colons >= 3 && digits >= 6 && has_digit) {
        (true, _) => {
            if named && scan.key_end > 0 {
                0.6
            } else {
                0.2
            }
        }
        (false, true) => 0.9,
        (false, false) if has_digit && digits >= 4 => {
            if named {
                0.9
            } else {
                0.6
            }
        }
        (false, false) => {
            if named && has_digit {
                0.7
            } else {
                0.2
            }
        }
    };
    scan.add(IP, start, end, confidence);
}

/// The start of an address after a label that ends in a possible hexadecimal digit, with a single
/// colon and no space after it: `IPv6:2a00::1`, `addr:fe80::1`.
fn after_label(scan: &Scan<'_>, run: usize) -> usize {
    const LABELS: [&[u8]; 8] = [
        b"ip", b"ipv6", b"ip6", b"inet6", b"addr", b"address", b"host", b"from",
    ];
    let Some(colon) = scan.bytes[run..].iter().take(8).position(|b| *b == b':') else {
        return run;
    };
    let end = run + colon;
    let start = scan.run_back(run, |b| b.is_ascii_alphanumeric());
    let label = &scan.bytes[start..end];
    match LABELS.iter().any(|l| label.eq_ignore_ascii_case(l)) && scan.at(end + 1) != b':' {
        true => end + 1,
        false => run,
    }
}

/// An address after a word and a colon that look like a part of it. The full-width colon of Chinese and
/// Japanese text, which has no space after it, is such a colon: `see：2001:db8::1`. Only an address with
/// several groups, which is nothing else.
fn after_word(scan: &Scan<'_>, run: usize, end: usize) -> Option<(usize, Ipv6Addr)> {
    let word = scan.bytes[run..end].iter().take(5);
    let colon = run + word.take_while(|b| b.is_ascii_hexdigit()).count();
    let start = scan.run_at_most(colon, 2, |b| b == b':');
    let text = scan.text.get(start..end)?;
    let address = text.parse().ok()?;
    let groups = || text.split(':');
    let digits = text.bytes().filter(u8::is_ascii_hexdigit).count();
    let is_long = groups().count() > 3 && digits >= 6 && text.bytes().any(|b| b.is_ascii_digit());
    // Pairs of digits are a fingerprint.
    let has_long_group = groups().any(|group| group.len() > 2);
    (start > colon && is_long && has_long_group).then_some((start, address))
}

fn zone_end(scan: &Scan<'_>, end: usize) -> usize {
    match scan.at(end) {
        b'%' => scan.run(end + 1, |b| {
            b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_')
        }),
        _ => end,
    }
}

fn prefix_end(scan: &Scan<'_>, end: usize) -> usize {
    if scan.at(end) != b'/' {
        return end;
    }
    let after = scan.run(end + 1, |b| b.is_ascii_digit());
    match after - end {
        2..=4 if !scan.joins_at(after) => after,
        _ => end,
    }
}

#[cfg(test)]
mod tests {
    use crate::cases;

    #[test]
    fn addresses_are_found_and_versions_times_and_paths_are_not() {
        cases::check(
            "IP",
            &[
                ("from 203.0.113.7 port 22", "203.0.113.7"),
                ("http://198.51.100.23:8080/x", "198.51.100.23"),
                ("net 192.168.10.0/24", "192.168.10.0/24"),
                ("client=10.20.30.40;", "10.20.30.40"),
                ("2001:db8::8a2e:370:7334", "2001:db8::8a2e:370:7334"),
                ("http://[2001:db8::1]/path", "2001:db8::1"),
                (
                    "fe80::1ff:fe23:4567:890a%eth0",
                    "fe80::1ff:fe23:4567:890a%eth0",
                ),
                ("::ffff:192.0.2.128", "::ffff:192.0.2.128"),
                ("2001:db8:0:0:0:0:2:1", "2001:db8:0:0:0:0:2:1"),
                (
                    "Chrome/114.0.0.0 Safari/537.36\"\n198.51.100.23 - - [10/Oct",
                    "198.51.100.23",
                ),
                ("[IPv6:2a00:1450:4864:20::534]", "2a00:1450:4864:20::534"),
                ("ip:2001:db8::1", "2001:db8::1"),
                ("addr:fe80::1", "fe80::1"),
                ("Deployed build 42 on 203.0.113.7", "203.0.113.7"),
                ("8.8.8.8:53", "8.8.8.8"),
                ("1.1.1.1/32", "1.1.1.1/32"),
                ("203.0.113.7-203.0.113.90", "203.0.113.7"),
                ("203.0.113.7-90 are", "203.0.113.7"),
                ("IP 203.0.113.7.54321: Flags", "203.0.113.7"),
                ("host_203.0.113.7", "203.0.113.7"),
                ("see：2001:db8::8a2e:370:7334", "2001:db8::8a2e:370:7334"),
                ("地址：2001:db8::1，", "2001:db8::1"),
                ("адрес：2001:db8::1；", "2001:db8::1"),
                ("地址:2001:db8::1的主机", "2001:db8::1"),
                (
                    "アドレス：fe80:0:0:0:1ff:fe23:4567:890a。",
                    "fe80:0:0:0:1ff:fe23:4567:890a",
                ),
                ("地址：::ffff:192.0.2.128，", "::ffff:192.0.2.128"),
                (
                    "주소：2001:db8::8a2e:370:7334/64",
                    "2001:db8::8a2e:370:7334/64",
                ),
                (
                    "face：：fe80::1ff:fe23:4567:890a",
                    "fe80::1ff:fe23:4567:890a",
                ),
            ],
            &[
                "256.1.1.1",
                "version 10.20.30.40",
                "1.2.3.4",
                "127.0.0.1",
                "0.0.0.0",
                "std::fmt::Display",
                "a::b",
                "12:34:56",
                "2001::25de::cade",
                "10.0.0.1.5",
                "lib-10.20.30.40",
                "1.10.100.1000",
                "ab:cd",
                "Chrome/114.0.5735.90",
                "Edge 114.0.182.39",
                "Mod::a1::b2",
                "addr::a1::b2",
                "ip::Addr",
                "Assembly version: 10.20.30.40",
                "ab:12:34:56:78:9a:bc:de:f0",
                "see::a1::b2c",
                "时间：12:34:56",
                "类型：std::fmt::Display",
                "字段：a::b",
            ],
        );
    }
}
