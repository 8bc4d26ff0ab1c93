//! Perfetto's protobuf: a `Trace` of packets. A process is a node; each thread of a request is a
//! track of its own, and so is a span that would not lie within what its thread did before, since
//! slices of a track nest; hand-overs are flows.
//!
//! Numbers of fields are those of `perfetto/trace/trace_packet.proto` and
//! `perfetto/trace/track_event/*.proto`.

use std::collections::BTreeMap;
use std::io::{self, Write};

use xxhash_rust::xxh3::xxh3_64;

use super::protobuf::Message;
use super::{Said, View, Writer, event_name};
use crate::request::Request;

/// The sequence of packets: there is one writer.
const SEQUENCE: u64 = 1;
/// Nothing before this packet is needed to read it, and it is whole.
const STATE_CLEARED: u64 = 1;
/// Types of track events.
const BEGIN: u64 = 1;
const END: u64 = 2;
const INSTANT: u64 = 3;

/// Being written.
#[derive(Default)]
pub(super) struct Perfetto {
    /// Numbers of nodes.
    nodes: BTreeMap<String, u64>,
}

impl Writer for Perfetto {
    fn request(&mut self, out: &mut dyn Write, view: &mut View<'_>, _is_first: bool) -> io::Result<()> {
        let request = view.request;
        let mut packets: Vec<(i64, Message)> = Vec::new();
        let (order, lanes) = lanes(request);
        let mut named = rustc_hash::FxHashSet::default();
        for at in order {
            let span = &request.spans()[at];
            let process = self.node(out, &span.row.node)?;
            let thread = span.row.thread.as_deref();
            let name = thread.unwrap_or(&span.row.top_level_method);
            let key = format!("{}\0{}\0{name}\0{}", view.trace_id(), span.row.node, lanes[at]);
            let track = xxh3_64(key.as_bytes()).max(1);
            if named.insert(track) {
                let track = Message::default().number(1, track).text(2, name).number(5, process);
                packet(out, None, 60, &track)?;
            }
            add_span(&mut packets, view, at, track);
        }
        // Of one time what begins first comes first; an end closes what was begun last.
        packets.sort_by_key(|(us, _)| *us);
        packets.iter().try_for_each(|(us, event)| packet(out, Some(*us), 11, event))
    }
}

fn add_span(packets: &mut Vec<(i64, Message)>, view: &mut View<'_>, at: usize, track: u64) {
    let request = view.request;
    let span = &request.spans()[at];
    let (start_us, end_us) = request.times_us(at);
    let mut begin = Message::default().number(9, BEGIN).number(11, track);
    begin = begin.text(22, "span").text(23, &span.row.top_level_method);
    for (name, value) in view.attributes(at).iter().map(|(name, value)| (name.as_str(), value)) {
        begin = begin.message(4, &annotation(name, value));
    }
    begin = begin.message(4, &annotation("request", &Said::from(view.trace_id())));
    let has_parent = request.parent(at).is_some();
    let n_in = usize::from(has_parent) + request.other_hand_overs(at).count();
    for number in 0..n_in {
        begin = begin.fixed(48, flow(&span.row.span_id, number));
    }
    packets.push((start_us, begin));
    for event in &span.events {
        let mut instant = Message::default().number(9, INSTANT).number(11, track);
        instant = instant.text(22, "log").text(23, &view.message(event).unwrap_or_else(|| event_name(event)));
        for (name, value) in view.event_attributes(event) {
            instant = instant.message(4, &annotation(&name, &value));
        }
        packets.push((event.ts.0.clamp(start_us, end_us), instant));
    }
    // Where a span hands over: a moment of it, from which the flow starts.
    let out =
        request.children(at).map(|child| (child, 0)).chain((0..request.spans().len()).flat_map(|child| {
            let first = usize::from(request.parent(child).is_some());
            let others = request.other_hand_overs(child).enumerate();
            others.filter(move |(_, (from, _))| *from == at).map(move |(number, _)| (child, first + number))
        }));
    for (child, number) in out {
        let to = &request.spans()[child].row;
        let instant = Message::default().number(9, INSTANT).number(11, track);
        let instant =
            instant.text(22, "hand-over").text(23, "hand-over").fixed(47, flow(&to.span_id, number));
        packets.push((request.times_us(child).0.clamp(start_us, end_us), instant));
    }
    packets.push((end_us, Message::default().number(9, END).number(11, track)));
}

impl Perfetto {
    /// The track of a node, described when it comes up first.
    fn node(&mut self, out: &mut dyn Write, node: &str) -> io::Result<u64> {
        if let Some(&track) = self.nodes.get(node) {
            return Ok(track);
        }
        let pid = self.nodes.len() as u64 + 1;
        let track = xxh3_64(node.as_bytes()).max(1);
        self.nodes.insert(node.to_owned(), track);
        let process = Message::default().number(1, pid).text(6, node);
        packet(out, None, 60, &Message::default().number(1, track).message(3, &process))?;
        Ok(track)
    }
}

/// The spans by start, the longer ones first; and for each span the number of the lane of its
/// thread in which it nests.
fn lanes(request: &Request) -> (Vec<usize>, Vec<usize>) {
    let spans = request.spans();
    let mut order: Vec<usize> = (0..spans.len()).collect();
    order.sort_by_key(|&at| {
        let (start_us, end_us) = request.times_us(at);
        (start_us, std::cmp::Reverse(end_us), at)
    });
    // Of each thread its lanes, as the ends of what is open there.
    let mut open: BTreeMap<(&str, &str), Vec<Vec<i64>>> = BTreeMap::new();
    let mut lane_of = vec![0; spans.len()];
    for &at in &order {
        let row = &spans[at].row;
        let (start_us, end_us) = request.times_us(at);
        let lanes = open.entry((&row.node, row.thread.as_deref().unwrap_or_default())).or_default();
        let fits = lanes.iter_mut().position(|lane| {
            lane.retain(|end| *end > start_us);
            lane.last().is_none_or(|end| *end >= end_us)
        });
        let lane = fits.unwrap_or_else(|| {
            lanes.push(Vec::new());
            lanes.len() - 1
        });
        lanes[lane].push(end_us);
        lane_of[at] = lane;
    }
    (order, lane_of)
}

/// The number of a hand-over to a span.
fn flow(span_id: &str, number: usize) -> u64 {
    xxh3_64(format!("{span_id}.{number}").as_bytes()).max(1)
}

fn annotation(name: &str, value: &Said) -> Message {
    let named = Message::default().text(10, name);
    match value {
        // `int_value`.
        Said::Number(number) => named.number(4, number.cast_unsigned()),
        Said::Text(text) => named.text(6, text),
    }
}

/// Writes a packet that holds `message` as `field`.
fn packet(out: &mut dyn Write, us: Option<i64>, field: u32, message: &Message) -> io::Result<()> {
    let mut packet = Message::default();
    if let Some(us) = us {
        packet = packet.number(8, u64::try_from(us).unwrap_or(0).saturating_mul(1_000));
    }
    let packet = packet.number(10, SEQUENCE).message(field, message).number(13, STATE_CLEARED);
    out.write_all(&Message::default().message(1, &packet).0)
}
