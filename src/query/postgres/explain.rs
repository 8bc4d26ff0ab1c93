//! `EXPLAIN`: how a query is answered, in the form that clients of PostgreSQL read: one column, `QUERY
//! PLAN`, a line of text for each operator or one value of JSON.

use std::fmt;
use std::sync::Arc;

use datafusion::arrow::array::{RecordBatch, StringArray};
use datafusion::arrow::datatypes::{DataType, Field, Schema};
use datafusion::catalog::MemTable;
use datafusion::datasource::provider_as_source;
use datafusion::logical_expr::{LogicalPlan, LogicalPlanBuilder};
use datafusion::physical_plan::{DisplayFormatType, ExecutionPlan, collect};
use datafusion::sql::sqlparser::ast::{AnalyzeFormat, AnalyzeFormatKind, Statement, UtilityOption};
use datafusion_postgres::pgwire::error::{PgWireError, PgWireResult};
use serde_json::{Value, json};

use super::catalog::TYPE;
use super::faults::fault;
use crate::query::session::Engine;

/// What is asked for.
pub(super) struct Asked<'s> {
    pub(super) query: &'s Statement,
    is_run: bool,
    is_json: bool,
}

impl<'s> Asked<'s> {
    /// What `statement` asks for; none: nothing is explained.
    ///
    /// # Errors
    /// Options that are not known.
    pub(super) fn of(statement: &'s Statement) -> PgWireResult<Option<Self>> {
        let Statement::Explain { analyze, statement, format, options, .. } = statement else {
            return Ok(None);
        };
        let mut asked = Self { query: statement, is_run: *analyze, is_json: false };
        let of_format = match format {
            None => None,
            Some(AnalyzeFormatKind::Keyword(of) | AnalyzeFormatKind::Assignment(of)) => Some(*of),
        };
        match of_format {
            None | Some(AnalyzeFormat::TEXT) => {}
            Some(AnalyzeFormat::JSON) => asked.is_json = true,
            Some(other) => return unknown("FORMAT", &other.to_string()),
        }
        for option in options.iter().flatten() {
            asked.take(option)?;
        }
        Ok(Some(asked))
    }

    fn take(&mut self, option: &UtilityOption) -> PgWireResult<()> {
        let said = option.arg.as_ref().map(|arg| arg.to_string().trim_matches('\'').to_lowercase());
        let is_on = !matches!(said.as_deref(), Some("false" | "off" | "0"));
        match &*option.name.value.to_lowercase() {
            "format" => match said.as_deref() {
                Some("json") => self.is_json = true,
                Some("text") => self.is_json = false,
                other => return unknown("FORMAT", other.unwrap_or_default()),
            },
            "analyze" => self.is_run = is_on,
            "verbose" | "costs" | "settings" | "buffers" | "wal" | "timing" | "summary" => {}
            other => return unknown(other, ""),
        }
        Ok(())
    }

    /// A plan that gives how `plan` is answered.
    ///
    /// # Errors
    /// What cannot be planned, or fails while it is run.
    pub(super) async fn explained(&self, plan: LogicalPlan, engine: &Engine) -> PgWireResult<LogicalPlan> {
        self.rows(plan, engine).await.map_err(|error| PgWireError::ApiError(Box::new(error)))
    }

    async fn rows(&self, plan: LogicalPlan, engine: &Engine) -> datafusion::common::Result<LogicalPlan> {
        let state = engine.context.state();
        let has_parameters = !plan.get_parameter_names()?.is_empty();
        let mut lines = Vec::new();
        if has_parameters {
            // Of what is not known yet there is no more to say.
            let shown = state.optimize(&plan)?.display_indent().to_string();
            match self.is_json {
                true => lines
                    .push(json!([{ "Plan": { "Node Type": "Query", "Description": shown } }]).to_string()),
                false => lines.extend(shown.lines().map(str::to_owned)),
            }
        } else {
            let physical = state.create_physical_plan(&plan).await?;
            let begun = std::time::Instant::now();
            if self.is_run {
                collect(Arc::clone(&physical), engine.context.task_ctx()).await?;
            }
            let ms = self.is_run.then(|| begun.elapsed().as_secs_f64() * 1e3);
            match self.is_json {
                true => {
                    let mut whole = json!({ "Plan": node(&*physical, self.is_run) });
                    if let Some(ms) = ms {
                        whole["Execution Time"] = json!(ms);
                    }
                    lines.push(serde_json::to_string_pretty(&json!([whole])).unwrap_or_default());
                }
                false => {
                    indented(&*physical, 0, self.is_run, &mut lines);
                    lines.extend(ms.map(|ms| format!("Execution Time: {ms:.3} ms")));
                }
            }
        }
        let field = Field::new("QUERY PLAN", DataType::Utf8, false);
        let sent = if self.is_json { "json" } else { "text" };
        let schema = Arc::new(Schema::new(vec![
            field.with_metadata([(TYPE.to_owned(), sent.to_owned())].into_iter().collect()),
        ]));
        let batch = RecordBatch::try_new(Arc::clone(&schema), vec![Arc::new(StringArray::from(lines))])?;
        let table = MemTable::try_new(schema, vec![vec![batch]])?;
        LogicalPlanBuilder::scan("explained", provider_as_source(Arc::new(table)), None)?.build()
    }
}

fn unknown<T>(option: &str, value: &str) -> PgWireResult<T> {
    let what = format!("EXPLAIN ({option} {value})");
    Err(fault("0A000", format!("{} is not supported", what.replace(" )", ")"))))
}

/// An operator as the engine writes it.
struct Shown<'p>(&'p dyn ExecutionPlan);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt_as(DisplayFormatType::Default, f)
    }
}

fn n_rows(of: &dyn ExecutionPlan) -> Option<usize> {
    of.metrics()?.output_rows()
}

fn indented(of: &dyn ExecutionPlan, depth: usize, is_run: bool, lines: &mut Vec<String>) {
    let arrow = if depth == 0 { String::new() } else { format!("{}->  ", "      ".repeat(depth - 1) + "  ") };
    let rows = n_rows(of).filter(|_| is_run).map(|n| format!(" (actual rows={n})")).unwrap_or_default();
    lines.push(format!("{arrow}{}{rows}", Shown(of)));
    of.children().iter().for_each(|of| indented(&***of, depth + 1, is_run, lines));
}

fn node(of: &dyn ExecutionPlan, is_run: bool) -> Value {
    let mut node = json!({ "Node Type": of.name(), "Description": Shown(of).to_string() });
    if let Some(n) = n_rows(of).filter(|_| is_run) {
        node["Actual Rows"] = json!(n);
    }
    let within: Vec<Value> = of.children().iter().map(|of| self::node(&***of, is_run)).collect();
    if !within.is_empty() {
        node["Plans"] = json!(within);
    }
    node
}
