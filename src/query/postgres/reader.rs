//! What becomes of a statement: queries are planned so that they can only read; what clients say of
//! their session is answered without the engine; all else is refused.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::common::{DFSchema, ParamValues};
use datafusion::dataframe::DataFrame;
use datafusion::logical_expr::{EmptyRelation, LogicalPlan};
use datafusion::prelude::SessionContext;
use datafusion::sql::parser::Statement as Parsed;
use datafusion::sql::sqlparser::ast::{CopyTarget, Set, Statement};
use datafusion_postgres::QueryHook;
use datafusion_postgres::arrow_pg::datatypes::df::encode_dataframe;
use datafusion_postgres::hooks::HookClient;
use datafusion_postgres::hooks::set_show::SetShowHook;
use datafusion_postgres::pgwire::api::ClientInfo;
use datafusion_postgres::pgwire::api::portal::Format;
use datafusion_postgres::pgwire::api::results::{Response, Tag};
use datafusion_postgres::pgwire::api::store::PortalStore as _;
use datafusion_postgres::pgwire::error::{PgWireError, PgWireResult};
use datafusion_postgres::pgwire::types::format::FormatOptions;

use super::catalog::Names;
use super::cursors::Cursors;
use super::faults::fault;
use super::functions::setting;
use super::transactions::{self, aborted, named};
use super::{apply, columns, copy, explain, fetching, settings, zones};
use crate::query::session::Engine;

/// Reads, and nothing else.
pub(super) struct Reader {
    engine: Engine,
    names: Arc<Names>,
}

/// How a statement is answered.
enum Kind {
    /// By the engine.
    Rows,
    /// As what clients say of a session; with these words where nothing is to be done.
    Session(Option<&'static str>),
    /// Not at all.
    Refused(String),
}

/// How `statement` is answered.
fn kind(statement: &Statement) -> Kind {
    match statement {
        Statement::Query(_)
        | Statement::Explain { .. }
        | Statement::Copy { to: true, target: CopyTarget::Stdout, .. }
        | Statement::ExplainTable { .. }
        | Statement::ShowTables { .. }
        | Statement::ShowColumns { .. }
        | Statement::ShowFunctions { .. } => Kind::Rows,
        Statement::Set(Set::SingleAssignment { variable, .. })
            if variable.to_string().to_ascii_lowercase().starts_with("datafusion.") =>
        {
            Kind::Refused(format!("`{variable}` is of the server, not of a session"))
        }
        Statement::Set(Set::SetTimeZone { local: true, .. }) => {
            Kind::Refused("a time zone is set for a session, not for a transaction".to_owned())
        }
        Statement::Set(Set::SingleAssignment { .. } | Set::SetTimeZone { .. })
        | Statement::ShowVariable { .. }
        | Statement::StartTransaction { .. }
        | Statement::Commit { .. }
        | Statement::Rollback { .. }
        | Statement::Savepoint { .. }
        | Statement::ReleaseSavepoint { .. }
        | Statement::Declare { .. }
        | Statement::Fetch { .. }
        | Statement::Close { .. } => Kind::Session(None),
        Statement::Set(_) => Kind::Session(Some("SET")),
        Statement::Reset(_) => Kind::Session(Some("RESET")),
        Statement::Discard { .. } => Kind::Session(Some("DISCARD ALL")),
        Statement::Deallocate { .. } => Kind::Session(Some("DEALLOCATE")),
        Statement::Copy { to: true, .. } => Kind::Refused("COPY TO is to STDOUT only".to_owned()),
        Statement::UNLISTEN { .. } => Kind::Session(Some("UNLISTEN")),
        other => {
            let text = other.to_string();
            let words = text.split_whitespace().next().unwrap_or_default();
            Kind::Refused(format!("{} is refused: this table can only be read", words.to_uppercase()))
        }
    }
}

fn refused(why: String) -> PgWireError {
    fault("25006", why)
}

impl Reader {
    /// Plans with `engine`.
    pub(super) fn new(engine: Engine, names: Arc<Names>) -> Self {
        Self { engine, names }
    }

    /// What answers.
    pub(super) fn context(&self) -> &SessionContext {
        &self.engine.context
    }

    pub(super) fn engine(&self) -> &Engine {
        &self.engine
    }

