//! Profile: what a log itself says of its lines, counted without knowing whose they are.
//!
//! Two lines that stand directly one after the other are often of one span; two lines some way
//! apart are of one only by chance. So whatever is counted of the first and of the second is
//! evidence, by its ratio: which log point follows which, after how long, where the one stands to
//! the other in the code, which values agree. Nothing is learnt from what was decided
//! (Fellegi and Sunter 1969: m from pairs that belong together, u from random ones).
//! A profile is a sum: those of two logs can be added.

use std::collections::VecDeque;
use std::hash::BuildHasher;

use rustc_hash::{FxBuildHasher, FxHashMap};
use schema::{LogPointId, Model};
use smallvec::SmallVec;

use super::orders::Orders;
use crate::record::{Candidate, Record, Records};

/// Natural logarithms in thousandths ("millinats"): sums of them do not depend on rounding.
pub(super) type Millinats = i32;

/// Lines this far apart are of one span by chance only.
const CHANCE_LAGS: [usize; 4] = [8, 12, 16, 20];

/// Ends of the bins of gaps in time, µs: what logs that print milliseconds can tell apart.
const GAPS_US: [u64; 9] = [0, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 10_000_000];

/// Where one log point stands to another one in the code.
const PLACES: usize = 5;

/// A line that follows so much more often than by chance (a factor of two) is taken for one of
/// the same span, when counting how such lines look.
const ANCHOR: Millinats = 693;

/// A value that a line prints: its kind, and its text.
pub(super) type Shown = (u32, u64);

/// The values of a line.
pub(super) type Values = SmallVec<[Shown; 8]>;

/// A line of the log.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) point: u32,
    pub(super) ts_us: i64,
    pub(super) values: Values,
}

/// How pairs of lines look.
#[derive(Clone, Debug)]
struct Looks {
    n: u32,
    gaps: [u32; GAPS_US.len() + 1],
    places: [u32; PLACES],
    /// By kind of value: agree, differ.
    values: FxHashMap<u32, [u32; 2]>,
}

impl Default for Looks {
    fn default() -> Self {
        Self { n: 0, gaps: [0; GAPS_US.len() + 1], places: [0; PLACES], values: FxHashMap::default() }
    }
}

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Profile {
    n_records: u64,
    /// Lines by log point.
    n_of: Vec<u32>,
    /// Lines of the second directly after one of the first.
    next: FxHashMap<(u32, u32), u32>,
    /// The same at the lags of chance, all together.
    apart: FxHashMap<(u32, u32), u32>,
    /// The last lines, newest last.
    lines: VecDeque<Line>,
    anchors: Looks,
    chance: Looks,
    /// Lines that follow each other, and are none of those.
    others: Looks,
    /// Lines by text of a value that they show, of this part of the log and of the one before.
    holders: [FxHashMap<u64, u32>; 2],
    /// Lines of these.
    n_held: [u64; 2],
    /// By log point and variable: the kind of the value.
    kinds: Vec<SmallVec<[u32; 4]>>,
    /// By log point: class, method, source line.
    code: Vec<(u32, u32, u32)>,
    /// Whether one method can have printed both.
    of_one: FxHashMap<(u32, u32), bool>,
    logarithms: Vec<Millinats>,
}

impl Profile {
    /// Nothing is counted yet.
    pub(super) fn new(model: &Model) -> Self {
        let mut names: FxHashMap<(Option<u32>, &str), u32> = FxHashMap::default();
        let mut classes: FxHashMap<&str, u32> = FxHashMap::default();
        let mut methods: FxHashMap<(&str, &str), u32> = FxHashMap::default();
        let number = |n: usize| u32::try_from(n).expect("a model has fewer than 2^32 elements");
        let mut kinds = Vec::with_capacity(model.log_points.len());
        let mut code = Vec::with_capacity(model.log_points.len());
        for point in &model.log_points {
            let mut of_point = SmallVec::new();
            for variable in &point.variables {
                let class = variable.value_class.map(|class| number(class.index()));
                let path = if class.is_some() { "" } else { &*variable.path };
                let new = number(names.len());
                of_point.push(*names.entry((class, path)).or_insert(new));
            }
            kinds.push(of_point);
            let new = number(classes.len());
            let class = *classes.entry(&point.class).or_insert(new);
            let new = number(methods.len());
            let method = *methods.entry((&point.class, &point.method)).or_insert(new);
            code.push((class, method, point.source_line));
        }
        let n_points = model.log_points.len();
        Self {
            n_records: 0,
            n_of: vec![0; n_points + 1],
            next: FxHashMap::default(),
            apart: FxHashMap::default(),
            lines: VecDeque::new(),
            anchors: Looks::default(),
            chance: Looks::default(),
            others: Looks::default(),
            holders: Default::default(),
            n_held: [0; 2],
            kinds,
            code,
            of_one: FxHashMap::default(),
            logarithms: logarithms(),
        }
    }

