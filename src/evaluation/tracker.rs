//! A tracker: spans from what a log says of itself, as a baseline. It sees lines one after the
//! other as a tracker sees detections, and gives each to one of a few open tracks or begins one.
//!
//! It knows of the program one fact, which top-level methods can print a log point: no order, no
//! identifiers, no pairs. A line goes on with one of the [`OPEN`] tracks that went on last, of
//! those that some method can have printed together with it the one of the highest score, if that
//! is above the `cost` of going on. A score is a sum of logarithms of ratios:
//!
//! - *adjacency*: how often this log point stands right after that of the track's last line,
//!   against how often it comes [`LAGS`] lines later;
//! - *gap* and *place*: the time since the track's last line, and where the one statement stands
//!   to the other in the code, in anchors against chance;
//! - *values*: how often values of a name agree and differ, in anchors against chance; a text that
//!   few lines print and the track has printed;
//! - less for each line since the track's last.
//!
//! *Anchors* are lines one after the other that one method can print and that are neighbours more
//! often than by chance; *chance* are pairs of lines [`LAGS`] apart. Nothing is learnt from a
//! truth. Nothing looks ahead or is taken back: among equal scores the track begun first wins.

use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};
use schema::tables::{LogPointRow, TopLevelMethodRow};

use super::found::Found;
use super::truth::Place;

/// Lines between which nothing is left of what one of them leads to.
const LAGS: [usize; 4] = [8, 12, 16, 20];
/// Tracks that are open on a node.
const OPEN: usize = 12;
/// Upper ends of the classes of gaps, µs.
const GAPS: [i64; 9] = [0, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 10_000_000];
/// Neighbours with a higher adjacency, which is twice what chance gives, are anchors.
const ANCHOR: f64 = 0.7;
/// Pairs that are taken to have been seen of every class of gaps and places, in sum.
const UNSEEN: usize = 10;
/// What gap and place count, against adjacency: they tell the same in part.
const SHARE: f64 = 0.7;

/// A track, by the index of its first line.
pub(crate) type Track = u32;

/// A line of a log.
#[derive(Clone, Debug)]
struct Line {
    ts: i64,
    /// Index of its log point.
    point: usize,
    /// Where its values stand in those of the log.
    values: Range<usize>,
}

/// A value by the numbers of its name and its text.
#[derive(Clone, Copy, Debug)]
struct Value {
    name: u32,
    text: u32,
}

/// A log point that the log shows.
#[derive(Clone, Debug, Default)]
struct Point {
    /// Numbers of its class and its method; none where no statement is known.
    code: Option<(u32, u32, i64)>,
    /// Its lines.
    n: u32,
    methods: Methods,
}

/// A set of top-level methods.
#[derive(Clone, Debug, Default)]
struct Methods(Vec<u64>);

impl Methods {
    fn add(&mut self, method: usize) {
        let word = method / 64;
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (method % 64);
    }

    fn meet(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).any(|(a, b)| a & b != 0)
    }

    fn retain(&mut self, other: &Self) {
        self.0.truncate(other.0.len());
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a &= b);
    }
}

/// Numbers texts in the order in which they come.
#[derive(Debug, Default)]
struct Numbers<'a>(FxHashMap<&'a str, u32>);

impl<'a> Numbers<'a> {
    fn of(&mut self, text: &'a str) -> u32 {
        let next = u32::try_from(self.0.len()).unwrap_or(u32::MAX);
        *self.0.entry(text).or_insert(next)
    }
}

/// The lines of all nodes, and what they say of themselves.
#[derive(Debug)]
pub(crate) struct Tracker<'a> {
    places: Vec<&'a Place>,
    lines: Vec<Line>,
    values: Vec<Value>,
    points: Vec<Point>,
    /// The lines of each node.
    nodes: Vec<Range<usize>>,
    /// How often a log point is next after another one, and how often it comes later.
    follows: FxHashMap<(usize, usize), (u32, u32)>,
    gaps: [f64; GAPS.len() + 1],
    code: [f64; PLACES],
    /// Of a name, what it says if values agree, and if they differ.
    names: Vec<(f64, f64)>,
    /// How few lines print a text, and whether it is more than one.
    texts: Vec<(f64, bool)>,
}

impl<'a> Tracker<'a> {
    /// Learns from the lines of `found`.
    pub(crate) fn new(found: &'a Found<'_>, points: &'a [LogPointRow], tops: &[TopLevelMethodRow]) -> Self {
        let mut tracker = Self::read(found, points, tops);
        tracker.count();
        tracker.weigh();
        tracker
    }

