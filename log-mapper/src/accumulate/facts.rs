//! Facts: the values of a record that can tell spans apart, in canonical form:
//! of variables, of objects that several of them name together, and of objects
//! that are named within texts.

use std::cell::OnceCell;
use std::sync::Arc;

use schema::kinds::{TELLING_MIN, is_digest, is_made, is_uuid};
use schema::{LogPointId, Value, ValueClassId, ValueShape, Variable};

use super::ahead::AHEAD_RECORDS;
use super::canonical::{canonical, fixed};
use super::names::{digests, uuids};
use super::open_span::{BoundAt, TextSet};
use super::pools::Closed;
use super::recent_texts::RecentTexts;
use super::wholes::{Named, Whole};
use super::{Scan, Shown};
use crate::record::{Candidate, Record};

/// A log point a record can come from, with the canonical values of its
/// variables that are identifiers somewhere.
#[derive(Debug)]
pub(super) struct Fact {
    pub(super) log_point: LogPointId,
    pub(super) values: Vec<(u32, Arc<str>)>,
    /// Values that so many records show that they tell no spans apart. Whoever
    /// is handed something may still be told by them from whoever is not.
    pub(super) common: Vec<(ValueClassId, Arc<str>)>,
    /// The same by variable: they speak for no span, but against those that are known
    /// by another value of the same identifier.
    pub(super) shared: Vec<(u32, Arc<str>)>,
    /// Objects named within its texts.
    pub(super) named: Vec<(ValueClassId, Arc<str>)>,
    /// UUIDs within its texts.
    pub(super) uuids: Vec<Uuid>,
    /// What the things that it names are parts of, where it does not say so.
    pub(super) wholes: Vec<Whole>,
    /// Numbers by which entities name themselves.
    pub(super) numbers: Vec<Number>,
    /// What it binds, as far as it was asked for: the rest of it is settled by then.
    pub(super) bound_at: BoundAt,
    /// All texts by which it can name what somebody else names, likewise.
    texts: OnceCell<TextSet>,
    /// What it says itself, and what it says to others, likewise: a record is tried with many spans.
    plain: OnceCell<Box<Fact>>,
    shown: OnceCell<Option<Box<Fact>>>,
}

/// A number by which an entity names itself, of its class.
pub(super) type Number = (ValueClassId, u64);

/// A UUID within a text.
#[derive(Clone, Debug)]
pub(super) struct Uuid {
    pub(super) text: Arc<str>,
    /// Classes of what it can name.
    pub(super) classes: Vec<ValueClassId>,
    /// It tells others too what the span is about.
    pub(super) is_shown: bool,
}

impl Fact {
    /// Whether it shows no value that is not equal to another one by chance.
    pub(super) fn names_nothing(&self) -> bool {
        self.named.is_empty()
            && self.uuids.is_empty()
            && self.values.iter().all(|(_, text)| text.len() < TELLING_MIN)
    }

    /// What it says to others than whom its thread is at work for, if that is less.
    pub(super) fn without_hidden(&self) -> Option<&Self> {
        let shown = self.shown.get_or_init(|| {
            self.uuids.iter().any(|uuid| !uuid.is_shown).then(|| {
                let mut shown = Self { wholes: self.wholes.clone(), ..self.own() };
                shown.uuids.retain(|uuid| uuid.is_shown);
                Box::new(shown)
            })
        });
        shown.as_deref()
    }

    /// What it says itself.
    pub(super) fn without_wholes(&self) -> &Self {
        self.plain.get_or_init(|| Box::new(self.own()))
    }

    fn own(&self) -> Self {
        let Self { log_point, values, common, shared, named, uuids, .. } = self;
        let (values, common, shared) = (values.clone(), common.clone(), shared.clone());
        let (named, uuids, numbers) = (named.clone(), uuids.clone(), self.numbers.clone());
        Self {
            log_point: *log_point,
            values,
            common,
            shared,
            named,
            uuids,
            numbers,
            ..Self::bare(*log_point)
        }
    }

