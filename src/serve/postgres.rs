//! The address at which the protocol of PostgreSQL is answered: who may connect, and how many at a
//! time. What reaches further than this machine needs a password and TLS.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::error::{Context as _, Result, bail};
use datafusion_postgres::pgwire::tokio::tokio_rustls::rustls::crypto::ring;
use datafusion_postgres::pgwire::tokio::tokio_rustls::rustls::pki_types::pem::PemObject as _;
use datafusion_postgres::pgwire::tokio::tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use datafusion_postgres::pgwire::tokio::tokio_rustls::rustls::{ServerConfig, version};
use datafusion_postgres::pgwire::tokio::{TlsAcceptor, process_socket};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

use super::{Options, Served};
use crate::query::postgres::{Entry, Handlers};

/// Connections at a time; further ones are closed.
const CONNECTIONS_MAX: usize = 128;

/// An address, and who may come in.
pub(super) struct Door {
    address: SocketAddr,
    entry: Entry,
    tls: Option<TlsAcceptor>,
}

impl Door {
    /// One at `address` for those whom `args` let in.
    pub(super) fn new(address: SocketAddr, args: &Options) -> Result<Self> {
        let password = args.password_file.as_deref().map(password).transpose()?;
        let tls = match (&args.tls_certificate, &args.tls_key) {
            (Some(certificate), Some(key)) => Some(tls(certificate, key)?),
            _ => None,
        };
        let is_local = address.ip().is_loopback();
        if !is_local && (password.is_none() || tls.is_none()) {
            bail!(
                "{address}: other machines are answered with a password and TLS only: --password-file, \
                 --tls-certificate and --tls-key; or go through `ssh -L 5433:127.0.0.1:5433`"
            );
        }
        let (tls, certificate) = tls.unzip();
        let is_secure = tls.is_some();
        let entry = match password {
            None => Entry::Open,
            Some(password) => Entry::Password { password, certificate, is_secure },
        };
        Ok(Self { address, entry, tls })
    }

    /// Opens it, and answers whoever comes until the process ends.
    pub(super) fn open(self, served: &Served) -> Result<SocketAddr> {
        let Self { address, entry, tls } = self;
        let listener = std::net::TcpListener::bind(address).with_context(|| format!("{address}"))?;
        listener.set_nonblocking(true)?;
        let bound = listener.local_addr()?;
        let handlers = Arc::new(Handlers::new(&served.session, entry)?);
        served.session.spawn(async move {
            if let Ok(listener) = TcpListener::from_std(listener) {
                accept(&listener, handlers, tls).await;
            }
        })?;
        Ok(bound)
    }
}

async fn accept(listener: &TcpListener, handlers: Arc<Handlers>, tls: Option<TlsAcceptor>) {
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // Out of files, or gone before it was accepted: others are answered.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        if let Ok(place) = Arc::clone(&places).try_acquire_owned() {
            let (handlers, tls) = (Arc::clone(&handlers), tls.clone());
            tokio::spawn(async move {
                let _place = place;
                connection(stream, tls, handlers).await;
            });
        }
    }
}

async fn connection(stream: TcpStream, tls: Option<TlsAcceptor>, handlers: Arc<Handlers>) {
    // What a client does wrong harms its connection only.
    let _ = process_socket(stream, tls, handlers).await;
}

/// The first line of a file.
fn password(file: &Path) -> Result<String> {
    let text = std::fs::read_to_string(file).with_context(|| format!("`{}`", file.display()))?;
    match text.lines().next() {
        Some(line) if !line.is_empty() => Ok(line.to_owned()),
        _ => bail!("`{}`: its first line is the password, and it is empty", file.display()),
    }
}

/// What proves to clients whom they talk to, and the certificate as text.
fn tls(certificate: &Path, key: &Path) -> Result<(TlsAcceptor, Vec<u8>)> {
    let text = std::fs::read(certificate).with_context(|| format!("`{}`", certificate.display()))?;
    let chain = CertificateDer::pem_slice_iter(&text).collect::<Result<Vec<_>, _>>();
    let chain = chain.with_context(|| format!("`{}`: no certificate in PEM", certificate.display()))?;
    if chain.is_empty() {
        bail!("`{}`: no certificate in PEM", certificate.display());
    }
    let private = PrivateKeyDer::from_pem_file(key)
        .with_context(|| format!("`{}`: no private key in PEM", key.display()))?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(&[&version::TLS13, &version::TLS12])
        .context("TLS 1.3 and 1.2")?
        .with_no_client_auth()
        .with_single_cert(chain, private)
        .with_context(|| format!("`{}` and `{}`", certificate.display(), key.display()))?;
    config.alpn_protocols = vec![b"postgresql".to_vec()];
    Ok((TlsAcceptor::from(Arc::new(config)), text))
}
