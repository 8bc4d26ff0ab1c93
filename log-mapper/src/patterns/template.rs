//! One template, compiled: literals that rule it out fast, and its matchers, which
//! are compiled when they are first needed, as most log points of a program are not
//! met in a log.

use std::sync::OnceLock;

use memchr::memmem;
use regex_automata::meta::Regex;
use regex_automata::util::primitives::NonMaxUsize;
use regex_automata::util::syntax;
use regex_automata::{Anchored, Input};
use regex_syntax::hir::Hir;
use schema::LogPointId;

use super::cut::{self, Cut};
use super::filled::{Filled, has_gap};
use super::literals::Literals;
use super::sequence::Sequence;
use crate::limits::TEMPLATE_BYTES_MAX;

/// A template of a log point.
#[derive(Debug)]
pub(super) struct Template {
    pub(super) log_point: LogPointId,
    pub(super) has_throwable: bool,
    /// Variable of each capture.
    pub(super) variables: Box<[u32]>,
    /// Whether two captures are of one variable.
    pub(super) repeats: bool,
    pub(super) literals: Literals,
    finders: Box<[memmem::Finder<'static>]>,
    /// Most constant bytes that a message of it can have: its fixed part, if it
    /// repeats something outside of captures without bound.
    pub(super) constant_max: usize,
    pattern: String,
    unicode: bool,
    /// None: the template needs the regex.
    sequence: OnceLock<Option<Sequence>>,
    regex: OnceLock<Option<Regex>>,
    /// Of what is left of its messages without their start, without their end.
    cut: [OnceLock<Option<Regex>>; 2],
    /// Of its messages in which no value is empty.
    filled: OnceLock<Option<Filled>>,
}

/// Working memory of matching.
#[derive(Debug, Default)]
pub(super) struct TemplateScratch {
    slots: Vec<Option<NonMaxUsize>>,
}

impl Template {
    pub(super) fn compile(
        log_point: LogPointId,
        has_throwable: bool,
        template: &schema::Template,
    ) -> Result<Self, String> {
        // Bytes are faster; only classes beyond ASCII need characters.
        let (hir, unicode) = match parse(&template.regex, false) {
            Ok(hir) => (hir, false),
            Err(_) => (parse(&template.regex, true)?, true),
        };
        let n_groups = hir.properties().explicit_captures_len();
        if n_groups != template.captures.len() {
            return Err(format!("expected {} captures, got {n_groups}", template.captures.len()));
        }
        let literals = Literals::of(&hir);
        let constant_max = constant_max(&hir);
        let finders = literals.needles.iter().map(|n| memmem::Finder::new(n).into_owned()).collect();
        Ok(Self {
            log_point,
            has_throwable,
            variables: template.captures.as_slice().into(),
            repeats: (1..).zip(&template.captures).any(|(next, v)| template.captures[next..].contains(v)),
            literals,
            constant_max,
            finders,
            pattern: template.regex.clone(),
            unicode,
            sequence: OnceLock::new(),
            regex: OnceLock::new(),
            cut: Default::default(),
            filled: OnceLock::new(),
        })
    }

    /// Whether `text` has what every match has somewhere.
    pub(super) fn has_needle(&self, text: &[u8]) -> bool {
        self.finders.is_empty() || self.finders.iter().any(|f| f.find(text).is_some())
    }

    /// Matches the whole of `text`; pushes one (start, end) per capture, both
    /// `u32::MAX` for a capture that takes no part.
    pub(super) fn matches(
        &self,
        text: &[u8],
        scratch: &mut TemplateScratch,
        out: &mut Vec<(u32, u32)>,
    ) -> bool {
        let start = out.len();
        // PERF: of many templates that begin alike most end with another byte, which is seen without a call.
        let suffix = &self.literals.suffix;
        let can_end = suffix.last().is_none_or(|last| text.last() == Some(last)) && text.ends_with(suffix);
        let matched = can_end && self.matches_first(text, scratch, out);
        if matched && has_gap(&out[start..]) {
            self.fill(text, scratch, out, start);
        }
        matched
    }

    /// Divides `text`, which left a value empty, so that all have some, if it can be.
    fn fill(&self, text: &[u8], scratch: &mut TemplateScratch, out: &mut Vec<(u32, u32)>, start: usize) {
        let n = self.variables.len();
        let filled = self.filled.get_or_init(|| Filled::of(&self.pattern, self.unicode));
        let matched = match filled {
            None => return,
            Some(Filled::Sequence(sequence)) => {
                out.resize(start + 2 * n, (u32::MAX, u32::MAX));
                sequence.matches(text, &mut out[start + n..]) == Some(true)
            }
            Some(Filled::Regex(regex)) => self.search(regex, text, scratch, out),
        };
        if matched {
            out.copy_within(start + n.., start);
        }
        out.truncate(start + n);
    }

