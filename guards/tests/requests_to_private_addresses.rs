//! `network` stops URLs of private addresses and metadata services, in every spelling.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};

use pml_guards::GuardName;
use pml_protocol::{GuardNote, GuardVerdict};
use serde_json::{Value, json};
use tokio::net::UdpSocket;

use crate::support::{Session, assert_linear};

fn strict() -> Session {
    Session::only(
        "network",
        json!({ "private": false, "userInfo": false, "schemes": ["http", "https"] }),
    )
}

#[track_caller]
fn assert_blocked(session: &Session, arguments: Value) {
    let judged = session.call("web:fetch", arguments.clone());
    assert!(
        judged.is_blocked_by(GuardName::Network),
        "{arguments}: {judged:?}"
    );
}

#[track_caller]
fn assert_allowed(session: &Session, arguments: Value) {
    let judged = session.call("web:fetch", arguments.clone());
    assert!(judged.notes.is_empty(), "{arguments}: {judged:?}");
}

#[test]
fn an_address_is_read_in_every_spelling_that_programs_accept() {
    for host in [
        "127.0.0.1",
        "127.1",
        "127.0.1",
        "2130706433",
        "0x7f000001",
        "0x7f.1",
        "0177.0.0.1",
        "017700000001",
        "0x7f.0x0.0x0.0x1",
        "127.000.000.001",
        "0",
        "0.0.0.0",
        "10.0.0.1",
        "172.16.0.1",
        "172.31.255.255",
        "192.168.1.1",
        "100.64.0.1",
        "169.254.1.1",
        "198.18.0.1",
        "192.0.0.8",
        "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "127.0.0.1.",
        "１２７.0.0.1",
        "①②⑦.0.0.1",
        "127。0。0。1",
        "%31%32%37.0.0.1",
        "[::1]",
        "[::]",
        "[0:0:0:0:0:0:0:1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::ffff:0:127.0.0.1]",
        "[::127.0.0.1]",
        "[64:ff9b::10.0.0.1]",
        "[64:ff9b:1::1]",
        "[2002:7f00:1::]",
        "[2001:0:1::1]",
        "[fe80::1]",
        "[fec0::1]",
        "[fc00::1]",
        "[fd12:3456::1]",
        "[ff02::1]",
        "[2001:db8::1]",
        "[fe80::5efe:10.0.0.1]",
        "localhost",
        "LOCALHOST",
        "localhost.",
        "a.localhost",
        "printer.local",
        "db.internal",
        "router.lan",
        "intranet",
    ] {
        let session = strict();
        for url in [
            format!("http://{host}/x"),
            format!("https://{host}:8443/"),
            format!("see http://{host}/x for more"),
        ] {
            assert_blocked(&session, json!({ "url": url }));
        }
    }
}

/// Ten thousand private addresses, each in one spelling of each of its parts.
#[test]
fn no_mix_of_spellings_hides_a_private_address() {
    let session = strict();
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = move |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) % below
    };
    for _ in 0..10_000 {
        let low = u32::try_from(next(1 << 24)).unwrap();
        let address = match next(5) {
            0 => 0x7f00_0000 | low,
            1 => 0x0a00_0000 | low,
            2 => 0xc0a8_0000 | (low & 0xffff),
            3 => 0xa9fe_0000 | (low & 0xffff),
            _ => 0xac10_0000 | (low & 0xf_ffff),
        };
        let mut part = |value: u32| match next(4) {
            0 => format!("{value}"),
            1 => format!("0{value:o}"),
            2 => format!("0x{value:x}"),
            _ => format!("0X{value:X}"),
        };
        let octet = |shift: u32| (address >> shift) & 0xff;
        let host = match address % 6 {
            0 => part(address),
            1 => format!("{}.{}", part(octet(24)), part(address & 0xff_ffff)),
            2 => format!(
                "{}.{}.{}",
                part(octet(24)),
                part(octet(16)),
                part(address & 0xffff)
            ),
            3 => format!(
                "{}.{}.{}.{}",
                part(octet(24)),
                part(octet(16)),
                part(octet(8)),
                part(octet(0))
            ),
            4 => format!("[::ffff:{:x}:{:x}]", address >> 16, address & 0xffff),
            _ => format!("[64:ff9b::{:x}:{:x}]", address >> 16, address & 0xffff),
        };
        assert_blocked(&session, json!({ "url": format!("http://{host}/") }));
        assert_blocked(&session, json!({ "host": host }));
    }
}

