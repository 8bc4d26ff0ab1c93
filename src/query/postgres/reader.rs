//! What becomes of a statement: queries are planned so that they can only read; what clients say of
//! their session is answered without the engine; all else is refused.

use std::sync::Arc;

use std::ops::ControlFlow;

use async_trait::async_trait;
use datafusion::arrow::datatypes::{DataType, IntervalUnit};
use datafusion::common::{DFSchema, ParamValues};
use datafusion::dataframe::DataFrame;
use datafusion::logical_expr::{EmptyRelation, Expr, LogicalPlan, LogicalPlanBuilder, ScalarUDF, cast};
use datafusion::prelude::SessionContext;
use datafusion::sql::parser::Statement as Parsed;
use datafusion::sql::sqlparser::ast::{
    Declare, DeclareType, Expr as SqlExpr, Ident, Set, Statement, Value, VisitMut as _, VisitorMut,
};
use datafusion_postgres::QueryHook;
use datafusion_postgres::arrow_pg::datatypes::df::encode_dataframe;
use datafusion_postgres::arrow_pg::datatypes::into_pg_type;
use datafusion_postgres::hooks::HookClient;
use datafusion_postgres::hooks::cursor::CursorStatementHook;
use datafusion_postgres::hooks::set_show::SetShowHook;
use datafusion_postgres::hooks::transactions::TransactionStatementHook;
use datafusion_postgres::pgwire::api::ClientInfo;
use datafusion_postgres::pgwire::api::portal::{Format, Portal};
use datafusion_postgres::pgwire::api::results::{Response, Tag};
use datafusion_postgres::pgwire::api::stmt::StoredStatement;
use datafusion_postgres::pgwire::api::store::PortalStore as _;
use datafusion_postgres::pgwire::error::{PgWireError, PgWireResult};
use datafusion_postgres::pgwire::messages::PgWireBackendMessage;
use datafusion_postgres::pgwire::messages::startup::ParameterStatus;
use datafusion_postgres::pgwire::types::format::FormatOptions;

use super::faults::fault;
use super::functions::{as_json, sent_interval, setting};
use super::zones;
use crate::query::dialect::Zone;
use crate::query::session::Engine;

/// Reads, and nothing else.
pub(super) struct Reader {
    engine: Engine,
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
        | Statement::Declare { .. }
        | Statement::Fetch { .. }
        | Statement::Close { .. } => Kind::Session(None),
        Statement::Set(_) => Kind::Session(Some("SET")),
        Statement::Reset(_) => Kind::Session(Some("RESET")),
        Statement::Discard { .. } => Kind::Session(Some("DISCARD ALL")),
        Statement::Deallocate { .. } => Kind::Session(Some("DEALLOCATE")),
        Statement::Savepoint { .. } => Kind::Session(Some("SAVEPOINT")),
        Statement::ReleaseSavepoint { .. } => Kind::Session(Some("RELEASE")),
        Statement::Copy { to: true, .. } => Kind::Refused(
            "COPY TO is to STDOUT only, and asked by the simple protocol, without parameters".to_owned(),
        ),
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
    pub(super) fn new(engine: Engine) -> Self {
        Self { engine }
    }

    /// What `statement` asks for.
    pub(super) async fn plan(&self, statement: &Statement) -> PgWireResult<LogicalPlan> {
        let mut statement = Box::new(statement.clone());
        let _ = statement.visit(&mut SearchPath);
        let plan = self.engine.plan_of(Parsed::Statement(statement)).await;
        plan.and_then(with_known_types).map_err(|error| PgWireError::ApiError(Box::new(error)))
    }

