//! Rows by the name of a cursor: what `DECLARE`, `FETCH`, `MOVE` and `CLOSE` do.

use std::sync::Arc;

use datafusion::logical_expr::LogicalPlan;
use datafusion::sql::sqlparser::ast::{CloseCursor, Declare, DeclareType, FetchDirection, Ident, Statement};
use datafusion_postgres::hooks::HookClient;
use datafusion_postgres::pgwire::api::portal::Format;
use datafusion_postgres::pgwire::api::results::{QueryResponse, Response, Tag};
use datafusion_postgres::pgwire::api::store::{Entry, PortalStore as _};
use datafusion_postgres::pgwire::error::PgWireResult;
use datafusion_postgres::pgwire::messages::response::TransactionStatus;
use datafusion_postgres::pgwire::types::format::FormatOptions;
use futures::StreamExt as _;

use super::cursors::{self, Cursor, Cursors};
use super::faults::fault;
use super::moves::MOVES;
use super::reader::Reader;
use super::transactions::{self, named};

impl Reader {
    /// Begins to answer a query whose rows are fetched by the name of a cursor; with its plan where that is
    /// known.
    pub(super) async fn declare(
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
        let cursor = Cursor::new(self.engine(), plan, declared.scroll == Some(true)).await?;
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

pub(super) fn closed(cursor: &CloseCursor, client: &dyn HookClient) -> PgWireResult<Response> {
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
