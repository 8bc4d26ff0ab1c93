//! What becomes of a statement: queries are planned so that they can only read; what clients say of
//! their session is answered without the engine; all else is refused.

use std::sync::Arc;

use std::ops::ControlFlow;

use async_trait::async_trait;
use datafusion::arrow::datatypes::{DataType, IntervalUnit};
use datafusion::common::tree_node::{Transformed, TreeNode as _};
use datafusion::common::{DFSchema, ParamValues};
use datafusion::dataframe::DataFrame;
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{
    EmptyRelation, Expr, ExprSchemable as _, LogicalPlan, LogicalPlanBuilder, ScalarUDF, cast,
};
use datafusion::prelude::SessionContext;
use datafusion::sql::parser::Statement as Parsed;
use datafusion::sql::sqlparser::ast::{
    CloseCursor, CopyTarget, Declare, DeclareType, Expr as SqlExpr, FetchDirection, FunctionArg,
    FunctionArguments, Ident, Set, Statement, Visit as _, Visitor,
};
use datafusion_postgres::QueryHook;
use datafusion_postgres::arrow_pg::datatypes::df::encode_dataframe;
use datafusion_postgres::arrow_pg::datatypes::into_pg_type;
use datafusion_postgres::hooks::HookClient;
use datafusion_postgres::hooks::set_show::SetShowHook;
use datafusion_postgres::pgwire::api::ClientInfo;
use datafusion_postgres::pgwire::api::portal::Format;
use datafusion_postgres::pgwire::api::results::{QueryResponse, Response, Tag};
use datafusion_postgres::pgwire::api::store::{Entry, PortalStore as _};
use datafusion_postgres::pgwire::error::{PgWireError, PgWireResult};
use datafusion_postgres::pgwire::messages::PgWireBackendMessage;
use datafusion_postgres::pgwire::messages::response::TransactionStatus;
use datafusion_postgres::pgwire::messages::startup::ParameterStatus;
use datafusion_postgres::pgwire::types::format::FormatOptions;
use futures::StreamExt as _;

use super::catalog::{ALIAS, Names, TYPE};
use super::cursors::{self, Cursor, Cursors};
use super::faults::fault;
use super::functions::{as_json, name_of, plain, sent_interval, setting};
use super::statements::MOVES;
use super::transactions::{self, aborted, named};
use super::{apply, copy, explain, zones};
use crate::query::dialect::Zone;
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
        with_known_types(plan).map_err(wrong)
    }

    /// A plan of the catalogs that the engine can answer: names in the place of numbers where they become
    /// texts, and queries within it.
    async fn understood(&self, plan: LogicalPlan) -> datafusion::common::Result<LogicalPlan> {
        let plan = with_names(plan, &self.names)?;
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
                    && resets_zone(statement)
                {
                    return set_zone("DEFAULT", client).await.map(|_| Response::Execution(Tag::new(words)));
                }
                Ok(Response::Execution(Tag::new(words)))
            }
            Kind::Session(None) => self.of_session(statement, context, client).await,
            Kind::Rows => {
                self.configure(statement, client).await?;
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
            Statement::Close { cursor } => return closed(cursor, client),
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
            Statement::ShowVariable { variable } if is_isolation(variable) => {
                let value = setting("transaction_isolation").unwrap_or_default();
                return shown("transaction_isolation", value, context).await;
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
            _ => transactions::answer(statement, client),
        };
        if matches!(answered, Some(Ok(Response::TransactionEnd(_)))) {
            client.portal_store().clear_portals();
        }
        answered.unwrap_or_else(|| Err(refused(format!("{statement} is refused"))))
    }

    /// Begins to answer a query whose rows are fetched by the name of a cursor; with its plan where that is
    /// known.
    async fn declare(
        &self,
        declared: &Declare,
        plan: Option<LogicalPlan>,
        client: &mut dyn HookClient,
    ) -> PgWireResult<()> {
        let (Some(name), Some(query), Some(DeclareType::Cursor)) =
            (declared.names.first(), &declared.for_query, &declared.declare_type)
        else {
            return Err(fault("42601", "expected DECLARE name CURSOR FOR a query"));
        };
        let is_held = declared.hold == Some(true);
        if !is_held && client.transaction_status() == TransactionStatus::Idle {
            return Err(fault("25P01", "DECLARE CURSOR can only be used in transaction blocks"));
        }
        let plan = match plan {
            Some(plan) => plan,
            None => self.plan(&Statement::Query(query.clone())).await?,
        };
        let cursor = Cursor::new(&self.engine, plan, declared.scroll == Some(true)).await?;
        let depth = transactions::depth(client);
        cursors_of(client).add(&named(name), cursor, is_held, depth)
    }

    /// Rows of a cursor, or how many it has passed over.
    pub(super) async fn fetch(
        &self,
        statement: &Statement,
        format: &Format,
        client: &mut dyn HookClient,
    ) -> PgWireResult<Response> {
        let Statement::Fetch { name, direction, into, .. } = statement else {
            return Err(fault("42601", "expected FETCH"));
        };
        let options = Arc::new(FormatOptions::from_client_metadata(client.metadata()));
        let rows = match cursors_of(client).get(&named(name)) {
            Some(cursor) => cursors::fetched(cursor, direction, format, options).await?,
            None => of_portal(name, direction, client).await?,
        };
        if into.as_ref().is_none_or(|into| into.to_string() != MOVES) {
            return Ok(Response::Query(rows));
        }
        let QueryResponse { mut data_rows, .. } = rows;
        let mut n = 0;
        while let Some(row) = data_rows.next().await {
            row?;
            n += 1;
        }
        Ok(Response::Execution(Tag::new("MOVE").with_rows(n)))
    }

    /// Takes what `set_config` says, which the query itself only gives back.
    async fn configure(&self, statement: &Statement, client: &mut dyn HookClient) -> PgWireResult<()> {
        let mut asked = Configured::default();
        let _ = statement.visit(&mut asked);
        for (name, value) in asked.0 {
            if name.eq_ignore_ascii_case("timezone") {
                set_zone(&value, client).await?;
            }
        }
        Ok(())
    }
}

