//! The addresses of a name: from the resolver of the system, or from one DNS server.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

use tokio::net::{UdpSocket, lookup_host};

/// How long one question waits for its answer.
const QUERY_TIMEOUT: Duration = Duration::from_secs(2);
/// A larger answer needs TCP, which no name with few addresses does.
const MAX_ANSWER_BYTES: usize = 4096;
const TYPE_A: u16 = 1;
const TYPE_AAAA: u16 = 28;

/// What the system resolves a name to.
pub(crate) async fn system(name: &str) -> io::Result<Vec<IpAddr>> {
    let addresses = lookup_host((name, 0)).await?;
    Ok(addresses.map(|address| address.ip()).collect())
}

/// Asks a DNS server for both kinds of addresses. Nothing is cached.
pub(crate) async fn query(server: SocketAddr, name: &str) -> io::Result<Vec<IpAddr>> {
    let (v4, v6) = tokio::join!(ask(server, name, TYPE_A), ask(server, name, TYPE_AAAA));
    match (v4, v6) {
        (Ok(mut v4), v6) => {
            v4.extend(v6.unwrap_or_default());
            Ok(v4)
        }
        (Err(_), Ok(v6)) if !v6.is_empty() => Ok(v6),
        (Err(error), _) => Err(error),
    }
}

async fn ask(server: SocketAddr, name: &str, kind: u16) -> io::Result<Vec<IpAddr>> {
    static IDS: AtomicU16 = AtomicU16::new(1);
    let any: SocketAddr = match server {
        SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    };
    // A port of its own for each question, chosen by the kernel.
    let socket = UdpSocket::bind(any).await?;
    socket.connect(server).await?;
    let id = IDS.fetch_add(1, Ordering::Relaxed) ^ socket.local_addr()?.port().rotate_left(5);
    socket.send(&question(id, name, kind)?).await?;
    let receive = async {
        let mut bytes = [0; MAX_ANSWER_BYTES];
        loop {
            let length = socket.recv(&mut bytes).await?;
            let message = &bytes[..length];
            if message.get(..2) == Some(&id.to_be_bytes()) {
                return addresses(message, kind);
            }
        }
    };
    match tokio::time::timeout(QUERY_TIMEOUT, receive).await {
        Ok(answer) => answer,
        Err(_) => Err(io::Error::new(
            io::ErrorKind::TimedOut,
            "the DNS server does not answer",
        )),
    }
}

fn question(id: u16, name: &str, kind: u16) -> io::Result<Vec<u8>> {
    // Recursion is wanted; one question.
    let mut message = vec![0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    message[..2].copy_from_slice(&id.to_be_bytes());
    for label in name.trim_end_matches('.').split('.') {
        let length = u8::try_from(label.len())
            .ok()
            .filter(|length| (1..64).contains(length));
        let length = length.ok_or_else(|| invalid("the name is not a DNS name"))?;
        message.push(length);
        message.extend(label.as_bytes());
    }
    message.push(0);
    message.extend(kind.to_be_bytes());
    message.extend([0, 1]);
    Ok(message)
}

fn invalid(text: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, text)
}

/// The addresses in an answer, at the end of whatever chain of aliases.
fn addresses(message: &[u8], kind: u16) -> io::Result<Vec<IpAddr>> {
    let cut = || invalid("the answer of the DNS server is cut off");
    let number = |at: usize| {
        let bytes = message.get(at..at + 2).ok_or_else(cut)?;
        Ok::<u16, io::Error>(u16::from_be_bytes([bytes[0], bytes[1]]))
    };
    let flags = number(2)?;
    match flags & 0xf {
        0 => {}
        3 => return Ok(Vec::new()),
        _ => return Err(invalid("the DNS server reports an error")),
    }
    if flags & 0x200 != 0 {
        return Err(cut());
    }
    let (questions, answers) = (number(4)?, number(6)?);
    let mut at = 12;
    for _ in 0..questions {
        at = after_name(message, at).ok_or_else(cut)? + 4;
    }
    let mut found = Vec::new();
    for _ in 0..answers {
        let fields = after_name(message, at).ok_or_else(cut)?;
        let length = usize::from(number(fields + 8)?);
        let data = message
            .get(fields + 10..fields + 10 + length)
            .ok_or_else(cut)?;
        if number(fields)? == kind {
            if let Ok(octets) = <[u8; 4]>::try_from(data) {
                found.push(Ipv4Addr::from(octets).into());
            } else if let Ok(octets) = <[u8; 16]>::try_from(data) {
                found.push(Ipv6Addr::from(octets).into());
            }
        }
        at = fields + 10 + length;
    }
    Ok(found)
}

/// The offset behind a name, which ends with a zero or a pointer.
fn after_name(message: &[u8], mut at: usize) -> Option<usize> {
    loop {
        match *message.get(at)? {
            0 => return Some(at + 1),
            pointer if pointer & 0xc0 == 0xc0 => return Some(at + 2),
            length => at += usize::from(length) + 1,
        }
    }
}
