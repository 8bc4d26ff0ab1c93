//! Queries that are changed by a generator which gives the same in every run: each is compiled to SQL
//! that the engine can parse, or is refused with a fault that points into it. `SECONDS` and `SEED`
//! choose for how long, and where the generator begins.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use datafusion::sql::parser::DFParser;

use super::super::compile;
use super::catalog;

/// Tries unless they are to go on for a time.
const N_TRIES: u64 = 20_000;
/// Longest query that is made.
const BYTES_MAX: usize = 4_000;

/// What queries are made of, beside those of the sample.
const WORDS: &str = "From In Join Left On Where GroupBy Select As Having OrderBy Limit within First FirstN \
    MostRecent MostRecentN not and or COUNT SUM AVERAGE MIN MAX DISTINCT w r host time Handler.write Disk.put \
    Handler Block.id w.n r.id request_id 0 1 7 -1 18446744073709551616 1e999 0.5 5s 1ms 99999999999999999h \
    ( ) , . * + - / % ; : # -> ~> || >> <= >= != <> == = < > ' \" 'it''s' \"Serving\" \"\" \u{0} \u{e9} \u{202e} \
    ' NULL TRUE CASE /* -- \\ \n \t";

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % n.max(1)
    }

    /// A query after a few changes to its words.
    fn changed(&mut self, query: &str, words: &[String]) -> String {
        let mut parts: Vec<String> =
            query.split_inclusive([' ', '\n', ',', '(', '.']).map(str::to_owned).collect();
        for _ in 0..=self.below(4) {
            let at = self.below(parts.len());
            let word = words[self.below(words.len())].clone();
            match self.below(6) {
                0 if !parts.is_empty() => parts[at] = format!("{word} "),
                1 if !parts.is_empty() => drop(parts.remove(at)),
                2 if !parts.is_empty() => parts.insert(at, parts[self.0 as usize % parts.len()].clone()),
                3 => parts.truncate(at),
                4 => parts.insert(at, format!("{word} ").repeat(1 + self.below(40))),
                _ => parts.insert(at, format!("{word} ")),
            }
        }
        let mut text = parts.concat();
        if self.below(4) == 0 && !text.is_empty() {
            // A byte, wherever it stands.
            let mut bytes = text.into_bytes();
            let at = self.below(bytes.len());
            bytes[at] = self.below(256) as u8;
            text = String::from_utf8_lossy(&bytes).into_owned();
        }
        let end = (0..=text.len().min(BYTES_MAX)).rev().find(|end| text.is_char_boundary(*end));
        text.truncate(end.unwrap_or(0));
        text
    }
}

/// Queries of the folder and those below it.
fn queries(folder: &Path) -> Vec<String> {
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("a folder").flatten().map(|entry| entry.path()).collect();
    paths.sort();
    let of = |path: PathBuf| match path.extension().and_then(|ext| ext.to_str()) {
        _ if path.is_dir() => queries(&path),
        Some("query") => vec![std::fs::read_to_string(&path).expect("a query")],
        _ => Vec::new(),
    };
    paths.into_iter().flat_map(of).collect()
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[test]
fn any_text_is_compiled_or_refused() {
    let mut corpus = queries(&Path::new(env!("CARGO_MANIFEST_DIR")).join("samples/queries"));
    assert!(corpus.len() >= 10, "{}", corpus.len());
    corpus.extend(
        [
            "From w In Disk.put GroupBy w.host Select w.host, SUM(w.n)",
            "From w In Disk Join r In First(Handler.write, \"Serving\") On r -> w Where r.id = 7 and w.n > 5 Select w.n",
            "From w In Disk Join r In Handler On not r -> w Select w.n",
            "From w In Disk Left Join r In MostRecentN(3, Handler) On r || w within 5s Select w.n, r.id",
        ]
        .map(str::to_owned),
    );
    let words: Vec<String> = WORDS.split(' ').map(str::to_owned).collect();
    let catalog = catalog();
    let (first, seconds) = (number("SEED").unwrap_or(1), number("SECONDS").map(Duration::from_secs));
    let (start, mut seed, mut n_compiled) = (Instant::now(), first, 0_u64);
    while seconds.map_or(seed < first + N_TRIES, |seconds| start.elapsed() < seconds) {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let query = &corpus[random.below(corpus.len())];
        let text = random.changed(query, &words);
        match compile(&text, &catalog, random.below(2) == 0) {
            Ok(compiled) => {
                n_compiled += 1;
                let parsed = DFParser::parse_sql(&compiled.sql);
                let n = parsed.as_ref().map(std::collections::VecDeque::len);
                assert!(
                    matches!(n, Ok(1)),
                    "seed {seed}: {text:?} becomes {}: {:?}",
                    compiled.sql,
                    parsed.err()
                );
            }
            Err(fault) => {
                assert!(fault.at <= text.len() && text.is_char_boundary(fault.at), "seed {seed}: {text:?}");
                assert!(!fault.message.is_empty() && fault.message.len() < 1_000, "seed {seed}: {text:?}");
                assert!(fault.show(&text).starts_with("line "), "seed {seed}: {text:?}");
            }
        }
        seed += 1;
    }
    eprintln!("seeds {first} to {seed}, {n_compiled} compiled");
    assert!(n_compiled > 0, "changes leave some queries right");
}