/// The names and values of calls of `set_config`.
#[derive(Default)]
struct Configured(Vec<(String, String)>);

impl Visitor for Configured {
    type Break = ();

    fn pre_visit_expr(&mut self, of: &SqlExpr) -> ControlFlow<()> {
        if let SqlExpr::Function(function) = of
            && function.name.to_string().eq_ignore_ascii_case("set_config")
            && let FunctionArguments::List(list) = &function.args
            && let [name, value, _] = list.args.as_slice()
        {
            let plain = |of: &FunctionArg| of.to_string().trim_matches('\'').to_owned();
            self.0.push((plain(name), plain(value)));
        }
        ControlFlow::Continue(())
    }
}

/// The cursors of a client.
pub(super) fn cursors_of(client: &dyn HookClient) -> Arc<Cursors> {
    client.session_extensions().get_or_insert_with(Cursors::default)
}

/// Rows of what a client has begun to read by the extended protocol.
async fn of_portal(
    name: &Ident,
    direction: &FetchDirection,
    client: &dyn HookClient,
) -> PgWireResult<QueryResponse> {
    let n = match direction {
        FetchDirection::Forward { limit: Some(n) } => n.to_string().parse().unwrap_or(0),
        FetchDirection::All => 0,
        _ => return Err(fault("55000", "cursor can only scan forward")),
    };
    match client.portal_store().get_portal(&named(name)) {
        Some(Entry::Value(portal)) => Ok(portal.fetch(n).await?.response),
        _ => Err(fault("34000", format!("cursor \"{}\" does not exist", named(name)))),
    }
}

fn closed(cursor: &CloseCursor, client: &dyn HookClient) -> PgWireResult<Response> {
    let cursors = cursors_of(client);
    match cursor {
        CloseCursor::All => {
            cursors.clear();
            client.portal_store().clear_portals();
        }
        CloseCursor::Specific { name } => {
            let is_portal = client.portal_store().get_portal(&named(name)).is_some();
            client.portal_store().rm_portal(&named(name));
            if !cursors.close(&named(name)) && !is_portal {
                return Err(fault("34000", format!("cursor \"{}\" does not exist", named(name))));
            }
        }
    }
    Ok(Response::Execution(Tag::new("CLOSE CURSOR")))
}

/// The same with names in the place of numbers that become texts.
fn with_names(plan: LogicalPlan, names: &Arc<Names>) -> datafusion::common::Result<LogicalPlan> {
    let changed = plan.transform_up_with_subqueries(|node| {
        let schema = merge_schema(&node.inputs());
        let kept = NamePreserver::new(&node);
        node.map_expressions(|expression| {
            let name = kept.save(&expression);
            let changed = expression.transform_up(|of| {
                let Expr::Cast(cast) = &of else { return Ok(Transformed::no(of)) };
                let Ok((_, field)) = cast.expr.to_field(&schema) else { return Ok(Transformed::no(of)) };
                let kind = field.metadata().get(ALIAS);
                let function = match (cast.field.data_type(), kind) {
                    (DataType::Utf8 | DataType::Utf8View, Some(kind)) => name_of(names, kind),
                    (DataType::Int32, Some(_)) => plain(names, "number_of"),
                    (DataType::Int64, Some(_)) => plain(names, "long_of"),
                    (DataType::Utf8 | DataType::Utf8View, None)
                        if *field.data_type() == DataType::Utf8 && field.metadata().contains_key(TYPE) =>
                    {
                        plain(names, "text_of")
                    }
                    _ => None,
                };
                Ok(match function {
                    Some(function) => Transformed::yes(function.call(vec![(*cast.expr).clone()])),
                    None => Transformed::no(of),
                })
            })?;
            Ok(changed.update_data(|of| name.restore(of)))
        })?
        .map_data(LogicalPlan::recompute_schema)
    })?;
    Ok(changed.data)
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

fn is_isolation(variable: &[Ident]) -> bool {
    let words = ["transaction", "isolation", "level"];
    variable.iter().map(|word| word.value.to_lowercase()).eq(words)
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
            Kind::Rows => match self.configure(statement, client).await {
                Ok(()) => None,
                Err(error) => Some(Err(error)),
            },
            _ => Some(self.answer(statement, context, client).await),
        }
    }
}