#[test]
fn metadata_services_are_blocked_in_the_preset_default_and_private_addresses_are_not() {
    let session = Session::new(json!({}));
    for url in [
        "http://169.254.169.254/latest/meta-data/",
        "http://2852039166/",
        "http://0xa9fea9fe/",
        "http://0251.0376.0251.0376/",
        "http://169.254.43518/",
        "http://[::ffff:169.254.169.254]/",
        "http://[::ffff:a9fe:a9fe]/",
        "http://[64:ff9b::a9fe:a9fe]/",
        "http://[fd00:ec2::254]/",
        "http://169.254.170.2/v2/credentials",
        "http://100.100.100.200/",
        "http://168.63.129.16/",
        "http://metadata.google.internal/computeMetadata/v1/",
        "http://METADATA.google.internal./",
        "gopher://169.254.169.254:80/_GET",
        "ftp://169.254.169.254/",
    ] {
        assert_blocked(&session, json!({ "u": url }));
        assert_blocked(&session, json!({ "list": [{ "deep": url }] }));
    }
    assert_blocked(&session, json!({ "host": "169.254.169.254" }));
    assert_blocked(&session, json!({ "host": "169.254.169.254:80" }));
    assert_blocked(&session, json!({ "anything": "169.254.169.254" }));
    for url in [
        "http://127.0.0.1:8080/",
        "http://localhost/",
        "file:///etc/hosts",
        "https://example.com",
    ] {
        assert_allowed(&session, json!({ "u": url }));
    }
}

#[test]
fn disguises_of_the_host_are_blocked() {
    let session = strict();
    for url in [
        // A user name that looks like the host, several of them, backslashes.
        "http://example.com@127.0.0.1/",
        "http://example.com:80@127.0.0.1/",
        "http://user:pass@example.com/",
        "http://a@example.com@127.0.0.1/",
        "http://example.com\\@127.0.0.1/",
        "http:\\\\127.0.0.1\\x",
        "http:127.0.0.1",
        "http:/127.0.0.1/",
        "http:///127.0.0.1/",
        "h\tttp://127.0.0.1/",
        "http://127.0\n.0.1/",
        " http://127.0.0.1/ ",
        "HTTP://127.0.0.1/",
        // Other schemes.
        "file:///etc/passwd",
        "gopher://example.com/_x",
        "dict://example.com:11211/",
        "jar:http://127.0.0.1!/",
        "http://[fe80::1%25eth0]/",
        "http://256.256.256.256/",
        "http://127.0.0.1#@example.com/",
        "http://127.0.0.1?@example.com/",
    ] {
        assert_blocked(&session, json!({ "url": url }));
    }
    for (name, host) in [
        ("host", "10.0.0.1"),
        ("hostname", "localhost"),
        ("callback_url", "127.0.0.1/x"),
        ("ip", "::1"),
        ("url", "//127.0.0.1/x"),
        ("server", "0x7f.1:22"),
    ] {
        assert_blocked(&session, json!({ name: host }));
    }
}

#[test]
fn line_breaks_and_backslashes_hide_no_metadata_service_in_the_preset_default() {
    let session = Session::new(json!({}));
    for url in [
        "http:/\n/169.254.169.254/",
        "http://169.254\n.169.254/",
        "ht\ttp://169.254.169.254/",
        "http://example.com\\@169.254.169.254/",
        "http://a@b@169.254.169.254/",
        "http://example.com\u{0}@169.254.169.254/",
    ] {
        assert_blocked(&session, json!({ "text": url }));
    }
    for text in [
        "http://a.example\nhttp://b.example\n",
        "http://{host}/x",
        "C:\\dir\\file.txt",
        "http://",
    ] {
        assert_allowed(&session, json!({ "text": text }));
    }
}

