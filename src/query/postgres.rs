//! The protocol of PostgreSQL: what its clients ask, of a session that can only read.
//!
//! ```text
//! message ─▶ Service ─▶ statements, as clients of PostgreSQL write them
//!            turn,      ├─▶ Reader   SET, SHOW, BEGIN, cursors; queries to plans that only read
//!            limits     └─▶ engine   rows
//! ```
//! How messages look and what is in the catalogs that clients ask first is
//! `datafusion-postgres`'s; who is let in, what is run and what it may take is decided here.

mod copy;
mod faults;
mod functions;
mod reader;
mod subqueries;
mod zones;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::error::Result;
use async_trait::async_trait;
use datafusion::sql::sqlparser::ast::Statement;
use datafusion_postgres::datafusion_pg_catalog::pg_catalog::context::EmptyContextProvider;
use datafusion_postgres::datafusion_pg_catalog::setup_pg_catalog;
use datafusion_postgres::datafusion_pg_catalog::sql::PostgresCompatibilityParser;
use datafusion_postgres::pgwire::api::auth::noop::NoopStartupHandler;
use datafusion_postgres::pgwire::api::auth::sasl::SASLAuthStartupHandler;
use datafusion_postgres::pgwire::api::auth::sasl::scram::{
    SCRAM_ITERATIONS, ScramAuth, gen_salted_password, random_nonce,
};
use datafusion_postgres::pgwire::api::auth::{
    AuthSource, DefaultServerParameterProvider, LoginInfo, Password, StartupHandler,
};
use datafusion_postgres::pgwire::api::cancel::{CancelHandler, DefaultCancelHandler};
use datafusion_postgres::pgwire::api::portal::{Format, Portal};
use datafusion_postgres::pgwire::api::query::{ExtendedQueryHandler, SimpleQueryHandler};
use datafusion_postgres::pgwire::api::results::{QueryResponse, Response};
use datafusion_postgres::pgwire::api::stmt::StoredStatement;
use datafusion_postgres::pgwire::api::store::{Entry as Stored, PortalStore};
use datafusion_postgres::pgwire::api::{
    ClientInfo, ClientPortalStore, ConnectionManager, DEFAULT_NAME, ErrorHandler, PgWireServerHandlers,
};
use datafusion_postgres::pgwire::error::{PgWireError, PgWireResult};
use datafusion_postgres::pgwire::messages::data::DataRow;
use datafusion_postgres::pgwire::messages::extendedquery::{Parse, ParseComplete};
use datafusion_postgres::pgwire::messages::{PgWireBackendMessage, PgWireFrontendMessage};
use datafusion_postgres::{DfSessionService, Parser};
use futures::{Sink, SinkExt as _, StreamExt as _};

use super::bounds;
use super::limits::Turn;
use super::session::{DATABASE, Engine, Session};
use zones::{Answering, Zones};

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

/// What answers the clients of a session.
pub(crate) struct Handlers {
    service: Arc<Service>,
    entry: Entry,
    source: Arc<Known>,
    connections: Arc<ConnectionManager>,
}

impl Handlers {
    /// Answers from `session`, which then also has the catalogs of PostgreSQL.
    ///
    /// # Errors
    /// Catalogs that cannot be made.
    pub(crate) fn new(session: &Session, entry: Entry) -> Result<Self> {
        let engine = session.engine().clone();
        setup_pg_catalog(&engine.context, DATABASE, EmptyContextProvider).map_err(|error| *error)?;
        functions::functions().into_iter().for_each(|function| engine.context.register_udf(function));
        let zones = Zones::new(engine.clone());
        let parser =
            DfSessionService::new_with_hooks(Arc::new(engine.context.clone()), Vec::new()).query_parser();
        let password = match &entry {
            Entry::Open => String::new(),
            Entry::Password { password, .. } => password.clone(),
        };
        Ok(Self {
            service: Arc::new(Service {
                zones,
                parser,
                compatible: PostgresCompatibilityParser::new(),
                engine,
            }),
            entry,
            source: Arc::new(Known::new(&password)),
            connections: Arc::new(ConnectionManager::new()),
        })
    }
}

impl PgWireServerHandlers for Handlers {
    fn simple_query_handler(&self) -> Arc<impl SimpleQueryHandler> {
        Arc::clone(&self.service)
    }