    /// What a record shows; of the first of its readings.
    pub(super) fn line(&self, record: &Record<'_>) -> Line {
        let unknown = self.n_of.len() - 1;
        let known = record.candidates.first().filter(|first| first.log_point.index() < unknown);
        let point = known.map_or(unknown, |first| first.log_point.index());
        let point = u32::try_from(point).expect("a model has fewer than 2^32 elements");
        let values = known.map(|first| self.values(first)).unwrap_or_default();
        Line { point, ts_us: record.ts_us, values }
    }

    fn values(&self, candidate: &Candidate<'_>) -> Values {
        let kinds = &self.kinds[candidate.log_point.index()];
        let shown = candidate.values.iter().filter(|(_, text)| !text.is_empty());
        shown
            .filter_map(|&(variable, text)| {
                Some((*kinds.get(variable as usize)?, FxBuildHasher.hash_one(text.as_bytes())))
            })
            .collect()
    }

    /// Counts the next line of the log.
    pub(super) fn see(&mut self, line: Line, orders: &Orders<'_>) {
        self.count(&line);
        self.look(&line, orders);
        self.pass(line);
    }

    /// Counts the first lines of the log, before any of them is decided on: all of them twice, since
    /// how lines of one span look is counted of those that are known to follow each other.
    pub(super) fn see_ahead(&mut self, records: &mut dyn Records, n: u64, orders: &Orders<'_>) {
        let mut see = |see: &mut dyn FnMut(&mut Self, &Line)| {
            records.ahead(n, &mut |record| {
                if record.thread.is_none() {
                    let line = self.line(record);
                    see(self, &line);
                    self.pass(line);
                }
            });
            self.lines.clear();
        };
        see(&mut |profile, line| profile.count(line));
        see(&mut |profile, line| profile.look(line, orders));
    }

    /// Counts which log points follow which, and who holds which texts.
    fn count(&mut self, line: &Line) {
        self.n_records += 1;
        self.n_held[0] += 1;
        self.n_of[line.point as usize] += 1;
        for (i, &(_, text)) in line.values.iter().enumerate() {
            if line.values[..i].iter().all(|&(_, other)| other != text) {
                *self.holders[0].entry(text).or_default() += 1;
            }
        }
        for lag in CHANCE_LAGS {
            if let Some(before) = self.before(lag) {
                *self.apart.entry((before.point, line.point)).or_default() += 1;
            }
        }
        if let Some(before) = self.before(1) {
            *self.next.entry((before.point, line.point)).or_default() += 1;
        }
    }

    /// Counts how the line and those before it look together.
    fn look(&mut self, line: &Line, orders: &Orders<'_>) {
        for lag in CHANCE_LAGS {
            let Some(at) = self.lines.len().checked_sub(lag) else { continue };
            let place = self.place(self.lines[at].point, line.point);
            self.chance.add(&self.lines[at], line, place);
        }
        let Some(at) = self.lines.len().checked_sub(1) else { return };
        let before = self.lines[at].point;
        if self.is_of_one(before, line.point, orders) && self.adjacency(before, line.point) > ANCHOR {
            let place = self.place(before, line.point);
            self.anchors.add(&self.lines[at], line, place);
        } else {
            self.others.add(&self.lines[at], line, 0);
        }
    }

    /// The line so many before the one at hand.
    fn before(&self, lag: usize) -> Option<&Line> {
        self.lines.get(self.lines.len().checked_sub(lag)?)
    }

    fn pass(&mut self, line: Line) {
        self.lines.push_back(line);
        if self.lines.len() > CHANCE_LAGS[CHANCE_LAGS.len() - 1] {
            self.lines.pop_front();
        }
    }

    /// A part of the log ends: texts that it has not shown are forgotten.
    pub(super) fn end_part(&mut self) {
        self.holders[1] = std::mem::take(&mut self.holders[0]);
        self.n_held[1] = std::mem::take(&mut self.n_held[0]);
    }

    fn is_of_one(&mut self, a: u32, b: u32, orders: &Orders<'_>) -> bool {
        let unknown = self.n_of.len() - 1;
        if a as usize >= unknown || b as usize >= unknown {
            return false;
        }
        *self.of_one.entry((a, b)).or_insert_with(|| {
            let places = |point: u32| orders.places(LogPointId::new(point as usize));
            let (a, b) = (places(a), places(b));
            a.iter().any(|a| b.binary_search_by_key(&a.top, |b| b.top).is_ok())
        })
    }

