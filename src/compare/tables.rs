//! Two tables, read so that they can be compared: both in the words of the second one.

use crate::error::Result;
use reducer::table::Manifest;

use super::sequences::Sequences;
use crate::profile::code::Code;
use crate::profile::groups::Groups;
use crate::profile::table::{self, Scope};
use crate::releases::Translation;
use crate::table::files::Place;

/// Two populations of requests.
#[derive(Clone, Debug, Default)]
pub(crate) struct Populations {
    /// Their requests, population 1 and 2.
    pub(crate) groups: Groups,
    /// Their ways through the code.
    pub(crate) sequences: Sequences,
    /// Places of log points, and what can take time in the code of the second one.
    pub(crate) code: Code,
    /// The same of the first one, with the numbers of the second; none: both are of one table.
    pub(crate) code_of_first: Option<Code>,
    /// What became of the log points and methods of the first one.
    pub(crate) translation: Translation,
    /// What could not be read.
    pub(crate) warnings: Vec<String>,
}

/// Requests of a table.
#[derive(Clone, Copy)]
pub(crate) struct Selected<'a> {
    /// The table.
    pub(crate) manifest: &'a Manifest,
    /// Says whether a request is looked at, by its id.
    pub(crate) wanted: &'a (dyn Fn(&str) -> bool + Sync),
    /// Where they stand, by file; none: anywhere.
    pub(crate) places: Option<&'a [Vec<Place>]>,
}

impl Populations {
    /// The requests of two tables, the first of which is told by `translation`; with `lines`, times between
    /// log points too.
    ///
    /// # Errors
    /// Tables that cannot be read, or that keep no spans.
    pub(crate) fn of_tables(
        tables: [Selected<'_>; 2],
        translation: Translation,
        lines: bool,
    ) -> Result<Self> {
        let mut found = Self { translation, ..Self::default() };
        for (number, Selected { manifest, wanted, places }) in (1..).zip(tables) {
            let population = |id: &str| wanted(id).then_some(number);
            let beside = Some((&found.translation, number == 1));
            let scope = Scope { population: &population, lines, places, beside };
            table::add(&mut found.groups, manifest, scope)?;
            found.sequences.add(manifest, scope)?;
        }
        let (first, warning) = Code::read(tables[0].manifest)?;
        found.warnings.extend(warning);
        let mut first = first.translated(&found.translation);
        let (mut second, warning) = Code::read(tables[1].manifest)?;
        found.warnings.extend(warning);
        second.add_places(&first);
        first.add_places(&second);
        (found.code, found.code_of_first) = (second, Some(first));
        Ok(found)
    }

    /// The requests of one table that are of population 1 or 2.
    ///
    /// # Errors
    /// A table that cannot be read, or that keeps no spans.
    pub(crate) fn of_table(
        manifest: &Manifest,
        population: &(dyn Fn(&str) -> Option<u8> + Sync),
        lines: bool,
    ) -> Result<Self> {
        let mut found = Self::default();
        let scope = Scope { population, lines, places: None, beside: None };
        table::add(&mut found.groups, manifest, scope)?;
        found.sequences.add(manifest, scope)?;
        let (code, warning) = Code::read(manifest)?;
        found.warnings.extend(warning);
        found.code = code;
        Ok(found)
    }
}
