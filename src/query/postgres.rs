//! The protocol of PostgreSQL: what its clients ask, of a session that can only read.
//!
//! ```text
//! message ─▶ Service ─▶ statements, as clients of PostgreSQL write them
//!            turn,      ├─▶ Reader   SET, SHOW, BEGIN, cursors; queries to plans that only read
//!            limits     └─▶ engine   rows
//! ```
//! How messages look and what is in the catalogs that clients ask first is
//! `datafusion-postgres`'s; who is let in, what is run and what it may take is decided here.

mod apply;
mod catalog;
mod columns;
mod copy;
mod cursors;
mod entry;
mod explain;
mod faults;
mod fetching;
mod functions;
mod labels;
mod moves;
mod parser;
mod reader;
mod settings;
mod statements;
mod transactions;
mod zones;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::error::Result;
use async_trait::async_trait;
use datafusion::datasource::listing::ListingTable;
use datafusion::logical_expr::LogicalPlan;
use datafusion::sql::sqlparser::ast::Statement;
use datafusion_postgres::DfSessionService;
use datafusion_postgres::arrow_pg::datatypes::arrow_schema_to_pg_fields;
use datafusion_postgres::datafusion_pg_catalog::pg_catalog::context::EmptyContextProvider;
use datafusion_postgres::datafusion_pg_catalog::setup_pg_catalog;
use datafusion_postgres::pgwire::api::auth::StartupHandler;
use datafusion_postgres::pgwire::api::cancel::{CancelHandler, DefaultCancelHandler};
use datafusion_postgres::pgwire::api::portal::{Format, Portal, PortalExecutionState};
use datafusion_postgres::pgwire::api::query::{
    ExtendedQueryHandler, SimpleQueryHandler, send_describe_response, send_query_response,
};
use datafusion_postgres::pgwire::api::results::{DescribePortalResponse, QueryResponse, Response};
use datafusion_postgres::pgwire::api::stmt::StoredStatement;
use datafusion_postgres::pgwire::api::store::{Entry as Stored, PortalStore};
use datafusion_postgres::pgwire::api::{
    ClientInfo, ClientPortalStore, ConnectionHandle, ConnectionManager, DEFAULT_NAME, ErrorHandler,
    PgWireConnectionState, PgWireServerHandlers,
};
use datafusion_postgres::pgwire::error::{PgWireError, PgWireResult};
use datafusion_postgres::pgwire::messages::PgWireBackendMessage;
use datafusion_postgres::pgwire::messages::data::DataRow;
use datafusion_postgres::pgwire::messages::extendedquery::{
    Describe, Execute, Parse, ParseComplete, TARGET_TYPE_BYTE_PORTAL,
};
use datafusion_postgres::pgwire::messages::response::TransactionStatus;
use datafusion_postgres::pgwire::messages::simplequery::Query;
use futures::future::{Either, select};
use futures::{Sink, SinkExt as _, StreamExt as _};

use super::bounds;
use super::limits::Turn;
use super::session::{DATABASE, Engine, Session};
use catalog::{Catalog, Table};
use cursors::Cursors;
pub(crate) use entry::Entry;
use entry::Known;
use parser::Prepared;
use zones::{Answering, Zones};

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
        let state = engine.context.state();
        let known = state.scalar_functions().keys().chain(state.aggregate_functions().keys());
        let known = known.chain(state.window_functions().keys()).cloned().collect();
        let catalog = Catalog::new(&tables(session)?, &known)?;
        if let Some(all) = engine.context.catalog(DATABASE) {
            for (name, schema) in catalog.schemas() {
                all.register_schema(name, schema)?;
            }
        }
        functions::functions(&catalog.names).into_iter().for_each(|of| engine.context.register_udf(of));
        let zones = Zones::new(engine.clone(), &catalog);
        let password = match &entry {
            Entry::Open => String::new(),
            Entry::Password { password, .. } => password.clone(),
        };
        Ok(Self {
            service: Arc::new(Service { parser: zones.named("UTC").parser.clone(), zones, engine }),
            entry,
            source: Arc::new(Known::new(&password)),
            connections: Arc::new(ConnectionManager::new()),
        })
    }
}

