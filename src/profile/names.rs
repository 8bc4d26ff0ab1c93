//! Names of operations and of types of requests, as small numbers and as digests.

use rustc_hash::FxHashMap;
use xxhash_rust::xxh3::xxh3_64;

/// All names that traces have.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    numbers: FxHashMap<Box<str>, u32>,
    names: Vec<Box<str>>,
    /// The digest of each name.
    pub(crate) digests: Vec<u64>,
}

impl Names {
    /// The number of `name`.
    pub(crate) fn number(&mut self, name: &str) -> u32 {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let number = u32::try_from(self.names.len()).expect("fewer than 2^32 names");
        self.numbers.insert(name.into(), number);
        self.names.push(name.into());
        self.digests.push(xxh3_64(name.as_bytes()));
        number
    }

    /// The name of a number.
    pub(crate) fn name(&self, number: u32) -> &str {
        &self.names[number as usize]
    }
}
