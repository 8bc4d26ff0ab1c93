//! Messages of protobuf, as bytes: fields by number, in the order in which they are added.

/// A message.
#[derive(Clone, Debug, Default)]
pub(super) struct Message(pub(super) Vec<u8>);

impl Message {
    /// A whole number, `uint32`, `uint64` or an enumeration.
    pub(super) fn number(mut self, field: u32, value: u64) -> Self {
        self.key(field, 0);
        self.varint(value);
        self
    }

    /// A number of eight bytes.
    pub(super) fn fixed(mut self, field: u32, value: u64) -> Self {
        self.key(field, 1);
        self.0.extend(value.to_le_bytes());
        self
    }

    /// Bytes.
    pub(super) fn bytes(mut self, field: u32, value: &[u8]) -> Self {
        self.key(field, 2);
        self.varint(value.len() as u64);
        self.0.extend(value);
        self
    }

    /// A text.
    pub(super) fn text(self, field: u32, value: &str) -> Self {
        self.bytes(field, value.as_bytes())
    }

    /// A message within this one.
    pub(super) fn message(self, field: u32, value: &Message) -> Self {
        self.bytes(field, &value.0)
    }

    fn key(&mut self, field: u32, kind: u64) {
        self.varint(u64::from(field) << 3 | kind);
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::Message;

    /// The examples of the documentation of the encoding.
    #[test]
    fn numbers_and_texts() {
        assert_eq!(Message::default().number(1, 150).0, [0x08, 0x96, 0x01]);
        assert_eq!(Message::default().text(2, "testing").0, b"\x12\x07testing");
        let inner = Message::default().number(1, 150);
        assert_eq!(Message::default().message(3, &inner).0, [0x1a, 0x03, 0x08, 0x96, 0x01]);
        assert_eq!(Message::default().fixed(1, 1).0, [0x09, 1, 0, 0, 0, 0, 0, 0, 0]);
    }
}
