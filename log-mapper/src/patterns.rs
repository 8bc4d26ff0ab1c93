//! The pattern set: which log points can have printed a message. Built once
//! from a model, immutable and shared; what a search needs beside is lent to it
//! as a [`Scratch`].
//!
//! Log points are looked for where they are most likely, in tiers: those of the
//! printed call site; those of the printed logger and level, and with them those
//! whose logger is unknown; then any logger at that level; then any level. A
//! wrong logger in the model costs a log point its rank, not the match. Within
//! a tier the most precise template wins: the one whose alternative that matched
//! has the longest constant text. Equal ones are all kept.

mod cut;
mod filled;
mod index;
mod literals;
mod naive;
mod places;
mod sequence;
mod template;
#[cfg(test)]
mod tests;

pub use cut::Cut;
pub use naive::{NaiveMatch, find_naively};

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use schema::{Level, LogPointId, Model, TopLevelId};

use crate::limits::CANDIDATES_MAX;
use crate::stack_trace;
use index::Bucket;
use places::{Loggers, Sites, level_slot};
use template::{Template, TemplateScratch};

/// Constant bytes that a log point of another logger than the printed one must
/// have in common with the message.
const FOREIGN_CONSTANT_MIN: usize = 8;

/// The same as a share of the message; larger where a log point of the printed logger can
/// have printed it, whatever it says: a first word in common is chance.
const FOREIGN_SHARE: usize = 4;
const FOREIGN_SHARE_BEFORE_OWN: usize = 2;

fn objects(model: &Model) -> FxHashMap<LogPointId, Vec<Object>> {
    let mut objects: FxHashMap<LogPointId, Vec<Object>> = FxHashMap::default();
    for (index, point) in model.log_points.iter().enumerate() {
        for (variable, object) in (0u32..).zip(&point.variables).filter(|(_, v)| v.in_text) {
            let parts = object.parts.clone();
            objects.entry(LogPointId::new(index)).or_default().push(Object { variable, parts });
        }
    }
    objects
}

/// What is known of one record.
#[derive(Clone, Copy, Debug, Default)]
pub struct Query<'a> {
    /// The whole text after the header, without the last line end.
    pub text: &'a [u8],
    /// Length of the message before the stack trace, if there is one.
    pub before_trace: Option<usize>,
    /// Length of the first line, if there are more.
    pub first_line: Option<usize>,
    /// Level.
    pub level: Option<Level>,
    /// Logger, as shown.
    pub logger: Option<&'a [u8]>,
    /// Source file.
    pub file: Option<&'a [u8]>,
    /// Source line.
    pub line: Option<u32>,
    /// Class, as shown.
    pub class: Option<&'a [u8]>,
    /// Method.
    pub method: Option<&'a [u8]>,
    /// The side of the message that its layout may have left out.
    pub cut: Option<Cut>,
}

/// A log point that can have printed the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Match {
    /// Which.
    pub log_point: LogPointId,
    template: u32,
    /// Bytes of the message that the template says, and no variable.
    pub constant: u32,
    /// Of more equal matches, those that fit the rest of the record better.
    fit: u8,
    slots: u32,
}

/// Working memory of searches and the result of the last one.
#[derive(Debug, Default)]
pub struct Scratch {
    found: Vec<Match>,
    slots: Vec<(u32, u32)>,
    candidates: Vec<u32>,
    seen: Vec<u32>,
    epoch: u32,
    template: TemplateScratch,
    loggers: places::LoggerCache,
}

impl Scratch {
    /// The best log points of the last search, in order of their ids.
    #[must_use]
    pub fn matches(&self) -> &[Match] {
        &self.found
    }

    /// Bytes of the message that the best of them say, and no variable; 0 without a match.
    #[must_use]
    pub fn constant(&self) -> u32 {
        best(self)
    }
}

/// All templates of a model, ready for search.
#[derive(Debug)]
pub struct PatternSet {
    templates: Vec<Template>,
    loggers: Loggers,
    sites: Sites,
    unknown: [Bucket; places::N_SLOTS],
    all: [Bucket; places::N_SLOTS],
    methods: Vec<Box<[u8]>>,
    /// Per log point: its statement, and whether it is the one of a caller of it.
    statements: Vec<(u32, bool)>,
    diagnostics: Vec<String>,
    objects: FxHashMap<LogPointId, Vec<Object>>,
    programs: Vec<String>,
    /// Top-level methods as stack traces name them, sorted.
    tops: Vec<(Box<str>, TopLevelId)>,
}

