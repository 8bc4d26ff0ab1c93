//! Which requests meet some conditions, told block by block from the indexes of a table: only blocks
//! that can hold any are read, and of these the columns that the conditions and the answer need.

use std::cell::OnceCell;
use std::ops::Range;

use crate::error::Result;
use fixedbitset::FixedBitSet;
use rayon::prelude::*;
use schema::tables::Text;
use schema::tables::index::{Column, Interval, LENGTHS_US};

use super::requests::Conditions;
use crate::table::indexed::{Indexed, Indexes};

/// Requests that meet conditions.
pub(super) struct Chosen<'t> {
    pub(super) indexes: &'t Indexes,
    /// By file; none: no request of it.
    files: Vec<Option<Wanted>>,
    pub(super) starts_us: Range<i64>,
    durations_us: (i64, i64),
    /// By file, the rows for which a condition in SQL holds; none: there is no such condition.
    sql: Option<Vec<FixedBitSet>>,
}

/// What the requests of one file have to be, in its numbers.
#[derive(Default)]
struct Wanted {
    request_type: Option<i64>,
    node: Option<i64>,
    flag: Option<i64>,
}

/// A block of rows, of which columns are read when they are asked for.
pub(super) struct Block<'t> {
    pub(super) file: usize,
    pub(super) number: usize,
    pub(super) of: &'t Indexed,
    columns: [OnceCell<Vec<i64>>; 12],
}

/// Some rows of a block, by their numbers in it.
pub(super) enum Rows {
    /// The first so many, which are all.
    All(usize),
    /// These, which ascend.
    Some(Vec<u32>),
}

/// What is found on a walk over chosen requests.
pub(super) enum Found<'f, 't> {
    /// Rows of a block.
    Rows(&'f Block<'t>, &'f Rows),
    /// An interval of a file, with no other requests in it than those of the type that is asked for.
    Interval(&'t Indexed, &'f Interval),
}

/// A piece of a walk.
enum Piece {
    /// A block, of which rows that begin within these times are left out.
    Block(usize, usize, Range<i64>),
    /// The intervals of a file that begin within these times.
    Intervals(usize, Range<i64>),
}

impl<'t> Block<'t> {
    pub(super) fn new(indexes: &'t Indexes, file: usize, number: usize) -> Self {
        Self { file, number, of: &indexes.files[file], columns: Default::default() }
    }

    /// The values of a column.
    pub(super) fn column(&self, column: Column) -> Result<&[i64]> {
        let cell = &self.columns[column as usize];
        if cell.get().is_none() {
            let _ = cell.set(self.of.index.column(self.number, column)?);
        }
        Ok(cell.get().expect("it was just set"))
    }

    /// Tells `take` of each of `rows` on which nodes it was, by their numbers in the file, and how long.
    pub(super) fn each_node(&self, rows: &Rows, take: &mut dyn FnMut(usize, usize, i64)) -> Result<()> {
        let (n_on, nodes) = (self.column(Column::OnNodes)?, self.column(Column::Node)?);
        let durations = self.column(Column::NodeDuration)?;
        let mut wanted = rows.iter().peekable();
        let mut first = 0;
        for (row, n) in n_on.iter().enumerate() {
            let n = *n as usize;
            if wanted.next_if_eq(&row).is_some() {
                let on = nodes[first..first + n].iter().zip(&durations[first..first + n]);
                on.for_each(|(node, us)| take(row, *node as usize, *us));
            }
            first += n;
        }
        Ok(())
    }
}

impl Rows {
    /// How many.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::All(n) => *n,
            Self::Some(rows) => rows.len(),
        }
    }

    /// One after the other.
    pub(super) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        let (all, some) = match self {
            Self::All(n) => (0..*n, [].as_slice()),
            Self::Some(rows) => (0..0, rows.as_slice()),
        };
        all.chain(some.iter().map(|row| *row as usize))
    }

    fn retain(&mut self, mut is_left: impl FnMut(usize) -> bool) {
        match self {
            Self::All(n) => *self = Self::Some((0..*n as u32).filter(|row| is_left(*row as usize)).collect()),
            Self::Some(rows) => rows.retain(|row| is_left(*row as usize)),
        }
    }
}