    fn read(found: &'a Found<'_>, rows: &'a [LogPointRow], tops: &[TopLevelMethodRow]) -> Self {
        let mut tracker = Self {
            places: found.events.keys().collect(),
            lines: Vec::with_capacity(found.events.len()),
            values: Vec::new(),
            points: Vec::new(),
            nodes: Vec::new(),
            follows: FxHashMap::default(),
            gaps: Default::default(),
            code: Default::default(),
            names: Vec::new(),
            texts: Vec::new(),
        };
        let (mut names, mut texts) = (Numbers::default(), Numbers::default());
        let mut numbers: FxHashMap<Option<i64>, usize> = FxHashMap::default();
        let mut last = None;
        for (at, (place, event)) in found.events.iter().enumerate() {
            if last.replace(&place.0) != Some(&place.0) {
                tracker.nodes.push(at..at);
            }
            tracker.nodes.last_mut().expect("just begun").end = at + 1;
            let next = numbers.len();
            let point = *numbers.entry(event.log_point_id).or_insert(next);
            if point == next {
                tracker.points.push(Point::default());
            }
            tracker.points[point].n += 1;
            let begin = tracker.values.len();
            tracker.values.extend(
                event.values.iter().map(|v| Value { name: names.of(&v.name), text: texts.of(&v.value) }),
            );
            tracker.lines.push(Line { ts: event.ts.0, point, values: begin..tracker.values.len() });
        }
        let mut code = Numbers::default();
        for row in rows {
            if let Some(&point) = numbers.get(&Some(row.log_point_id)) {
                tracker.points[point].code =
                    Some((code.of(&row.class), code.of(&row.method), row.source_line));
            }
        }
        for (top, row) in tops.iter().enumerate() {
            for point in row.log_points.iter().filter_map(|id| numbers.get(&Some(*id))) {
                tracker.points[*point].methods.add(top);
            }
        }
        tracker.names.resize(names.0.len(), (0.0, 0.0));
        tracker.texts = tracker.rareness(texts.0.len());
        tracker
    }

    /// How few lines print each text.
    fn rareness(&self, n_texts: usize) -> Vec<(f64, bool)> {
        let (mut n, mut last) = (vec![0_u32; n_texts], vec![usize::MAX; n_texts]);
        for (at, line) in self.lines.iter().enumerate() {
            for value in &self.values[line.values.clone()] {
                let text = value.text as usize;
                n[text] += u32::from(last[text] != at);
                last[text] = at;
            }
        }
        let n_lines = self.lines.len() as f64;
        n.into_iter().map(|n| ((n_lines / f64::from(n)).ln() - 2.0, n > 1)).collect()
    }

    /// Pairs of lines of one node that are `lag` apart.
    fn pairs(&self, lag: usize) -> impl Iterator<Item = (&Line, &Line)> {
        let pairs = move |node: &Range<usize>| {
            let lines = &self.lines[node.clone()];
            lines.iter().zip(lines.iter().skip(lag))
        };
        self.nodes.iter().flat_map(pairs)
    }

    fn count(&mut self) {
        let mut follows: FxHashMap<(usize, usize), (u32, u32)> = FxHashMap::default();
        for (a, b) in self.pairs(1) {
            follows.entry((a.point, b.point)).or_default().0 += 1;
        }
        for (a, b) in LAGS.iter().flat_map(|lag| self.pairs(*lag)) {
            follows.entry((a.point, b.point)).or_default().1 += 1;
        }
        self.follows = follows;
    }

    fn adjacency(&self, a: usize, b: usize) -> f64 {
        let prior = f64::from(2 * self.points[b].n) / self.lines.len() as f64;
        let (near, far) = self.follows.get(&(a, b)).copied().unwrap_or_default();
        ((f64::from(near) + prior) / (f64::from(far) / LAGS.len() as f64 + prior)).ln()
    }

    /// What gaps, places and values say: how much more often they are so in anchors than by chance.
    fn weigh(&mut self) {
        let n_names = self.names.len();
        let (mut anchors, mut chance) = (Counts::new(n_names), Counts::new(n_names));
        for (a, b) in self.pairs(1) {
            let [before, after] = [a, b].map(|line| &self.points[line.point].methods);
            if before.meet(after) && self.adjacency(a.point, b.point) > ANCHOR {
                anchors.add(self, a, b);
            }
        }
        for (a, b) in LAGS.iter().flat_map(|lag| self.pairs(*lag)) {
            chance.add(self, a, b);
        }
        let of = |n: usize, counts: &Counts| (n + 1) as f64 / (counts.n + UNSEEN) as f64;
        let ratio = |n: usize, by_chance: usize| (of(n, &anchors) / of(by_chance, &chance)).ln();
        self.gaps = std::array::from_fn(|at| ratio(anchors.gaps[at], chance.gaps[at]));
        self.code = std::array::from_fn(|at| ratio(anchors.code[at], chance.code[at]));
        let value = |(near, far): (&[usize; 2], &[usize; 2])| {
            let of = |n: &[usize; 2], at: usize| (n[at] + 1) as f64 / (n[0] + n[1] + 2) as f64;
            let ratio = |at: usize| (of(near, at) / of(far, at)).ln();
            (ratio(0), ratio(1))
        };
        self.names = anchors.names.iter().zip(&chance.names).map(value).collect();
    }

    /// Where `b` stands to `a` in the code.
    fn place(&self, a: usize, b: usize) -> CodePlace {
        let (Some(a), Some(b)) = (self.points[a].code, self.points[b].code) else { return CodePlace::Else };
        match () {
            () if a.0 != b.0 => CodePlace::Else,
            () if a.1 != b.1 => CodePlace::Class,
            () if b.2 > a.2 => CodePlace::Later,
            () if b == a => CodePlace::Same,
            () => CodePlace::Before,
        }
    }