/// The top-level methods as stack traces name them, sorted.
fn tops(model: &Model) -> Vec<(Box<str>, TopLevelId)> {
    let name = |top: &schema::TopLevelMethod| format!("{}.{}", top.class, top.method).into_boxed_str();
    let tops = (0..).map(TopLevelId::new).zip(&model.top_level_methods);
    let mut tops: Vec<(Box<str>, TopLevelId)> = tops.map(|(id, top)| (name(top), id)).collect();
    tops.sort_unstable();
    tops
}

/// A variable whose value is the text from the first to the last of others.
#[derive(Clone, Debug)]
pub struct Object {
    /// Position in the log point's variables.
    pub variable: u32,
    /// Positions of the others.
    pub parts: Vec<u32>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Tier {
    Site,
    Logger,
    AnyLogger,
    AnyLevel,
}

impl PatternSet {
    /// Compiles the templates of `model`. A template that is no regex, or too
    /// large a one, is left out and named in [`PatternSet::diagnostics`].
    #[must_use]
    pub fn new(model: &Model) -> Self {
        let sources: Vec<(usize, &schema::LogPoint, &schema::Template)> = model
            .log_points
            .iter()
            .enumerate()
            .flat_map(|(i, point)| point.templates.iter().map(move |t| (i, point, t)))
            .collect();
        let compiled: Vec<Result<Template, String>> = sources
            .par_iter()
            .map(|(i, point, t)| Template::compile(LogPointId::new(*i), point.has_throwable, t))
            .collect();
        let mut diagnostics = Vec::new();
        let mut templates = Vec::new();
        for (result, (_, point, t)) in compiled.into_iter().zip(&sources) {
            match result {
                Ok(template) => templates.push(template),
                Err(e) => diagnostics.push(format!(
                    "{}.{}:{}: template `{}` left out: {e}",
                    point.class, point.method, point.source_line, t.regex
                )),
            }
        }
        let mut set = Self {
            loggers: Loggers::default(),
            sites: Sites::default(),
            unknown: Default::default(),
            all: Default::default(),
            methods: model.log_points.iter().map(|p| p.method.as_bytes().into()).collect(),
            statements: statements(model),
            templates,
            diagnostics,
            objects: objects(model),
            tops: tops(model),
            programs: model.entry_points.iter().map(|class| places::without_suffix(class)).collect(),
        };
        set.place(model);
        set
    }

    /// Puts each template where searches look for it.
    fn place(&mut self, model: &Model) {
        let mut loggers = places::LoggersBuilder::default();
        for (id, template) in self.templates.iter().enumerate() {
            let id = id as u32;
            let point = &model.log_points[template.log_point.index()];
            self.sites.add(point, id);
            for slot in places::slots_of(&point.levels) {
                self.all[slot].push(id);
                if point.loggers.is_empty() {
                    self.unknown[slot].push(id);
                }
                for logger in &point.loggers {
                    loggers.add(logger, slot, id);
                }
            }
        }
        self.loggers = loggers.build();
        self.sites.finish();
    }

    /// Adds the top-level methods that a stack trace shows to have run, the innermost first: of the
    /// first throwable whose frames show any.
    pub(crate) fn add_ran(&self, trace: &[u8], ran: &mut Vec<TopLevelId>) {
        let start = ran.len();
        for frames in stack_trace::frames(trace) {
            for frame in frames {
                let from = self.tops.partition_point(|(name, _)| name.as_bytes() < frame);
                let named = self.tops[from..].iter().take_while(|(name, _)| name.as_bytes() == frame);
                for &(_, top) in named {
                    if !ran[start..].contains(&top) {
                        ran.push(top);
                    }
                }
            }
            if ran.len() > start {
                break;
            }
        }
    }

    /// What was left out, and why.
    #[must_use]
    pub fn diagnostics(&self) -> &[String] {
        &self.diagnostics
    }

    /// Whether a log point has the logger that is shown so.
    pub(crate) fn knows_logger(&self, shown: &[u8], scratch: &mut Scratch) -> bool {
        self.loggers.resolve(shown, &mut scratch.loggers).next().is_some()
    }

