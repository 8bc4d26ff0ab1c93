//! Feeds damaged class files to the loader: `mutate COUNT SEED JAR...` changes
//! bytes of the classes of the jars at random and lifts the result, COUNT
//! times. It must neither crash nor hang; panics that were caught are counted.
#![allow(clippy::print_stdout, reason = "it is a command")]

use std::io::Read;
use std::time::{Duration, Instant};

use static_analyzer::program::load_classes;

/// Xorshift: enough to scatter damage, and the same everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % n as u64).expect("below a usize")
    }
}

fn damage(random: &mut Random, class: &mut Vec<u8>) {
    // The constant pool comes first and most damage to it ends the reading:
    // half of the classes are damaged only behind it, roughly.
    let start = random.below(2) * class.len() / 2;
    for _ in 0..=random.below(4) {
        let at = start + random.below(class.len() - start);
        match random.below(32) {
            0 => {
                class.truncate(at.max(10));
                return;
            }
            1 => class[at] = 0xff,
            2..=9 => class[at] = [0xaa, 0xab, 0xc4, 0xa8, 0xa9, 0xba][random.below(6)],
            10..=17 => class[at] ^= 1 << random.below(8),
            18..=20 => {
                let from = random.below(class.len());
                let n = random.below(16).min(class.len() - at.max(from));
                class.copy_within(from..from + n, at);
            }
            _ => class[at] = random.below(256) as u8,
        }
    }
}

fn main() {
    let mut args = std::env::args().skip(1);
    let mut number = || args.next().and_then(|a| a.parse::<u64>().ok()).expect("COUNT SEED JAR...");
    let (count, seed) = (number(), number());
    let mut classes = Vec::new();
    for jar in args {
        let file = std::fs::File::open(&jar).expect("a jar");
        let mut archive = zip::ZipArchive::new(file).expect("a jar");
        for i in 0..archive.len() {
            let mut entry = archive.by_index(i).expect("an entry");
            let mut bytes = Vec::new();
            if entry.name().is_ok_and(|n| n.ends_with(".class")) {
                entry.read_to_end(&mut bytes).expect("a class");
                classes.push(bytes);
            }
        }
    }
    let mut random = Random(seed.max(1));
    let (mut skipped, mut methods_skipped, mut panics, mut slowest) = (0, 0, 0, Duration::ZERO);
    for n in 0..count {
        let mut class = classes[random.below(classes.len())].clone();
        damage(&mut random, &mut class);
        let start = Instant::now();
        let program = load_classes([(n.to_string(), class)]);
        slowest = slowest.max(start.elapsed());
        skipped += program.entries[0].n_skipped;
        for line in &program.diagnostics {
            methods_skipped += u32::from(line.starts_with("method skipped"));
            if line.contains("panic: ") {
                panics += 1;
                println!("{line}");
            }
        }
    }
    println!(
        "{count} classes: {skipped} skipped, {methods_skipped} methods skipped, {panics} panics, slowest {slowest:?}"
    );
}
