//! Two releases of a program: which log points and methods of the first one are those of the second.
//!
//! A release moves lines, renumbers lambdas and nested classes, rewords messages and renames methods,
//! so that nothing but what all of them keep tells that a statement is the same one. What says most is
//! asked first, and what is found is not asked again:
//!
//! | pass | two log points are the same if |
//! |---|---|
//! | 1 | class, method and templates are equal, numbers of the compiler left out; several: in source order |
//! | 2 | templates are equal, and no other log point of either release prints them |
//! | 3 | they stand in one method, which may have moved with its others, and more than half of their words are the same |
//!
//! A top-level method is the one of the same name, or, if there is none or the compiler has numbered it, the
//! one that prints more than half of the same log points.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::Result;
use reducer::table::Manifest;
use rustc_hash::{FxHashMap, FxHashSet};
use schema::tables::{LogPointRow, TopLevelMethodRow};

use crate::templates::text_of;

/// What a release prints, and from where.
#[derive(Clone, Debug, Default)]
pub(crate) struct Release {
    /// Its log points, by number.
    pub(crate) points: Vec<LogPointRow>,
    /// Its top-level methods; several of one name are one.
    pub(crate) methods: Vec<TopLevelMethodRow>,
}

impl Release {
    /// That of a table; of one that was made with several, what any of them has.
    ///
    /// # Errors
    /// If a file of the table cannot be read.
    pub(crate) fn read(manifest: &Manifest) -> Result<Self> {
        let mut points = manifest.rows::<LogPointRow>()?;
        points.sort_by_key(|row| row.log_point_id);
        Ok(Self { points, methods: manifest.rows()? })
    }
}

/// What says that two log points are the same statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum How {
    /// Place and templates.
    Same,
    /// Templates that nothing else prints: it stands in another method now.
    Moved,
    /// The place, and most of its words.
    Reworded,
}

/// The first release in the words of the second one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Translation {
    /// For the number of each log point of the first release the one of the second, or if that has none, one
    /// that it does not use.
    points: FxHashMap<i64, i64>,
    /// Top-level methods that have another name now.
    names: BTreeMap<Box<str>, Box<str>>,
    /// Log points by what says that they are the same.
    counts: BTreeMap<How, usize>,
    /// Log points of the second release that the first one has too.
    shared: FxHashSet<i64>,
    /// Log points that only the first one has, and only the second one.
    alone: (usize, usize),
}

impl Translation {
    /// That of the release of a table into the words of that of another one.
    ///
    /// # Errors
    /// If a file of the tables cannot be read.
    pub(crate) fn of_tables(first: &Manifest, second: &Manifest) -> Result<Self> {
        Ok(Self::new(&Release::read(first)?, &Release::read(second)?))
    }

    /// That of `first` into the words of `second`.
    pub(crate) fn new(first: &Release, second: &Release) -> Self {
        let mut pairing = Pairing::new(&first.points, &second.points);
        pairing.pair(How::Same, false, |row| Some((place(row), templates(row))));
        pairing.pair(How::Moved, true, |row| has_words(row).then(|| templates(row)));
        pairing.reworded();
        let mut counts: BTreeMap<How, usize> = BTreeMap::new();
        pairing.found.iter().flatten().for_each(|(_, how)| *counts.entry(*how).or_default() += 1);
        let n_found: usize = counts.values().sum();
        let unused = second.points.iter().map(|row| row.log_point_id).max().unwrap_or_default() + 1;
        let number = |(row, found): (&LogPointRow, &Option<(usize, How)>)| {
            let number = match found {
                Some((at, _)) => second.points[*at].log_point_id,
                None => unused + row.log_point_id,
            };
            (row.log_point_id, number)
        };
        let points: FxHashMap<i64, i64> = first.points.iter().zip(&pairing.found).map(number).collect();
        let names = names(first, second, &points);
        let shared = pairing.found.iter().flatten().map(|(at, _)| second.points[*at].log_point_id).collect();
        let alone = (first.points.len() - n_found, second.points.len() - n_found);
        Self { points, names, counts, shared, alone }
    }

    /// The number of a log point of the first release.
    pub(crate) fn point(&self, number: i64) -> i64 {
        self.points.get(&number).copied().unwrap_or(number)
    }

    /// Whether both releases have a log point of the second one.
    pub(crate) fn is_shared(&self, number: i64) -> bool {
        self.shared.contains(&number)
    }

    /// The name of a top-level method of the first release.
    pub(crate) fn name<'a>(&'a self, name: &'a str) -> &'a str {
        self.names.get(name).map_or(name, |name| name)
    }

    /// Names of top-level methods that are others now, by the old one: (old, new).
    pub(crate) fn renamed(&self) -> impl Iterator<Item = (&str, &str)> {
        self.names.iter().map(|(old, new)| (&**old, &**new))
    }