    /// What `statement` asks for.
    pub(super) async fn plan(&self, statement: &Statement) -> PgWireResult<LogicalPlan> {
        if let Some(asked) = copy::asked(statement) {
            return self.plan_of(&asked?.0).await;
        }
        if let Some(asked) = explain::Asked::of(statement)? {
            let plan = self.plan_of(asked.query).await?;
            return asked.explained(plan, &self.engine).await;
        }
        self.plan_of(statement).await
    }

    async fn plan_of(&self, statement: &Statement) -> PgWireResult<LogicalPlan> {
        let is_query = matches!(statement, Statement::Query(_));
        let engine = match is_query {
            true => self.engine.clone(),
            // What only the engine can tell.
            false => self.engine.with_options(|options| options.catalog.information_schema = true),
        };
        let wrong =
            |error| PgWireError::ApiError(Box::new(error) as Box<dyn std::error::Error + Send + Sync>);
        let plan = engine.plan_of(Parsed::Statement(Box::new(statement.clone()))).await.map_err(wrong)?;
        let plan = if is_query { self.understood(plan).await.map_err(wrong)? } else { plan };
        columns::with_known_types(plan).map_err(wrong)
    }

    /// A plan of the catalogs that the engine can answer: names in the place of numbers where they become
    /// texts, and queries within it.
    async fn understood(&self, plan: LogicalPlan) -> datafusion::common::Result<LogicalPlan> {
        let plan = columns::with_names(plan, &self.names)?;
        if !apply::has_queries(&plan) || !apply::is_of_catalogs(&plan) {
            return Ok(plan);
        }
        match self.engine.context.state().create_physical_plan(&plan).await {
            Ok(_) => Ok(plan),
            Err(_) => apply::applied(plan, &self.engine.context),
        }
    }

    /// Answers `statement`, unless the transaction of the client takes nothing more.
    pub(super) async fn respond(
        &self,
        statement: &Statement,
        client: &mut dyn HookClient,
    ) -> PgWireResult<Response> {
        match aborted(statement, client) {
            Some(fault) => Err(fault),
            None => self.answer(statement, &self.engine.context, client).await,
        }
    }

    async fn frame(&self, statement: &Statement) -> PgWireResult<DataFrame> {
        let plan = self.plan(statement).await?;
        let frame = self.engine.context.execute_logical_plan(plan).await;
        frame.map_err(|error| PgWireError::ApiError(Box::new(error)))
    }

    /// Answers what needs no parameters.
    async fn answer(
        &self,
        statement: &Statement,
        context: &SessionContext,
        client: &mut dyn HookClient,
    ) -> PgWireResult<Response> {
        match kind(statement) {
            Kind::Refused(why) => Err(refused(why)),
            Kind::Session(Some(words)) => {
                if matches!(statement, Statement::Reset(_) | Statement::Discard { .. })
                    && settings::resets_zone(statement)
                {
                    return settings::set_zone("DEFAULT", client)
                        .await
                        .map(|_| Response::Execution(Tag::new(words)));
                }
                Ok(Response::Execution(Tag::new(words)))
            }
            Kind::Session(None) => self.of_session(statement, context, client).await,
            Kind::Rows => {
                settings::configure(statement, client).await?;
                let options = Arc::new(FormatOptions::from_client_metadata(client.metadata()));
                let format = match copy::asked(statement).transpose()? {
                    Some((_, form)) if form.is_binary => Format::UnifiedBinary,
                    _ => Format::UnifiedText,
                };
                let frame = self.frame(statement).await?;
                let plan = frame.logical_plan().clone();
                let mut rows = encode_dataframe(frame, &format, Some(options)).await?;
                rows.row_schema = Arc::new(zones::described(&rows.row_schema, &plan));
                Ok(Response::Query(rows))
            }
        }
    }

