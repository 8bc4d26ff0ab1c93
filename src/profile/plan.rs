//! The plan of a group of layer 4: where each metric of tprof (§3.2 to §3.4) lies between two
//! of the times of a request. The order of starts and ends is the same in all requests of
//! the group, so what has to be subtracted from what is found out once.
//!
//! | metric | between |
//! |---|---|
//! | operation, span | start and end of the span |
//! | operation_self | the stretches of the span in which no child runs that it waits for |
//! | child_diff k | the start of the k-th child and that of the child before it, or of the span |
//! | end_diff | the end of the child that ends last and the end of the span |
//! | subspan j | a start of a child, or the end, and what happened before it (Alg. 1) |
//! | hand_over | the end of the parent and the start of a child that starts later |

use super::shape::{Moment, Shape, moments};
use crate::request::trace::{Span, Trace, Wait};

/// A time of a request: twice the place of a span for its start, one more for its end.
pub(crate) type Mark = u32;

/// From one time to another one.
pub(crate) type Stretch = (Mark, Mark);

/// A span of the group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// What it does.
    pub(crate) operation: u32,
    /// The place of its parent.
    pub(crate) parent: Option<u32>,
    /// Whether its parent waits for it.
    pub(crate) wait: Wait,
    /// What happens in its time, children as places.
    pub(crate) moments: Vec<Moment>,
    /// Stretches of its own time.
    pub(crate) own: Vec<Stretch>,
    /// Its subspans, by number.
    pub(crate) subspans: Vec<Stretch>,
    /// Its children by start, as places; those that start after its end last.
    pub(crate) children: Vec<u32>,
    /// The child that ends last of those that it waits for.
    pub(crate) last_child: Option<u32>,
    /// From the end of its parent, if it starts after that.
    pub(crate) hand_over: Option<Stretch>,
}

/// The start of the span at `place`.
pub(crate) fn start(place: u32) -> Mark {
    2 * place
}

/// The end of the span at `place`.
pub(crate) fn end(place: u32) -> Mark {
    2 * place + 1
}

/// The places of a group of which `trace` is one, parents before children.
pub(crate) fn places(trace: &Trace, shape: &Shape) -> Vec<Place> {
    let mut place_of = vec![0_u32; trace.spans.len()];
    (0..).zip(&shape.places).for_each(|(place, &at)| place_of[at as usize] = place);
    let mut places: Vec<Place> = Vec::with_capacity(shape.places.len());
    for (at, &span) in (0..).zip(&shape.places) {
        let of = &trace.spans[span as usize];
        // Of equal shape: as they stand in the shape, which is by rank.
        let mut children: Vec<u32> = trace.children(span).to_vec();
        children.sort_by_key(|&child| place_of[child as usize]);
        let spans: Vec<Span> = children.iter().map(|&child| trace.spans[child as usize]).collect();
        let children: Vec<u32> = children.iter().map(|&child| place_of[child as usize]).collect();
        let moments = moments(of.end_us, &spans, false).into_iter().map(|moment| match moment {
            Moment::Start(rank) => Moment::Start(children[rank as usize]),
            Moment::End(rank) => Moment::End(children[rank as usize]),
            Moment::Over => Moment::Over,
        });
        places.push(place(at, of, of.parent.map(|parent| place_of[parent as usize]), moments.collect()));
    }
    hand_overs(&mut places);
    let waits: Vec<Wait> = places.iter().map(|place| place.wait).collect();
    (0..).zip(&mut places).for_each(|(at, place)| place.own = own(at, &place.moments, &waits));
    places
}

fn place(at: u32, span: &Span, parent: Option<u32>, moments: Vec<Moment>) -> Place {
    let mut subspans = Vec::new();
    let mut children = Vec::new();
    let mut last_child = None;
    let mut before = start(at);
    let mut is_over = false;
    for moment in &moments {
        match *moment {
            Moment::Start(child) => {
                children.push(child);
                if !is_over {
                    subspans.push((before, start(child)));
                }
                before = start(child);
            }
            Moment::End(child) => {
                last_child = Some(child);
                before = end(child);
            }
            Moment::Over => {
                subspans.push((before, end(at)));
                is_over = true;
            }
        }
    }
    Place {
        operation: span.operation,
        parent,
        wait: span.wait,
        moments,
        own: Vec::new(),
        subspans,
        children,
        last_child,
        hand_over: None,
    }
}

