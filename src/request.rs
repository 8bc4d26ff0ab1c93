//! A request: its spans as a tree, what each printed, who handed over to whom, and its critical
//! path. Built here, once, for all who show, profile or export it.

mod logs;
mod message;
pub(crate) mod trace;

use rustc_hash::FxHashMap;
use schema::tables::{EventRow, HandOver, RequestRow, SpanRow, SpanTiming};

pub use logs::Logs;
#[cfg(feature = "serve")]
pub(crate) use logs::Packed;
pub(crate) use logs::Said;
pub(crate) use message::Messages;
pub use trace::Wait;
use trace::{Repairs, Trace, resolve};

/// A request with its spans and events.
#[derive(Clone, Debug)]
pub struct Request {
    row: RequestRow,
    spans: Vec<Span>,
    trace: Trace,
}

/// A span of a request.
#[derive(Clone, Debug)]
pub struct Span {
    /// Its row, with times as the logs say.
    pub row: SpanRow,
    /// What it printed, in its order.
    pub events: Vec<EventRow>,
}

impl Request {
    /// Puts rows of one request together. Spans come in the order of `spans`; of two with one id
    /// the first one.
    pub(crate) fn new(row: RequestRow, spans: Vec<SpanRow>, events: Vec<EventRow>) -> Self {
        let (kept, trace, _) = forest(&spans, |_| 0);
        let mut of_spans: Vec<Span> = Vec::with_capacity(kept.len());
        let mut kept = kept.into_iter().peekable();
        for (at, row) in spans.into_iter().enumerate() {
            if kept.next_if_eq(&at).is_some() {
                of_spans.push(Span { row, events: Vec::new() });
            }
        }
        let places = {
            let ids: Vec<&str> = of_spans.iter().map(|span| &*span.row.span_id).collect();
            places_of(&ids, events.iter().map(|event| event.span_id.as_deref()))
        };
        for (event, place) in events.into_iter().zip(places) {
            if let Some(place) = place {
                of_spans[place].events.push(event);
            }
        }
        Self { row, spans: of_spans, trace }
    }

    /// What it is as a whole.
    #[must_use]
    pub fn row(&self) -> &RequestRow {
        &self.row
    }

    /// Its spans, which are named by their positions here; none if the table keeps none.
    #[must_use]
    pub fn spans(&self) -> &[Span] {
        &self.spans
    }

    /// Spans that nobody handed over to. Of spans that only lead to each other it is one.
    pub fn roots(&self) -> impl Iterator<Item = usize> {
        self.trace.roots.iter().map(|&at| at as usize)
    }

    /// The span that handed over to `span`.
    #[must_use]
    pub fn parent(&self, span: usize) -> Option<usize> {
        self.trace.spans[span].parent.map(|parent| parent as usize)
    }

    /// The spans that `span` handed over to.
    pub fn children(&self, span: usize) -> impl Iterator<Item = usize> {
        self.trace.children(span as u32).iter().map(|&at| at as usize)
    }

    /// Whether the one who handed over to `span` waits for it.
    #[must_use]
    pub fn wait(&self, span: usize) -> Wait {
        self.trace.spans[span].wait
    }

    /// When `span` starts and ends, µs since 1970, as the tree has it: a span for which somebody
    /// waits lies in the time of that one.
    #[must_use]
    pub fn times_us(&self, span: usize) -> (i64, i64) {
        (self.trace.spans[span].start_us, self.trace.spans[span].end_us)
    }

    /// The hand-overs to `span` besides that of its parent, each with the sender.
    pub fn other_hand_overs(&self, span: usize) -> impl Iterator<Item = (usize, &HandOver)> {
        let parent = self.parent(span);
        let all = self.spans[span].row.hand_overs.iter().flatten();
        let sender = |of: &HandOver| self.spans.iter().position(|other| other.row.span_id == of.span_id);
        all.filter_map(move |of| Some((sender(of)?, of))).filter(move |(from, _)| Some(*from) != parent)
    }

    /// Its tree without rows.
    pub(crate) fn trace(&self) -> &Trace {
        &self.trace
    }
}

/// What a row of `spans` has to say for a tree.
pub(crate) trait SpanFacts {
    /// Its id, and that of who handed over to it.
    fn ids(&self) -> (&str, Option<&str>);
    /// What it does.
    fn operation(&self) -> &str;
    /// Start and end, µs.
    fn times_us(&self) -> (i64, i64);
    /// How many events it has.
    fn n_events(&self) -> i64;
    /// As the column of this name.
    fn parent_after(&self) -> Option<i64>;
}

macro_rules! span_facts {
    ($($row:ty),*) => {
        $(impl SpanFacts for $row {
            fn ids(&self) -> (&str, Option<&str>) {
                (&self.span_id, self.parent_span_id.as_deref())
            }

            fn operation(&self) -> &str {
                &self.top_level_method
            }

            fn times_us(&self) -> (i64, i64) {
                (self.start_ts.0, self.end_ts.0)
            }

            fn n_events(&self) -> i64 {
                self.n_events
            }

            fn parent_after(&self) -> Option<i64> {
                self.parent_after
            }
        })*
    };
}

span_facts!(SpanRow, SpanTiming);

