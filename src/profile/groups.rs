//! Requests in groups: the store that all four layers are computed from.
//!
//! A request of a group of layer 4 is nothing but the times of its spans, each at its place,
//! so a row of 16 bytes a span is all that is kept of it; layers 3, 2 and 1 are unions of
//! groups. A million requests of ten spans are 160 MB.

use std::collections::BTreeMap;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::names::Names;
use super::plan::{Place, Stretch, places};
use super::regions::{Regions, Visit, visits};
use super::shape::{Shape, shape};
use crate::request::trace::{Repairs, Trace};

/// A request as it was read.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    /// Its id.
    pub(crate) id: Box<str>,
    /// The number of the name of its type.
    pub(crate) request_type: u32,
    /// Its spans.
    pub(crate) trace: Trace,
    /// What each span printed, in the order of `trace.spans`: (µs, log point); empty: not
    /// known.
    pub(crate) printed: Vec<Vec<(i64, Option<i64>)>>,
    /// Which of two populations it is of; 0 if there is one only.
    pub(crate) population: u8,
}

/// A group of layer 4.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    /// The type of its requests, by its name's number.
    pub(crate) request_type: u32,
    /// The digest of its shape; that of its tree is its group of layer 3.
    pub(crate) order: u128,
    /// The digest of its tree.
    pub(crate) tree: u128,
    /// Its spans, parents before children.
    pub(crate) places: Vec<Place>,
    /// Its requests, by number.
    pub(crate) requests: Vec<u32>,
    /// For each of them the marks of all places, µs after its start.
    times: Vec<i64>,
}

impl Group {
    /// The marks of its requests, in the order of `requests`.
    pub(crate) fn rows(&self) -> impl Iterator<Item = &[i64]> {
        self.times.chunks_exact(2 * self.places.len().max(1))
    }
}

/// What is kept of each request beside its times.
#[derive(Clone, Debug, Default)]
pub(crate) struct Requests {
    /// Ids, one after the other.
    ids: String,
    /// Where each id ends.
    ends: Vec<usize>,
    /// From the start of the first span to the end of the last one.
    pub(crate) durations_us: Vec<i64>,
    /// µs since 1970.
    pub(crate) starts_us: Vec<i64>,
    /// The group of layer 4.
    pub(crate) groups: Vec<u32>,
    /// The population.
    pub(crate) populations: Vec<u8>,
}

impl Requests {
    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.durations_us.len()
    }

    /// The id of a request.
    pub(crate) fn id(&self, request: u32) -> &str {
        let at = request as usize;
        let from = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.ids[from..self.ends[at]]
    }
}

/// Requests in groups.
#[derive(Clone, Debug, Default)]
pub(crate) struct Groups {
    /// Names of operations and types.
    pub(crate) names: Names,
    /// All requests.
    pub(crate) requests: Requests,
    /// Groups of layer 4, in the order in which the first request of each came.
    pub(crate) groups: Vec<Group>,
    /// What had to be repaired.
    pub(crate) repairs: Repairs,
    /// Times between log points, where they are known.
    pub(crate) regions: Regions,
    numbers: FxHashMap<u128, u32>,
}

impl Groups {
    /// Adds requests; their shapes are found on all threads, the groups in their order.
    pub(crate) fn add(&mut self, requests: Vec<Request>) {
        let digests = &self.names.digests;
        let shapes: Vec<Shape> = requests
            .par_iter()
            .map(|request| shape(&request.trace, digests[request.request_type as usize], digests))
            .collect();
        let numbers: Vec<u32> =
            requests.iter().zip(&shapes).map(|(request, shape)| self.group(request, shape)).collect();
        let groups = &self.groups;
        let visits: Vec<Vec<Visit>> = requests
            .par_iter()
            .zip(&shapes)
            .zip(&numbers)
            .map(|((request, shape), &group)| visits(request, shape, &groups[group as usize].places))
            .collect();
        for (((request, shape), group), visits) in requests.into_iter().zip(shapes).zip(numbers).zip(visits) {
            self.put(&request, &shape, group, visits);
        }
    }

    fn group(&mut self, request: &Request, shape: &Shape) -> u32 {
        *self.numbers.entry(shape.order).or_insert_with(|| {
            self.groups.push(Group {
                request_type: request.request_type,
                order: shape.order,
                tree: shape.tree,
                places: places(&request.trace, shape),
                requests: Vec::new(),
                times: Vec::new(),
            });
            u32::try_from(self.groups.len() - 1).expect("fewer than 2^32 groups")
        })
    }

    fn put(&mut self, request: &Request, shape: &Shape, number: u32, visits: Vec<Visit>) {
        let at = u32::try_from(self.requests.len()).expect("fewer than 2^32 requests");
        let (start, end) = request.trace.extent();
        let group = &mut self.groups[number as usize];
        assert!(group.places.len() == shape.places.len(), "all requests of a group have the same spans");
        group.requests.push(at);
        for &span in &shape.places {
            let span = &request.trace.spans[span as usize];
            group.times.extend([span.start_us - start, span.end_us - start]);
        }
        self.regions.add(at, number, visits);
        self.requests.ids.push_str(&request.id);
        self.requests.ends.push(self.requests.ids.len());
        self.requests.durations_us.push(end - start);
        self.requests.starts_us.push(start);
        self.requests.groups.push(number);
        self.requests.populations.push(request.population);
    }

    /// Groups of layer 4 by type, types by name.
    pub(crate) fn by_type(&self) -> Vec<(u32, Vec<u32>)> {
        let mut types: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
        for (at, group) in (0..).zip(&self.groups) {
            types.entry(self.names.name(group.request_type)).or_default().push(at);
        }
        types.into_values().map(|groups| (self.groups[groups[0] as usize].request_type, groups)).collect()
    }

    /// `groups` of layer 4 by their group of layer 3, in the order of the first of each.
    pub(crate) fn by_tree(&self, groups: &[u32]) -> Vec<Vec<u32>> {
        let mut numbers: FxHashMap<u128, usize> = FxHashMap::default();
        let mut trees: Vec<Vec<u32>> = Vec::new();
        for &group in groups {
            let number = *numbers.entry(self.groups[group as usize].tree).or_insert(trees.len());
            if number == trees.len() {
                trees.push(Vec::new());
            }
            trees[number].push(group);
        }
        trees
    }

    /// The requests of some groups of layer 4.
    pub(crate) fn members<'a>(&'a self, groups: &'a [u32]) -> impl Iterator<Item = u32> + 'a {
        groups.iter().flat_map(|&group| self.groups[group as usize].requests.iter().copied())
    }
}

/// How long a stretch of a request lasts, µs.
pub(crate) fn length((from, to): Stretch, row: &[i64]) -> i64 {
    row[to as usize] - row[from as usize]
}