    /// Answers `statement`, unless the transaction of the client takes nothing more.
    pub(super) async fn respond(
        &self,
        statement: &Statement,
        client: &mut dyn HookClient,
    ) -> PgWireResult<Response> {
        match aborted(statement, &self.engine.context, client).await {
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
                    && resets_zone(statement)
                {
                    return set_zone("DEFAULT", client).await.map(|_| Response::Execution(Tag::new(words)));
                }
                Ok(Response::Execution(Tag::new(words)))
            }
            Kind::Session(None) => self.of_session(statement, context, client).await,
            Kind::Rows => {
                let options = Arc::new(FormatOptions::from_client_metadata(client.metadata()));
                let frame = self.frame(statement).await?;
                Ok(Response::Query(encode_dataframe(frame, &Format::UnifiedText, Some(options)).await?))
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
                    self.declare(declared, client).await?;
                }
                return Ok(Response::Execution(Tag::new("DECLARE CURSOR")));
            }
            Statement::Fetch { .. } | Statement::Close { .. } => {
                CursorStatementHook.handle_simple_query(statement, context, client).await
            }
            // Back to before the fault: nothing was done that could be undone.
            Statement::Rollback { savepoint: Some(_), .. } => {
                return Ok(Response::TransactionStart(Tag::new("ROLLBACK")));
            }
            Statement::Set(Set::SetTimeZone { value, .. }) => {
                return set_zone(&value.to_string(), client).await;
            }
            Statement::Set(Set::SingleAssignment { variable, values, .. })
                if variable.to_string().eq_ignore_ascii_case("timezone") =>
            {
                let value = values.first().map(ToString::to_string).unwrap_or_default();
                return set_zone(&value, client).await;
            }
            Statement::ShowVariable { variable } if is_zone(variable) => {
                return shown("TimeZone", zones::of(client), context).await;
            }
            Statement::ShowVariable { variable } if variable.len() == 1 => {
                match setting(&variable[0].value) {
                    Some(value) => return shown(&variable[0].value.to_lowercase(), value, context).await,
                    None => SetShowHook.handle_simple_query(statement, context, client).await,
                }
            }
            Statement::Set(Set::SingleAssignment { variable, .. }) if !is_known(&variable.to_string()) => {
                return Ok(Response::Execution(Tag::new("SET")));
            }
            Statement::Set(_) | Statement::ShowVariable { .. } => {
                SetShowHook.handle_simple_query(statement, context, client).await
            }
            _ => TransactionStatementHook.handle_simple_query(statement, context, client).await,
        };
        answered.unwrap_or_else(|| Err(refused(format!("{statement} is refused"))))
    }

    /// Begins to answer a query whose rows are fetched by the name of a cursor.
    async fn declare(&self, declared: &Declare, client: &mut dyn HookClient) -> PgWireResult<()> {
        let (Some(name), Some(query), Some(DeclareType::Cursor)) =
            (declared.names.first(), &declared.for_query, &declared.declare_type)
        else {
            return Err(fault("42601", "expected DECLARE name CURSOR FOR a query"));
        };
        let options = Arc::new(FormatOptions::from_client_metadata(client.metadata()));
        let query = Statement::Query(query.clone());
        let plan = self.plan(&query).await?;
        let frame = self.engine.context.execute_logical_plan(plan.clone()).await;
        let frame = frame.map_err(|error| PgWireError::ApiError(Box::new(error)))?;
        let mut rows = encode_dataframe(frame, &Format::UnifiedText, Some(options)).await?;
        // It may wait for long until somebody fetches, and others must not wait for that.
        let turn = self.engine.limiter.aside(None).map_err(super::faults::of)?;
        rows.data_rows = Box::pin(turn.items(rows.data_rows));
        // With its plan, so that its columns can be told.
        let parsed = (query.to_string(), Some((query, plan)));
        let statement = StoredStatement::new(name.value.clone(), parsed, Vec::new());
        let portal = Portal::new_cursor(name.value.clone(), Arc::new(statement));
        portal.start(rows).await;
        client.portal_store().put_portal(Arc::new(portal));
        Ok(())
    }
}

/// A setting as a row.
async fn shown(name: &str, value: &str, context: &SessionContext) -> PgWireResult<Response> {
    let text = format!("SELECT '{value}' AS \"{name}\"");
    let frame = context.sql(&text).await;
    let frame = frame.map_err(|error| PgWireError::ApiError(Box::new(error)))?;
    Ok(Response::Query(encode_dataframe(frame, &Format::UnifiedText, None).await?))
}

fn is_zone(variable: &[Ident]) -> bool {
    let words: Vec<String> = variable.iter().map(|word| word.value.to_lowercase()).collect();
    words.concat() == "timezone"
}

/// Whether all that a client has set is as it was, or its zone is.
fn resets_zone(statement: &Statement) -> bool {
    let words = statement.to_string().to_lowercase();
    words.contains("all") || words.contains("timezone") || words.contains("time zone")
}

/// Takes the zone by its name, `'Europe/Berlin'`, or that of the server.
async fn set_zone(value: &str, client: &mut dyn HookClient) -> PgWireResult<Response> {
    let name = value.trim_matches(['\'', '"']);
    let name = match &*name.to_ascii_lowercase() {
        "default" | "local" => "UTC".to_owned(),
        _ => match Zone::named(name) {
            Ok(zone) => zone.name().to_owned(),
            Err(_) => {
                return Err(fault("22023", format!("invalid value for parameter \"TimeZone\": \"{name}\"")));
            }
        },
    };
    client.metadata_mut().insert(zones::KEY.to_owned(), name.clone());
    let status = ParameterStatus::new("TimeZone".to_owned(), name);
    client.send_message(PgWireBackendMessage::ParameterStatus(status)).await?;
    Ok(Response::Execution(Tag::new("SET")))
}