    /// The track of each line, where going on must score more than `cost`.
    pub(crate) fn tracks(&self, cost: f64) -> impl Iterator<Item = (&'a Place, Track)> {
        let mut tracks = Vec::with_capacity(self.lines.len());
        for node in &self.nodes {
            let mut open: Vec<Open<'_>> = Vec::with_capacity(OPEN + 1);
            for at in node.clone() {
                tracks.push(self.step(&mut open, at, cost));
            }
        }
        self.places.iter().copied().zip(tracks)
    }

    /// Gives the line `at` to a track.
    fn step<'t>(&'t self, open: &mut Vec<Open<'t>>, at: usize, cost: f64) -> Track {
        let line = &self.lines[at];
        let mut best = (None, cost);
        for (index, track) in open.iter().enumerate() {
            if track.methods.meet(&self.points[line.point].methods) {
                let score = self.score(track, at);
                if score > best.1 {
                    best = (Some(index), score);
                }
            }
        }
        if let Some(index) = best.0 {
            open[index].add(self, at);
            return open[index].first;
        }
        let first = Track::try_from(at).unwrap_or(Track::MAX);
        let methods = self.points[line.point].methods.clone();
        let (names, texts) = (FxHashMap::default(), FxHashSet::default());
        let mut track = Open { first, last: line, at, names, texts, methods };
        track.add(self, at);
        open.push(track);
        if open.len() > OPEN {
            let oldest = (0..open.len()).min_by_key(|index| open[*index].last.ts).unwrap_or_default();
            open.remove(oldest);
        }
        first
    }

    /// How well the line `at` goes on with `track`.
    fn score(&self, track: &Open<'_>, at: usize) -> f64 {
        let (line, last) = (&self.lines[at], track.last);
        let n_between = (at - track.at - 1).min(10) as f64;
        let mut score = self.adjacency(last.point, line.point)
            + SHARE * self.gaps[gap_class(last, line)]
            + SHARE * self.code[self.place(last.point, line.point) as usize]
            - 0.3 * n_between;
        let mut agree = 0.0;
        for value in &self.values[line.values.clone()] {
            let (same, differs) = self.names[value.name as usize];
            let (rare, is_shared) = self.texts[value.text as usize];
            match track.names.get(&value.name) {
                Some(text) if *text == value.text => {
                    agree += same.clamp(0.0, 2.0) + (0.5 * rare).clamp(0.0, 2.0)
                }
                Some(_) => score += differs.clamp(-4.0, 0.0),
                None if is_shared && track.texts.contains(&value.text) => {
                    agree += (0.8 * rare).clamp(0.0, 3.0)
                }
                None => {}
            }
        }
        score + f64::min(5.0, agree)
    }
}

/// Where a statement stands to another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CodePlace {
    /// In another class.
    Else,
    /// In another method of its class.
    Class,
    Before,
    Same,
    Later,
}

const PLACES: usize = CodePlace::Later as usize + 1;

fn gap_class(a: &Line, b: &Line) -> usize {
    GAPS.iter().position(|gap| b.ts - a.ts <= *gap).unwrap_or(GAPS.len())
}

/// What pairs of lines are like.
struct Counts {
    n: usize,
    gaps: [usize; GAPS.len() + 1],
    code: [usize; PLACES],
    /// How often values of a name agree and differ.
    names: Vec<[usize; 2]>,
}

impl Counts {
    fn new(n_names: usize) -> Self {
        let (gaps, code) = (Default::default(), Default::default());
        Self { n: 0, gaps, code, names: vec![[0, 0]; n_names] }
    }

    fn add(&mut self, tracker: &Tracker<'_>, a: &Line, b: &Line) {
        self.n += 1;
        self.gaps[gap_class(a, b)] += 1;
        self.code[tracker.place(a.point, b.point) as usize] += 1;
        for value in &tracker.values[b.values.clone()] {
            // Of several values of a name the last one counts.
            let known = tracker.values[a.values.clone()].iter().rfind(|known| known.name == value.name);
            if let Some(known) = known {
                self.names[value.name as usize][usize::from(known.text != value.text)] += 1;
            }
        }
    }
}

/// An open track.
#[derive(Debug)]
struct Open<'t> {
    first: Track,
    last: &'t Line,
    /// The index of the last line.
    at: usize,
    /// The last text of each name.
    names: FxHashMap<u32, u32>,
    texts: FxHashSet<u32>,
    /// Methods that can print all its lines.
    methods: Methods,
}

impl<'t> Open<'t> {
    fn add(&mut self, tracker: &'t Tracker<'_>, at: usize) {
        (self.last, self.at) = (&tracker.lines[at], at);
        for value in &tracker.values[self.last.values.clone()] {
            self.names.insert(value.name, value.text);
            self.texts.insert(value.text);
        }
        self.methods.retain(&tracker.points[self.last.point].methods);
    }
}
