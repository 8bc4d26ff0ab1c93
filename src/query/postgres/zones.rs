//! The zone of a client's session: what answers in it, and times as texts in it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use datafusion::arrow::datatypes::{Field, IntervalMonthDayNano};
use datafusion::logical_expr::LogicalPlan;
use datafusion_postgres::pgwire::api::ClientInfo;
use datafusion_postgres::pgwire::api::Type;
use datafusion_postgres::pgwire::api::query::ExtendedQueryHandler;
use datafusion_postgres::pgwire::api::results::{FieldFormat, FieldInfo};
use datafusion_postgres::pgwire::messages::data::DataRow;
use datafusion_postgres::{DfSessionService, QueryHook};

use super::catalog::{Catalog, Names, TYPE};
use super::parser::Prepared;
use super::reader::Reader;
use super::{apply, labels};
use crate::query::dialect::{Zone, wire};
use crate::query::session::Engine;

/// Where a session keeps the name of its zone.
pub(super) const KEY: &str = "zone";
/// Zones that are kept ready.
const ZONES_MAX: usize = 64;

/// What stands for no interval until a row is sent: one that no calculation gives.
pub(super) const NO_INTERVAL: IntervalMonthDayNano = IntervalMonthDayNano::new(i32::MIN, 0, 0);

/// What answers in one zone.
pub(super) struct Answering {
    pub(super) inner: DfSessionService,
    pub(super) parser: Arc<Prepared>,
    pub(super) reader: Arc<Reader>,
    pub(super) zone: Zone,
    pub(super) names: Arc<Names>,
}

/// What answers in each of them.
pub(super) struct Zones {
    engine: Engine,
    names: Arc<Names>,
    known: Mutex<HashMap<String, Arc<Answering>>>,
}

impl Zones {
    /// Those of `engine`, in which things have `names`.
    pub(super) fn new(engine: Engine, catalog: &Catalog) -> Self {
        Self { engine, names: Arc::clone(&catalog.names), known: Mutex::default() }
    }

    /// What answers `client`.
    pub(super) fn of(&self, client: &impl ClientInfo) -> Arc<Answering> {
        self.named(of(client))
    }

    /// What answers in the zone of a name.
    pub(super) fn named(&self, name: &str) -> Arc<Answering> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(answering) = known.get(name) {
            return Arc::clone(answering);
        }
        if known.len() >= ZONES_MAX {
            known.clear();
        }
        let zone = Zone::named(name).unwrap_or_else(|_| Zone::utc());
        let engine = self.engine.in_zone(zone.name());
        let context = Arc::new(engine.context.clone());
        let reader = Arc::new(Reader::new(engine, Arc::clone(&self.names)));
        let hooks: Vec<Arc<dyn QueryHook>> = vec![Arc::clone(&reader) as Arc<dyn QueryHook>];
        let inner = DfSessionService::new_with_hooks(context, hooks);
        let parser =
            Prepared { inner: ExtendedQueryHandler::query_parser(&inner), reader: Arc::clone(&reader) };
        let parser = Arc::new(parser);
        let answering = Arc::new(Answering { inner, parser, reader, zone, names: Arc::clone(&self.names) });
        known.insert(name.to_owned(), Arc::clone(&answering));
        answering
    }
}

/// The name of a client's zone: what it has set, or said when it came.
pub(super) fn of(client: &(impl ClientInfo + ?Sized)) -> &str {
    let said = || client.metadata().iter().find(|(name, _)| name.eq_ignore_ascii_case("timezone"));
    let name = client.metadata().get(KEY).or_else(|| said().map(|(_, name)| name));
    name.filter(|name| Zone::named(name).is_ok()).map_or("UTC", String::as_str)
}