/// The tables of a session, for its catalogs.
fn tables(session: &Session) -> Result<Vec<Table>> {
    let context = &session.engine().context;
    let of = |(name, _): &(String, Vec<String>)| {
        let provider = session.block_on(context.table_provider(name.as_str()))?;
        let files = (&*provider as &dyn std::any::Any).downcast_ref::<ListingTable>();
        let files = files.map(|files| files.table_paths().as_slice()).unwrap_or_default();
        let n_bytes = files.iter().filter_map(|file| {
            let path = file.get_url().to_file_path().ok()?;
            i64::try_from(std::fs::metadata(path).ok()?.len()).ok()
        });
        Ok(Table { name: name.clone(), schema: provider.schema(), n_bytes: n_bytes.sum() })
    };
    session.names.iter().map(of).collect()
}

impl PgWireServerHandlers for Handlers {
    fn simple_query_handler(&self) -> Arc<impl SimpleQueryHandler> {
        Arc::clone(&self.service)
    }

    fn extended_query_handler(&self) -> Arc<impl ExtendedQueryHandler> {
        Arc::clone(&self.service)
    }

    fn startup_handler(&self) -> Arc<impl StartupHandler> {
        Arc::new(self.entry.startup(&self.source, &self.connections))
    }

    fn error_handler(&self) -> Arc<impl ErrorHandler> {
        Arc::clone(&self.service)
    }

    fn cancel_handler(&self) -> Arc<impl CancelHandler> {
        Arc::new(DefaultCancelHandler::new(Arc::clone(&self.connections)))
    }
}

/// What answers queries, each within the limits of the session.
struct Service {
    zones: Zones,
    /// What tells of statements; they are parsed by that of a zone.
    parser: Arc<Prepared>,
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
        let names = Arc::clone(&answering.names);
        let has_some = columns.iter().any(|of| !matches!(of, zones::Sent::AsItIs));
        let shown = move |row: PgWireResult<DataRow>| match has_some {
            true => row.map(|row| zones::row(row, &columns, &zone, &names)),
            false => row,
        };
        let rows = rows.map(shown);
        let mut limited = QueryResponse::new(row_schema, rows);
        limited.set_command_tag(&command_tag);
        Ok(Response::Query(limited))
    }
}

impl ErrorHandler for Service {
    fn on_error<C: ClientInfo>(&self, _client: &C, error: &mut PgWireError) {
        faults::name(error, &self.engine.limiter);
    }
}

#[async_trait]
impl SimpleQueryHandler for Service {
    async fn on_query<C>(&self, client: &mut C, query: Query) -> PgWireResult<()>
    where
        C: ClientInfo + ClientPortalStore + Sink<PgWireBackendMessage> + Unpin + Send + Sync,
        C::PortalStore: PortalStore,
        C::Error: fmt::Debug,
        PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
    {
        if client.transaction_status() == TransactionStatus::Error
            && let Ok(statements) = statements::statements(&query.query)
            && let [only] = statements.as_slice()
        {
            transactions::revive(only, client);
        }
        self._on_query(client, query).await
    }

