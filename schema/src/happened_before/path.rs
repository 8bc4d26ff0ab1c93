//! Paths: the spans that a request came along to each of its spans.

/// Longest path, hops. Requests of real systems are a few spans deep; without a bound,
/// spans in one long row would need labels of a size that is the square of the request's.
pub const HOPS_MAX: usize = 1024;

/// A span on the way, and where in its sender's span it lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    /// Number of the span in its request.
    pub span: u32,
    /// So many of its sender's events, the first ones, precede everything of it; none:
    /// nothing is known, not even that the sender has begun before it.
    pub before: Option<u32>,
    /// Position of the sender's first event that everything of it precedes; that after the
    /// last one: it is done before the sender is. None: nobody waits for it.
    pub after: Option<u32>,
}

/// How a span was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HandOff {
    /// Number of the sender's span.
    pub from: u32,
    /// See [`Hop::before`].
    pub before: Option<u32>,
    /// See [`Hop::after`].
    pub after: Option<u32>,
}

/// The paths of the spans of one request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Paths {
    /// By number of the span: from a root to the span itself, which is the last hop.
    pub paths: Vec<Vec<Hop>>,
    /// Spans whose path was cut: too long, or they only lead to each other.
    pub n_cut: usize,
}

impl Paths {
    /// The paths of spans that were reached by `hand_offs`; none: a root. Of spans that
    /// only lead to each other the one with the lowest number becomes a root.
    #[must_use]
    pub fn new(hand_offs: &[Option<HandOff>]) -> Self {
        let mut out = Self { paths: vec![Vec::new(); hand_offs.len()], n_cut: 0 };
        for span in 0..hand_offs.len() {
            out.add(hand_offs, span);
        }
        out
    }

    fn add(&mut self, hand_offs: &[Option<HandOff>], span: usize) {
        let mut row = Vec::new();
        let mut at = Some(span);
        while let Some(span) = at.filter(|&span| self.paths[span].is_empty()) {
            if let Some(first) = row.iter().position(|&other| other == span) {
                self.begin_round(&mut row, first);
                break;
            }
            row.push(span);
            let sender = hand_offs[span].map(|hand_off| hand_off.from as usize);
            at = sender.filter(|&from| from < hand_offs.len() && from != span);
        }
        for span in row.into_iter().rev() {
            let hand_off = hand_offs[span].filter(|hand_off| (hand_off.from as usize) < hand_offs.len());
            let above = hand_off.map_or(&[][..], |hand_off| &self.paths[hand_off.from as usize]);
            let number = u32::try_from(span).expect("a request has fewer than 2^32 spans");
            let path = if above.is_empty() || above.len() >= HOPS_MAX {
                self.n_cut += usize::from(above.len() >= HOPS_MAX);
                vec![Hop { span: number, before: None, after: None }]
            } else {
                let (before, after) = hand_off.map_or((None, None), |h| (h.before, h.after));
                above.iter().copied().chain([Hop { span: number, before, after }]).collect()
            };
            self.paths[span] = path;
        }
    }

    /// Makes the lowest of the spans from `first` on, which lead to each other, a root: the
    /// others are behind it, in the order in which the request came.
    fn begin_round(&mut self, row: &mut [usize], first: usize) {
        let round = &mut row[first..];
        let lowest = round.iter().enumerate().min_by_key(|(_, span)| **span).map_or(0, |(at, _)| at);
        round.rotate_left(lowest + 1);
        self.n_cut += 1;
    }
}
