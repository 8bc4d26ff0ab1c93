//! Zipkin's JSON of version 2: an array of spans. Values of tags are texts, and no span lasts
//! less than a microsecond.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::{DURATION, SCOPE, Said, View, Writer, event_name, item, object};

/// Being written.
pub(super) struct Zipkin;

impl Writer for Zipkin {
    fn begin(&self) -> &'static [u8] {
        b"["
    }

    fn end(&self) -> &'static [u8] {
        b"\n]\n"
    }

    fn request(&mut self, out: &mut dyn Write, view: &mut View<'_>, is_first: bool) -> io::Result<()> {
        let request = view.request;
        for (at, span) in request.spans().iter().enumerate() {
            let (start_us, end_us) = request.times_us(at);
            let mut attributes = view.attributes(at);
            attributes.push(("otel.scope.name".to_owned(), Said::from(SCOPE)));
            if end_us == start_us {
                attributes.push((DURATION.to_owned(), Said::Number(0)));
            }
            let links: Vec<&str> = view.links(at).map(|(id, _)| id).collect();
            if !links.is_empty() {
                attributes.push(("lprof.follows_from".to_owned(), Said::Text(links.join(","))));
            }
            let mut annotations = Vec::with_capacity(span.events.len());
            for event in &span.events {
                let read = view.logs.as_mut().and_then(|logs| logs.text(event));
                let value = read.or_else(|| view.message(event)).unwrap_or_else(|| event_name(event));
                annotations.push(json!({"timestamp": event.ts.0, "value": value}));
            }
            let mut value = json!({
                "traceId": view.trace_id(), "id": &*span.row.span_id, "name": &*span.row.top_level_method,
                "timestamp": start_us, "duration": (end_us - start_us).max(1),
                "localEndpoint": {"serviceName": &*span.row.node},
                "annotations": annotations, "tags": object(attributes, true),
            });
            if let Some((parent, waits)) = view.parent(at) {
                value["parentId"] = json!(parent);
                if !waits {
                    value["kind"] = Value::from("CONSUMER");
                }
            }
            item(out, is_first && at == 0, &value)?;
        }
        Ok(())
    }
}