    async fn do_query<C>(&self, client: &mut C, query: &str) -> PgWireResult<Vec<Response>>
    where
        C: ClientInfo + ClientPortalStore + Sink<PgWireBackendMessage> + Unpin + Send + Sync,
        C::PortalStore: PortalStore,
        C::Error: fmt::Debug,
        PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
    {
        let turn = self.turn(client, query).await?;
        let answering = self.zones.of(client);
        let statements = statements::statements(query);
        let statements = statements.map_err(|error| PgWireError::ApiError(Box::new(error)))?;
        if statements.is_empty() {
            return Ok(vec![Response::EmptyQuery]);
        }
        let mut limited = Vec::new();
        for statement in statements {
            let form = copy::asked(&statement).transpose()?.map(|(_, form)| form);
            let response = turn.within(answering.reader.respond(&statement, client)).await??;
            if let Response::TransactionStart(_) = response {
                // What follows in the same message is within it.
                client.set_transaction_status(client.transaction_status().to_in_transaction_state());
            }
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
    type QueryParser = Prepared;

    fn query_parser(&self) -> Arc<Prepared> {
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
        let parsed = StoredStatement::parse(client, &message, Arc::clone(&self.zones.of(client).parser));
        let parsed = match turn {
            Some(turn) => turn.within(parsed).await??,
            None => parsed.await?,
        };
        match parsed {
            Some(statement) => client.portal_store().put_statement(Arc::new(statement)),
            None => {
                client.portal_store().put_empty_statement(message.name.as_deref().unwrap_or(DEFAULT_NAME))
            }
        }
        client.send(PgWireBackendMessage::ParseComplete(ParseComplete::new())).await?;
        Ok(())
    }

    async fn on_describe<C>(&self, client: &mut C, message: Describe) -> PgWireResult<()>
    where
        C: ClientInfo + ClientPortalStore + Sink<PgWireBackendMessage> + Unpin + Send + Sync,
        C::PortalStore: PortalStore<Statement = Self::Statement>,
        C::Error: fmt::Debug,
        PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
    {
        // A cursor is a portal too.
        let name = message.name.as_deref().filter(|_| message.target_type == TARGET_TYPE_BYTE_PORTAL);
        let cursors = client.session_extensions().get_or_insert_with(Cursors::default);
        let Some(plan) = name.and_then(|name| cursors.plan(name)) else {
            return self._on_describe(client, message).await;
        };
        let columns = arrow_schema_to_pg_fields(plan.schema().as_arrow(), &Format::UnifiedText, None)?;
        let described = DescribePortalResponse::new(zones::described(&columns, &plan));
        send_describe_response(client, &described).await
    }

    /// Sends the rows of a portal that is read to its end as they come, instead of holding all of them.
    async fn on_execute<C>(&self, client: &mut C, message: Execute) -> PgWireResult<()>
    where
        C: ClientInfo + ClientPortalStore + Sink<PgWireBackendMessage> + Unpin + Send + Sync,
        C::PortalStore: PortalStore<Statement = Self::Statement>,
        C::Error: fmt::Debug,
        PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
    {
        let name = message.name.as_deref().unwrap_or(DEFAULT_NAME);
        let Some(Stored::Value(portal)) = client.portal_store().get_portal(name) else {
            return self._on_execute(client, message).await;
        };
        if let Some((statement, _)) = &portal.statement.statement.1 {
            transactions::revive(statement, client);
        }
        let is_query = matches!(&portal.statement.statement.1, Some((Statement::Query(_), _)));
        let is_ready = matches!(client.state(), PgWireConnectionState::ReadyForQuery);
        if message.max_rows > 0 || !is_query || !is_ready {
            return self._on_execute(client, message).await;
        }
        client.set_state(PgWireConnectionState::QueryInProgress);
        let begun = std::mem::replace(&mut *portal.state().lock().await, PortalExecutionState::Finished);
        let rows = match begun {
            PortalExecutionState::Suspended(rows) => Response::Query(rows),
            PortalExecutionState::Finished => {
                Response::Query(QueryResponse::new(Arc::new(Vec::new()), futures::stream::empty()))
            }
            PortalExecutionState::Initial => {
                match client.session_extensions().get::<Arc<ConnectionHandle>>() {
                    None => ExtendedQueryHandler::do_query(self, client, &portal, 0).await?,
                    Some(handle) => {
                        let cancelled = handle.start_query().await;
                        match select(ExtendedQueryHandler::do_query(self, client, &portal, 0), cancelled)
                            .await
                        {
                            Either::Left((rows, _)) => rows?,
                            Either::Right(_) => return Err(PgWireError::QueryCanceled),
                        }
                    }
                }
            }
        };
        if let Response::Query(rows) = rows {
            send_query_response(client, rows, false).await?;
        }
        client.set_state(PgWireConnectionState::ReadyForQuery);
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
        let turn = match max_rows {
            0 => self.turn(client, query).await?,
            // It waits for its reader in between, and others must not wait for that.
            _ => self.engine.limiter.aside(None).map_err(faults::of)?,
        };
        let answering = self.zones.of(client);
        let Some((statement, plan)) = parsed else { return Ok(Response::EmptyQuery) };
        if matches!(statement, Statement::Fetch { .. }) {
            if let Some(fault) = transactions::aborted(statement, client) {
                return Err(fault);
            }
            let fetched = answering.reader.fetch(statement, &portal.result_column_format, client);
            let response = turn.within(fetched).await??;
            return Self::limited(&turn, described(response, plan), &answering).await;
        }
        if let Some(asked) = copy::asked(statement) {
            let form = asked?.1;
            let response = turn.within(answering.reader.respond(statement, client)).await??;
            return Ok(match Self::limited(&turn, response, &answering).await? {
                Response::Query(rows) => form.copied(rows),
                other => other,
            });
        }
        let asked = ExtendedQueryHandler::do_query(&answering.inner, client, portal, max_rows);
        let response = described(turn.within(asked).await??, plan);
        Self::limited(&turn, response, &answering).await
    }
}

/// The columns of an answer as PostgreSQL tells of them.
fn described(response: Response, plan: &LogicalPlan) -> Response {
    match response {
        Response::Query(mut rows) => {
            rows.row_schema = Arc::new(zones::described(&rows.row_schema, plan));
            Response::Query(rows)
        }
        other => other,
    }
}