/// The same with columns that clients have no type for as JSON, and times as they are sent.
fn with_known_types(plan: LogicalPlan) -> datafusion::common::Result<LogicalPlan> {
    let is_known = |of: &Expr| -> datafusion::common::Result<bool> {
        use datafusion::logical_expr::ExprSchemable as _;
        Ok(into_pg_type(&of.get_type(plan.schema())?).is_ok())
    };
    let columns: Vec<Expr> = plan.schema().columns().into_iter().map(Expr::Column).collect();
    let known = columns.iter().map(is_known).collect::<Result<Vec<bool>, _>>()?;
    let sent: Vec<Option<DataType>> =
        plan.schema().fields().iter().map(|field| sent_as(field.data_type())).collect();
    let is_as_it_is = known.iter().all(|known| *known) && sent.iter().all(Option::is_none);
    if matches!(plan, LogicalPlan::Explain(_) | LogicalPlan::Analyze(_)) || is_as_it_is {
        return Ok(plan);
    }
    let (json, interval): (ScalarUDF, ScalarUDF) = (as_json(), sent_interval());
    let named = plan.schema().columns();
    let shown =
        columns.into_iter().zip(named).zip(known).zip(sent).map(|(((column, named), known), sent)| {
            let shown = match sent {
                Some(sent @ DataType::Interval(_)) => interval.call(vec![cast(column, sent)]),
                Some(sent) => cast(column, sent),
                None if known => return column,
                None => json.call(vec![column]),
            };
            shown.alias_qualified(named.relation, named.name)
        });
    LogicalPlanBuilder::from(plan).project(shown)?.build()
}

/// The type as which a time is sent, if it is another one: instants in UTC, from which their texts are
/// made, and what lies between two as an interval.
fn sent_as(of: &DataType) -> Option<DataType> {
    match of {
        DataType::Timestamp(unit, Some(zone)) if &**zone != "UTC" => {
            Some(DataType::Timestamp(*unit, Some("UTC".into())))
        }
        DataType::Duration(_) | DataType::Interval(_) => Some(DataType::Interval(IntervalUnit::MonthDayNano)),
        _ => None,
    }
}

/// Puts the schema of the tables where the parser has left nothing for those of the search path.
struct SearchPath;

impl VisitorMut for SearchPath {
    type Break = ();

    fn post_visit_expr(&mut self, of: &mut SqlExpr) -> ControlFlow<()> {
        if let SqlExpr::InList { expr, list, .. } = of
            && expr.to_string() == "quote_ident(table_schema)"
            && let [SqlExpr::Value(only)] = list.as_mut_slice()
            && only.value == Value::SingleQuotedString(String::new())
        {
            only.value = Value::SingleQuotedString("public".to_owned());
        }
        ControlFlow::Continue(())
    }
}

/// Whether something is known of a client's session by this name; what is not is as it is.
fn is_known(name: &str) -> bool {
    let names = [
        "statement_timeout",
        "datestyle",
        "bytea_output",
        "intervalstyle",
        "application_name",
        "extra_float_digits",
        "search_path",
    ];
    names.iter().any(|known| name.eq_ignore_ascii_case(known))
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
            Kind::Session(_) => {
                SetShowHook.handle_extended_parse_query(statement, context, client).await.or_else(nothing)
            }
        }
    }

    async fn handle_extended_query(
        &self,
        statement: &Statement,
        _plan: &LogicalPlan,
        _parameters: &ParamValues,
        context: &SessionContext,
        client: &mut dyn HookClient,
    ) -> Option<PgWireResult<Response>> {
        if let Some(fault) = aborted(statement, context, client).await {
            return Some(Err(fault));
        }
        match kind(statement) {
            // With parameters, in the form that was asked for.
            Kind::Rows => None,
            _ => Some(self.answer(statement, context, client).await),
        }
    }
}

/// Why a statement is not answered in a transaction in which one has failed.
async fn aborted(
    statement: &Statement,
    context: &SessionContext,
    client: &mut dyn HookClient,
) -> Option<PgWireError> {
    match statement {
        Statement::StartTransaction { .. } | Statement::Commit { .. } | Statement::Rollback { .. } => None,
        _ => TransactionStatementHook.handle_simple_query(statement, context, client).await?.err(),
    }
}
