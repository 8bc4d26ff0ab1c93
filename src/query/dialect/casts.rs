//! Casts as PostgreSQL makes them, also those that the engine puts in to make types fit.
//!
//! | from | to | here | the engine's own |
//! |---|---|---|---|
//! | double precision | integer | rounds, halves to even; out of range is an error | cuts off |
//! | numeric | integer | rounds, halves away from zero | cuts off |
//! | text | number, boolean | spaces around are left out, all spellings of booleans | some of them |
//! | anything | text | as the client of PostgreSQL sees it | as Rust or ISO 8601 write it |
//! | times | times | through the zone of the session | through that of a column |
//!
//! All other casts are the engine's. A rule puts these functions in where a cast is, after types have
//! been made to fit.

use std::sync::Arc;

use datafusion::arrow::array::{
    Array as _, ArrayRef, AsArray as _, BooleanArray, Date32Array, Int64Array, StringArray,
    Time64MicrosecondArray, TimestampMicrosecondArray,
};
use datafusion::arrow::compute::{CastOptions, cast, cast_with_options};
use datafusion::arrow::datatypes::{
    DataType, Decimal128Type, FieldRef, Float64Type, TimeUnit, TimestampMicrosecondType,
    TimestampNanosecondType,
};
use datafusion::common::tree_node::{Transformed, TreeNode as _};
use datafusion::common::{DFSchema, Result, ScalarValue, exec_datafusion_err, exec_err, not_impl_err};
use datafusion::config::ConfigOptions;
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{
    Cast, ColumnarValue, Expr, ExprSchemable as _, LogicalPlan, ReturnFieldArgs, ScalarFunctionArgs,
    ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use datafusion::optimizer::AnalyzerRule;

use super::arithmetic;
use super::function::{INTERVAL, TIMESTAMP, timestamptz};
use super::interval::{self, DAY};
use super::numbers;
use super::origin::Origin;
use super::shown;
use super::zone::{Zone, civil, micros};

/// The first number that is no 64-bit integer.
const TOO_LARGE: f64 = (1_u64 << 63) as f64;

/// The rule that puts them in.
#[derive(Debug)]
pub(super) struct Casts;

impl AnalyzerRule for Casts {
    fn name(&self) -> &str {
        "casts"
    }

    fn analyze(&self, plan: LogicalPlan, config: &ConfigOptions) -> Result<LogicalPlan> {
        let is_utc = matches!(config.execution.time_zone.as_deref(), None | Some("UTC"));
        let plan = plan.transform_up_with_subqueries(|plan| {
            let mut schema = merge_schema(&plan.inputs());
            if let LogicalPlan::TableScan(scan) = &plan {
                let source =
                    DFSchema::try_from_qualified_schema(scan.table_name.clone(), &scan.source.schema())?;
                schema.merge(&source);
            }
            refuse_orders(&plan, &schema)?;
            let names = NamePreserver::new(&plan);
            let inputs: Vec<LogicalPlan> = plan.inputs().into_iter().cloned().collect();
            let origin = Origin(inputs.iter().collect());
            plan.map_expressions(|expression| {
                let name = names.save(&expression);
                let changed = expression.transform_up(|of| match of {
                    Expr::Cast(cast) => of_cast(cast, &schema, &origin, is_utc),
                    Expr::BinaryExpr(of) => {
                        let types = (of.left.get_type(&schema)?, of.right.get_type(&schema)?);
                        Ok(match arithmetic::checked(&of, &types.0, &types.1) {
                            Some(checked) => Transformed::yes(checked),
                            None => Transformed::no(Expr::BinaryExpr(of)),
                        })
                    }
                    Expr::ScalarFunction(of) if of.name() == "round" => {
                        numbers::rounded(of, &schema, &origin)
                    }
                    other => Ok(Transformed::no(other)),
                })?;
                Ok(changed.update_data(|of| name.restore(of)))
            })
        })?;
        Ok(plan.data)
    }
}

fn of_cast(cast: Cast, schema: &DFSchema, origin: &Origin<'_>, is_utc: bool) -> Result<Transformed<Expr>> {
    let (from, to) = (cast.expr.get_type(schema)?, cast.field.data_type().clone());
    if !is_ours(&from, &to, is_utc) {
        return Ok(Transformed::no(Expr::Cast(cast)));
    }
    let is_exact = origin.is_numeric(&cast.expr);
    let function = ScalarUDF::from(CastTo { to, is_exact, signature: Signature::any(1, Volatility::Stable) });
    Ok(Transformed::yes(function.call(vec![*cast.expr])))
}

/// Refuses what is in the order of intervals, which is not that of their months and days.
fn refuse_orders(plan: &LogicalPlan, schema: &DFSchema) -> Result<()> {
    let is_interval = |of: &Expr| matches!(of.get_type(schema), Ok(DataType::Interval(_)));
    let is_ordered = match plan {
        LogicalPlan::Sort(sort) => sort.expr.iter().any(|sort| is_interval(&sort.expr)),
        LogicalPlan::Aggregate(of) => {
            let is_extreme = |of: &Expr| match of {
                Expr::AggregateFunction(of) => {
                    (of.params.distinct || matches!(of.func.name(), "min" | "max"))
                        && of.params.args.iter().any(is_interval)
                }
                _ => false,
            };
            of.group_expr.iter().any(is_interval) || of.aggr_expr.iter().any(is_extreme)
        }
        _ => false,
    };
    match is_ordered {
        true => not_impl_err!("intervals are not ordered; take extract(epoch FROM ..)"),
        false => Ok(()),
    }
}

fn is_zoned(of: &DataType) -> bool {
    matches!(of, DataType::Timestamp(_, Some(_)))
}

fn is_text(of: &DataType) -> bool {
    matches!(of, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

fn is_time(of: &DataType) -> bool {
    matches!(of, DataType::Timestamp(..) | DataType::Date32 | DataType::Time64(_))
}

/// Whether the engine would cast to something else.
fn is_ours(from: &DataType, to: &DataType, is_utc: bool) -> bool {
    let is_decimal = |of: &DataType| matches!(of, DataType::Decimal128(..));
    if is_text(from) {
        return to.is_integer()
            || to.is_floating()
            || *to == DataType::Boolean
            || matches!(to, DataType::Interval(_))
            || matches!(to, DataType::Timestamp(..));
    }
    if to.is_integer() {
        return from.is_floating() || is_decimal(from);
    }
    if matches!((from, to), (DataType::Duration(_), DataType::Interval(_))) {
        return true;
    }
    if is_text(to) {
        return from.is_floating()
            || is_time(from)
            || matches!(from, DataType::Interval(_) | DataType::Duration(_) | DataType::List(_));
    }
    // Between those with a zone and those without one.
    is_time(from) && is_time(to) && is_zoned(from) != is_zoned(to) && !is_utc
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct CastTo {
    to: DataType,
    /// Whether halves are rounded away from zero.
    is_exact: bool,
    signature: Signature,
}

impl ScalarUDFImpl for CastTo {
    fn name(&self) -> &str {
        "cast"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(self.to.clone())
    }

    fn return_field_from_args(&self, arguments: ReturnFieldArgs) -> Result<FieldRef> {
        let of = &arguments.arg_fields[0];
        Ok(Arc::new(of.as_ref().clone().with_data_type(self.to.clone()).with_metadata(Default::default())))
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let zone = Zone::of(&arguments.config_options)?;
        let [of] = &arguments.args[..] else { return exec_err!("a cast is of one value") };
        let values = |column: &ArrayRef| -> Result<ArrayRef> {
            let values = self.values(column, &zone)?;
            Ok(if values.data_type() == &self.to { values } else { cast(&values, &self.to)? })
        };
        Ok(match of {
            ColumnarValue::Array(column) => ColumnarValue::Array(values(column)?),
            ColumnarValue::Scalar(value) => {
                ColumnarValue::Scalar(ScalarValue::try_from_array(&values(&value.to_array()?)?, 0)?)
            }
        })
    }
}

impl CastTo {
    /// The values, of a type that the engine casts right.
    fn values(&self, column: &ArrayRef, zone: &Zone) -> Result<ArrayRef> {
        let from = column.data_type();
        if is_text(&self.to) {
            return shown::texts(column, zone);
        }
        if is_text(from) {
            let texts = cast(column, &DataType::Utf8)?;
            return self.of_texts(texts.as_string(), zone);
        }
        if is_time(from) {
            return self.of_times(column, zone);
        }
        if matches!(from, DataType::Duration(_)) {
            return super::times::durations(column);
        }
        let numbers: Int64Array = match from {
            DataType::Decimal128(_, scale) => {
                let one = 10_i128.checked_pow(u32::try_from(*scale).unwrap_or(0)).unwrap_or(i128::MAX);
                let whole = |value: i128| {
                    let away = i128::from(value % one * 2 / one != 0) * value.signum();
                    self.in_range(i64::try_from(value / one + away).ok())
                };
                let of = column.as_primitive::<Decimal128Type>();
                of.iter().map(|value| value.map(whole).transpose()).collect::<Result<_>>()?
            }
            _ => {
                let doubles = cast(column, &DataType::Float64)?;
                let whole = |value: f64| {
                    let whole = if self.is_exact { value.round() } else { value.round_ties_even() };
                    let is_whole = (-TOO_LARGE..TOO_LARGE).contains(&whole);
                    self.in_range(is_whole.then_some(whole as i64))
                };
                let of = doubles.as_primitive::<Float64Type>();
                of.iter().map(|value| value.map(whole).transpose()).collect::<Result<_>>()?
            }
        };
        Ok(Arc::new(numbers))
    }

    /// A number, if the type has it.
    fn in_range(&self, value: Option<i64>) -> Result<i64> {
        let (least, most) = match self.to {
            DataType::Int8 => (i8::MIN.into(), i8::MAX.into()),
            DataType::Int16 => (i16::MIN.into(), i16::MAX.into()),
            DataType::Int32 => (i32::MIN.into(), i32::MAX.into()),
            DataType::UInt8 => (0, u8::MAX.into()),
            DataType::UInt16 => (0, u16::MAX.into()),
            DataType::UInt32 => (0, u32::MAX.into()),
            DataType::UInt64 => (0, i64::MAX),
            _ => (i64::MIN, i64::MAX),
        };
        match value {
            Some(value) if (least..=most).contains(&value) => Ok(value),
            _ => exec_err!("{} out of range", type_name(&self.to)),
        }
    }

    fn of_texts(&self, texts: &StringArray, zone: &Zone) -> Result<ArrayRef> {
        let wrong = |text: &str| {
            exec_datafusion_err!("invalid input syntax for type {}: \"{text}\"", type_name(&self.to))
        };
        fn each<T, A: FromIterator<Option<T>>>(
            texts: &StringArray,
            of: impl Fn(&str) -> Result<T>,
        ) -> Result<A> {
            texts.iter().map(|text| text.map(&of).transpose()).collect()
        }
        if self.to == DataType::Boolean {
            let values: BooleanArray = each(texts, |text| boolean(text).ok_or_else(|| wrong(text)))?;
            return Ok(Arc::new(values));
        }
        if self.to.is_integer() {
            let number = |text: &str| {
                let said = text.trim();
                let digits = said.strip_prefix(['+', '-']).unwrap_or(said);
                if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
                    return Err(wrong(text));
                }
                self.in_range(said.parse().ok())
            };
            return Ok(Arc::new(each::<i64, Int64Array>(texts, number)?));
        }
        if self.to.is_floating() {
            let number = |text: &str| double(text).ok_or_else(|| wrong(text));
            let values: datafusion::arrow::array::Float64Array = each(texts, number)?;
            return Ok(Arc::new(values));
        }
        if matches!(self.to, DataType::Interval(_)) {
            // `P1Y2M` is the form of ISO 8601, which the engine reads otherwise.
            let trimmed: StringArray = each(texts, |text| match text.trim() {
                said if said.starts_with(['P', 'p']) => Err(wrong(text)),
                said => Ok(interval::with_units(said)),
            })?;
            return strict(&trimmed, &INTERVAL);
        }
        let texts: StringArray = each(texts, |text| Ok(with_seconds(text.trim())))?;
        // A time in the zone of the session, unless the text has one.
        let zone = is_zoned(&self.to).then(|| zone.name().into());
        let has_nanos = texts.iter().flatten().any(has_nanos);
        let unit = if has_nanos { TimeUnit::Nanosecond } else { TimeUnit::Microsecond };
        let times = strict(&texts, &DataType::Timestamp(unit, zone.clone()))?;
        if !has_nanos {
            return Ok(times);
        }
        let nanos = times.as_primitive::<TimestampNanosecondType>();
        let rounded = nanos.iter().map(|nanos| nanos.map(|nanos| (nanos + 500).div_euclid(1000)));
        Ok(Arc::new(rounded.collect::<TimestampMicrosecondArray>().with_timezone_opt(zone)))
    }

    /// Times with a zone to others and back.
    fn of_times(&self, column: &ArrayRef, zone: &Zone) -> Result<ArrayRef> {
        if is_zoned(column.data_type()) {
            let instants = cast(column, &timestamptz())?;
            let local = |at: Option<i64>| at.map(|at| micros(zone.local(at)?.0)).transpose();
            let of = instants.as_primitive::<TimestampMicrosecondType>();
            let local: Vec<Option<i64>> = of.iter().map(local).collect::<Result<_>>()?;
            return Ok(match self.to {
                DataType::Date32 => {
                    let day = |at: i64| i32::try_from(at.div_euclid(DAY)).unwrap_or(i32::MAX);
                    Arc::new(local.into_iter().map(|at| at.map(day)).collect::<Date32Array>())
                }
                DataType::Time64(_) => {
                    let clock = local.into_iter().map(|at| at.map(|at| at.rem_euclid(DAY)));
                    Arc::new(clock.collect::<Time64MicrosecondArray>())
                }
                _ => Arc::new(TimestampMicrosecondArray::from(local)),
            });
        }
        let local = cast(column, &TIMESTAMP)?;
        let instant = |at: Option<i64>| at.map(|at| zone.instant(civil(at)?)).transpose();
        let of = local.as_primitive::<TimestampMicrosecondType>();
        let instants: TimestampMicrosecondArray = of.iter().map(instant).collect::<Result<_>>()?;
        Ok(Arc::new(instants.with_timezone("UTC")))
    }
}

/// The cast of the engine, in which what is none is an error.
fn strict(texts: &StringArray, to: &DataType) -> Result<ArrayRef> {
    let options = CastOptions { safe: false, ..CastOptions::default() };
    Ok(cast_with_options(texts, to, &options)?)
}

/// Whether a time has more than six digits of a second.
fn has_nanos(text: &str) -> bool {
    let digits = text.split_once('.').map_or("", |(_, fraction)| fraction);
    digits.bytes().take_while(u8::is_ascii_digit).count() > 6
}

/// A time with its seconds, which can be left out: `2026-01-01 10:00`.
fn with_seconds(text: &str) -> String {
    let shape: String = text.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).take(17).collect();
    let has_minutes = ["0000-00-00 00:00", "0000-00-00T00:00"].iter().any(|of| shape.starts_with(of));
    match has_minutes && shape.chars().nth(16) != Some(':') {
        true => format!("{}:00{}", &text[..16], &text[16..]),
        false => text.to_owned(),
    }
}

/// A boolean by any beginning of its words that is of no other one.
fn boolean(text: &str) -> Option<bool> {
    let said = text.trim().to_ascii_lowercase();
    let begins = |word: &str, least: usize| said.len() >= least && word.starts_with(&said);
    if said == "1" || said == "on" || begins("true", 1) || begins("yes", 1) {
        return Some(true);
    }
    let is_false = said == "0" || begins("off", 2) || begins("false", 1) || begins("no", 1);
    is_false.then_some(false)
}

fn double(text: &str) -> Option<f64> {
    let said = text.trim();
    let is_number = said.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    let word = said.trim_start_matches(['+', '-']).to_ascii_lowercase();
    let is_word = matches!(&*word, "nan" | "inf" | "infinity");
    let value: f64 = (is_number || is_word).then(|| said.parse().ok())??;
    // What is too large is no number, and not the infinite one.
    (is_word || value.is_finite()).then_some(value)
}

/// A type as PostgreSQL names it.
fn type_name(of: &DataType) -> &'static str {
    match of {
        DataType::Boolean => "boolean",
        DataType::Int8 | DataType::UInt8 | DataType::Int16 => "smallint",
        DataType::Int32 | DataType::UInt16 => "integer",
        DataType::Int64 | DataType::UInt32 | DataType::UInt64 => "bigint",
        DataType::Float32 => "real",
        DataType::Float64 => "double precision",
        DataType::Interval(_) => "interval",
        _ => "timestamp with time zone",
    }
}
