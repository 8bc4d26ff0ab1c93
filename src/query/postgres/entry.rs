//! Who is let in, and how a connection begins: everybody, or who knows the password.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use datafusion_postgres::pgwire::api::auth::noop::NoopStartupHandler;
use datafusion_postgres::pgwire::api::auth::sasl::SASLAuthStartupHandler;
use datafusion_postgres::pgwire::api::auth::sasl::scram::{
    SCRAM_ITERATIONS, ScramAuth, gen_salted_password, random_nonce,
};
use datafusion_postgres::pgwire::api::auth::{
    AuthSource, DefaultServerParameterProvider, LoginInfo, Password, StartupHandler,
};
use datafusion_postgres::pgwire::api::{ClientInfo, ConnectionManager};
use datafusion_postgres::pgwire::error::{PgWireError, PgWireResult};
use datafusion_postgres::pgwire::messages::{PgWireBackendMessage, PgWireFrontendMessage};
use futures::Sink;

use super::faults;

/// Who is let in.
pub(crate) enum Entry {
    /// Everybody who reaches the address.
    Open,
    /// Who knows the password.
    Password {
        /// It.
        password: String,
        /// The certificate that the connection is bound to, PEM.
        certificate: Option<Vec<u8>>,
        /// Nobody without TLS.
        is_secure: bool,
    },
}

impl Entry {
    /// How a connection begins.
    pub(super) fn startup(&self, source: &Arc<Known>, connections: &Arc<ConnectionManager>) -> Startup {
        match self {
            Self::Open => Startup::Open(Open(Arc::clone(connections))),
            Self::Password { certificate, is_secure, .. } => {
                let mut scram = ScramAuth::new(Arc::clone(source) as Arc<dyn AuthSource>);
                scram.set_iterations(SCRAM_ITERATIONS);
                if let Some(certificate) = certificate {
                    // Of one whose signature is of no kind that it can be bound to, it is not.
                    let _ = scram.configure_certificate(certificate);
                }
                let parameters = Arc::new(DefaultServerParameterProvider::default());
                let handler = SASLAuthStartupHandler::new(parameters)
                    .with_scram(scram)
                    .with_connection_manager(Arc::clone(connections));
                Startup::Password { handler: Box::new(handler), is_secure: *is_secure }
            }
        }
    }
}

/// Everybody is let in.
pub(super) struct Open(Arc<ConnectionManager>);

impl NoopStartupHandler for Open {
    fn connection_manager(&self) -> Option<Arc<ConnectionManager>> {
        Some(Arc::clone(&self.0))
    }
}

/// How a connection begins.
pub(super) enum Startup {
    Open(Open),
    Password { handler: Box<SASLAuthStartupHandler<DefaultServerParameterProvider>>, is_secure: bool },
}

#[async_trait]
impl StartupHandler for Startup {
    async fn on_startup<C>(&self, client: &mut C, message: PgWireFrontendMessage) -> PgWireResult<()>
    where
        C: ClientInfo + Sink<PgWireBackendMessage> + Unpin + Send + Sync,
        C::Error: fmt::Debug,
        PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
    {
        match self {
            Self::Open(handler) => handler.on_startup(client, message).await,
            Self::Password { is_secure: true, .. } if !client.is_secure() => {
                Err(faults::fatal("28000", "connections without TLS are not answered; use sslmode=require"))
            }
            Self::Password { handler, .. } => handler.on_startup(client, message).await,
        }
    }
}

/// The password, as what is made of it with a salt.
pub(super) struct Known {
    salt: Vec<u8>,
    salted: Vec<u8>,
}

impl Known {
    /// What is made of `password` with a salt of now.
    pub(super) fn new(password: &str) -> Self {
        let salt = random_nonce().into_bytes();
        Self { salted: gen_salted_password(password, &salt, SCRAM_ITERATIONS), salt }
    }
}

impl fmt::Debug for Known {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Known")
    }
}

#[async_trait]
impl AuthSource for Known {
    async fn get_password(&self, _login: &LoginInfo) -> PgWireResult<Password> {
        Ok(Password::new(Some(self.salt.clone()), self.salted.clone()))
    }
}
