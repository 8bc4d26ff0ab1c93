//! Texts that go over connections as their bytes: turned into bytes where they are written, and
//! made of bytes where they are read.
//!
//! Under-approximates: both within the method that writes or reads.

use super::apis::{self, Role};
use super::facts::{Channel, Fact};
use super::wires::{Wires, constructed};
use crate::ir::{Body, Op, ValueId};
use crate::program::MethodId;

impl Wires<'_, '_> {
    /// Texts that a method writes to connections as bytes, or reads from them.
    pub(super) fn texts(&self, method: MethodId, body: &Body) -> Vec<Fact> {
        let of = |(site, inst): (ValueId, &crate::ir::Inst)| match &inst.op {
            Op::Invoke { .. } => {
                let text = self.written(method, body, site)?;
                Some(Fact::new(Channel::Line, Role::Send, site, Some(text)))
            }
            Op::New(class) if class.as_str() == "java/lang/String" => {
                let bytes = constructed(body, site).first().copied()?;
                let is_read = self.is_read(method, body, bytes);
                is_read.then(|| Fact::new(Channel::Line, Role::Receive, site, Some(site)))
            }
            _ => None,
        };
        body.iter().filter_map(of).collect()
    }

    /// The text whose bytes a call writes to a connection.
    fn written(&self, method: MethodId, body: &Body, site: ValueId) -> Option<ValueId> {
        let Op::Invoke { method: called, args, .. } = body.op(site) else { return None };
        let &[stream, bytes, ..] = &args[..] else { return None };
        if apis::writes_bytes(called) {
            return text_of(body, bytes).filter(|_| self.is_wire(method, stream));
        }
        if apis::datagram_call(called) == Some(Role::Send) {
            return text_of(body, constructed(body, body.uncast(bytes)).first().copied()?);
        }
        let moves = apis::moves_buffer(&called.class, &called.name) && called.name != "read";
        text_of(body, bytes).filter(|_| moves)
    }

    /// Whether bytes were read from a connection.
    fn is_read(&self, method: MethodId, body: &Body, bytes: ValueId) -> bool {
        let bytes = body.uncast(bytes);
        if let Op::Invoke { method: called, args, .. } = body.op(bytes) {
            let Some(&of) = args.first() else { return false };
            return match (called.class.as_str(), called.name.as_str()) {
                (apis::DATAGRAM, "getData") => true,
                ("java/nio/ByteBuffer", "array") => self.is_buffer_of_wire(method, of),
                _ => apis::reads_bytes(called) && self.is_wire(method, of),
            };
        }
        body.iter().any(|(_, inst)| match &inst.op {
            Op::Invoke { method: called, args, .. } if args.len() > 1 && body.uncast(args[1]) == bytes => {
                let is_packet = called.class.as_str() == apis::DATAGRAM;
                is_packet || apis::fills_bytes(called) && self.is_wire(method, args[0])
            }
            _ => false,
        })
    }
}

/// The text whose bytes a value is, or a buffer around them.
fn text_of(body: &Body, bytes: ValueId) -> Option<ValueId> {
    let Op::Invoke { method, args, .. } = body.op(body.uncast(bytes)) else { return None };
    match (method.class.as_str(), method.name.as_str()) {
        ("java/lang/String", "getBytes") => args.first().copied(),
        ("java/nio/charset/Charset", "encode") if method.descriptor.contains("String;)") => {
            args.get(1).copied()
        }
        ("java/nio/ByteBuffer", "wrap") => text_of(body, *args.first()?),
        _ => None,
    }
}