/// What becomes of a column when it is sent.
#[derive(Clone, Copy)]
pub(super) enum Sent {
    AsItIs,
    Instant,
    Time,
    Clock,
    Double,
    Interval {
        is_text: bool,
    },
    /// Numbers of things that have names, of a kind.
    Named(&'static str),
    /// A list as numbers with spaces between.
    Vector,
    /// A list as bytes, which say that its items are numbers of things.
    Oids,
    /// One byte.
    Byte,
    Jsonb,
}

fn said(field: Option<&Arc<Field>>) -> Option<&str> {
    field?.metadata().get(TYPE).map(String::as_str)
}

/// The columns of the answer to `plan` as PostgreSQL tells of them.
pub(super) fn described(columns: &[FieldInfo], plan: &LogicalPlan) -> Vec<FieldInfo> {
    let schema = plan.schema().as_arrow();
    let is_list = |column: &FieldInfo| *column.datatype() == Type::INT4_ARRAY;
    // Lists of the catalogs are of the numbers of things.
    let has_oids = columns.iter().any(is_list) && apply::is_of_catalogs(plan);
    let described = |(at, column): (usize, &FieldInfo)| {
        let field = schema.fields().get(at).filter(|_| schema.fields().len() == columns.len());
        let of = field.and_then(|field| field.metadata().get(TYPE)).and_then(|name| match &**name {
            "name" => Some(Type::NAME),
            "char" => Some(Type::CHAR),
            "varchar" => Some(Type::VARCHAR),
            "json" => Some(Type::JSON),
            "jsonb" => Some(Type::JSONB),
            _ => None,
        });
        let is_text = column.format() == FieldFormat::Text;
        let of = of.unwrap_or_else(|| match column.datatype() {
            // What is of no type is a text.
            &Type::UNKNOWN => Type::TEXT,
            &Type::INT4_ARRAY if is_text && said(field) == Some("oidvector") => Type::OID_VECTOR,
            &Type::INT2_ARRAY if is_text && said(field) == Some("int2vector") => Type::INT2_VECTOR,
            &Type::INT4_ARRAY if has_oids => Type::OID_ARRAY,
            of => of.clone(),
        });
        FieldInfo::new(labels::sent(column.name()).to_owned(), None, None, of, column.format())
            .with_format_options(Arc::clone(column.format_options()))
    };
    columns.iter().enumerate().map(described).collect()
}

/// How the values of `columns` are sent.
pub(super) fn sent(columns: &[FieldInfo]) -> Vec<Sent> {
    let sent = |column: &FieldInfo| {
        let is_text = column.format() == FieldFormat::Text;
        match *column.datatype() {
            Type::INTERVAL => Sent::Interval { is_text },
            Type::CHAR if !is_text => Sent::Byte,
            Type::JSONB if !is_text => Sent::Jsonb,
            Type::OID_ARRAY if !is_text => Sent::Oids,
            _ if !is_text => Sent::AsItIs,
            Type::REGCLASS => Sent::Named("regclass"),
            Type::REGTYPE => Sent::Named("regtype"),
            Type::REGPROC => Sent::Named("regproc"),
            Type::REGPROCEDURE => Sent::Named("regprocedure"),
            Type::REGNAMESPACE => Sent::Named("regnamespace"),
            Type::REGROLE => Sent::Named("regrole"),
            Type::OID_VECTOR | Type::INT2_VECTOR => Sent::Vector,
            Type::TIMESTAMPTZ => Sent::Instant,
            Type::TIMESTAMP => Sent::Time,
            Type::TIME => Sent::Clock,
            Type::FLOAT8 => Sent::Double,
            _ => Sent::AsItIs,
        }
    };
    columns.iter().map(sent).collect()
}

/// A row with the values of `columns` as PostgreSQL writes them in `zone`.
pub(super) fn row(row: DataRow, columns: &[Sent], zone: &Zone, names: &Names) -> DataRow {
    let (mut rest, mut out) = (&row.data[..], Vec::with_capacity(row.data.len()));
    for column in columns {
        let Some((length, after)) = rest.split_first_chunk::<4>() else { break };
        let Ok(n_bytes) = usize::try_from(i32::from_be_bytes(*length)) else {
            out.extend(length);
            rest = after;
            continue;
        };
        let (value, after) = after.split_at(n_bytes);
        rest = after;
        if matches!(column, Sent::Interval { .. }) && is_no_interval(value) {
            out.extend((-1_i32).to_be_bytes());
            continue;
        }
        if matches!(column, Sent::Oids) && value.len() >= 12 {
            out.extend(length);
            out.extend([&value[..8], &Type::OID.oid().to_be_bytes(), &value[12..]].concat());
            continue;
        }
        let said = || std::str::from_utf8(value).ok();
        let text = match column {
            Sent::Byte if value.is_empty() => Some("\0".to_owned()),
            Sent::Vector => said().map(|said| said.trim_matches(['{', '}']).replace(',', " ")),
            Sent::Jsonb => said().map(|said| format!("\u{1}{said}")),
            Sent::Named(kind) => {
                said().and_then(|said| said.parse().ok()).map(|number| names.shown(kind, number))
            }
            Sent::AsItIs | Sent::Byte | Sent::Oids | Sent::Interval { is_text: false } => None,
            Sent::Instant => said().and_then(|said| wire::instant(said, zone)),
            Sent::Time => said().and_then(wire::time),
            Sent::Clock => said().map(wire::clock),
            Sent::Double => said().and_then(wire::double),
            Sent::Interval { is_text: true } => said().map(wire::interval),
        };
        let bytes = text.as_ref().map_or(value, String::as_bytes);
        out.extend(u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_be_bytes());
        out.extend(bytes);
    }
    DataRow::new(out.as_slice().into(), row.field_count)
}

/// Whether [`NO_INTERVAL`] was sent, as bytes or as text.
fn is_no_interval(value: &[u8]) -> bool {
    match value.len() {
        16 if value[12..] == i32::MIN.to_be_bytes() => value[..12].iter().all(|byte| *byte == 0),
        _ => value.starts_with(b"-178956970 year"),
    }
}
