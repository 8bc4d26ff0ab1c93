//! The zone of a client's session: what answers in it, and times as texts in it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use datafusion::arrow::datatypes::IntervalMonthDayNano;
use datafusion_postgres::pgwire::api::ClientInfo;
use datafusion_postgres::pgwire::api::Type;
use datafusion_postgres::pgwire::api::results::{FieldFormat, FieldInfo};
use datafusion_postgres::pgwire::messages::data::DataRow;
use datafusion_postgres::{DfSessionService, Parser, QueryHook};

use super::reader::Reader;
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
    pub(super) parser: Arc<Parser>,
    pub(super) reader: Arc<Reader>,
    pub(super) zone: Zone,
}

/// What answers in each of them.
pub(super) struct Zones {
    engine: Engine,
    known: Mutex<HashMap<String, Arc<Answering>>>,
}

impl Zones {
    /// Those of `engine`.
    pub(super) fn new(engine: Engine) -> Self {
        Self { engine, known: Mutex::default() }
    }

    /// What answers `client`.
    pub(super) fn of(&self, client: &impl ClientInfo) -> Arc<Answering> {
        let name = of(client);
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
        let reader = Arc::new(Reader::new(engine));
        let hooks: Vec<Arc<dyn QueryHook>> = vec![Arc::clone(&reader) as Arc<dyn QueryHook>];
        let inner = DfSessionService::new_with_hooks(context, hooks);
        let parser = datafusion_postgres::pgwire::api::query::ExtendedQueryHandler::query_parser(&inner);
        let answering = Arc::new(Answering { inner, parser, reader, zone });
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
    Interval { is_text: bool },
}

/// How the values of `columns` are sent.
pub(super) fn sent(columns: &[FieldInfo]) -> Vec<Sent> {
    let sent = |column: &FieldInfo| {
        let is_text = column.format() == FieldFormat::Text;
        match *column.datatype() {
            Type::INTERVAL => Sent::Interval { is_text },
            _ if !is_text => Sent::AsItIs,
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
pub(super) fn row(row: DataRow, columns: &[Sent], zone: &Zone) -> DataRow {
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
        let said = || std::str::from_utf8(value).ok();
        let text = match column {
            Sent::AsItIs | Sent::Interval { is_text: false } => None,
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