    /// How much more often `b` stands directly after `a` than by chance. Half a pair is added to
    /// both counts (Krichevsky and Trofimov 1981), so that what was seen once says little, and
    /// twice what `b` would be by chance.
    pub(super) fn adjacency(&self, a: u32, b: u32) -> Millinats {
        const SCALE: u64 = 256;
        let n = |counts: &FxHashMap<(u32, u32), u32>| u64::from(counts.get(&(a, b)).copied().unwrap_or(0));
        let prior = 2 * SCALE * u64::from(self.n_of[b as usize]) / self.n_records.max(1) + SCALE / 2;
        let next = n(&self.next) * SCALE + prior;
        let apart = n(&self.apart) * SCALE / CHANCE_LAGS.len() as u64 + prior;
        self.ln(next) - self.ln(apart)
    }

    /// How much more often lines of one span that follow each other are this far apart in time
    /// than those that follow each other and are not known to be of one.
    pub(super) fn gap(&self, gap_us: u64) -> Millinats {
        let bin = gap_bin(gap_us);
        self.ratio(self.anchors.gaps[bin], (&self.others, self.others.gaps[bin]))
    }

    /// The same of where they stand in the code.
    pub(super) fn code(&self, a: u32, b: u32) -> Millinats {
        let place = self.place(a, b);
        self.ratio(self.anchors.places[place], (&self.chance, self.chance.places[place]))
    }

    /// How much more often values of a kind agree, or differ, in lines of one span.
    pub(super) fn value(&self, kind: u32, differs: bool) -> Millinats {
        let of = |looks: &Looks| {
            let [agree, differ] = looks.values.get(&kind).copied().unwrap_or_default();
            let [agree, differ] = [u64::from(agree) + 1, u64::from(differ) + 1];
            (if differs { differ } else { agree }, agree + differ)
        };
        let ((m, n_m), (u, n_u)) = (of(&self.anchors), of(&self.chance));
        self.ln(m) - self.ln(n_m) + self.ln(n_u) - self.ln(u)
    }

    /// How rare a text is: the logarithm of one in so many lines shows it.
    pub(super) fn rarity(&self, text: u64) -> Millinats {
        self.ln(self.n_held.iter().sum::<u64>() + 1) - self.ln(self.n_holders(text).max(1))
    }

    /// Lines that have shown a text.
    pub(super) fn n_holders(&self, text: u64) -> u64 {
        let n = |counts: &FxHashMap<u64, u32>| counts.get(&text).copied().unwrap_or_default();
        self.holders.iter().map(|counts| u64::from(n(counts))).sum()
    }

    fn ratio(&self, anchors: u32, (looks, chance): (&Looks, u32)) -> Millinats {
        let n = |looks: &Looks| u64::from(looks.n) + 10;
        self.ln(u64::from(anchors) + 1) - self.ln(n(&self.anchors)) + self.ln(n(looks))
            - self.ln(u64::from(chance) + 1)
    }

    fn place(&self, a: u32, b: u32) -> usize {
        let (Some(a), Some(b)) = (self.code.get(a as usize), self.code.get(b as usize)) else { return 0 };
        match () {
            () if a.0 != b.0 => 0,
            () if a.1 != b.1 => 1,
            () if b.2 > a.2 => 4,
            () if a == b => 3,
            () => 2,
        }
    }

    /// The logarithm of `n`, at least 1.
    fn ln(&self, n: u64) -> Millinats {
        let shift = (u64::BITS - n.leading_zeros()).saturating_sub(LOGARITHMS_BITS);
        let of_two = i64::from(shift) * 693_147 / 1_000;
        let of_two = Millinats::try_from(of_two).expect("at most 64 times 693");
        self.logarithms[usize::try_from(n >> shift).expect("cut to the table").max(1)] + of_two
    }
}

impl Looks {
    fn add(&mut self, a: &Line, b: &Line, place: usize) {
        self.n += 1;
        self.gaps[gap_bin(a.ts_us.abs_diff(b.ts_us))] += 1;
        self.places[place] += 1;
        for &(kind, text) in &b.values {
            if let Some(&(_, known)) = a.values.iter().rev().find(|&&(other, _)| other == kind) {
                self.values.entry(kind).or_default()[usize::from(known != text)] += 1;
            }
        }
    }
}

fn gap_bin(gap_us: u64) -> usize {
    GAPS_US.iter().position(|&end_us| gap_us <= end_us).unwrap_or(GAPS_US.len())
}

const LOGARITHMS_BITS: u32 = 12;

