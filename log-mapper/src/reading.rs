//! Reading: how the text of one file is read. A file can hold records of several layouts: of
//! a program that logs in one way until it has read its configuration, of two programs on
//! one output. The first layout that fits a line is meant; what begins a record is thus told
//! from the line alone, wherever the text is cut.

use std::sync::Arc;

use crate::backward::Backward;
use crate::header::calendar::Calendar;
use crate::header::civil::{Civil, Round};
use crate::header::clock::Clock;
use crate::header::timestamp::TimeLayout;
use crate::header::{Header, Layout};
use crate::ids::Ids;
use crate::strangers;
use crate::wrappers::{self, Only, Unwrapped, Wrapper};

/// How one file is read, and how that was found.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reading {
    /// What is around each line, the outermost first.
    pub(crate) wrappers: Vec<Wrapper>,
    /// Whose lines are read; none: all of them.
    pub(crate) only: Option<Only>,
    /// Layouts of the program, then those of others.
    pub(crate) layouts: Vec<Arc<Layout>>,
    /// How many are of the program. A line in one of the others ends a record and begins none.
    pub(crate) n_own: usize,
    /// Lines of the sample that are read, those whose text was looked for in the model, and those
    /// whose text it knows.
    pub(crate) n_headers: usize,
    pub(crate) n_judged: usize,
    pub(crate) n_explained: usize,
    /// Where its records print ids of requests.
    pub(crate) ids: Ids,
    /// Year, month and day of the first record, where time stamps do not name them.
    pub(crate) date: (i16, u8, u8),
    /// When the program began, in µs since 1970, where time stamps count from there.
    pub(crate) start_us: i64,
    /// What of it is turned round, where the newest record is the first.
    pub(crate) backward: Option<Backward>,
    /// Where the next day begins, or year: offsets of records whose time stamps do not say it.
    pub(crate) turns: Vec<u64>,
    /// What begins anew there.
    pub(crate) turn: Round,
    /// Where hours begin to mean something else, in order.
    pub(crate) shifts: Vec<Shift>,
    /// What years and fractions of seconds mean.
    pub(crate) calendar: Calendar,
    /// How it was found, for people.
    pub(crate) how: String,
    /// Why it may be wrong, for people.
    pub(crate) doubts: Vec<String>,
}

/// From where on hours mean something else than before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shift {
    /// Offset of the first record.
    pub(crate) offset: u64,
    /// Of two hours of one name the second is meant.
    pub(crate) is_second: bool,
    /// The half of the day that the hours are of, where it is not printed.
    pub(crate) half: Option<bool>,
}

/// A line that begins a record, or text of somebody else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Start<'a> {
    /// Its header; positions are from the start of the line.
    pub(crate) header: Header<'a>,
    /// Which layout fits; none of them, but the line looks like a record: more than there are.
    pub(crate) layout: usize,
}

impl Reading {
    /// One layout for all of it.
    #[cfg(test)]
    pub(crate) fn of(layout: Layout) -> Self {
        Self { layouts: vec![Arc::new(layout)], n_own: 1, ..Self::default() }
    }