#[test]
fn the_uri_of_a_resource_is_a_name_for_its_server_unless_programs_open_it() {
    let mut session = strict();
    session.is_offer = true;
    for uri in ["file:///x", "demo://note/1", "memo://localhost/x"] {
        assert_allowed(&session, json!({ "uri": uri }));
    }
    assert_blocked(&session, json!({ "uri": "http://localhost/x" }));
}

#[test]
fn redirects_are_followed_as_far_as_the_arguments_show_them() {
    let session = strict();
    for url in [
        "https://example.com/?url=http://127.0.0.1/",
        "https://example.com/?u=http%3A%2F%2F127.0.0.1%2F",
        "https://example.com/?u=http%253A%252F%252F127.0.0.1%252F",
        "https://example.com/?u=//127.0.0.1/",
        "https://example.com/http://127.0.0.1/x",
        "https://example.com/#http://127.0.0.1/",
        "https://a.example/?n=https%3A%2F%2Fb.example%2F%3Fn%3Dhttp%253A%252F%252F10.0.0.1",
    ] {
        assert_blocked(&session, json!({ "url": url }));
    }
}

#[test]
fn public_urls_and_ordinary_texts_pass() {
    let session = strict();
    for text in [
        "https://example.com/a?b=c#d",
        "http://93.184.216.34/",
        "https://[2606:2800:220:1::1]/",
        "https://münchen.example/",
        "at 10:30 we meet",
        "version 1.2.3",
        "1.2",
        "fs:read_file",
        "C:\\Users\\me",
        "a@example.com",
        "key: value",
        "http",
        "://",
        "ratio 3:4, see https://example.com.",
        "12345",
    ] {
        assert_allowed(&session, json!({ "text": text }));
    }
    for (name, value) in [
        ("address", "12 Main Street"),
        ("address", "Berlin"),
        ("target", "main"),
        ("server", "prod"),
        ("domain", "sales"),
        ("origin", "user"),
        ("endpoint", "/v1/x"),
        ("curl", ""),
        ("host", "example.com"),
        ("base_url", "example.com/a"),
    ] {
        assert_allowed(&session, json!({ name: value }));
        assert_allowed(&session, json!({ "host": { name: "x.example" } }));
    }
}

#[test]
fn the_search_takes_linear_time() {
    for session in [Session::only("network", json!({})), strict()] {
        for part in [
            "1://",
            "a://",
            "http://",
            "http://a.example/",
            "aa://\\",
            "{",
            "@",
        ] {
            assert_linear(&session, |bytes| part.repeat(bytes / part.len()));
        }
        for part in [
            "a",
            "@",
            "é",
            "é.",
            "xn--a.",
            "?a=http://",
            "%25",
            "\\",
            "a b@",
            "0",
        ] {
            assert_linear(&session, |bytes| {
                format!("http://{}", part.repeat(bytes / part.len()))
            });
        }
    }
}

#[test]
fn no_space_hides_a_metadata_service() {
    let session = Session::new(json!({}));
    for url in [
        "http:/169.254.169.254/latest/ x",
        "http:169.254.169.254/latest/ x",
        "http:\\169.254.169.254\\ x",
        "http:\\\\169.254.169.254\\ x",
        "http://169.254.169.254\\ x",
        "http://169.254.169.254 x",
        "http://169.254.169.254\u{a0}x",
        "http://169.254.169.254\\.example.com/",
        "http://169.254.169.254 .example.com/",
        "http://example.com b@169.254.169.254/",
        "http://example.com|b@169.254.169.254/?q=a b",
        "http://1@2@169.254.169.254/?q=a b",
        "http://169.254.169.254@a@example.com/",
        "https:/\n\n169.254.169.254/\nhttp://b://",
        "http:/169.254.169.254/\n?a=://&b=://",
        "http:2852039166/ x",
        "http:metadata.google.internal/ x",
        "http://example.com,http://169.254.169.254/",
        "see 1http://169.254.169.254/",
        // Without a scheme.
        "169.254.169.254/latest/ x",
        "169.254.169.254/?x=http://a.example/",
        "a@b@169.254.169.254/",
        "example.com/?u=http%3A%2F%2F169.254.169.254%2F",
    ] {
        assert_blocked(&session, json!({ "url": url }));
        assert_blocked(&session, json!({ "list": [{ "href": [url] }] }));
    }
    let padded = format!("http://169.254.169.254:{}80/ x", "0".repeat(5000));
    assert_blocked(&session, json!({ "url": padded }));
    // The preset `strict` refuses what is not clear.
    assert_blocked(&strict(), json!({ "url": "http://a.example b@c.example/" }));
    let session = Session::only("network", json!({ "userInfo": false }));
    assert_blocked(&session, json!({ "url": "http://a@b@c.example/" }));
}