/// Natural logarithms of the numbers below 2^[`LOGARITHMS_BITS`].
fn logarithms() -> Vec<Millinats> {
    (0..1_u32 << LOGARITHMS_BITS).map(|n| (f64::from(n.max(1)).ln() * 1_000.0).round() as Millinats).collect()
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use schema::sketch;
    use smallvec::smallvec;

    use super::*;

    const MODEL: &str = "
        point read block=Block.id
        point sent block=Block.id
        point other
        top serve Task block=Block.id
          >read sent
          sent<
        top tick Task
          >other<";

    /// A profile of lines (log point, time in µs, block).
    fn profile(lines: Vec<(&str, i64, &str)>) -> (Profile, impl Fn(&str) -> u32 + use<>) {
        let model = sketch::model(MODEL);
        let orders = Orders::new(&model);
        let point = |name: &str| {
            let index = model.log_points.iter().position(|point| point.method == name);
            u32::try_from(index.expect("a log point")).expect("few log points")
        };
        let mut profile = Profile::new(&model);
        for (name, ts_us, block) in lines {
            let log_point = LogPointId::new(point(name) as usize);
            let values = if block.is_empty() { Vec::new() } else { vec![(0, block)] };
            let values = profile.values(&Candidate { log_point, values, names: Cow::Borrowed(&[]) });
            profile.see(Line { point: point(name), ts_us, values }, &orders);
        }
        let names: Vec<String> = model.log_points.iter().map(|point| point.method.clone()).collect();
        let point = move |name: &str| {
            u32::try_from(names.iter().position(|known| known == name).expect("a log point")).expect("few")
        };
        (profile, point)
    }

    /// `n` blocks are read and sent at once; between them something else is printed, apart.
    fn served(n: i64) -> Vec<(&'static str, i64, &'static str)> {
        let blocks = ["block_1", "block_2", "block_3", "block_4", "block_5"];
        let one = |i: i64| {
            let (at_us, block) = (i * 1_000_000, blocks[usize::try_from(i).expect("positive") % 5]);
            [("read", at_us, block), ("sent", at_us + 500, block), ("other", at_us + 400_000, "")]
        };
        (0..n).flat_map(one).collect()
    }

    #[test]
    fn logarithms_are_those_of_the_library() {
        let (profile, _) = profile(Vec::new());
        for n in [1, 2, 3, 10, 4_095, 4_096, 5_000, 123_456, 10_u64.pow(12)] {
            let ln = (n as f64).ln() * 1_000.0;
            assert!((f64::from(profile.ln(n)) - ln).abs() < 2.0, "{n}: {} and {ln}", profile.ln(n));
        }
    }

    #[test]
    fn what_follows_is_told_from_what_stands_near_by_chance() {
        let (profile, point) = profile(served(100));
        // Every third line is `sent`: always the next one, and 16 lines later, but not 8, 12 or 20.
        let (read, sent, other) = (point("read"), point("sent"), point("other"));
        assert!(profile.adjacency(read, sent) > 1_000, "{}", profile.adjacency(read, sent));
        assert!(profile.adjacency(sent, read) < 0, "{}", profile.adjacency(sent, read));
        assert!(profile.gap(500) > 1_000 && profile.gap(400_000) < 0);
        assert!(profile.adjacency(sent, other) > 0, "it follows as well, though no method prints both");
    }

    #[test]
    fn what_was_seen_once_says_little() {
        let (profile, point) = profile(served(1));
        assert!(profile.adjacency(point("read"), point("sent")) < 1_200);
    }

    #[test]
    fn values_that_agree_in_one_span_speak_for_it_and_others_against() {
        let (profile, _) = profile(served(100));
        let kind = profile.kinds[0][0];
        assert!(profile.value(kind, false) > 500, "{}", profile.value(kind, false));
        assert!(profile.value(kind, true) < -2_000, "{}", profile.value(kind, true));
    }

    #[test]
    fn a_text_is_as_rare_as_the_lines_that_show_it() {
        let (mut profile, _) = profile(served(100));
        let text = FxBuildHasher.hash_one("block_1".as_bytes());
        // 40 of 300 lines.
        assert_eq!(profile.rarity(text), profile.ln(301) - profile.ln(40));
        profile.end_part();
        assert_eq!(profile.rarity(text), profile.ln(301) - profile.ln(40));
        profile.end_part();
        assert_eq!(profile.rarity(text), 0, "nothing is left of either part");
        // However much longer the log is: of what is remembered it is one line in so many.
        let (mut longer, point) = self::profile(served(100));
        for _ in 0..3 {
            longer.end_part();
            for _ in 0..150 {
                longer.count(&Line { point: point("read"), ts_us: 0, values: smallvec![(0, text)] });
                longer.count(&Line { point: point("other"), ts_us: 0, values: Values::new() });
            }
        }
        assert_eq!(longer.rarity(text), longer.ln(601) - longer.ln(300));
    }
}