fn hand_overs(places: &mut [Place]) {
    for at in 0..places.len() {
        let over = places[at].moments.iter().position(|moment| *moment == Moment::Over);
        let later: Vec<u32> = places[at].moments[over.map_or(0, |over| over + 1)..]
            .iter()
            .filter_map(|moment| if let Moment::Start(child) = moment { Some(*child) } else { None })
            .collect();
        for child in later {
            places[child as usize].hand_over = Some((end(at as u32), start(child)));
        }
    }
}

/// The stretches of the span at `at` in which no child runs that it waits for.
fn own(at: u32, moments: &[Moment], waits: &[Wait]) -> Vec<Stretch> {
    let mut stretches: Vec<Stretch> = Vec::new();
    let mut n_running = 0;
    let mut from = start(at);
    for moment in moments {
        match *moment {
            Moment::Start(child) if waits[child as usize] != Wait::Nobody => {
                if n_running == 0 {
                    stretches.push((from, start(child)));
                }
                n_running += 1;
            }
            Moment::Start(_) => {}
            Moment::End(child) => {
                n_running -= 1;
                from = end(child);
            }
            Moment::Over => {
                stretches.push((from, end(at)));
                break;
            }
        }
    }
    assert!(n_running == 0, "who is waited for ends within the time of its parent");
    stretches
}

#[cfg(test)]
mod tests {
    use super::{Place, places};
    use crate::profile::shape::shape;
    use crate::request::trace::{Span, Trace, Wait};

    /// A (0 to 100) with children (wait, start, end), each an operation of its own.
    fn of(children: &[(Wait, i64, i64)]) -> (Vec<Place>, Vec<i64>) {
        let mut spans =
            vec![Span { operation: 0, parent: None, wait: Wait::Nobody, start_us: 0, end_us: 100 }];
        spans.extend((1..).zip(children).map(|(operation, &(wait, start_us, end_us))| Span {
            operation,
            parent: Some(0),
            wait,
            start_us,
            end_us,
        }));
        let trace = Trace::new(spans).0;
        let shape = shape(&trace, 0, &[1, 2, 3, 4]);
        let spans = shape.places.iter().map(|&at| &trace.spans[at as usize]);
        (places(&trace, &shape), spans.flat_map(|span| [span.start_us, span.end_us]).collect())
    }

    fn times(stretches: &[(u32, u32)], times: &[i64]) -> Vec<(i64, i64)> {
        stretches.iter().map(|&(from, to)| (times[from as usize], times[to as usize])).collect()
    }

    #[test]
    fn subspans_of_overlapping_children_are_those_of_figure_4() {
        let (places, at) = of(&[(Wait::Within, 10, 50), (Wait::Within, 30, 80)]);
        assert_eq!(times(&places[0].subspans, &at), [(0, 10), (10, 30), (80, 100)]);
        assert_eq!(times(&places[0].own, &at), [(0, 10), (80, 100)]);
    }

    #[test]
    fn the_last_child_is_the_one_that_ends_last() {
        let (places, at) = of(&[(Wait::Within, 10, 90), (Wait::Within, 30, 40)]);
        let last = places[0].last_child.expect("it waits for two");
        assert_eq!(at[2 * last as usize + 1], 90);
        assert_eq!(times(&places[0].subspans, &at), [(0, 10), (10, 30), (90, 100)]);
    }

    #[test]
    fn what_nobody_waits_for_covers_no_time() {
        let (places, at) = of(&[(Wait::Nobody, 10, 50), (Wait::Nobody, 130, 140)]);
        assert_eq!(times(&places[0].own, &at), [(0, 100)]);
        assert_eq!(times(&places[0].subspans, &at), [(0, 10), (10, 100)]);
        let late: Vec<(u32, u32)> = places.iter().filter_map(|place| place.hand_over).collect();
        assert_eq!(times(&late, &at), [(100, 130)]);
        assert_eq!(places[0].last_child, None);
    }
}