impl<'t> Chosen<'t> {
    /// Those that meet `conditions`, and that in SQL, which holds for the rows of `sql`.
    pub(super) fn new(indexes: &'t Indexes, conditions: &Conditions, sql: Option<Vec<FixedBitSet>>) -> Self {
        let number = |names: &[Text], name: &Option<String>| {
            name.as_ref().map(|name| names.iter().position(|other| **other == **name))
        };
        let (of_type, of_node) =
            (number(&indexes.types, &conditions.request_type), number(&indexes.nodes, &conditions.node));
        // The number in a file of what has this one in the table.
        let in_file = |numbers: &[u32], number: Option<Option<usize>>| match number {
            None => Some(None),
            Some(number) => {
                let number = number?;
                Some(Some(numbers.iter().position(|other| *other as usize == number)? as i64))
            }
        };
        let wanted = |file: &Indexed| {
            let flags = file.index.flags();
            let flag = conditions.flag.as_ref().map(|flag| flags.iter().position(|other| other == flag));
            Some(Wanted {
                request_type: in_file(&file.types, of_type)?,
                node: in_file(&file.nodes, of_node)?,
                flag: if let Some(bit) = flag { Some(1 << bit?) } else { None },
            })
        };
        Self {
            indexes,
            files: indexes.files.iter().map(wanted).collect(),
            starts_us: conditions.from.unwrap_or(i64::MIN)..conditions.to.unwrap_or(i64::MAX),
            durations_us: (conditions.min.unwrap_or(i64::MIN), conditions.max.unwrap_or(i64::MAX)),
            sql,
        }
    }

    /// The blocks that can hold some, in the order of the table.
    pub(super) fn blocks(&self) -> Vec<(usize, usize)> {
        self.indexes.blocks().filter(|(file, block)| self.can_hold(*file, *block)).collect()
    }

    fn can_hold(&self, file: usize, block: usize) -> bool {
        let (index, wanted) = (&self.indexes.files[file].index, self.files[file].as_ref());
        let (first, last) = index.bounds(block, Column::Start);
        let (least, most) = index.bounds(block, Column::Duration);
        let holds = |column, number: Option<i64>| {
            let (from, to) = index.bounds(block, column);
            number.is_none_or(|number| (from..=to).contains(&number))
        };
        first < self.starts_us.end
            && last >= self.starts_us.start
            && least <= self.durations_us.1
            && most >= self.durations_us.0
            && wanted.is_some_and(|wanted| {
                holds(Column::Type, wanted.request_type)
                    && holds(Column::Node, wanted.node)
                    && (wanted.flag.is_none() || index.bounds(block, Column::Flags).1 > 0)
            })
    }

    /// Those of a block.
    pub(super) fn rows(&self, block: &Block<'_>) -> Result<Rows> {
        let index = &block.of.index;
        let mut rows = Rows::All(index.n_rows_of(block.number));
        let Some(wanted) = &self.files[block.file] else { return Ok(Rows::All(0)) };
        if let Some(number) = wanted.request_type
            && index.bounds(block.number, Column::Type) != (number, number)
        {
            let types = block.column(Column::Type)?;
            rows.retain(|row| types[row] == number);
        }
        let (first, last) = index.bounds(block.number, Column::Start);
        if first < self.starts_us.start || last >= self.starts_us.end {
            let starts = block.column(Column::Start)?;
            rows.retain(|row| self.starts_us.contains(&starts[row]));
        }
        let (least, most) = index.bounds(block.number, Column::Duration);
        if least < self.durations_us.0 || most > self.durations_us.1 {
            let durations = block.column(Column::Duration)?;
            rows.retain(|row| (self.durations_us.0..=self.durations_us.1).contains(&durations[row]));
        }
        if let Some(bit) = wanted.flag {
            let flags = block.column(Column::Flags)?;
            rows.retain(|row| flags[row] & bit != 0);
        }
        if let Some(number) = wanted.node {
            let mut is_there = FixedBitSet::with_capacity(index.n_rows_of(block.number));
            block.each_node(&rows, &mut |row, node, _| {
                is_there.set(row, is_there[row] || node as i64 == number)
            })?;
            rows.retain(|row| is_there[row]);
        }
        if let Some(sql) = &self.sql {
            let first = block.number * schema::tables::index::BLOCK_ROWS;
            rows.retain(|row| sql[block.file].contains(first + row));
        }
        Ok(rows)
    }