    /// Log points that are the same for a reason.
    pub(crate) fn n(&self, how: How) -> usize {
        self.counts.get(&how).copied().unwrap_or_default()
    }

    /// Log points that only the first release has, and only the second one.
    pub(crate) fn n_alone(&self) -> (usize, usize) {
        self.alone
    }
}

/// Class, method, and of a logging wrapper its caller.
type Place = (String, String, String);

/// Where a log point is printed from, without what a compiler has numbered: of one in a logging
/// wrapper the caller too.
fn place(row: &LogPointRow) -> Place {
    let caller = row.call_site.as_deref().and_then(|site| site.rsplit_once(':')).map(|(caller, _)| caller);
    (unnumbered(&row.class), unnumbered(&row.method), unnumbered(caller.unwrap_or_default()))
}

/// The name with `$#` for each number that a compiler gives to lambdas, nested classes and accessors.
fn unnumbered(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for (at, part) in name.split('$').enumerate() {
        let end = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
        if at > 0 {
            out.push('$');
        }
        match (at, end) {
            (0, _) | (_, 0) => out.push_str(part),
            (_, end) => {
                out.push('#');
                out.push_str(&part[end..]);
            }
        }
    }
    out
}

fn templates(row: &LogPointRow) -> Vec<String> {
    let mut all: Vec<String> = row.templates.iter().map(|template| template.regex.to_string()).collect();
    all.sort_unstable();
    all
}

/// Whether a log point prints letters of its own: what has none is like any other one of these.
fn has_words(row: &LogPointRow) -> bool {
    !words(row).is_empty()
}

/// The constant words of all messages of a log point.
fn words(row: &LogPointRow) -> BTreeSet<String> {
    let texts = row.templates.iter().map(|template| text_of(&template.regex));
    let split = |text: String| -> Vec<String> {
        let words = text.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty());
        words.map(str::to_lowercase).collect()
    };
    texts.flat_map(split).collect()
}

/// The share of two sets that both have.
fn in_common<T: Ord>(a: &BTreeSet<T>, b: &BTreeSet<T>) -> f64 {
    let both = a.intersection(b).count();
    both as f64 / (a.len() + b.len() - both).max(1) as f64
}

/// Log points of two releases, and what was found of the first so far.
struct Pairing<'a> {
    first: &'a [LogPointRow],
    second: &'a [LogPointRow],
    found: Vec<Option<(usize, How)>>,
    is_taken: Vec<bool>,
}

impl<'a> Pairing<'a> {
    fn new(first: &'a [LogPointRow], second: &'a [LogPointRow]) -> Self {
        Self { first, second, found: vec![None; first.len()], is_taken: vec![false; second.len()] }
    }

    fn take(&mut self, (one, other): (usize, usize), how: How) {
        self.found[one] = Some((other, how));
        self.is_taken[other] = true;
    }

    /// Pairs what is left over and has an equal key, in source order; if it `is_unique` only what no other
    /// log point of its release, found or not, has the key of.
    fn pair<K: Ord>(&mut self, how: How, is_unique: bool, key: impl Fn(&LogPointRow) -> Option<K>) {
        let by_key = |rows: &[LogPointRow]| {
            let mut all: BTreeMap<K, Vec<usize>> = BTreeMap::new();
            for (at, row) in rows.iter().enumerate() {
                if let Some(key) = key(row) {
                    all.entry(key).or_default().push(at);
                }
            }
            for of_key in all.values_mut() {
                of_key.sort_by_key(|&at| (&rows[at].class, &rows[at].method, rows[at].source_line, at));
            }
            all
        };
        let (first, mut second) = (by_key(self.first), by_key(self.second));
        for (key, mut ones) in first {
            let Some(mut others) = second.remove(&key) else { continue };
            if is_unique && (ones.len() > 1 || others.len() > 1) {
                continue;
            }
            ones.retain(|&at| self.found[at].is_none());
            others.retain(|&at| !self.is_taken[at]);
            ones.into_iter().zip(others).for_each(|pair| self.take(pair, how));
        }
    }

    /// For each method, and for each class, of the first release where most of it was found in the second one.
    fn homes(&self) -> BTreeMap<Place, Place> {
        let mut counts: BTreeMap<Place, BTreeMap<Place, usize>> = BTreeMap::new();
        for (row, found) in self.first.iter().zip(&self.found) {
            let Some((at, _)) = found else { continue };
            let (from, to) = (place(row), place(&self.second[*at]));
            let class = |of: &Place| (of.0.clone(), String::new(), String::new());
            *counts.entry(class(&from)).or_default().entry(class(&to)).or_default() += 1;
            *counts.entry(from).or_default().entry(to).or_default() += 1;
        }
        most_common(counts)
    }