    /// Whether a class with a `main` is shown so.
    pub(crate) fn is_program(&self, shown: &[u8]) -> bool {
        self.programs.iter().any(|class| places::stands_for(shown, class.as_bytes()))
    }

    /// Number of templates.
    #[must_use]
    pub fn n_templates(&self) -> usize {
        self.templates.len()
    }

    /// Working memory for searches; one per thread.
    #[must_use]
    pub fn scratch(&self) -> Scratch {
        Scratch { seen: vec![0; self.templates.len()], ..Scratch::default() }
    }

    /// The captures of `found`, a match of the last search with `scratch`: for
    /// each variable, where its value is in the text.
    pub fn captures<'s>(
        &'s self,
        scratch: &'s Scratch,
        found: &Match,
    ) -> impl Iterator<Item = (u32, std::ops::Range<usize>)> + 's {
        let template = &self.templates[found.template as usize];
        let slots = &scratch.slots[found.slots as usize..][..template.variables.len()];
        let variables = &template.variables;
        (0..variables.len()).filter_map(move |i| {
            let (variable, (start, end)) = (variables[i], slots[i]);
            if start == u32::MAX {
                return None;
            }
            let is_repeated = |j: usize| variables[j] == variable && slots[j].0 != u32::MAX;
            if template.repeats && (0..i).any(is_repeated) {
                return None;
            }
            Some((variable, start as usize..end as usize))
        })
    }

    /// The objects that a log point prints as text.
    pub fn objects(&self, log_point: LogPointId) -> &[Object] {
        self.objects.get(&log_point).map_or(&[], Vec::as_slice)
    }

    /// Finds the log points that can have printed the record; none if no log
    /// point of the model can.
    pub fn find(&self, scratch: &mut Scratch, query: &Query<'_>) {
        self.find_whole(scratch, query);
        if let Some(side) = query.cut
            && best(scratch) == 0
        {
            self.find_cut(scratch, query, side);
        }
    }

    /// Looks for templates of which the text is only the rest: those of the
    /// logger and level, then those of any logger. Rare, so every template is
    /// tried.
    fn find_cut(&self, scratch: &mut Scratch, query: &Query<'_>, side: Cut) {
        let weak = std::mem::take(&mut scratch.found);
        let slot = level_slot(query.level);
        let mut ids: Vec<u32> = self.unknown[slot].templates().to_vec();
        let own = self.loggers.resolve(query.logger.unwrap_or_default(), &mut scratch.loggers);
        for entry in own {
            ids.extend(self.loggers.bucket(entry, slot).templates());
        }
        ids.sort_unstable();
        ids.dedup();
        self.try_cut(scratch, query, &ids, side);
        if best(scratch) == 0 && (query.logger.is_none() || ids.is_empty()) {
            self.try_cut(scratch, query, self.all[slot].templates(), side);
        }
        self.keep_best(&mut scratch.found, FOREIGN_CONSTANT_MIN);
        if scratch.found.is_empty() {
            scratch.found = weak;
        }
    }

    fn try_cut(&self, scratch: &mut Scratch, query: &Query<'_>, ids: &[u32], side: Cut) {
        let text = &query.text[..query.before_trace.unwrap_or(query.text.len())];
        for &id in ids {
            let template = &self.templates[id as usize];
            let start = scratch.slots.len();
            if !template.matches_cut(text, side, &mut scratch.template, &mut scratch.slots) {
                scratch.slots.truncate(start);
                continue;
            }
            let slots = &mut scratch.slots[start..];
            let captured = captured_bytes(slots);
            let constant = (text.len() - captured.min(text.len())).min(template.constant_max);
            // What is left of a value that was cut is no value.
            for slot in slots.iter_mut() {
                let at_cut = match side {
                    Cut::Start => slot.0 == 0,
                    Cut::End => slot.1 as usize == text.len(),
                };
                if at_cut {
                    *slot = (u32::MAX, u32::MAX);
                }
            }
            scratch.found.push(Match {
                log_point: template.log_point,
                template: id,
                constant: constant as u32,
                fit: 0,
                slots: start as u32,
            });
        }
    }

    fn find_whole(&self, scratch: &mut Scratch, query: &Query<'_>) {
        scratch.found.clear();
        scratch.slots.clear();
        if self.search_tier(scratch, query, Tier::Site, 0) {
            return;
        }
        let known_logger = query.logger.is_some();
        if known_logger && self.search_tier(scratch, query, Tier::Logger, 0) && best(scratch) > 0 {
            return;
        }
        // A template that is one variable fits everything; another logger's
        // text that fits well says more, the more so where its own has none.
        let weak = scratch.found.clone();
        let share = if weak.is_empty() { FOREIGN_SHARE } else { FOREIGN_SHARE_BEFORE_OWN };
        let least = if known_logger {
            FOREIGN_CONSTANT_MIN.max(query.first_line.unwrap_or(query.text.len()) / share)
        } else {
            0
        };
        let found = self.search_tier(scratch, query, Tier::AnyLogger, least)
            || (query.level.is_some() && self.search_tier(scratch, query, Tier::AnyLevel, least));
        if !found {
            // Without any constant text, and of a logger that no log point has,
            // it was printed by code that the model does not know.
            let logger = query.logger.unwrap_or_default();
            let is_foreign =
                known_logger && self.loggers.resolve(logger, &mut scratch.loggers).next().is_none();
            scratch.found = if is_foreign { Vec::new() } else { weak };
        }
        if scratch.found.is_empty() {
            self.accept_site(scratch, query);
        }
    }

    /// Searches one tier; true if a template with at least `least` constant
    /// bytes matched.
    fn search_tier(&self, scratch: &mut Scratch, query: &Query<'_>, tier: Tier, least: usize) -> bool {
        self.collect(scratch, query, tier);
        if scratch.candidates.is_empty() {
            return false;
        }
        scratch.found.clear();
        let candidates = std::mem::take(&mut scratch.candidates);
        for &id in &candidates {
            self.try_template(scratch, query, id, tier);
        }
        if query.first_line.is_some() && best(scratch) == 0 {
            for &id in &candidates {
                let length = query.first_line.unwrap_or_default();
                self.try_text(scratch, query, id, length, 0);
            }
        }
        scratch.candidates = candidates;
        self.keep_best(&mut scratch.found, least);
        !scratch.found.is_empty()
    }

    /// Fills `scratch.candidates` with the templates of a tier that can match.
    fn collect(&self, scratch: &mut Scratch, query: &Query<'_>, tier: Tier) {
        scratch.candidates.clear();
        scratch.epoch = scratch.epoch.wrapping_add(1);
        if scratch.epoch == 0 {
            scratch.seen.fill(0);
            scratch.epoch = 1;
        }
        let slot = level_slot(query.level);
        let look = |bucket: &Bucket, scratch: &mut Scratch| {
            let (seen, epoch) = (&mut scratch.seen, scratch.epoch);
            bucket.candidates(&self.templates, query.text, &mut |id| {
                let mark = &mut seen[id as usize];
                if *mark != epoch {
                    *mark = epoch;
                    scratch.candidates.push(id);
                }
            });
        };
        match tier {
            Tier::Site => {
                let ids = self.sites.at(query);
                scratch.candidates.extend_from_slice(ids);
            }
            Tier::Logger => {
                let logger = query.logger.unwrap_or_default();
                let entries = self.loggers.resolve(logger, &mut scratch.loggers);
                for entry in entries {
                    look(self.loggers.bucket(entry, slot), scratch);
                }
                look(&self.unknown[slot], scratch);
            }
            Tier::AnyLogger => look(&self.all[slot], scratch),
            Tier::AnyLevel => look(&self.all[places::ANY_LEVEL], scratch),
        }
    }

    /// Tries one template on the text it would have printed, then on the other.
    fn try_template(&self, scratch: &mut Scratch, query: &Query<'_>, id: u32, tier: Tier) {
        let template = &self.templates[id as usize];
        let whole = query.text.len();
        let fit_method = query.method.is_some_and(|m| *self.methods[template.log_point.index()] == *m);
        // In a tie of the logger's own and unknown loggers, its own are meant.
        let fit_logger = tier == Tier::Logger && !self.is_unknown(id);
        let fit = u8::from(fit_method) * 4 + u8::from(fit_logger);
        match query.before_trace {
            Some(before) if template.has_throwable => {
                if !self.try_text(scratch, query, id, before, fit + 2) {
                    self.try_text(scratch, query, id, whole, fit);
                }
            }
            Some(before) => {
                if !self.try_text(scratch, query, id, whole, fit) {
                    self.try_text(scratch, query, id, before, fit);
                }
            }
            None => {
                let fit = fit + if template.has_throwable { 0 } else { 2 };
                self.try_text(scratch, query, id, whole, fit);
            }
        }
    }

    fn is_unknown(&self, id: u32) -> bool {
        self.unknown[places::ANY_LEVEL].contains(id)
    }

    /// Tries one template on the first `length` bytes of the text, first without the white space
    /// at their end: layouts and tools leave a blank there, or an empty line. A template whose
    /// own text ends so needs it, or the first of it.
    fn try_text(&self, scratch: &mut Scratch, query: &Query<'_>, id: u32, length: usize, fit: u8) -> bool {
        let trimmed = query.text[..length].trim_ascii_end().len();
        if trimmed == length {
            return self.try_exactly(scratch, query, id, length, fit);
        }
        let lengths = [trimmed, length, length - 1];
        lengths.into_iter().any(|length| self.try_exactly(scratch, query, id, length, fit))
    }

    fn try_exactly(&self, scratch: &mut Scratch, query: &Query<'_>, id: u32, length: usize, fit: u8) -> bool {
        let template = &self.templates[id as usize];
        let start = scratch.slots.len();
        let text = &query.text[..length];
        if !template.matches(text, &mut scratch.template, &mut scratch.slots) {
            scratch.slots.truncate(start);
            return false;
        }
        let captured = captured_bytes(&scratch.slots[start..]);
        // Text that the template leaves open without a capture is no constant.
        let constant = (length - captured.min(length)).min(template.constant_max);
        scratch.found.push(Match {
            log_point: template.log_point,
            template: id,
            constant: constant as u32,
            fit,
            slots: start as u32,
        });
        true
    }

    /// The printed call site is certain even where no template fits: its log
    /// points, without values.
    fn accept_site(&self, scratch: &mut Scratch, query: &Query<'_>) {
        for &id in self.sites.at(query) {
            let template = &self.templates[id as usize];
            let slots = scratch.slots.len() as u32;
            scratch.slots.extend(template.variables.iter().map(|_| (u32::MAX, u32::MAX)));
            scratch.found.push(Match {
                log_point: template.log_point,
                template: id,
                constant: 0,
                fit: 0,
                slots,
            });
        }
        self.keep_best(&mut scratch.found, 0);
    }

    /// Keeps the most precise matches, one per log point, in order. Of a statement within a
    /// wrapper, what its callers print: its own log point stands for callers that nobody knows.
    fn keep_best(&self, found: &mut Vec<Match>, least: usize) {
        let Some(best) = found.iter().map(|m| (m.constant, m.fit)).max() else { return };
        if (best.0 as usize) < least {
            found.clear();
            return;
        }
        found.retain(|m| (m.constant, m.fit) == best);
        found.sort_unstable();
        found.dedup_by_key(|m| m.log_point);
        let mut at = 0;
        while at < found.len() {
            let (statement, of_caller) = self.statements[found[at].log_point.index()];
            let is_known = |other: &Match| self.statements[other.log_point.index()] == (statement, true);
            if !of_caller && found.iter().any(is_known) {
                found.remove(at);
            } else {
                at += 1;
            }
        }
        found.truncate(CANDIDATES_MAX);
    }
}

fn best(scratch: &Scratch) -> u32 {
    scratch.found.iter().map(|m| m.constant).max().unwrap_or(0)
}

/// Per log point: its statement, by number, and whether it is that of a caller.
fn statements(model: &Model) -> Vec<(u32, bool)> {
    let mut numbers: FxHashMap<(&str, &str, u32), u32> = FxHashMap::default();
    let mut out = Vec::with_capacity(model.log_points.len());
    for point in &model.log_points {
        let next = numbers.len() as u32;
        let statement = (point.class.as_str(), point.method.as_str(), point.source_line);
        out.push((*numbers.entry(statement).or_insert(next), point.call_site.is_some()));
    }
    out
}

/// Bytes inside captures; captures inside captures count once.
fn captured_bytes(slots: &[(u32, u32)]) -> usize {
    let mut end = 0;
    let mut n = 0;
    for &(s, e) in slots {
        if s != u32::MAX && e > end {
            n += (e - s.max(end)) as usize;
            end = e;
        }
    }
    n
}
