//! Random requests, for tests: forks, joins, several nodes, ties in time, spans of which no
//! row is left, and spans that nothing orders.

use super::{HandOff, Label, Paths, SkewBounds, Stretch, taken};

/// Numbers that look random and are the same in each run (splitmix64).
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    /// A number below `n`.
    pub fn below(&mut self, n: u32) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        u32::try_from((z ^ (z >> 31)) % u64::from(n.max(1))).expect("below a number of 32 bits")
    }

    /// Whether what happens once in `n` times does.
    pub fn once_in(&mut self, n: u32) -> bool {
        self.below(n) == 0
    }
}

/// A request: its spans, each handed over by one before it or by nobody.
#[derive(Clone, Debug)]
pub struct RandomRequest {
    /// How each span was reached.
    pub hand_offs: Vec<Option<HandOff>>,
    /// Node of each span, one of 0, 1 and 2.
    pub nodes: Vec<u32>,
    /// Times of the events of each span, µs.
    pub times_us: Vec<Vec<i64>>,
}

impl RandomRequest {
    /// A request of up to seven spans of up to four events.
    #[must_use]
    pub fn new(random: &mut Random) -> Self {
        let mut out = Self { hand_offs: Vec::new(), nodes: Vec::new(), times_us: Vec::new() };
        let n_spans = 1 + random.below(7);
        for span in 0..n_spans {
            let from = (span > 0 && !random.once_in(6)).then(|| random.below(span));
            let last_us = from.and_then(|from| out.times_us[from as usize].last().copied()).unwrap_or(0);
            let n_sent = from.map_or(0, |from| out.times_us[from as usize].len());
            let n_sent = u32::try_from(n_sent).expect("few events");
            let (a, b) = (random.below(n_sent + 1), random.below(n_sent + 1));
            let (is_ordered, is_awaited) = (!random.once_in(6), random.once_in(2));
            out.hand_offs.push(from.map(|from| HandOff {
                from,
                before: is_ordered.then_some(a.min(b)),
                after: is_awaited.then_some(a.max(b)),
            }));
            out.nodes.push(random.below(3));
            // Mostly later than the sender, as in a real run; ties are frequent.
            let mut us = last_us + i64::from(random.below(11)) - 3;
            let n_events = random.below(5);
            out.times_us.push((0..n_events).map(|_| (us += i64::from(random.below(3)), us).1).collect());
        }
        out
    }

    /// The labels of its spans as request `id`; whether clocks contradict each other.
    #[must_use]
    pub fn labels(&self, id: i64) -> (Vec<Label>, bool) {
        let paths = Paths::new(&self.hand_offs);
        let mut bounds = SkewBounds::default();
        bounds.add_request(&taken(&paths, &self.times_us), |span| self.nodes[span]);
        let (bounds_us, is_wrong) = bounds.among(&[0, 1, 2]);
        let label = |(path, node): (Vec<super::Hop>, &u32)| {
            let bounds_us = bounds_us[*node as usize].clone();
            Label { request: id, node: *node, path, bounds_us }
        };
        (paths.paths.into_iter().zip(&self.nodes).map(label).collect(), is_wrong)
    }

    /// All events: span, position in it.
    #[must_use]
    pub fn events(&self) -> Vec<(usize, usize)> {
        let of = |(s, times): (usize, &Vec<i64>)| (0..times.len()).map(move |e| (s, e));
        self.times_us.iter().enumerate().flat_map(of).collect()
    }

    /// The events of a span from `first` to `last`.
    #[must_use]
    pub fn stretch(&self, span: usize, first: usize, last: usize) -> Stretch {
        let number = |at: usize| u32::try_from(at).expect("few events");
        let times = &self.times_us[span];
        Stretch { first: number(first), last: number(last), start_us: times[first], end_us: times[last] }
    }
}
