//! The JSON of Chrome's trace viewer: a process is a node, a thread a thread; spans without one,
//! which nothing keeps from overlapping, are asynchronous; hand-overs are flows.

use std::collections::BTreeMap;
use std::io::{self, Write};

use rustc_hash::FxHashSet;
use serde_json::{Value, json};
use xxhash_rust::xxh3::xxh3_64;

use super::{Said, View, Writer, event_name, item, object};

/// Being written.
#[derive(Default)]
pub(super) struct Chrome {
    /// Numbers of nodes.
    nodes: BTreeMap<String, u64>,
    /// Threads that were named.
    threads: FxHashSet<(u64, u64)>,
}

/// The thread of spans whose thread is not known.
const NO_THREAD: u64 = 0;

impl Writer for Chrome {
    fn begin(&self) -> &'static [u8] {
        b"{\"displayTimeUnit\": \"ms\", \"traceEvents\": ["
    }

    fn end(&self) -> &'static [u8] {
        b"\n]}\n"
    }

    fn request(&mut self, out: &mut dyn Write, view: &mut View<'_>, is_first: bool) -> io::Result<()> {
        let request = view.request;
        let mut events = Vec::new();
        let mut tracks = Vec::with_capacity(request.spans().len());
        for span in request.spans() {
            tracks.push(self.track(&mut events, &span.row.node, span.row.thread.as_deref()));
        }
        for (at, span) in request.spans().iter().enumerate() {
            let (pid, tid) = tracks[at];
            let (start_us, end_us) = request.times_us(at);
            let mut arguments = view.attributes(at);
            arguments.push(("request".to_owned(), Said::from(view.trace_id())));
            let arguments = object(arguments, false);
            let name = &*span.row.top_level_method;
            let id = format!("0x{}", span.row.span_id);
            if tid == NO_THREAD {
                events.push(json!({"ph": "b", "cat": "span", "name": name, "id": id, "pid": pid, "tid": tid, "ts": start_us, "args": arguments}));
                events.push(json!({"ph": "e", "cat": "span", "name": name, "id": id, "pid": pid, "tid": tid, "ts": end_us}));
            } else {
                events.push(json!({"ph": "X", "cat": "span", "name": name, "pid": pid, "tid": tid, "ts": start_us, "dur": end_us - start_us, "args": arguments}));
            }
            for event in &span.events {
                let arguments = object(view.event_attributes(event), false);
                events.push(json!({"ph": "i", "cat": "log", "name": view.message(event).unwrap_or_else(|| event_name(event)), "pid": pid, "tid": tid, "ts": event.ts.0, "s": "t", "args": arguments}));
            }
            let others = request.other_hand_overs(at).map(|(from, _)| from);
            for (number, from) in request.parent(at).into_iter().chain(others).enumerate() {
                let (from_pid, from_tid) = tracks[from];
                let (from_us, until_us) = request.times_us(from);
                let id = format!("{id}.{number}");
                events.push(json!({"ph": "s", "cat": "hand-over", "name": "hand-over", "id": id, "pid": from_pid, "tid": from_tid, "ts": start_us.clamp(from_us, until_us)}));
                events.push(json!({"ph": "f", "bp": "e", "cat": "hand-over", "name": "hand-over", "id": id, "pid": pid, "tid": tid, "ts": start_us}));
            }
        }
        for (number, event) in events.iter().enumerate() {
            item(out, is_first && number == 0, event)?;
        }
        Ok(())
    }
}

impl Chrome {
    /// Numbers of a node and a thread of it, named when they come up first.
    fn track(&mut self, events: &mut Vec<Value>, node: &str, thread: Option<&str>) -> (u64, u64) {
        let next = self.nodes.len() as u64 + 1;
        let pid = *self.nodes.entry(node.to_owned()).or_insert_with(|| {
            events.push(
                json!({"ph": "M", "name": "process_name", "pid": next, "tid": 0, "args": {"name": node}}),
            );
            next
        });
        let Some(thread) = thread else { return (pid, NO_THREAD) };
        // Of 31 bits, as threads of an operating system.
        let tid = (xxh3_64(thread.as_bytes()) & 0x7fff_ffff).max(1);
        if self.threads.insert((pid, tid)) {
            events.push(
                json!({"ph": "M", "name": "thread_name", "pid": pid, "tid": tid, "args": {"name": thread}}),
            );
        }
        (pid, tid)
    }
}
