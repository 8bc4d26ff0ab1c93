//! Places: where the log points of a record are looked for, by logger, level
//! and call site.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use schema::{Level, LogPoint};

use super::Query;
use super::index::Bucket;

/// One bucket per level, and one for records without a level.
pub(super) const N_SLOTS: usize = 7;
pub(super) const ANY_LEVEL: usize = 6;

pub(super) fn level_slot(level: Option<Level>) -> usize {
    match level {
        Some(Level::Trace) => 0,
        Some(Level::Debug) => 1,
        Some(Level::Info) => 2,
        Some(Level::Warn) => 3,
        Some(Level::Error) => 4,
        Some(Level::Fatal) => 5,
        None => ANY_LEVEL,
    }
}

/// Slots of a log point with these possible levels; none given: all.
pub(super) fn slots_of(levels: &[Level]) -> impl Iterator<Item = usize> + '_ {
    (0..N_SLOTS).filter(move |slot| {
        *slot == ANY_LEVEL || levels.is_empty() || levels.iter().any(|l| level_slot(Some(*l)) == *slot)
    })
}

/// Loggers by name.
#[derive(Debug, Default)]
pub(super) struct Loggers {
    entries: Vec<(String, [Bucket; N_SLOTS])>,
    by_last_component: FxHashMap<Box<[u8]>, Vec<u32>>,
}

/// Which loggers a shown name can stand for; filled as names are met.
pub(super) type LoggerCache = FxHashMap<Box<[u8]>, Arc<[u32]>>;

#[derive(Default)]
pub(super) struct LoggersBuilder {
    names: BTreeMap<String, [Vec<u32>; N_SLOTS]>,
}

impl LoggersBuilder {
    pub(super) fn add(&mut self, logger: &str, slot: usize, template: u32) {
        if !self.names.contains_key(logger) {
            self.names.insert(logger.to_owned(), Default::default());
        }
        if let Some(slots) = self.names.get_mut(logger) {
            slots[slot].push(template);
        }
    }

    pub(super) fn build(self) -> Loggers {
        let mut out = Loggers::default();
        for (name, slots) in self.names {
            let last = last_component(name.as_bytes());
            let id = out.entries.len() as u32;
            out.by_last_component.entry(last.into()).or_default().push(id);
            out.entries.push((name, slots.map(Bucket::new)));
        }
        out
    }
}

impl Loggers {
    pub(super) fn bucket(&self, entry: u32, slot: usize) -> &Bucket {
        &self.entries[entry as usize].1[slot]
    }

    /// The loggers that a shown name can stand for: the one of that name, else
    /// those of which it is the last components or an abbreviation.
    pub(super) fn resolve(&self, shown: &[u8], cache: &mut LoggerCache) -> impl Iterator<Item = u32> + use<> {
        if !cache.contains_key(shown) {
            cache.insert(shown.into(), self.resolve_uncached(shown).into());
        }
        let entries = Arc::clone(&cache[shown]);
        (0..entries.len()).map(move |i| entries[i])
    }

    fn resolve_uncached(&self, shown: &[u8]) -> Vec<u32> {
        let Some(same_last) = self.by_last_component.get(last_component(shown)) else { return Vec::new() };
        let name = |id: u32| self.entries[id as usize].0.as_bytes();
        if let Some(exact) = same_last.iter().find(|id| name(**id) == shown) {
            return vec![*exact];
        }
        same_last.iter().copied().filter(|id| stands_for(shown, name(*id))).collect()
    }
}

fn last_component(name: &[u8]) -> &[u8] {
    name.rsplit(|b| *b == b'.').next().unwrap_or(name)
}

/// Whether `shown` can be how a layout shows `full`: component by component
/// from the right, each whole or abbreviated to its first letters; the first
/// one may have lost its start to a width.
pub(super) fn stands_for(shown: &[u8], full: &[u8]) -> bool {
    let mut full = full.rsplit(|b| *b == b'.');
    let mut shown = shown.rsplit(|b| *b == b'.').peekable();
    let mut is_last = true;
    while let Some(part) = shown.next() {
        let Some(whole) = full.next() else { return false };
        let is_first = shown.peek().is_none();
        let fits = part == whole
            || (!is_last && whole.starts_with(part))
            || (is_first && !is_last && whole.ends_with(part));
        if !fits {
            return false;
        }
        is_last = false;
    }
    true
}

/// The class of which a `main` is, as its source calls it: Kotlin puts functions outside of classes
/// in one that is called after the file.
pub(super) fn without_suffix(class: &str) -> String {
    class.strip_suffix("Kt").unwrap_or(class).to_owned()
}

/// Templates by call site. A wrapper's log points stand at the wrapper's line,
/// which is what a layout prints, and also at their caller's, which a wrapper
/// that hides itself makes it print.
#[derive(Debug, Default)]
pub(super) struct Sites {
    by_file: FxHashMap<Box<[u8]>, FxHashMap<u32, Vec<u32>>>,
    /// By the class name's last component.
    by_class: FxHashMap<Box<[u8]>, FxHashMap<u32, Vec<u32>>>,
}

impl Sites {
    pub(super) fn add(&mut self, point: &LogPoint, template: u32) {
        let file = point.source_file.clone().unwrap_or_else(|| source_file_of(&point.class));
        self.add_at(&file, &point.class, point.source_line, template);
        if let Some(site) = &point.call_site {
            self.add_at(&source_file_of(&site.class), &site.class, site.source_line, template);
        }
    }

    fn add_at(&mut self, file: &str, class: &str, line: u32, template: u32) {
        if line == 0 {
            return;
        }
        let by_file = self.by_file.entry(file.as_bytes().into()).or_default();
        by_file.entry(line).or_default().push(template);
        let by_class = self.by_class.entry(last_component(class.as_bytes()).into()).or_default();
        by_class.entry(line).or_default().push(template);
    }

    pub(super) fn finish(&mut self) {
        for lines in self.by_file.values_mut().chain(self.by_class.values_mut()) {
            for ids in lines.values_mut() {
                ids.sort_unstable();
                ids.dedup();
            }
        }
    }

    /// Templates of the call site that the record prints.
    pub(super) fn at(&self, query: &Query<'_>) -> &[u32] {
        let Some(line) = query.line else { return &[] };
        let by_file = query.file.and_then(|file| self.by_file.get(file));
        let lines = by_file.or_else(|| self.by_class.get(last_component(query.class?)));
        lines.and_then(|l| l.get(&line)).map_or(&[], Vec::as_slice)
    }
}

/// The file that javac expects a class in.
fn source_file_of(class: &str) -> String {
    let simple = class.rsplit('.').next().unwrap_or(class);
    let outer = simple.split('$').next().unwrap_or(simple);
    format!("{outer}.java")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shown_loggers() {
        let check = |shown: &str, full: &str| stands_for(shown.as_bytes(), full.as_bytes());
        assert!(check("b.C", "a.b.C"));
        assert!(check("a.b.C", "a.b.C"));
        assert!(check("o.e.j.Server", "org.eclipse.jetty.Server"));
        assert!(check("ipse.jetty.Server", "org.eclipse.jetty.Server"));
        assert!(!check("x.b.C", "a.b.C"));
        assert!(!check("z.a.b.C", "a.b.C"));
        assert!(!check("D", "a.b.C"));
    }
}
