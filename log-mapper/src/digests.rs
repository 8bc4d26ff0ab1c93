//! Digests: by which the content of a log is known, whatever it is called; that of all of it and
//! those of its first bytes.

use schema::PREFIX_BYTES;
use xxhash_rust::xxh3::Xxh3;

/// The digests of what was read of a log so far.
pub(crate) struct Digests {
    hash: Xxh3,
    n_bytes: u64,
    /// Bytes of the next prefix that has a digest.
    next: u64,
    prefixes: Vec<u128>,
}

impl Digests {
    /// Of the lines of `process`, where a log holds those of several.
    pub(crate) fn new(process: Option<&str>) -> Self {
        let mut hash = Xxh3::new();
        hash.update(process.unwrap_or_default().as_bytes());
        Self { hash, n_bytes: 0, next: PREFIX_BYTES, prefixes: Vec::new() }
    }

    /// Adds what was read.
    pub(crate) fn update(&mut self, mut bytes: &[u8]) {
        while self.n_bytes + bytes.len() as u64 >= self.next {
            let (before, rest) = bytes.split_at((self.next - self.n_bytes) as usize);
            self.hash.update(before);
            self.n_bytes = self.next;
            self.prefixes.push(self.hash.digest128());
            self.next *= 2;
            bytes = rest;
        }
        self.hash.update(bytes);
        self.n_bytes += bytes.len() as u64;
    }

    /// The digest of all that was read, and those of its first bytes.
    pub(crate) fn finish(self) -> (u128, Vec<u128>) {
        (self.hash.digest128(), self.prefixes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_are_those_of_any_pieces() {
        let text: Vec<u8> = (0..1000_u32).map(|n| n as u8).collect();
        let whole = {
            let mut digests = Digests::new(None);
            digests.update(&text);
            digests.finish()
        };
        assert_eq!(whole.1.len(), 5, "of 32, 64, 128, 256 and 512 bytes");
        for size in [1, 31, 32, 33, 64, 999] {
            let mut digests = Digests::new(None);
            text.chunks(size).for_each(|piece| digests.update(piece));
            assert_eq!(digests.finish(), whole, "{size}");
        }
        let mut start = Digests::new(None);
        start.update(&text[..300]);
        assert_eq!(start.finish().1, whole.1[..4]);
    }
}
