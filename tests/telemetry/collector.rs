//! A collector of OTLP/HTTP that keeps what it gets.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::Value;

/// What arrived: the path, the headers as they were, and the body.
#[derive(Clone)]
pub struct Received {
    pub path: String,
    pub head: String,
    pub body: Value,
}

/// A collector. It answers every request with 200, or first with other statuses.
pub struct Collector {
    address: SocketAddr,
    received: Arc<Mutex<Vec<Received>>>,
}

impl Collector {
    pub fn start() -> Self {
        Self::answering(&[])
    }

    /// The first requests get these statuses.
    pub fn answering(statuses: &[u16]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let address = listener.local_addr().expect("it is bound");
        let received: Arc<Mutex<Vec<Received>>> = Arc::default();
        let statuses = Arc::new(Mutex::new(statuses.to_vec()));
        let all = received.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (all, statuses) = (all.clone(), statuses.clone());
                std::thread::spawn(move || serve(stream, &all, &statuses));
            }
        });
        Self { address, received }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Everything that arrived at a path.
    pub fn at(&self, path: &str) -> Vec<Received> {
        let all = self.received.lock().expect("nothing panics with it");
        all.iter().filter(|one| one.path == path).cloned().collect()
    }

    /// All spans.
    pub fn spans(&self) -> Vec<Value> {
        let all = self.at("/v1/traces");
        let spans = all.iter().flat_map(|one| {
            let scopes = &one.body["resourceSpans"][0]["scopeSpans"];
            scopes[0]["spans"].as_array().cloned().unwrap_or_default()
        });
        spans.collect()
    }

    /// The one span with this name.
    pub fn span(&self, name: &str) -> Value {
        let spans = self.spans();
        let mut named = spans.iter().filter(|span| span["name"] == name);
        let found = named
            .next()
            .unwrap_or_else(|| panic!("no {name}: {spans:#?}"));
        assert!(named.next().is_none(), "more than one {name}: {spans:#?}");
        found.clone()
    }
}

fn serve(stream: TcpStream, all: &Mutex<Vec<Received>>, statuses: &Mutex<Vec<u16>>) {
    let mut writer = stream.try_clone().expect("the socket is open");
    let mut reader = BufReader::new(stream);
    loop {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            match reader.read_line(&mut head) {
                Ok(count) if count > 0 => {}
                _ => return,
            }
        }
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-length")
                .then(|| value.trim().parse().ok())?
        });
        let mut body = vec![0; length.unwrap_or(0)];
        if reader.read_exact(&mut body).is_err() {
            return;
        }
        let status = {
            let mut statuses = statuses.lock().expect("nothing panics with it");
            (!statuses.is_empty()).then(|| statuses.remove(0))
        };
        if status.is_none() {
            let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
            let body = serde_json::from_slice(&body).expect("the body is JSON");
            let received = Received { path, head, body };
            all.lock().expect("nothing panics with it").push(received);
        }
        let status = status.unwrap_or(200);
        let answer = format!(
            "HTTP/1.1 {status} -\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{{}}"
        );
        if writer.write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}

/// The value of an attribute, `null` if there is none.
pub fn attribute(item: &Value, name: &str) -> Value {
    let all = item["attributes"].as_array().cloned().unwrap_or_default();
    let found = all.into_iter().find(|one| one["key"] == name);
    let value = found.map_or(Value::Null, |one| one["value"].clone());
    let known = ["stringValue", "intValue", "doubleValue", "boolValue"];
    let typed = known.iter().find_map(|key| value.get(key).cloned());
    typed.unwrap_or(Value::Null)
}