    /// Answers what clients say of their session.
    async fn of_session(
        &self,
        statement: &Statement,
        context: &SessionContext,
        client: &mut dyn HookClient,
    ) -> PgWireResult<Response> {
        let answered = match statement {
            Statement::Declare { stmts } => {
                for declared in stmts {
                    self.declare(declared, None, client).await?;
                }
                return Ok(Response::Execution(Tag::new("DECLARE CURSOR")));
            }
            Statement::Fetch { .. } => return self.fetch(statement, &Format::UnifiedText, client).await,
            Statement::Close { cursor } => return fetching::closed(cursor, client),
            Statement::Set(Set::SetTimeZone { value, .. }) => {
                return settings::set_zone(&value.to_string(), client).await;
            }
            Statement::Set(Set::SingleAssignment { variable, values, .. })
                if variable.to_string().eq_ignore_ascii_case("timezone") =>
            {
                let value = values.first().map(ToString::to_string).unwrap_or_default();
                return settings::set_zone(&value, client).await;
            }
            Statement::ShowVariable { variable } if settings::is_zone(variable) => {
                return settings::shown("TimeZone", zones::of(client), context).await;
            }
            Statement::ShowVariable { variable } if settings::is_isolation(variable) => {
                let value = setting("transaction_isolation").unwrap_or_default();
                return settings::shown("transaction_isolation", value, context).await;
            }
            Statement::ShowVariable { variable } if variable.len() == 1 => {
                match setting(&variable[0].value) {
                    Some(value) => {
                        return settings::shown(&variable[0].value.to_lowercase(), value, context).await;
                    }
                    None => SetShowHook.handle_simple_query(statement, context, client).await,
                }
            }
            Statement::Set(Set::SingleAssignment { variable, .. })
                if !settings::is_known(&variable.to_string()) =>
            {
                return Ok(Response::Execution(Tag::new("SET")));
            }
            Statement::Set(_) | Statement::ShowVariable { .. } => {
                SetShowHook.handle_simple_query(statement, context, client).await
            }
            _ => transactions::answer(statement, client),
        };
        if matches!(answered, Some(Ok(Response::TransactionEnd(_)))) {
            client.portal_store().clear_portals();
        }
        answered.unwrap_or_else(|| Err(refused(format!("{statement} is refused"))))
    }
}

#[async_trait]
impl QueryHook for Reader {
    async fn handle_simple_query(
        &self,
        statement: &Statement,
        context: &SessionContext,
        client: &mut dyn HookClient,
    ) -> Option<PgWireResult<Response>> {
        let _ = context;
        Some(self.respond(statement, client).await)
    }

    async fn handle_extended_parse_query(
        &self,
        statement: &Statement,
        context: &SessionContext,
        client: &(dyn ClientInfo + Send + Sync),
    ) -> Option<PgWireResult<LogicalPlan>> {
        let nothing = || {
            let schema = Arc::new(DFSchema::empty());
            Some(Ok(LogicalPlan::EmptyRelation(EmptyRelation { produce_one_row: false, schema })))
        };
        match kind(statement) {
            Kind::Refused(why) => Some(Err(refused(why))),
            Kind::Rows => Some(self.plan(statement).await),
            Kind::Session(_) if matches!(statement, Statement::Declare { .. }) => {
                let Statement::Declare { stmts } = statement else { return nothing() };
                match stmts.first().and_then(|declared| declared.for_query.clone()) {
                    Some(query) => Some(self.plan(&Statement::Query(query)).await),
                    None => nothing(),
                }
            }
            Kind::Session(_) if matches!(statement, Statement::Fetch { .. }) => {
                let Statement::Fetch { name, .. } = statement else { return nothing() };
                let cursors = client.session_extensions().get_or_insert_with(Cursors::default);
                // What it gives are the rows of the cursor, and that is asked first.
                cursors.plan(&named(name)).map(Ok).or_else(nothing)
            }
            Kind::Session(_) => {
                SetShowHook.handle_extended_parse_query(statement, context, client).await.or_else(nothing)
            }
        }
    }

    async fn handle_extended_query(
        &self,
        statement: &Statement,
        plan: &LogicalPlan,
        parameters: &ParamValues,
        context: &SessionContext,
        client: &mut dyn HookClient,
    ) -> Option<PgWireResult<Response>> {
        if let Some(fault) = aborted(statement, client) {
            return Some(Err(fault));
        }
        if let Statement::Declare { stmts } = statement
            && let [declared] = stmts.as_slice()
        {
            let plan = plan.clone().replace_params_with_values(parameters);
            let plan = match plan {
                Ok(plan) => plan,
                Err(error) => return Some(Err(PgWireError::ApiError(Box::new(error)))),
            };
            let declared = self.declare(declared, Some(plan), client).await;
            return Some(declared.map(|()| Response::Execution(Tag::new("DECLARE CURSOR"))));
        }
        match kind(statement) {
            // With parameters, in the form that was asked for.
            Kind::Rows => match settings::configure(statement, client).await {
                Ok(()) => None,
                Err(error) => Some(Err(error)),
            },
            _ => Some(self.answer(statement, context, client).await),
        }
    }
}