    fn extended_query_handler(&self) -> Arc<impl ExtendedQueryHandler> {
        Arc::clone(&self.service)
    }

    fn startup_handler(&self) -> Arc<impl StartupHandler> {
        Arc::new(match &self.entry {
            Entry::Open => Startup::Open(Open(Arc::clone(&self.connections))),
            Entry::Password { certificate, is_secure, .. } => {
                let mut scram = ScramAuth::new(Arc::clone(&self.source) as Arc<dyn AuthSource>);
                scram.set_iterations(SCRAM_ITERATIONS);
                if let Some(certificate) = certificate {
                    // Of one whose signature is of no kind that it can be bound to, it is not.
                    let _ = scram.configure_certificate(certificate);
                }
                let parameters = Arc::new(DefaultServerParameterProvider::default());
                let handler = SASLAuthStartupHandler::new(parameters)
                    .with_scram(scram)
                    .with_connection_manager(Arc::clone(&self.connections));
                Startup::Password { handler: Box::new(handler), is_secure: *is_secure }
            }
        })
    }

    fn error_handler(&self) -> Arc<impl ErrorHandler> {
        Arc::clone(&self.service)
    }

    fn cancel_handler(&self) -> Arc<impl CancelHandler> {
        Arc::new(DefaultCancelHandler::new(Arc::clone(&self.connections)))
    }
}

/// Everybody is let in.
struct Open(Arc<ConnectionManager>);

impl NoopStartupHandler for Open {
    fn connection_manager(&self) -> Option<Arc<ConnectionManager>> {
        Some(Arc::clone(&self.0))
    }
}

