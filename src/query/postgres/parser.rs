//! Statements that are prepared, with their plans, so that their parameters and columns can be told.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::logical_expr::LogicalPlan;
use datafusion::sql::sqlparser::ast::Statement;
use datafusion_postgres::pgwire::api::portal::Format;
use datafusion_postgres::pgwire::api::results::FieldInfo;
use datafusion_postgres::pgwire::api::stmt::QueryParser;
use datafusion_postgres::pgwire::api::{ClientInfo, Type};
use datafusion_postgres::pgwire::error::{PgWireError, PgWireResult};
use datafusion_postgres::{Parser, QueryHook as _};

use super::reader::Reader;
use super::{apply, faults, statements, zones};

/// What prepares the statements of a zone.
pub(super) struct Prepared {
    /// What knows types.
    pub(super) inner: Arc<Parser>,
    pub(super) reader: Arc<Reader>,
}

#[async_trait]
impl QueryParser for Prepared {
    type Statement = (String, Option<(Statement, LogicalPlan)>);

    async fn parse_sql<C>(
        &self,
        client: &C,
        sql: &str,
        _types: &[Option<Type>],
    ) -> PgWireResult<Option<Self::Statement>>
    where
        C: ClientInfo + Unpin + Send + Sync,
    {
        let statements = statements::statements(sql);
        let mut statements = statements.map_err(|error| PgWireError::ApiError(Box::new(error)))?;
        if statements.len() > 1 {
            return Err(faults::fault("42601", "a prepared statement is one statement"));
        }
        let Some(statement) = statements.pop() else { return Ok(None) };
        match self.reader.handle_extended_parse_query(&statement, self.reader.context(), client).await {
            Some(plan) => Ok(Some((sql.to_owned(), Some((statement, plan?))))),
            None => Ok(None),
        }
    }

    fn get_parameter_types(&self, statement: &Self::Statement) -> PgWireResult<Vec<Type>> {
        let mut types = self.inner.get_parameter_types(statement)?;
        let is_list = |of: &&mut Type| **of == Type::INT4_ARRAY;
        if let Some((_, plan)) = &statement.1
            && apply::is_of_catalogs(plan)
        {
            // Lists of the catalogs are of the numbers of things.
            types.iter_mut().filter(is_list).for_each(|of| *of = Type::OID_ARRAY);
        }
        Ok(types)
    }

    fn get_result_schema(
        &self,
        statement: &Self::Statement,
        format: Option<&Format>,
    ) -> PgWireResult<Vec<FieldInfo>> {
        let (_, Some((asked, plan))) = statement else { return Ok(Vec::new()) };
        let has_rows = match asked {
            Statement::Declare { .. } | Statement::Copy { .. } => false,
            Statement::Fetch { into, .. } => into.is_none(),
            _ => true,
        };
        if !has_rows {
            return Ok(Vec::new());
        }
        let columns = self.inner.get_result_schema(statement, format)?;
        Ok(zones::described(&columns, plan))
    }
}
