//! The zone of a session: how instants become what calendars and clocks show there, and back.

use datafusion::common::{Result, exec_datafusion_err, exec_err};
use datafusion::config::ConfigOptions;
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, Offset, TimeZone};

/// Names that are a fixed offset in PostgreSQL and have summer time elsewhere.
const ABBREVIATIONS: [&str; 4] = ["CET", "MET", "EET", "WET"];

/// A zone.
#[derive(Clone)]
pub(crate) struct Zone(TimeZone);

impl Zone {
    /// That of a session.
    pub(super) fn of(config: &ConfigOptions) -> Result<Self> {
        match config.execution.time_zone.as_deref() {
            None | Some("UTC") => Ok(Self(TimeZone::UTC)),
            Some(name) => Self::named(name),
        }
    }

    /// By its name.
    ///
    /// # Errors
    /// A name of none; offsets, which PostgreSQL counts to the west in texts and to the east elsewhere;
    /// abbreviations that mean something else there.
    pub(crate) fn named(name: &str) -> Result<Self> {
        if ABBREVIATIONS.iter().any(|of| of.eq_ignore_ascii_case(name)) {
            return exec_err!("time zone \"{name}\" is not supported; take the name of a place");
        }
        if name.eq_ignore_ascii_case("utc") || name.eq_ignore_ascii_case("gmt") {
            return Ok(Self(TimeZone::UTC));
        }
        let zone = TimeZone::get(name);
        zone.map(Self).map_err(|_| exec_datafusion_err!("time zone \"{name}\" not recognized"))
    }

    /// That of the meridian.
    #[cfg(feature = "postgres")]
    pub(crate) fn utc() -> Self {
        Self(TimeZone::UTC)
    }

    /// Its name.
    pub(crate) fn name(&self) -> &str {
        self.0.iana_name().unwrap_or("UTC")
    }

    /// What is shown there at an instant, and the offset then.
    pub(super) fn local(&self, micros: i64) -> Result<(DateTime, Offset)> {
        let instant = timestamp(micros)?;
        let offset = self.0.to_offset(instant);
        Ok((offset.to_datetime(instant), offset))
    }

    /// The abbreviation of the zone at an instant.
    pub(super) fn abbreviation(&self, micros: i64) -> Result<String> {
        Ok(self.0.to_offset_info(timestamp(micros)?).abbreviation().to_owned())
    }

    /// When `civil` is shown there. What is left out in spring is as if it were still winter, and what
    /// comes twice in autumn is the second one, as in PostgreSQL.
    pub(super) fn instant(&self, civil: DateTime) -> Result<i64> {
        let offset = match self.0.to_ambiguous_timestamp(civil).offset() {
            AmbiguousOffset::Unambiguous { offset } => offset,
            AmbiguousOffset::Gap { before, .. } => before,
            AmbiguousOffset::Fold { after, .. } => after,
        };
        let instant =
            offset.to_timestamp(civil).map_err(|_| exec_datafusion_err!("a time is out of range"))?;
        Ok(instant.as_microsecond())
    }
}

fn timestamp(micros: i64) -> Result<Timestamp> {
    Timestamp::from_microsecond(micros).map_err(|_| exec_datafusion_err!("a time is out of range"))
}

/// What a time without zone shows.
pub(super) fn civil(micros: i64) -> Result<DateTime> {
    Ok(Offset::UTC.to_datetime(timestamp(micros)?))
}

/// A time without zone by what it shows.
pub(super) fn micros(civil: DateTime) -> Result<i64> {
    let of = Offset::UTC.to_timestamp(civil).map_err(|_| exec_datafusion_err!("a time is out of range"))?;
    Ok(of.as_microsecond())
}