    /// Pairs what is left over in one method, the most alike first.
    fn reworded(&mut self) {
        let homes = self.homes();
        let mut left: BTreeMap<Place, (Vec<usize>, Vec<usize>)> = BTreeMap::new();
        for (at, row) in self.first.iter().enumerate().filter(|(at, _)| self.found[*at].is_none()) {
            let (class, method, caller) = place(row);
            // Where most of its method went, else where most of its class did.
            let of_method = homes.get(&(class.clone(), method.clone(), caller.clone())).cloned();
            let of_class = || {
                let (class, ..) = homes.get(&(class.clone(), String::new(), String::new()))?.clone();
                Some((class, method.clone(), caller.clone()))
            };
            let home = of_method.or_else(of_class).unwrap_or((class, method, caller));
            left.entry(home).or_default().0.push(at);
        }
        for (at, row) in self.second.iter().enumerate().filter(|(at, _)| !self.is_taken[*at]) {
            left.entry(place(row)).or_default().1.push(at);
        }
        for (ones, others) in left.into_values() {
            let mut alike: Vec<(f64, usize, usize)> = Vec::new();
            for &one in &ones {
                let words_of_one = words(&self.first[one]);
                for &other in &others {
                    let share = in_common(&words_of_one, &words(&self.second[other]));
                    if share > 0.5 {
                        alike.push((share, one, other));
                    }
                }
            }
            alike.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
            for (_, one, other) in alike {
                if self.found[one].is_none() && !self.is_taken[other] {
                    self.take((one, other), How::Reworded);
                }
            }
        }
    }
}

/// Where most log points of each method, and of each class, of the first release are in the second one.
fn most_common(counts: BTreeMap<Place, BTreeMap<Place, usize>>) -> BTreeMap<Place, Place> {
    let most = |places: BTreeMap<Place, usize>| {
        let ranked = places.into_iter().max_by_key(|(place, n)| (*n, std::cmp::Reverse(place.clone())));
        ranked.map(|(place, _)| place)
    };
    counts.into_iter().filter_map(|(from, places)| Some((from, most(places)?))).collect()
}

/// Log points by name of the top-level method that prints them.
fn printed(release: &Release, number: &dyn Fn(i64) -> i64) -> BTreeMap<Box<str>, BTreeSet<i64>> {
    let mut all: BTreeMap<Box<str>, BTreeSet<i64>> = BTreeMap::new();
    for row in &release.methods {
        let points = row.log_points.iter().map(|&point| number(point));
        all.entry((*row.top_level_method).into()).or_default().extend(points);
    }
    all
}

/// Top-level methods whose name is another one in the second release.
fn names(first: &Release, second: &Release, points: &FxHashMap<i64, i64>) -> BTreeMap<Box<str>, Box<str>> {
    let mut ones = printed(first, &|point| points.get(&point).copied().unwrap_or(point));
    let mut others = printed(second, &|point| point);
    // A number tells nothing of the method that has it.
    let is_named = |name: &str| unnumbered(name) == name;
    let both: Vec<Box<str>> =
        ones.keys().filter(|name| is_named(name) && others.contains_key(*name)).cloned().collect();
    for name in both {
        ones.remove(&name);
        others.remove(&name);
    }
    let mut printers: BTreeMap<i64, Vec<&str>> = BTreeMap::new();
    for (other, printed) in &others {
        printed.iter().for_each(|&point| printers.entry(point).or_default().push(other));
    }
    let mut alike: Vec<(f64, &str, &str)> = Vec::new();
    for (one, printed) in &ones {
        let candidates: BTreeSet<&str> =
            printed.iter().filter_map(|point| printers.get(point)).flatten().copied().collect();
        for other in candidates {
            let share = in_common(printed, &others[other]);
            if share > 0.5 {
                alike.push((share, one, other));
            }
        }
    }
    // Of equally good ones the one of the same name, numbers left out.
    let rank = |(share, one, other): &(f64, &str, &str)| (-share, unnumbered(one) != unnumbered(other));
    alike.sort_by(|a, b| {
        rank(a).partial_cmp(&rank(b)).expect("shares are numbers").then((a.1, a.2).cmp(&(b.1, b.2)))
    });
    let mut found: BTreeMap<Box<str>, Box<str>> = BTreeMap::new();
    let mut taken: BTreeSet<&str> = BTreeSet::new();
    for (_, one, other) in alike {
        if !found.contains_key(one) && taken.insert(other) {
            found.insert(one.into(), other.into());
        }
    }
    // A name that is another method's now must not be taken for it.
    for one in ones.keys().filter(|one| taken.contains(&***one)) {
        found.entry(one.clone()).or_insert_with(|| format!("{one} (first)").into());
    }
    found.retain(|one, other| one != other);
    found
}

#[cfg(test)]
mod tests;
