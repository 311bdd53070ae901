//! What audit and telemetry cost: `pml serve` without both, as it is by default, and with everything sent
//! to a collector, side by side.

use std::path::Path;

use anyhow::Result;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

use crate::{peers, rows};

/// The times of the three.
pub async fn measure(pml: &Path) -> Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let collector = format!("http://{}", listener.local_addr()?);
    tokio::spawn(collect(listener));
    let off = json!({ "telemetry": { "enabled": false }, "audit": { "enabled": false } });
    let audit = json!({ "path": "audit" });
    let default = json!({ "audit": audit });
    let all = json!({ "telemetry": { "endpoint": collector }, "audit": audit });
    let variants: [(&str, Value); 3] = [
        ("neither", off),
        ("audit, metrics (the default)", default),
        ("audit, metrics, traces and logs sent", all),
    ];
    let mut servers = Vec::new();
    for (name, section) in variants {
        servers.push(peers::pml_with(pml, name, section).await?);
    }
    println!("## Observed\n");
    rows::compare(servers).await;
    Ok(())
}

/// A collector that takes everything.
async fn collect(listener: TcpListener) {
    while let Ok((stream, _)) = listener.accept().await {
        tokio::spawn(async move {
            // The connection has ended.
            let _ = take(stream).await;
        });
    }
}

async fn take(stream: TcpStream) -> std::io::Result<()> {
    let (read, mut write) = stream.into_split();
    let mut read = BufReader::new(read);
    loop {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if read.read_line(&mut line).await? == 0 {
                return Ok(());
            }
            if line.trim().is_empty() {
                break;
            }
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.trim().parse().unwrap_or(0);
            }
        }
        read.read_exact(&mut vec![0; length]).await?;
        write
            .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
            .await?;
    }
}