/// The tree of `rows`, the spans of one request, each called by a number for its operation; and
/// which rows are in it, since of two with one id only the first one is.
pub(crate) fn forest<R: SpanFacts>(
    rows: &[R],
    mut number: impl FnMut(&str) -> u32,
) -> (Vec<usize>, Trace, Repairs) {
    let mut repairs = Repairs::default();
    let parents = resolve(rows.iter().map(R::ids), &mut repairs);
    let (kept, parents): (Vec<usize>, Vec<Option<u32>>) =
        parents.into_iter().enumerate().filter_map(|(at, parent)| Some((at, parent?))).unzip();
    let span = |(&at, &parent): (&usize, &Option<u32>)| {
        let row = &rows[at];
        let (start_us, end_us) = row.times_us();
        trace::Span {
            operation: number(row.operation()),
            parent,
            wait: wait(row, parent.map(|parent| &rows[kept[parent as usize]])),
            start_us,
            end_us,
        }
    };
    let (trace, repaired) = Trace::new(kept.iter().zip(&parents).map(span).collect());
    repairs.add(repaired);
    (kept, trace, repairs)
}

/// What the order of the request's events says: who prints something that must come after it
/// goes on then; who is known to wait and prints nothing more ends with it.
fn wait<R: SpanFacts>(row: &R, parent: Option<&R>) -> Wait {
    match (row.parent_after(), parent) {
        (Some(after), Some(parent)) if after < parent.n_events() => Wait::Within,
        (Some(_), Some(_)) => Wait::UntilEnd,
        _ => Wait::Nobody,
    }
}

/// Which of the spans `ids` each event is of: events come in runs, mostly in the order of spans.
pub(crate) fn places_of<'i>(
    ids: &[&'i str],
    of_events: impl Iterator<Item = Option<&'i str>>,
) -> Vec<Option<usize>> {
    let mut at = 0;
    let mut numbers: FxHashMap<&str, usize> = FxHashMap::default();
    let place = |id: Option<&'i str>| {
        let id = id?;
        if let Some(place) = [at, at + 1].into_iter().find(|place| ids.get(*place) == Some(&id)) {
            at = place;
            return Some(place);
        }
        if numbers.is_empty() {
            ids.iter().enumerate().for_each(|(place, id)| {
                numbers.entry(id).or_insert(place);
            });
        }
        let place = numbers.get(id).copied()?;
        at = place;
        Some(place)
    };
    of_events.map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::{Request, Wait, places_of};
    use schema::tables::{EventRow, HandOver, RequestRow, SpanRow, Text, Time};

    fn span(id: &str, parent: Option<&str>, times: (i64, i64), after: Option<i64>) -> SpanRow {
        SpanRow {
            span_id: id.into(),
            parent_span_id: parent.map(Text::from),
            start_ts: Time(times.0),
            end_ts: Time(times.1),
            n_events: 2,
            parent_after: after,
            ..SpanRow::default()
        }
    }

    fn event(span: Option<&str>, seq: i64) -> EventRow {
        EventRow { span_id: span.map(Text::from), seq, ..EventRow::default() }
    }

    #[test]
    fn spans_hang_together_and_have_their_events() {
        let mut joined = span("c", Some("b"), (30, 40), Some(2));
        let over = |id: &str| HandOver { span_id: id.into(), ..HandOver::default() };
        joined.hand_overs = Some(vec![over("b"), over("a"), over("gone")]);
        let spans = vec![span("a", None, (0, 100), None), span("b", Some("a"), (20, 50), Some(1)), joined];
        let events = [("a", 0), ("c", 0), ("b", 0), ("a", 1), ("gone", 0)];
        let events = events.iter().map(|&(id, seq)| event(Some(id), seq)).chain([event(None, 0)]);
        let request = Request::new(RequestRow::default(), spans, events.collect());
        assert_eq!(request.roots().collect::<Vec<_>>(), [0]);
        assert_eq!((request.parent(2), request.children(0).collect::<Vec<_>>()), (Some(1), vec![1]));
        assert_eq!([0, 1, 2].map(|at| request.wait(at)), [Wait::Nobody, Wait::Within, Wait::UntilEnd]);
        let counts: Vec<usize> = request.spans().iter().map(|span| span.events.len()).collect();
        assert_eq!(counts, [2, 1, 1]);
        assert_eq!(request.other_hand_overs(2).map(|(from, _)| from).collect::<Vec<_>>(), [0]);
        let path: Vec<(usize, i64, i64)> =
            request.critical_path().iter().map(|part| (part.span, part.from_us, part.to_us)).collect();
        // Back from the end: after b, in it c until 40 and itself, before b.
        assert_eq!(path, [(0, 50, 100), (1, 40, 50), (2, 30, 40), (1, 20, 30), (0, 0, 20)]);
    }

    #[test]
    fn events_in_any_order_find_their_spans() {
        let ids = ["a", "b", "c"];
        let events = ["a", "a", "c", "b", "x", "a"].map(Some);
        let found = places_of(&ids, events.into_iter().chain([None]));
        assert_eq!(found, [Some(0), Some(0), Some(2), Some(1), None, Some(0), None]);
    }
}