#[test]
fn a_host_may_be_a_number_or_one_of_a_list() {
    let session = Session::new(json!({}));
    for arguments in [
        json!({ "host": 2852039166_u32 }),
        json!({ "host": 2852039166.0 }),
        json!({ "db_host": 2852039166_u32 }),
        json!({ "hosts": ["example.com", "2852039166"] }),
        json!({ "hosts": [2852039166_u32] }),
        json!({ "hosts": ["0xa9fea9fe"] }),
        json!({ "host": "metadata" }),
        json!({ "hostname": "instance-data" }),
    ] {
        assert_blocked(&session, arguments);
    }
    for arguments in [
        json!({ "host": 1.5 }),
        json!({ "host": -1 }),
        json!({ "host": 1e300 }),
        json!({ "count": 2852039166_u32 }),
    ] {
        assert_allowed(&session, arguments);
    }
}

#[test]
fn ordinary_calls_pass_the_preset_default() {
    let session = Session::new(json!({}));
    for name in ["target", "domain", "server", "link", "src", "endpoint"] {
        assert_allowed(&session, json!({ name: "metadata" }));
    }
    for arguments in [
        json!({ "url": "/metadata/types" }),
        json!({ "redirect": "/metadata" }),
        json!({ "sourceUrl": "metadata#top" }),
        json!({ "path": "C:\\Users\\me\\f.txt" }),
        json!({ "path": "C:\\\\Users\\\\me\\\\f.txt" }),
        json!({ "dsn": "postgres://user:p@ss@db/x" }),
        json!({ "uri": "file:///C:\\x\\y" }),
        json!({ "json": "https:\\/\\/example.com\\/a" }),
        json!({ "pattern": "https://[\\w.-]+/" }),
        json!({ "pattern": "^https?://(?:www\\.)?[a-z]+\\.(com|org)/" }),
        json!({ "text": "http: the metadata of a page" }),
    ] {
        assert_allowed(&session, arguments);
    }
}

#[test]
fn any_number_of_urls_passes_where_no_name_is_resolved() {
    let lines = |count: usize| -> String {
        (0..count)
            .map(|n| format!("https://host{n}.example/{n}\n"))
            .collect()
    };
    let session = Session::new(json!({}));
    let urls = vec!["https://example.com/"; 300];
    assert_allowed(&session, json!({ "urls": urls }));
    assert_allowed(&session, json!({ "text": lines(5000) }));
    // The last of many is read.
    let text = lines(5000) + "http://169.254.169.254/";
    assert_blocked(&session, json!({ "urls": text }));
}

#[tokio::test]
async fn a_limited_number_of_names_is_resolved() {
    let session = Session::only("network", json!({ "private": false, "resolve": true }));
    let urls: Vec<String> = (0..201)
        .map(|n| format!("https://host{n}.example/"))
        .collect();
    let lookups = session
        .lookups("web:fetch", json!({ "urls": urls }))
        .unwrap();
    let refused = session.guards.look_up(&lookups, &mut Vec::new()).await;
    let reason = refused.unwrap_err().reason;
    assert!(reason.contains("more than 200 names"), "{reason}");
}