    /// What begins at `at`, the start of a line of `bytes` that ends at `end`.
    pub(crate) fn scan<'a>(&self, bytes: &'a [u8], at: usize, end: usize) -> Option<Start<'a>> {
        for (layout, one) in self.layouts.iter().enumerate() {
            let end = if one.n_header_lines == 1 { end } else { one.header_end(bytes, at) };
            if let Some(header) = one.scan(&bytes[at..end]) {
                return Some(Start { header, layout });
            }
        }
        None
    }

    /// What begins at `at`, the start of a line of `bytes` that ends at `end`: a record, or a line
    /// that looks like one of a layout that is not known.
    pub(crate) fn start<'a>(&self, bytes: &'a [u8], at: usize, end: usize) -> Option<Start<'a>> {
        let known = self.scan(bytes, at, end);
        let is_stranger = || self.n_own > 0 && strangers::is_like_record(&bytes[at..end]);
        known.or_else(|| is_stranger().then(|| Start { header: Header::default(), layout: usize::MAX }))
    }

    /// The lines of `text` that are read.
    pub(crate) fn lines_of(&self, text: &[u8]) -> Vec<u8> {
        let Some(only) = &self.only else { return text.to_vec() };
        let (mut is_mine, mut at, mut out) = (true, 0, Vec::new());
        while at < text.len() {
            let end = wrappers::joined_end(&self.wrappers, text, at).unwrap_or(text.len());
            let lines = &text[at..text.len().min(end + 1)];
            is_mine = only.holds(&self.wrappers, lines).unwrap_or(is_mine);
            if is_mine {
                out.extend_from_slice(lines);
            }
            at = end + 1;
        }
        out
    }

    /// The inner text of `text`, which begins with a line; none: it is `text`.
    pub(crate) fn unwrap(&self, text: &[u8]) -> Option<Unwrapped> {
        self.unwrap_after(text, true)
    }

    /// The same; `is_mine`: lines whose process is named before `text` are of the one that is read.
    pub(crate) fn unwrap_after(&self, text: &[u8], is_mine: bool) -> Option<Unwrapped> {
        let is_bare = self.wrappers.is_empty() && wrappers::is_clean(text);
        (!is_bare).then(|| wrappers::unwrap_only(&self.wrappers, self.only.as_ref(), is_mine, text))
    }

    /// Whether what follows `text` is of the process that is read, as far as `text` says it.
    pub(crate) fn is_mine_after(&self, text: &[u8], is_mine: bool) -> bool {
        self.only.as_ref().is_none_or(|only| only.is_mine_after(&self.wrappers, text, is_mine))
    }

    /// Whether the line at `at` of a file's text begins a record: its inner text does, and it is not
    /// the rest of a line. `end`: where the lines of its header end. None: `text` ends within lines
    /// that are put together.
    pub(crate) fn begins(&self, text: &[u8], at: usize, end: usize) -> Option<bool> {
        let joined_end = wrappers::joined_end(&self.wrappers, text, at)?;
        let end = end.max((joined_end + 1).min(text.len()));
        let Some(inner) = self.unwrap(&text[at..end]) else {
            return Some(self.start(text, at, crate::lines::line_end(text, at)).is_some());
        };
        let (inner, lines) = (&inner.text[..], &text[at..joined_end]);
        let begins = !inner.is_empty()
            && self.only.as_ref().is_none_or(|only| only.names(&self.wrappers, lines))
            && self.start(inner, 0, crate::lines::line_end(inner, 0)).is_some()
            && !wrappers::goes_on(&self.wrappers, self.only.as_ref(), text, at);
        Some(begins)
    }

    /// What a wrapper says of the time of the line at `start` of `wrapped`, or of the `nth` of those
    /// that it holds, where a layout prints none.
    pub(crate) fn stamp(&self, layout: usize, wrapped: &[u8], (start, nth): (usize, usize)) -> Option<Civil> {
        if self.layouts[layout].time().is_some() || !wrappers::has_stamp(&self.wrappers) {
            return None;
        }
        let end = wrappers::joined_end(&self.wrappers, wrapped, start).unwrap_or(wrapped.len());
        wrappers::stamp(&self.wrappers, wrapped.get(start..end)?, nth)
    }

    /// The lines at the start of `next`, a text that is read in the same way, with the rest of the last
    /// line of `text`, a piece that goes on behind its end; none: it does not.
    pub(crate) fn rest_of(&self, text: &[u8], next: &[u8]) -> usize {
        let Some(wrapper) = self.wrappers.first() else { return 0 };
        wrappers::rest_of(wrapper, text, next)
    }

    /// Sets the clocks to the day and the hours of the record at `offset`.
    pub(crate) fn set_clocks(&self, clocks: &mut [Clock], offset: u64) {
        if !self.turns.is_empty() {
            let n = self.turns.partition_point(|turn| *turn <= offset);
            let date = match self.backward {
                None => later(self.date, n, self.turn),
                Some(_) => earlier(self.date, n, self.turn),
            };
            clocks.iter_mut().for_each(|clock| clock.set_date(date));
        }
        if !self.shifts.is_empty() {
            let n = self.shifts.partition_point(|shift| shift.offset <= offset);
            let (is_second, half) =
                n.checked_sub(1).map_or((false, None), |n| (self.shifts[n].is_second, self.shifts[n].half));
            clocks.iter_mut().for_each(|clock| clock.set_hours(is_second, half));
        }
    }

    /// Lines of the sample whose text the model knows, as far as they were looked at.
    pub(crate) fn n_known(&self) -> usize {
        self.n_explained * self.n_headers / self.n_judged.max(1)
    }

    /// Whether its time stamps say the day.
    pub(crate) fn has_day(&self) -> bool {
        self.main().and_then(|layout| layout.time()).is_some_and(TimeLayout::has_day)
    }

    /// The program's layout that most records are in.
    pub(crate) fn main(&self) -> Option<&Arc<Layout>> {
        self.layouts.first().filter(|_| self.n_own > 0)
    }

    /// Lines that a header takes at most.
    pub(crate) fn header_lines_max(&self) -> usize {
        self.layouts.iter().map(|layout| layout.n_header_lines).max().unwrap_or(1)
    }

    /// The layouts as patterns, for people and for reading the records again.
    pub(crate) fn pattern(&self) -> String {
        let own = self.layouts[..self.n_own].iter().map(|layout| layout.pattern());
        let wrappers: String = self.wrappers.iter().map(|wrapper| format!("{}: ", wrapper.name)).collect();
        wrappers + &own.collect::<Vec<_>>().join(SEPARATOR)
    }
}

