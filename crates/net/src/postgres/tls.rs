//! Encryption for the PostgreSQL client, over the same library as every other connection here.

use std::future::Future;
use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, InvalidDnsNameError, ServerName};
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::Verifier;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::PostgresError;

/// Makes encrypted connections whose certificates are checked.
#[derive(Clone)]
pub(super) struct Tls {
    connector: TlsConnector,
}

impl Tls {
    /// Trusts the certificates of a file, or those that the system trusts.
    pub(super) fn new(roots: Option<&Path>) -> Result<Self, PostgresError> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(PostgresError::NoRoots)?;
        let builder = match roots {
            Some(path) => builder.with_root_certificates(read_roots(path)?),
            None => {
                let verifier = Verifier::new(provider).map_err(PostgresError::NoRoots)?;
                builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier))
            }
        };
        let config = builder.with_no_client_auth();
        Ok(Tls { connector: TlsConnector::from(Arc::new(config)) })
    }
}

fn read_roots(path: &Path) -> Result<RootCertStore, PostgresError> {
    let bad = || PostgresError::BadRoots { path: path.to_owned() };
    let text = fs_err::read(path).map_err(|_| bad())?;
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(&text) {
        roots.add(certificate.map_err(|_| bad())?).map_err(|_| bad())?;
    }
    if roots.is_empty() { Err(bad()) } else { Ok(roots) }
}

impl<S> MakeTlsConnect<S> for Tls
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    type Stream = Encrypted<S>;
    type TlsConnect = Handshake;
    type Error = InvalidDnsNameError;

    fn make_tls_connect(&mut self, host: &str) -> Result<Handshake, InvalidDnsNameError> {
        let name = ServerName::try_from(host)?.to_owned();
        Ok(Handshake { connector: self.connector.clone(), name })
    }
}

/// One handshake, with the name that the certificate must have.
pub(super) struct Handshake {
    connector: TlsConnector,
    name: ServerName<'static>,
}

impl<S> TlsConnect<S> for Handshake
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    type Stream = Encrypted<S>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Encrypted<S>>> + Send>>;

    fn connect(self, stream: S) -> Self::Future {
        Box::pin(async move { Ok(Encrypted(self.connector.connect(self.name, stream).await?)) })
    }
}

/// An encrypted stream, as the client library wants it.
pub(super) struct Encrypted<S>(TlsStream<S>);

impl<S: AsyncRead + AsyncWrite + Unpin> tokio_postgres::tls::TlsStream for Encrypted<S> {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Encrypted<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Encrypted<S> {
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
