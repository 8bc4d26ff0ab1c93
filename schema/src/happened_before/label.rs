//! Labels: what is known of the order of a span, in few bytes.
//!
//! ```text
//! byte      version, 2
//! number    node, by its place among the request's nodes
//! number    hops of the path, then each hop:
//!   number    span
//!   number    0: nothing known; else 1 more than `before`
//!   number    0: nobody waits; else 1 more than `after`
//! number    nodes with a bound, then each:
//!   number    node
//!   number    bound in µs, zigzag
//! ```
//! A number is base 128, lowest digit first, the high bit set but in the last digit (LEB128).
//! The label of a span is the same in all of its rows, and most requests have spans with the
//! labels of others, so that a column of them packs well: of which request it is, stands beside it.

use super::path::{HOPS_MAX, Hop};

const VERSION: u8 = 2;

/// What is known of the order of a span.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Label {
    /// The request, by a number that no other one of its table has.
    pub request: i64,
    /// Its node, by a number that the spans of the request share.
    pub node: u32,
    /// From a root of the request to the span, which is the last hop.
    pub path: Vec<Hop>,
    /// By node, sorted: how much later than its own clock that of the node can be at most,
    /// µs; negative: it is always earlier. Its own is not among them: 0.
    pub bounds_us: Vec<(u32, i64)>,
}

impl Label {
    /// How much later than its own clock that of `node` can be at most, µs; none: unknown.
    #[must_use]
    pub fn bound_us(&self, node: u32) -> Option<i64> {
        if node == self.node {
            return Some(0);
        }
        let at = self.bounds_us.binary_search_by_key(&node, |(node, _)| *node).ok()?;
        Some(self.bounds_us[at].1)
    }

    /// The span that it is of, by its number in the request.
    #[must_use]
    pub fn span(&self) -> Option<u32> {
        self.path.last().map(|hop| hop.span)
    }

    /// Its bytes.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = vec![VERSION];
        put(&mut out, u64::from(self.node));
        put(&mut out, self.path.len() as u64);
        let known = |position: Option<u32>| position.map_or(0, |p| u64::from(p) + 1);
        for hop in &self.path {
            put(&mut out, u64::from(hop.span));
            put(&mut out, known(hop.before));
            put(&mut out, known(hop.after));
        }
        put(&mut out, self.bounds_us.len() as u64);
        for &(node, us) in &self.bounds_us {
            put(&mut out, u64::from(node));
            put(&mut out, (us.cast_unsigned() << 1) ^ (us >> 63).cast_unsigned());
        }
        out
    }

    /// The label of a span of `request` that `bytes` are; none: they are none.
    #[must_use]
    pub fn decode(request: i64, bytes: &[u8]) -> Option<Self> {
        let (version, rest) = bytes.split_first()?;
        let mut rest = if *version == VERSION { rest } else { return None };
        let node = take_u32(&mut rest)?;
        let n_hops = usize::try_from(take(&mut rest)?).ok().filter(|n| (1..=HOPS_MAX).contains(n))?;
        let mut path = Vec::with_capacity(n_hops);
        for _ in 0..n_hops {
            let (span, before, after) = (take_u32(&mut rest)?, take(&mut rest)?, take(&mut rest)?);
            path.push(Hop { span, before: known(before)?, after: known(after)? });
        }
        let n_bounds = usize::try_from(take(&mut rest)?).ok().filter(|&n| n <= rest.len())?;
        let mut bounds_us = Vec::with_capacity(n_bounds);
        for _ in 0..n_bounds {
            let (node, zigzag) = (take_u32(&mut rest)?, take(&mut rest)?);
            bounds_us.push((node, (zigzag >> 1).cast_signed() ^ -(zigzag & 1).cast_signed()));
        }
        let is_sorted = bounds_us.is_sorted_by(|a, b| a.0 < b.0);
        let label = Self { request, node, path, bounds_us };
        (rest.is_empty() && is_sorted).then_some(label)
    }
}

/// A position that may be unknown.
#[allow(clippy::option_option, reason = "the outer one says that the bytes are no label")]
fn known(number: u64) -> Option<Option<u32>> {
    match number.checked_sub(1) {
        None => Some(None),
        Some(position) => Some(Some(u32::try_from(position).ok()?)),
    }
}

fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn take_u32(bytes: &mut &[u8]) -> Option<u32> {
    u32::try_from(take(bytes)?).ok()
}

fn take(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        let digit = u64::from(byte & 0x7f);
        if shift == 63 && digit > 1 {
            return None;
        }
        number |= digit << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}