#[test]
fn a_metadata_service_in_prose_is_a_warning_unless_the_argument_is_one_for_urls() {
    let prose = "AWS has its metadata at http://169.254.169.254/latest/, with a token.";
    let session = Session::new(json!({}));
    for text in [prose, "http://169.254.169.254/ is the metadata service"] {
        let judged = session.call("notes:add", json!({ "text": text }));
        let verdicts = judged.verdicts();
        assert_eq!(verdicts, [("network", GuardVerdict::Warn)], "{text}");
        assert!(judged.blocked.is_none(), "{text}");
        for name in ["url", "callback_url", "link", "host", "endpoint"] {
            assert_blocked(&session, json!({ name: text }));
        }
        // A warning does not end the search.
        let arguments = json!({ "a": text, "b": "http://169.254.169.254/" });
        assert_blocked(&session, arguments);
    }
    let session = Session::new(json!({ "network": { "mentions": "block" } }));
    assert_blocked(&session, json!({ "text": prose }));
    let session = Session::new(json!({ "network": { "mentions": "off" } }));
    assert_allowed(&session, json!({ "text": prose }));
    let session = Session::new(json!({ "preset": "strict" }));
    assert_blocked(&session, json!({ "text": prose }));
}

#[test]
fn named_hosts_pass_whatever_they_are() {
    let session = Session::only(
        "network",
        json!({ "private": false, "hosts": ["*.corp.internal", "127.0.0.1"] }),
    );
    assert_allowed(&session, json!({ "url": "http://wiki.corp.internal/" }));
    assert_allowed(&session, json!({ "url": "http://127.0.0.1:80/" }));
    for other in [
        "http://corp.internal.evil.lan/",
        "http://127.0.0.2/",
        "http://xcorp.internal/",
    ] {
        assert_blocked(&session, json!({ "url": other }));
    }
}

/// A DNS server that answers each question with the next of a list, and the last one from then on.
struct DnsServer {
    address: SocketAddr,
    asked: Arc<Mutex<HashMap<String, usize>>>,
}

impl DnsServer {
    async fn start(records: &[(&str, &[&str])]) -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let address = socket.local_addr().unwrap();
        let records: HashMap<String, Vec<IpAddr>> = records
            .iter()
            .map(|(name, all)| {
                (
                    (*name).to_owned(),
                    all.iter().map(|ip| ip.parse().unwrap()).collect(),
                )
            })
            .collect();
        let asked = Arc::new(Mutex::new(HashMap::new()));
        let counts = asked.clone();
        tokio::spawn(async move {
            let mut bytes = [0; 512];
            loop {
                let (length, from) = socket.recv_from(&mut bytes).await.unwrap();
                let answer = answer(&bytes[..length], &records, &counts);
                socket.send_to(&answer, from).await.unwrap();
            }
        });
        Self { address, asked }
    }

    fn asked(&self, name: &str) -> usize {
        self.asked.lock().unwrap().get(name).copied().unwrap_or(0)
    }
}

fn answer(
    question: &[u8],
    records: &HashMap<String, Vec<IpAddr>>,
    counts: &Mutex<HashMap<String, usize>>,
) -> Vec<u8> {
    let (mut name, mut at) = (Vec::new(), 12);
    while question[at] != 0 {
        let length = usize::from(question[at]);
        name.push(String::from_utf8(question[at + 1..=at + length].to_vec()).unwrap());
        at += length + 1;
    }
    let name = name.join(".");
    let is_v4 = question[at + 2] == 1;
    let known = records.get(&name).cloned().unwrap_or_default();
    let mut counts = counts.lock().unwrap();
    let count = counts.entry(name).or_insert(0);
    let all: Vec<IpAddr> = match is_v4 {
        true => {
            *count += 1;
            let next = known.get((*count - 1).min(known.len().saturating_sub(1)));
            next.into_iter().copied().filter(IpAddr::is_ipv4).collect()
        }
        false => known.into_iter().filter(IpAddr::is_ipv6).collect(),
    };
    let mut message = question[..at + 5].to_vec();
    message[2..4].copy_from_slice(&[0x81, if all.is_empty() { 0x83 } else { 0x80 }]);
    message[6..8].copy_from_slice(&u16::try_from(all.len()).unwrap().to_be_bytes());
    for address in all {
        message.extend([0xc0, 12]);
        match address {
            IpAddr::V4(v4) => {
                message.extend([0, 1, 0, 1, 0, 0, 0, 0, 0, 4]);
                message.extend(v4.octets());
            }
            IpAddr::V6(v6) => {
                message.extend([0, 28, 0, 1, 0, 0, 0, 0, 0, 16]);
                message.extend(v6.octets());
            }
        }
    }
    message
}

