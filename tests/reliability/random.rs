//! Bytes that are changed by a generator which gives the same in every run. `SECONDS` and `SEED`
//! choose for how long each kind is tried, and where the generator begins.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::command::{done, samples};

/// Tries of each kind unless they are to go on for a time.
const N_TRIES: u64 = 60;

/// A generator of numbers (xorshift64*), and of changed bytes.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below `n`.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % n.max(1)
    }

    /// A range of so many bytes.
    fn range(&mut self, n: usize) -> std::ops::Range<usize> {
        let start = self.below(n);
        start..start + self.below((n - start).min(64) + 1)
    }

    /// `bytes` after a few changes; `other` lends pieces.
    fn changed(&mut self, bytes: &[u8], other: &[u8]) -> Vec<u8> {
        let mut out = bytes.to_vec();
        for _ in 0..=self.below(4) {
            if out.is_empty() {
                return out;
            }
            match self.below(7) {
                0 => {
                    let at = self.below(out.len());
                    out[at] ^= 1 << self.below(8);
                }
                1 => {
                    let at = self.below(out.len());
                    out[at] = TELLING[self.below(TELLING.len())];
                }
                2 => out.truncate(self.below(out.len())),
                3 => drop(out.drain(self.range(out.len()))),
                4 => {
                    let piece = other[self.range(other.len())].to_vec();
                    let at = self.below(out.len());
                    out.splice(at..at, piece);
                }
                5 => {
                    let piece = out[self.range(out.len())].to_vec();
                    let at = self.below(out.len());
                    out.splice(at..at, piece);
                }
                _ => {
                    let piece = vec![TELLING[self.below(TELLING.len())]; self.below(300)];
                    let at = self.below(out.len());
                    out.splice(at..at, piece);
                }
            }
        }
        out
    }
}

/// Bytes that mean something somewhere.
const TELLING: &[u8] = b"\0\x01\x7f\x80\xff\n\r\t \"'\\{}[]()<>|:,;%=-+.09aZ\x1b\x1e\x1f";

/// A number that a variable of the environment gives.
pub(crate) fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Tries `try_one` on changed items of `corpus`.
pub(crate) fn fuzz(corpus: &[Vec<u8>], try_one: &mut dyn FnMut(&[u8])) {
    let first = number("SEED").unwrap_or(1);
    let time = number("SECONDS").map(Duration::from_secs);
    let start = Instant::now();
    let mut seed = first;
    while time.map_or(seed < first + N_TRIES, |time| start.elapsed() < time) {
        let mut random = Random::new(seed);
        let item = &corpus[random.below(corpus.len())];
        let other = &corpus[random.below(corpus.len())];
        let changed = random.changed(item, other);
        let tried = catch_unwind(AssertUnwindSafe(|| try_one(&changed)));
        assert!(tried.is_ok(), "seed {seed} panics on {:?}", String::from_utf8_lossy(&changed));
        seed += 1;
    }
    eprintln!("seeds {first} to {seed}");
}

/// The sample's model, in a file in `folder`.
pub(crate) fn model(folder: &Path) -> (PathBuf, schema::Model) {
    let path = folder.join("model");
    let jar = samples().join("classes/java17/store.jar").display().to_string();
    done(&["analyze", &jar, "-o", &path.display().to_string()]);
    let model = schema::Model::read(&path).expect("a model");
    (path, model)
}
