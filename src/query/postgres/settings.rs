//! Settings of a session: what a client may set, of which only the zone of its times means something here,
//! and what it is shown.

use std::ops::ControlFlow;

use datafusion::prelude::SessionContext;
use datafusion::sql::sqlparser::ast::{
    Expr as SqlExpr, FunctionArg, FunctionArguments, Ident, Statement, Visit as _, Visitor,
};
use datafusion_postgres::arrow_pg::datatypes::df::encode_dataframe;
use datafusion_postgres::hooks::HookClient;
use datafusion_postgres::pgwire::api::portal::Format;
use datafusion_postgres::pgwire::api::results::{Response, Tag};
use datafusion_postgres::pgwire::error::{PgWireError, PgWireResult};
use datafusion_postgres::pgwire::messages::PgWireBackendMessage;
use datafusion_postgres::pgwire::messages::startup::ParameterStatus;

use super::faults::fault;
use super::zones;
use crate::query::dialect::Zone;

/// Takes what calls of `set_config` say, which the query itself only gives back.
pub(super) async fn configure(statement: &Statement, client: &mut dyn HookClient) -> PgWireResult<()> {
    let mut asked = Configured::default();
    let _ = statement.visit(&mut asked);
    for (name, value) in asked.0 {
        if name.eq_ignore_ascii_case("timezone") {
            set_zone(&value, client).await?;
        }
    }
    Ok(())
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

/// A setting as a row.
pub(super) async fn shown(name: &str, value: &str, context: &SessionContext) -> PgWireResult<Response> {
    let text = format!("SELECT '{value}' AS \"{name}\"");
    let frame = context.sql(&text).await;
    let frame = frame.map_err(|error| PgWireError::ApiError(Box::new(error)))?;
    Ok(Response::Query(encode_dataframe(frame, &Format::UnifiedText, None).await?))
}

pub(super) fn is_zone(variable: &[Ident]) -> bool {
    let words: Vec<String> = variable.iter().map(|word| word.value.to_lowercase()).collect();
    words.concat() == "timezone"
}

pub(super) fn is_isolation(variable: &[Ident]) -> bool {
    let words = ["transaction", "isolation", "level"];
    variable.iter().map(|word| word.value.to_lowercase()).eq(words)
}

/// Whether all that a client has set is as it was, or its zone is.
pub(super) fn resets_zone(statement: &Statement) -> bool {
    let words = statement.to_string().to_lowercase();
    words.contains("all") || words.contains("timezone") || words.contains("time zone")
}

/// Takes the zone by its name, `'Europe/Berlin'`, or that of the server.
pub(super) async fn set_zone(value: &str, client: &mut dyn HookClient) -> PgWireResult<Response> {
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

/// Whether something is known of a client's session by this name; what is not is as it is.
pub(super) fn is_known(name: &str) -> bool {
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