    /// The division that the regex prefers.
    fn matches_first(&self, text: &[u8], scratch: &mut TemplateScratch, out: &mut Vec<(u32, u32)>) -> bool {
        if let Some(sequence) = self.sequence.get_or_init(|| self.sequence()) {
            let start = out.len();
            out.resize(start + self.variables.len(), (u32::MAX, u32::MAX));
            if let Some(matched) = sequence.matches(text, &mut out[start..]) {
                return matched;
            }
            out.truncate(start);
        }
        self.has_needle(text) && self.matches_regex(text, scratch, out)
    }

    /// Like [`Self::matches`], for a text that is what a layout left of a message.
    pub(super) fn matches_cut(
        &self,
        text: &[u8],
        side: Cut,
        scratch: &mut TemplateScratch,
        out: &mut Vec<(u32, u32)>,
    ) -> bool {
        let regex = &self.cut[usize::from(side == Cut::End)];
        let regex = regex.get_or_init(|| cut::regex(&self.pattern, self.unicode, side));
        regex.as_ref().is_some_and(|regex| self.search(regex, text, scratch, out))
    }

    fn matches_regex(&self, text: &[u8], scratch: &mut TemplateScratch, out: &mut Vec<(u32, u32)>) -> bool {
        let Some(regex) = self.regex.get_or_init(|| self.build()) else { return false };
        self.search(regex, text, scratch, out)
    }

    fn search(
        &self,
        regex: &Regex,
        text: &[u8],
        scratch: &mut TemplateScratch,
        out: &mut Vec<(u32, u32)>,
    ) -> bool {
        let n_slots = 2 * (self.variables.len() + 1);
        scratch.slots.clear();
        scratch.slots.resize(n_slots, None);
        let input = Input::new(text).anchored(Anchored::Yes);
        if regex.search_slots(&input, &mut scratch.slots).is_none() {
            return false;
        }
        let at = |slot: Option<NonMaxUsize>| slot.map_or(u32::MAX, |s| s.get() as u32);
        out.extend(scratch.slots[2..].chunks_exact(2).map(|pair| (at(pair[0]), at(pair[1]))));
        true
    }

    /// The direct matcher; none if the template needs the regex.
    fn sequence(&self) -> Option<Sequence> {
        let hir = parse(&self.pattern, self.unicode).ok().filter(|_| !self.unicode)?;
        Sequence::compile(&hir)
    }

    /// The regex, anchored at both ends; none if it is larger than the bound.
    fn build(&self) -> Option<Regex> {
        let config = Regex::config().utf8_empty(false).nfa_size_limit(Some(TEMPLATE_BYTES_MAX));
        let syntax = syntax::Config::new().unicode(self.unicode).utf8(false).dot_matches_new_line(true);
        Regex::builder().configure(config).syntax(syntax).build(&format!("(?:{})\\z", self.pattern)).ok()
    }
}

fn parse(pattern: &str, unicode: bool) -> Result<Hir, String> {
    let mut builder = regex_syntax::ParserBuilder::new();
    builder.unicode(unicode).utf8(false).dot_matches_new_line(true);
    builder.build().parse(pattern).map_err(|e| e.to_string())
}

/// Most bytes outside of captures, saturating where a class repeats without bound
/// to the fixed part alone.
fn constant_max(hir: &Hir) -> usize {
    if is_open(hir) { hir.properties().minimum_len().unwrap_or(0) } else { usize::MAX }
}

/// Whether something other than a literal repeats without bound outside of captures.
fn is_open(hir: &Hir) -> bool {
    use regex_syntax::hir::HirKind;
    match hir.kind() {
        HirKind::Repetition(r) => r.max.is_none() && matches_class(&r.sub) || is_open(&r.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => parts.iter().any(is_open),
        _ => false,
    }
}

fn matches_class(hir: &Hir) -> bool {
    use regex_syntax::hir::HirKind;
    match hir.kind() {
        HirKind::Class(_) => true,
        HirKind::Concat(parts) | HirKind::Alternation(parts) => parts.iter().any(matches_class),
        HirKind::Repetition(r) => matches_class(&r.sub),
        _ => false,
    }
}