    /// A record of `log_point` that shows no values.
    pub(super) fn bare(log_point: LogPointId) -> Self {
        Self {
            log_point,
            values: Vec::new(),
            common: Vec::new(),
            shared: Vec::new(),
            named: Vec::new(),
            uuids: Vec::new(),
            wholes: Vec::new(),
            numbers: Vec::new(),
            bound_at: BoundAt::default(),
            texts: OnceCell::new(),
            plain: OnceCell::new(),
            shown: OnceCell::new(),
        }
    }

    /// The texts by which it can name what a span names.
    pub(super) fn texts(&self) -> TextSet {
        *self.texts.get_or_init(|| {
            let values = self.values.iter().map(|(_, text)| text);
            let named = self.named.iter().chain(self.wholes.iter().map(|whole| &whole.name));
            let uuids = self.uuids.iter().map(|uuid| &uuid.text);
            TextSet::of(values.chain(named.map(|(_, text)| text)).chain(uuids).map(|text| &**text))
        })
    }
}

impl Scan<'_> {
    /// What the candidates of a record say; of those that can be there, if any can.
    pub(super) fn facts(&mut self, record: &Record<'_>) -> Vec<(usize, Fact)> {
        let known = |c: &&Candidate<'_>| c.log_point.index() < self.model.log_points.len();
        let can_be = |c: &Candidate<'_>| self.orders.is_printed(c.log_point);
        let any_can = record.candidates.iter().filter(known).any(can_be);
        let mut facts = Vec::with_capacity(record.candidates.len());
        for (index, candidate) in record.candidates.iter().enumerate().filter(|(_, c)| known(c)) {
            if !any_can || self.orders.is_printed(candidate.log_point) {
                facts.push((index, self.fact(candidate, record.thread.is_some())));
            }
        }
        facts
    }

    /// Keeps what the span of the record at hand is told besides the fit.
    pub(super) fn remember(&mut self, facts: &mut [(usize, Fact)]) {
        self.common =
            facts.iter_mut().map(|(index, fact)| (*index, std::mem::take(&mut fact.common))).collect();
        self.uuids = facts
            .iter()
            .map(|(index, fact)| (*index, fact.uuids.iter().map(|uuid| Arc::clone(&uuid.text)).collect()))
            .collect();
        self.numbers.clear();
        let numbered = facts.iter().filter(|(_, fact)| !fact.numbers.is_empty());
        self.numbers.extend(numbered.map(|(index, fact)| (*index, fact.numbers.clone())));
    }

    /// What one candidate of a record says. A thread tells whose record it is, whatever
    /// else everybody names.
    fn fact(&mut self, candidate: &Candidate<'_>, has_thread: bool) -> Fact {
        let variables = &self.model.log_points[candidate.log_point.index()].variables;
        let mut values: Vec<(u32, Arc<str>)> = Vec::new();
        let (mut common, mut numbers, mut lines) = (Vec::new(), Vec::<Number>::new(), Vec::new());
        for &(variable, text) in &candidate.values {
            let class = variables.get(variable as usize).and_then(|variable| variable.value_class);
            if let Some((own, marks)) = &self.work {
                match text.parse() {
                    Ok(number) => numbers.extend(Some((*own, number)).filter(|_| class == Some(*own))),
                    Err(_) => numbers.extend(marks.numbers_in(text).map(|number| (*own, number))),
                }
            }
            let shape = variables.get(variable as usize).map(|variable| variable.shape);
            // One of many that it meets: not what the span is about, but whoever was
            // handed it is known by it.
            if let Some(class) = self.orders.met(candidate.log_point, variable)
                && let Some(text) = shape.and_then(|shape| canonical(text, shape))
                && is_made(&text)
            {
                common.push((class, self.shared(&text)));
            }
            let tells = self.orders.tells(candidate.log_point, variable);
            let Some(shape) = shape.filter(|_| tells) else { continue };
            if let Some(text) = canonical(text, shape) {
                values.push((variable, self.shared(&text)));
            } else if let Some(line) = fixed(text, shape) {
                lines.push((variable, self.shared(&line)));
            }
        }
        for (variable, object) in
            (0u32..).zip(variables).filter(|(_, object)| !object.parts.is_empty() && !object.in_text)
        {
            if self.orders.tells(candidate.log_point, variable)
                && let Some(text) = together(variables, &object.parts, &candidate.values)
            {
                values.push((variable, self.shared(&text)));
            }
        }
        let seq = self.seq;
        let mut shared = Vec::new();
        values.retain(|(variable, text)| {
            let shown = self.shown.show(text, Shown::default);
            shown.spread.add(seq);
            let class = variables[*variable as usize].value_class;
            if let Some(class) = class {
                self.kinds.learn(&mut shown.classes, class, text);
                *self.n_of_class.entry(class).or_default() += 1;
            }
            let is_set_up = seq <= AHEAD_RECORDS && self.common_ahead.contains(text);
            let is_sole = class.is_some_and(|class| {
                self.soles.see(class, text);
                !has_thread && self.soles.is_sole(class)
            });
            if !shown.spread.is_common(seq) && !is_set_up && !is_sole {
                return true;
            }
            common.extend(class.map(|class| (class, Arc::clone(text))));
            shared.push((*variable, Arc::clone(text)));
            false
        });
        if !has_thread && values.is_empty() {
            values.extend(shared.extract_if(.., |value| self.takes_turns(variables, value)));
            common.retain(|(_, text)| values.iter().all(|(_, kept)| kept != text));
        }
        shared.extend(lines);
        let named = self.named(candidate, &values);
        let uuids = self.uuids(candidate, &values);
        Fact { values, common, shared, named, uuids, numbers, ..Fact::bare(candidate.log_point) }
    }

    /// Whether a value that many records show is one of several that take turns: a place that is
    /// used again, a partition. It names what a record is about that shows nothing else. What most
    /// records show that show one of its kind (a user, a pool, a cluster) names no request.
    fn takes_turns(&self, variables: &[Variable], (variable, text): &(u32, Arc<str>)) -> bool {
        let Some(class) = variables[*variable as usize].value_class else { return false };
        let n_shown = self.shown.get(text).map_or(0, |shown| shown.spread.n_times());
        let n_of_class = self.n_of_class.get(&class).copied().unwrap_or_default();
        !self.soles.is_sole(class) && n_shown.saturating_mul(2) <= n_of_class
    }

    /// A text, as the one that was shown before if it was: spans hold many equal ones.
    fn shared(&self, text: &str) -> Arc<str> {
        self.shown.get_key_value(text).map_or_else(|| Arc::from(text), |(known, _)| Arc::clone(known))
    }

    /// Adds what the things that a record names are parts of. A record that one
    /// log point only can have printed teaches it.
    pub(super) fn find_wholes(&mut self, facts: &mut [(usize, Fact)]) {
        let is_sure = facts.len() == 1;
        for (_, fact) in facts {
            let keys = fact.values.iter().filter_map(|(variable, text)| {
                Some((self.orders.key(fact.log_point, *variable)?, Arc::clone(text)))
            });
            let keys: Vec<Named> = keys.collect();
            if is_sure {
                self.wholes.learn(&keys);
            }
            fact.wholes = self.wholes.of(&keys);
        }
    }

    /// Objects that are named within the record's texts and that it does not
    /// print itself.
    fn named(
        &mut self,
        candidate: &Candidate<'_>,
        values: &[(u32, Arc<str>)],
    ) -> Vec<(ValueClassId, Arc<str>)> {
        let variables = &self.model.log_points[candidate.log_point.index()].variables;
        for (variable, text) in values {
            let variable = &variables[*variable as usize];
            match variable.value_class {
                Some(class) if !variable.parts.is_empty() => self.names.learn(text, class),
                Some(class) if variable.shape == ValueShape::Hex => self.names.learn_hex(text, class),
                _ => {}
            }
        }
        let mut named = Vec::new();
        for &(variable, text) in &candidate.values {
            if variables.get(variable as usize).is_some_and(|variable| variable.shape == ValueShape::Text) {
                self.names.find(text, &mut named);
            }
        }
        named.retain(|(_, name)| values.iter().all(|(_, known)| known != name));
        named
    }

    /// The UUIDs within the record's texts that it does not print itself, with
    /// the classes of what they can name as far as the log has shown it: what has
    /// not been printed as a value yet can be of any class of UUIDs.
    fn uuids(&mut self, candidate: &Candidate<'_>, values: &[(u32, Arc<str>)]) -> Vec<Uuid> {
        let variables = &self.model.log_points[candidate.log_point.index()].variables;
        for (variable, _) in values.iter().filter(|(_, text)| is_uuid(text)) {
            self.uuid_classes.extend(variables[*variable as usize].value_class);
        }
        let shape = |variable: u32| variables.get(variable as usize).map(|variable| variable.shape);
        let texts =
            candidate.values.iter().filter(|(variable, _)| shape(*variable) == Some(ValueShape::Text));
        let mut found: Vec<Uuid> = Vec::new();
        for text in texts.flat_map(|(_, text)| uuids(text)) {
            let is_known = values.iter().any(|(_, known)| **known == *text);
            if is_known || found.iter().any(|known| *known.text == *text) {
                continue;
            }
            let known = self.shown.get(text).map(|shown| &shown.classes[..]).unwrap_or_default();
            let of_kind = |class: &ValueClassId| {
                known.is_empty() || known.iter().any(|known| self.kinds.of(*known) == self.kinds.of(*class))
            };
            let classes = self.uuid_classes.iter().copied().filter(of_kind).collect();
            found.push(Uuid { text: self.shared(text), classes, is_shown: true });
        }
        found
    }

    /// Adds the digests within the texts of a record that some record has printed as
    /// a value. Where threads are printed, they tell what a thread goes on with, and
    /// others nothing: a text can hold the names of many things that work is about.
    pub(super) fn find_digests(&mut self, record: &Record<'_>, facts: &mut [(usize, Fact)], is_shown: bool) {
        for (index, fact) in facts {
            let Candidate { log_point, values, .. } = &record.candidates[*index];
            let variables = &self.model.log_points[log_point.index()].variables;
            for &(variable, text) in values {
                let class = variables.get(variable as usize).and_then(|variable| variable.value_class);
                self.learn_digest(text, class);
            }
            // A value by which nobody is known, as it is nobody's identifier.
            let whole = values.iter().map(|(_, text)| text.trim_end_matches('.'));
            let is_told = |text: &str| fact.values.iter().any(|(_, known)| **known == *text);
            let untold: Vec<&str> = whole.filter(|text| is_digest(text) && !is_told(text)).collect();
            for text in values.iter().flat_map(|(_, text)| digests(text)).chain(untold) {
                if let Some((text, classes)) = self.digests.get_key_value(text)
                    && fact.uuids.iter().all(|known| known.text != *text)
                {
                    let classes = classes.clone();
                    fact.uuids.push(Uuid { text: Arc::clone(text), classes, is_shown });
                }
            }
        }
    }

    /// A value of `class` is printed: if it is a digest, it names something.
    fn learn_digest(&mut self, text: &str, class: Option<ValueClassId>) {
        let text = canonical(text, ValueShape::Text).unwrap_or_default();
        if let Some(class) = class.filter(|_| is_digest(&text)) {
            let known = self.digests.get_key_value(&text).map(|(known, _)| Arc::clone(known));
            let classes = self.digests.show(&known.unwrap_or_else(|| Arc::from(&*text)), Vec::new);
            self.kinds.learn(classes, class, &text);
        }
    }
}

impl Closed {
    /// Names the things whose UUIDs stand within the span's texts, by the classes
    /// under which the log has `shown` them by now.
    pub(super) fn resolve(&mut self, shown: &RecentTexts<Shown>) {
        let uuids = std::mem::take(&mut self.uuids);
        let identifiers = &mut self.span.identifiers;
        for uuid in uuids {
            let classes = shown.get(&uuid).into_iter().flat_map(|shown| &shown.classes);
            identifiers.extend(classes.map(|&value_class| Value { value_class, text: Arc::clone(&uuid) }));
        }
        identifiers.sort();
        identifiers.dedup();
    }
}

/// The value of an object: all its parts; none if one is not in the record.
fn together(variables: &[Variable], parts: &[u32], values: &[(u32, &str)]) -> Option<String> {
    let mut whole = String::new();
    for &part in parts {
        let (_, text) = values.iter().find(|(variable, _)| *variable == part)?;
        let shape = variables.get(part as usize)?.shape;
        if !whole.is_empty() {
            whole.push('/');
        }
        whole.push_str(&canonical(text, shape)?);
    }
    Some(whole)
}
