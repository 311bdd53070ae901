//! Where an HTTP server listens: a TCP port, or a Unix socket of one user.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::str::FromStr;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};

/// An address to listen on: `127.0.0.1:8080`, or `unix:/run/user/1000/pml.sock`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListenAddress {
    /// A TCP port.
    Tcp(SocketAddr),
    /// A Unix socket. Only processes of the user that started the server can connect.
    Unix(PathBuf),
}

impl ListenAddress {
    /// Whether only this machine can connect.
    pub fn is_local(&self) -> bool {
        match self {
            Self::Tcp(address) => address.ip().is_loopback(),
            Self::Unix(_) => true,
        }
    }
}

impl FromStr for ListenAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.strip_prefix("unix:") {
            Some("") => Err("a path is missing, for example unix:/tmp/pml.sock".to_owned()),
            Some(path) => Ok(Self::Unix(path.into())),
            None => text.parse().map(Self::Tcp).map_err(|_| {
                "expected ADDRESS:PORT or unix:PATH, for example 127.0.0.1:8080".to_owned()
            }),
        }
    }
}

impl fmt::Display for ListenAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => write!(f, "http://{address}/mcp"),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

/// A bound socket.
pub enum Listener {
    Tcp(TcpListener),
    Unix(UnixSocket),
}

/// A bound Unix socket. Dropping it removes its file.
pub struct UnixSocket {
    listener: UnixListener,
    path: PathBuf,
    /// The user that may connect.
    user: u32,
}

impl Drop for UnixSocket {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

impl Listener {
    pub async fn bind(address: &ListenAddress) -> io::Result<Self> {
        match address {
            ListenAddress::Tcp(address) => TcpListener::bind(address).await.map(Self::Tcp),
            ListenAddress::Unix(path) => bind_unix(path).await.map(Self::Unix),
        }
    }

    /// The address, with the port that the kernel chose for port 0.
    pub fn address(&self) -> io::Result<ListenAddress> {
        match self {
            Self::Tcp(listener) => listener.local_addr().map(ListenAddress::Tcp),
            Self::Unix(socket) => Ok(ListenAddress::Unix(socket.path.clone())),
        }
    }

    /// The next connection, and the address it comes from. Over a Unix socket, connections of other
    /// users are closed.
    ///
    /// # Cancel safety
    ///
    /// No connection is lost.
    pub async fn accept(&self) -> io::Result<(Stream, Option<IpAddr>)> {
        match self {
            Self::Tcp(listener) => {
                let (stream, address) = listener.accept().await?;
                // A reply is written at once; without it, small replies wait for an acknowledgement.
                let _ = stream.set_nodelay(true);
                Ok((Stream::Tcp(stream), Some(address.ip())))
            }
            Self::Unix(socket) => loop {
                let (stream, _) = socket.listener.accept().await?;
                match stream.peer_cred() {
                    Ok(peer) if peer.uid() == socket.user => {
                        return Ok((Stream::Unix(stream), None));
                    }
                    Ok(peer) => {
                        tracing::warn!(uid = peer.uid(), "a connection of another user was closed");
                    }
                    Err(error) => {
                        tracing::warn!(%error, "a connection of an unknown user was closed");
                    }
                }
            },
        }
    }
}

async fn bind_unix(path: &Path) -> io::Result<UnixSocket> {
    if let Ok(found) = path.symlink_metadata() {
        if !found.file_type().is_socket() {
            let message = "the file exists and is not a socket";
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, message));
        }
        if UnixStream::connect(path).await.is_ok() {
            let message = "another process listens on it";
            return Err(io::Error::new(io::ErrorKind::AddrInUse, message));
        }
        // The socket of a process that ended without removing it.
        std::fs::remove_file(path)?;
    }
    let listener = UnixListener::bind(path)?;
    // Before this line another user may connect, where the folder lets him; `accept` closes that
    // connection by its user.
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
    // The file belongs to the effective user of this process.
    let user = std::fs::symlink_metadata(path)?.uid();
    Ok(UnixSocket {
        listener,
        path: path.to_owned(),
        user,
    })
}

/// A connection of either kind.
pub enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

macro_rules! delegate {
    ($stream:expr, $inner:ident => $call:expr) => {
        match $stream.get_mut() {
            Stream::Tcp($inner) => $call,
            Stream::Unix($inner) => $call,
        }
    };
}

impl AsyncRead for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        delegate!(self, stream => Pin::new(stream).poll_read(cx, buffer))
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        delegate!(self, stream => Pin::new(stream).poll_write(cx, bytes))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        delegate!(self, stream => Pin::new(stream).poll_flush(cx))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        delegate!(self, stream => Pin::new(stream).poll_shutdown(cx))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        delegate!(self, stream => Pin::new(stream).poll_write_vectored(cx, buffers))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_port_or_a_socket() {
        let tcp: ListenAddress = "127.0.0.1:80".parse().unwrap();
        assert_eq!(tcp.to_string(), "http://127.0.0.1:80/mcp");
        let unix: ListenAddress = "unix:/tmp/pml.sock".parse().unwrap();
        assert_eq!(unix, ListenAddress::Unix("/tmp/pml.sock".into()));
        assert!(tcp.is_local() && unix.is_local());
        assert!(!"0.0.0.0:80".parse::<ListenAddress>().unwrap().is_local());
        for wrong in ["", "80", "localhost", "unix:"] {
            assert!(wrong.parse::<ListenAddress>().is_err(), "{wrong}");
        }
    }

    #[tokio::test]
    async fn a_socket_is_for_its_user_and_replaces_only_a_dead_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pml.sock");
        let address = ListenAddress::Unix(path.clone());
        let listener = Listener::bind(&address).await.unwrap();
        let mode = path.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert!(Listener::bind(&address).await.is_err(), "it is in use");
        drop(listener);
        assert!(!path.exists());
        // A process that was killed leaves its file behind.
        drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
        let again = Listener::bind(&address).await.unwrap();
        drop(again);
        std::fs::write(&path, "a file").unwrap();
        assert!(Listener::bind(&address).await.is_err(), "it is a file");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "a file");
    }
}