    /// No more requests than these are chosen.
    pub(super) fn n_at_most(&self) -> usize {
        let n_rows = |(file, block): (usize, usize)| self.indexes.files[file].index.n_rows_of(block);
        self.blocks().into_iter().map(n_rows).sum()
    }

    /// Whether intervals can tell of them: they know times and types alone. What all requests meet is
    /// no condition.
    pub(super) fn are_of_intervals(&self) -> bool {
        let (least, most) = self.durations_us;
        let all_take_so_long = |(file, block): (usize, usize)| {
            let bounds = self.indexes.files[file].index.bounds(block, Column::Duration);
            least <= bounds.0 && bounds.1 <= most
        };
        self.sql.is_none()
            && self.files.iter().flatten().all(|wanted| wanted.node.is_none() && wanted.flag.is_none())
            && self.indexes.blocks().all(all_take_so_long)
    }

    /// Walks over all of them, on all cores: what is found is added to values that are `empty` at
    /// first, which are merged in the order of the table. With a `length`, of intervals of it where they
    /// are kept, and of rows where they are not, or before and after the first and the last of them.
    pub(super) fn fold<T: Send>(
        &self,
        length: Option<usize>,
        empty: impl Fn() -> T + Sync,
        add: impl Fn(&mut T, &Found<'_, '_>) -> Result<()> + Sync,
        merge: impl Fn(&mut T, T),
    ) -> Result<T> {
        let pieces = self.pieces(length);
        let n_of_part = pieces.len().div_ceil(4 * rayon::current_num_threads()).max(1);
        let of_part = |pieces: &[Piece]| {
            let mut part = empty();
            pieces.iter().try_for_each(|piece| self.walk(piece, length, &mut part, &add))?;
            Ok(part)
        };
        let parts: Vec<T> = pieces.par_chunks(n_of_part).map(of_part).collect::<Result<_>>()?;
        let mut parts = parts.into_iter();
        let mut all = parts.next().unwrap_or_else(empty);
        parts.for_each(|part| merge(&mut all, part));
        Ok(all)
    }

    fn pieces(&self, length: Option<usize>) -> Vec<Piece> {
        let kept =
            |file: usize| length.filter(|length| self.indexes.files[file].index.has_intervals(*length));
        let whole = |length: usize| {
            // Where there is no condition there is no interval that is met in part.
            let us = LENGTHS_US[length];
            let Range { start, end } = self.starts_us;
            let first =
                if start == i64::MIN { start } else { start.saturating_add(us - 1).div_euclid(us) * us };
            let last = if end == i64::MAX { end } else { end.div_euclid(us) * us };
            first..last.max(first)
        };
        let mut pieces: Vec<Piece> = Vec::new();
        for (file, _) in self.files.iter().enumerate().filter(|(_, wanted)| wanted.is_some()) {
            pieces.extend(kept(file).map(|length| Piece::Intervals(file, whole(length))));
        }
        for (file, block) in self.blocks() {
            let counted = kept(file).map_or(0..0, whole);
            let (first, last) = self.indexes.files[file].index.bounds(block, Column::Start);
            if !(counted.contains(&first) && counted.contains(&last)) {
                pieces.push(Piece::Block(file, block, counted));
            }
        }
        pieces
    }

    fn walk<T>(
        &self,
        piece: &Piece,
        length: Option<usize>,
        part: &mut T,
        add: &impl Fn(&mut T, &Found<'_, '_>) -> Result<()>,
    ) -> Result<()> {
        match piece {
            Piece::Block(file, block, counted) => {
                let block = Block::new(self.indexes, *file, *block);
                let mut rows = self.rows(&block)?;
                if !counted.is_empty() {
                    let starts = block.column(Column::Start)?;
                    rows.retain(|row| !counted.contains(&starts[row]));
                }
                if rows.len() > 0 { add(part, &Found::Rows(&block, &rows)) } else { Ok(()) }
            }
            Piece::Intervals(file, within) => {
                let of = &self.indexes.files[*file];
                let wanted = self.files[*file].as_ref().and_then(|wanted| wanted.request_type);
                let mut failed = Ok(());
                of.index.intervals(length.unwrap_or(0), within.clone(), &mut |mut interval| {
                    interval
                        .types
                        .retain(|of| wanted.is_none_or(|number| i64::from(of.request_type) == number));
                    if failed.is_ok() {
                        failed = add(part, &Found::Interval(of, &interval));
                    }
                })?;
                failed
            }
        }
    }
}
