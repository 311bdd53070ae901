//! TLS to the server: what `sslmode` and `sslrootcert` of a URL mean, and the connection.
//!
//! A certificate is always verified, with the name of the host. An encrypted connection to an unknown
//! server would protect against nobody who can read the network.

use std::future::Future;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::Config;
use tokio_postgres::config::SslMode;
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// Whom to trust.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tls {
    /// The connection is not encrypted.
    Off,
    /// The server has a certificate of an authority of this machine.
    SystemRoots,
    /// The server has a certificate of an authority in this PEM file.
    RootFile(PathBuf),
}

/// A connection string in the form of a URL.
pub struct ServerUrl {
    pub config: Config,
    pub tls: Tls,
}

impl ServerUrl {
    /// # Errors
    ///
    /// A sentence that does not quote the URL, which may hold a password.
    pub fn parse(url: &str) -> Result<Self, String> {
        let (address, query) = url.split_once('?').unwrap_or((url, ""));
        let mut mode = "disable".to_owned();
        let mut roots = None;
        let mut others = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            match pair.split_once('=') {
                Some(("sslmode", value)) => value.clone_into(&mut mode),
                Some(("sslrootcert", value)) => roots = Some(unescape(value)?),
                _ => others.push(pair),
            }
        }
        let tls = match (mode.as_str(), roots.as_deref()) {
            ("disable" | "allow" | "prefer", None) => Tls::Off,
            ("require" | "verify-full", None | Some("system")) => Tls::SystemRoots,
            ("require" | "verify-full", Some(path)) => Tls::RootFile(path.into()),
            ("disable" | "allow" | "prefer", Some(_)) => {
                return Err("`sslrootcert` needs `sslmode=verify-full`".to_owned());
            }
            _ => return Err("`sslmode` is `disable`, `require` or `verify-full`".to_owned()),
        };
        let mut config: Config = format!("{address}?{}", others.join("&"))
            .parse()
            .map_err(|_| "not a connection string of PostgreSQL".to_owned())?;
        config.ssl_mode(match tls {
            Tls::Off => SslMode::Disable,
            Tls::SystemRoots | Tls::RootFile(_) => SslMode::Require,
        });
        Ok(Self { config, tls })
    }
}

/// A value of a query, with its percent escapes replaced.
fn unescape(value: &str) -> Result<String, String> {
    let wrong = || "`sslrootcert` has a wrong percent escape".to_owned();
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.as_bytes();
    while let [first, tail @ ..] = rest {
        if *first != b'%' {
            bytes.push(*first);
            rest = tail;
            continue;
        }
        let digits = tail.get(..2).and_then(|digits| str::from_utf8(digits).ok());
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(byte.ok_or_else(wrong)?);
        rest = &tail[2..];
    }
    String::from_utf8(bytes).map_err(|_| wrong())
}

/// Makes encrypted connections.
#[derive(Clone)]
pub struct Encrypted {
    config: Arc<ClientConfig>,
}

impl Encrypted {
    /// # Errors
    ///
    /// A sentence: the file has no certificate, or the machine has no authorities.
    pub fn with_system_roots() -> Result<Self, String> {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        if roots.is_empty() {
            let message = "this machine has no certificates of authorities: name a PEM file with `sslrootcert=PATH`";
            return Err(message.to_owned());
        }
        Self::new(roots)
    }

    /// # Errors
    ///
    /// As [`Encrypted::with_system_roots`].
    pub fn with_root_file(path: &Path) -> Result<Self, String> {
        let unusable = |detail: String| format!("the `sslrootcert` {}: {detail}", path.display());
        let certificates = CertificateDer::pem_file_iter(path)
            .map_err(|error| unusable(format!("cannot be read: {error}")))?;
        let mut roots = RootCertStore::empty();
        for certificate in certificates {
            let certificate = certificate
                .map_err(|error| unusable(format!("holds something else than PEM: {error}")))?;
            roots
                .add(certificate)
                .map_err(|error| unusable(error.to_string()))?;
        }
        if roots.is_empty() {
            return Err(unusable("has no certificate".to_owned()));
        }
        Self::new(roots)
    }

    fn new(roots: RootCertStore) -> Result<Self, String> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Self {
            config: Arc::new(config),
        })
    }
}

impl<S> MakeTlsConnect<S> for Encrypted
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    type Stream = EncryptedStream<S>;
    type TlsConnect = EncryptedConnect;
    type Error = rustls::pki_types::InvalidDnsNameError;

    fn make_tls_connect(&mut self, host: &str) -> Result<EncryptedConnect, Self::Error> {
        Ok(EncryptedConnect {
            connector: TlsConnector::from(self.config.clone()),
            server: ServerName::try_from(host.to_owned())?,
        })
    }
}

/// One connection that is being encrypted.
pub struct EncryptedConnect {
    connector: TlsConnector,
    server: ServerName<'static>,
}

impl<S> TlsConnect<S> for EncryptedConnect
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    type Stream = EncryptedStream<S>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<EncryptedStream<S>>> + Send>>;

    fn connect(self, stream: S) -> Self::Future {
        Box::pin(async move {
            let stream = self.connector.connect(self.server, stream).await?;
            Ok(EncryptedStream(stream))
        })
    }
}

/// An encrypted connection.
pub struct EncryptedStream<S>(TlsStream<S>);

impl<S: AsyncRead + AsyncWrite + Unpin> tokio_postgres::tls::TlsStream for EncryptedStream<S> {
    /// The certificate is verified, so a password is not bound to the channel as well.
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for EncryptedStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for EncryptedStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tls(query: &str) -> Result<Tls, String> {
        ServerUrl::parse(&format!("postgres://h/d{query}")).map(|url| url.tls)
    }

    #[test]
    fn the_query_says_whom_to_trust() {
        assert_eq!(tls(""), Ok(Tls::Off));
        assert_eq!(tls("?sslmode=disable&connect_timeout=3"), Ok(Tls::Off));
        assert_eq!(tls("?sslmode=verify-full"), Ok(Tls::SystemRoots));
        assert_eq!(
            tls("?connect_timeout=3&sslmode=require"),
            Ok(Tls::SystemRoots)
        );
        assert_eq!(
            tls("?sslmode=verify-full&sslrootcert=%2Fetc%2Fa%20b.pem"),
            Ok(Tls::RootFile("/etc/a b.pem".into()))
        );
    }

    #[test]
    fn a_query_that_would_not_be_verified_is_refused() {
        for query in [
            "?sslmode=verify-ca",
            "?sslmode=on",
            "?sslrootcert=/a.pem",
            "?sslmode=require&sslrootcert=%zz",
            "?sslmode=require&sslrootcert=%2",
            "?sslkey=/a",
        ] {
            assert!(tls(query).is_err(), "{query}");
        }
    }
}