async fn looked_up(server: &DnsServer, url: &str, again: bool) -> Result<Vec<GuardNote>, String> {
    let settings =
        json!({ "private": false, "resolve": true, "resolver": server.address.to_string() });
    let session = Session::only("network", settings);
    let arguments = json!({ "url": url });
    let Some(lookups) = session.lookups("web:fetch", arguments) else {
        return Ok(Vec::new());
    };
    let mut notes = Vec::new();
    let first = session.guards.look_up(&lookups, &mut notes).await;
    first.map_err(|blocked| blocked.reason)?;
    if again {
        let later = session.guards.look_up_again(&lookups, &mut notes).await;
        later.map_err(|blocked| format!("later: {}", blocked.reason))?;
    }
    Ok(notes)
}

#[tokio::test]
async fn every_address_of_a_name_is_checked() {
    let server = DnsServer::start(&[
        ("public.example", &["93.184.216.34"]),
        ("private.example", &["10.1.2.3"]),
        ("metadata.example", &["169.254.169.254"]),
        ("mixed.example", &["93.184.216.34", "::1"]),
        ("mapped.example", &["::ffff:10.0.0.1"]),
    ])
    .await;
    assert_eq!(
        looked_up(&server, "https://public.example/", true).await,
        Ok(vec![])
    );
    for (name, said) in [
        ("private.example", "private network"),
        ("metadata.example", "metadata service"),
        ("mixed.example", "private network"),
        ("mapped.example", "private network"),
        ("missing.example", "has no address"),
    ] {
        let refused = looked_up(&server, &format!("https://{name}/"), false)
            .await
            .unwrap_err();
        assert!(refused.contains(said), "{name}: {refused}");
    }
    // Inside of another URL as well.
    let nested = looked_up(
        &server,
        "https://public.example/?u=http://private.example/",
        false,
    )
    .await;
    assert!(nested.is_err());
}

#[tokio::test]
async fn a_name_that_is_rebound_is_found_before_or_after_the_call() {
    let server = DnsServer::start(&[
        ("second.example", &["93.184.216.34", "127.0.0.1"]),
        (
            "third.example",
            &["93.184.216.34", "93.184.216.34", "169.254.169.254"],
        ),
    ])
    .await;
    let refused = looked_up(&server, "http://second.example/", false)
        .await
        .unwrap_err();
    assert!(refused.contains("private network"), "{refused}");
    assert_eq!(server.asked("second.example"), 2);
    let refused = looked_up(&server, "http://third.example/", true)
        .await
        .unwrap_err();
    assert!(
        refused.starts_with("later:") && refused.contains("metadata"),
        "{refused}"
    );
    assert_eq!(server.asked("third.example"), 3);
}

#[tokio::test]
async fn a_resolver_that_is_silent_or_talks_nonsense_blocks() {
    let silent = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let server = DnsServer {
        address: silent.local_addr().unwrap(),
        asked: Arc::default(),
    };
    let refused = looked_up(&server, "http://a.example/", false)
        .await
        .unwrap_err();
    assert!(refused.contains("cannot be resolved"), "{refused}");
    let answering = tokio::spawn(async move {
        let mut bytes = [0; 512];
        loop {
            let (_, from) = silent.recv_from(&mut bytes).await.unwrap();
            // The right id, and an answer that ends in the middle of a name.
            let nonsense = [
                bytes[0], bytes[1], 0x81, 0x80, 0, 1, 0, 9, 0, 0, 0, 0, 63, 1,
            ];
            silent.send_to(&nonsense, from).await.unwrap();
        }
    });
    let refused = looked_up(&server, "http://a.example/", false)
        .await
        .unwrap_err();
    assert!(refused.contains("cut off"), "{refused}");
    answering.abort();
}