/// How a connection begins.
enum Startup {
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
struct Known {
    salt: Vec<u8>,
    salted: Vec<u8>,
}

impl Known {
    fn new(password: &str) -> Self {
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

/// What answers queries, each within the limits of the session.
struct Service {
    zones: Zones,
    /// What pgwire asks for; statements are parsed by that of a zone.
    parser: Arc<Parser>,
    compatible: PostgresCompatibilityParser,
    engine: Engine,
}

impl Service {
    /// A place for a query, for as long as the client wants to wait.
    async fn turn(&self, client: &impl ClientInfo, query: &str) -> PgWireResult<Turn> {
        bounds::check(query).map_err(|error| faults::fault("54001", error.to_string()))?;
        let wish = client.metadata().get("statement_timeout_ms").and_then(|ms| ms.parse().ok());
        self.engine.limiter.turn(wish.map(Duration::from_millis)).await.map_err(faults::of)
    }

    /// The same answer within the limits of `turn`, with its first row made.
    async fn limited(turn: &Turn, response: Response, answering: &Answering) -> PgWireResult<Response> {
        let Response::Query(QueryResponse { command_tag, row_schema, data_rows, .. }) = response else {
            return Ok(response);
        };
        let mut rows = turn.clone().items(data_rows);
        // Until here a client can end it, and what fails early fails before it has begun.
        let first = rows.next().await.transpose()?;
        let rows = futures::stream::iter(first.map(Ok)).chain(rows);
        let (columns, zone) = (zones::sent(&row_schema), answering.zone.clone());
        let has_some = columns.iter().any(|of| !matches!(of, zones::Sent::AsItIs));
        let shown = move |row: PgWireResult<DataRow>| match has_some {
            true => row.map(|row| zones::row(row, &columns, &zone)),
            false => row,
        };
        let rows = rows.map(shown);
        let mut limited = QueryResponse::new(row_schema, rows);
        limited.set_command_tag(&command_tag);
        Ok(Response::Query(limited))
    }
}

/// Whether some columns are asked for as bytes.
fn has_bytes(format: &Format) -> bool {
    match format {
        Format::UnifiedText => false,
        Format::UnifiedBinary => true,
        Format::Individual(codes) => codes.iter().any(|code| *code != 0),
    }
}

impl ErrorHandler for Service {
    fn on_error<C: ClientInfo>(&self, _client: &C, error: &mut PgWireError) {
        faults::name(error, &self.engine.limiter);
    }
}

#[async_trait]
impl SimpleQueryHandler for Service {
    async fn do_query<C>(&self, client: &mut C, query: &str) -> PgWireResult<Vec<Response>>
    where
        C: ClientInfo + ClientPortalStore + Sink<PgWireBackendMessage> + Unpin + Send + Sync,
        C::PortalStore: PortalStore,
        C::Error: fmt::Debug,
        PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
    {
        let turn = self.turn(client, query).await?;
        let answering = self.zones.of(client);
        let statements = subqueries::statements(&self.compatible, query);
        let statements = statements.map_err(|error| PgWireError::ApiError(Box::new(error)))?;
        if statements.is_empty() {
            return Ok(vec![Response::EmptyQuery]);
        }
        let mut limited = Vec::new();
        for statement in statements {
            let (statement, form) = match copy::asked(&statement) {
                None => (statement, None),
                Some(asked) => asked.map(|(query, form)| (query, Some(form)))?,
            };
            let response = turn.within(answering.reader.respond(&statement, client)).await??;
            let response = Self::limited(&turn, response, &answering).await?;
            limited.push(match (form, response) {
                (Some(form), Response::Query(rows)) => form.copied(rows),
                (_, response) => response,
            });
        }
        Ok(limited)
    }
}

#[async_trait]
impl ExtendedQueryHandler for Service {
    type Statement = <DfSessionService as ExtendedQueryHandler>::Statement;
    type QueryParser = Parser;

    fn query_parser(&self) -> Arc<Parser> {
        Arc::clone(&self.parser)
    }

    async fn on_parse<C>(&self, client: &mut C, message: Parse) -> PgWireResult<()>
    where
        C: ClientInfo + ClientPortalStore + Sink<PgWireBackendMessage> + Unpin + Send + Sync,
        C::PortalStore: PortalStore<Statement = Self::Statement>,
        C::Error: fmt::Debug,
        PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
    {
        let turn = match message.query.trim_matches(|c: char| c == ';' || c.is_whitespace()) {
            "" => None,
            query => Some(self.turn(client, query).await?),
        };
        let mut statements = subqueries::statements(&self.compatible, &message.query).unwrap_or_default();
        if statements.len() > 1 {
            return Err(faults::fault("42601", "a prepared statement is one statement"));
        }
        let parsed = StoredStatement::parse(client, &message, Arc::clone(&self.zones.of(client).parser));
        let parsed = match turn {
            Some(turn) => turn.within(parsed).await??,
            None => parsed.await?,
        };
        match parsed {
            Some(mut statement) => {
                let (_, parsed) = &mut statement.statement;
                if let (Some((rewritten, plan)), Some(meant)) = (parsed.as_mut(), statements.pop())
                    && *rewritten != meant
                {
                    *plan = self.zones.of(client).reader.plan(&meant).await?;
                    *rewritten = meant;
                }
                if let Some((Statement::Fetch { name, .. }, plan)) = parsed
                    && let Some(Stored::Value(cursor)) = client.portal_store().get_portal(&name.value)
                    && let Some((_, of_cursor)) = &cursor.statement.statement.1
                {
                    // What it gives are the rows of the cursor, and that is asked first.
                    *plan = of_cursor.clone();
                }
                client.portal_store().put_statement(Arc::new(statement));
            }
            None => {
                client.portal_store().put_empty_statement(message.name.as_deref().unwrap_or(DEFAULT_NAME))
            }
        }
        client.send(PgWireBackendMessage::ParseComplete(ParseComplete::new())).await?;
        Ok(())
    }

    async fn do_query<C>(
        &self,
        client: &mut C,
        portal: &Portal<Self::Statement>,
        max_rows: usize,
    ) -> PgWireResult<Response>
    where
        C: ClientInfo + ClientPortalStore + Sink<PgWireBackendMessage> + Unpin + Send + Sync,
        C::PortalStore: PortalStore<Statement = Self::Statement>,
        C::Error: fmt::Debug,
        PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
    {
        let (query, parsed) = &portal.statement.statement;
        if matches!(parsed, Some((Statement::Fetch { .. }, _))) && has_bytes(&portal.result_column_format) {
            return Err(faults::fault("0A000", "rows of a cursor come as text, not as bytes"));
        }
        let turn = self.turn(client, query).await?;
        let answering = self.zones.of(client);
        let asked = ExtendedQueryHandler::do_query(&answering.inner, client, portal, max_rows);
        let response = turn.within(asked).await??;
        Self::limited(&turn, response, &answering).await
    }
}