/// The date `n` days, months or years after `date`.
pub(crate) fn later(date: (i16, u8, u8), n: usize, turn: Round) -> (i16, u8, u8) {
    moved(date, i64::try_from(n).unwrap_or(i64::MAX), turn)
}

/// The date `n` days, months or years before `date`.
pub(crate) fn earlier(date: (i16, u8, u8), n: usize, turn: Round) -> (i16, u8, u8) {
    moved(date, -i64::try_from(n).unwrap_or(i64::MAX), turn)
}

fn moved(date: (i16, u8, u8), n: i64, turn: Round) -> (i16, u8, u8) {
    if turn == Round::Year {
        let n = i16::try_from(n).unwrap_or(if n < 0 { i16::MIN } else { i16::MAX });
        return (date.0.saturating_add(n), date.1, date.2);
    }
    let day = jiff::civil::Date::new(date.0, date.1.cast_signed(), date.2.cast_signed());
    let span = jiff::Span::new();
    let span = if turn == Round::Month { span.try_months(n) } else { span.try_days(n) };
    let moved = day.and_then(|day| day.checked_add(span?));
    moved.map_or(date, |day| (day.year(), day.month().unsigned_abs(), day.day().unsigned_abs()))
}

/// How a file was read, made again of what its account says, to read its records once more.
#[derive(Clone, Debug)]
pub struct Reread {
    reading: Reading,
}

impl Reread {
    /// Of the layout of an account.
    ///
    /// # Errors
    /// A pattern that is none.
    pub fn parse(layout: &str) -> Result<Self, String> {
        let mut rest = layout;
        let mut wrappers = Vec::new();
        while let Some((name, after)) = rest.split_once(": ")
            && let Some(wrapper) = wrappers::by_name(name)
        {
            wrappers.push(wrapper);
            rest = after;
        }
        let layouts: Result<Vec<_>, String> =
            rest.split(SEPARATOR).map(|pattern| Layout::compile(pattern).map(Arc::new)).collect();
        let layouts = layouts?;
        Ok(Self { reading: Reading { n_own: layouts.len(), wrappers, layouts, ..Reading::default() } })
    }

    /// Whether a layout prints the value of an MDC key; one of names and values may print any.
    #[must_use]
    pub fn prints(&self, key: &str) -> bool {
        wrappers::has_names(&self.reading.wrappers) || self.prints_itself(key)
    }

    fn prints_itself(&self, key: &str) -> bool {
        self.reading.layouts.iter().any(|layout| layout.mdc_keys().iter().any(|known| known == key))
    }

    /// The value of an MDC key in the text of a record; none: it has none.
    #[must_use]
    pub fn value(&self, record: &[u8], key: &str) -> Option<String> {
        if wrappers::has_names(&self.reading.wrappers) && !self.prints_itself(key) {
            let value = wrappers::context(&self.reading.wrappers, record, key)?;
            return (!value.is_empty()).then(|| String::from_utf8_lossy(&value).into_owned());
        }
        let unwrapped = self.reading.unwrap(record).map(|unwrapped| unwrapped.text);
        let text = unwrapped.as_deref().unwrap_or(record);
        let start = self.reading.scan(text, 0, crate::lines::line_end(text, 0))?;
        let keys = self.reading.layouts.get(start.layout)?.mdc_keys();
        let position = keys.iter().position(|known| known == key)?;
        let value = start.header.mdc[position].filter(|value| !value.is_empty())?;
        Some(String::from_utf8_lossy(value).into_owned())
    }
}

/// Between the layouts of one file.
const SEPARATOR: &str = " || ";
