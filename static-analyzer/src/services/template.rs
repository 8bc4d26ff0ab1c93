//! Templates of paths: what a handler serves, and what a client asks for.
//!
//! `/orders/{id}` is two segments, of which the second is a variable; so is `:id` or `<id>`, as
//! other libraries write it. `*` is any segment, and what ends in `**` or `/*` any number of them.

use crate::ir::ValueId;

/// One segment of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Segment {
    /// Known text.
    Text(String),
    /// Any text, by its name.
    Variable(String),
    /// Known text around something that is not known.
    Partly(String, String),
    /// Any number of segments.
    Rest,
}

/// A part of what a client asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Known text.
    Text(String),
    /// Something that is put in; the value in the method that asks, if it is known.
    Value(Option<ValueId>),
}

/// What a handler serves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Template {
    /// Its segments.
    pub(crate) segments: Vec<Segment>,
}

/// What a client asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Asked {
    /// Its segments; variables are called by their position in `values`, in braces.
    pub(crate) segments: Vec<Segment>,
    /// What stands for each segment that is a variable.
    pub(crate) values: Vec<(usize, ValueId)>,
    /// `{name}` of templates that are filled in later, by segment.
    pub(crate) names: Vec<(usize, String)>,
    /// Parameters behind `?`, with what is put in.
    pub(crate) parameters: Vec<(String, Option<ValueId>)>,
    /// The host, if it is known.
    pub(crate) host: String,
    /// There can be more segments before the first one.
    pub(crate) is_open: bool,
    /// There can be more behind the last one.
    pub(crate) goes_on: bool,
}

/// How well a handler serves what is asked for: segment by segment, best first.
pub(crate) type Fit = (bool, Vec<u8>);

impl Template {
    /// The template of the texts of a class and of a method, one below the other.
    pub(crate) fn new(prefixes: &[&str]) -> Self {
        let mut segments = Vec::new();
        for prefix in prefixes {
            let plain = prefix.split_once("://").map_or(*prefix, |(_, rest)| rest);
            let plain = plain.split('?').next().unwrap_or_default();
            // What is set elsewhere can be any number of segments.
            let known = split(plain).into_iter().filter(|segment| !segment.contains("${"));
            segments.extend(known.map(|segment| served(&segment)));
        }
        if segments.iter().rposition(|segment| *segment == Segment::Rest) < segments.len().checked_sub(1) {
            segments.retain(|segment| *segment != Segment::Rest);
        }
        Template { segments }
    }

    /// Any path at all.
    pub(crate) fn any() -> Self {
        Template { segments: vec![Segment::Rest] }
    }

    /// As it is meant where `/*` at the end stands for whatever is below.
    pub(crate) fn of_servlet(mut self) -> Self {
        if self.segments.last() == Some(&Segment::Variable(String::new())) {
            self.segments.pop();
            return self.with_rest();
        }
        self
    }

    /// The same with whatever is below it.
    pub(crate) fn with_rest(mut self) -> Self {
        if self.segments.last() != Some(&Segment::Rest) {
            self.segments.push(Segment::Rest);
        }
        self
    }

    /// How well it serves what is asked for, if it does.
    pub(crate) fn fit(&self, asked: &Asked) -> Option<Fit> {
        let rest = self.segments.last() == Some(&Segment::Rest);
        let own = &self.segments[..self.segments.len() - usize::from(rest)];
        let n = asked.segments.len();
        let skipped = match asked.is_open {
            true => own.len().saturating_sub(n),
            false => 0,
        };
        let can_end = own.len() - skipped <= n && (rest || own.len() - skipped == n)
            || asked.goes_on && own.len() - skipped > n;
        if !can_end {
            return None;
        }
        let fits = own[skipped..].iter().zip(&asked.segments).map(|(own, asked)| segment_fit(own, asked));
        let mut fits: Vec<u8> = fits.collect::<Option<_>>()?;
        // What is put in is hardly the very text that another handler serves.
        let is_guessed = fits.contains(&GUESSED);
        let is_whole = skipped == 0 && own.len() == n && !rest && !is_guessed;
        // What is known of the path has to be told by it.
        let is_told = fits.iter().any(|&fit| fit >= KNOWN);
        if !is_told && (!is_whole || asked.is_open || n > 1) {
            return None;
        }
        fits.extend((rest || !is_whole).then_some(if rest { ANYTHING } else { GUESSED }));
        Some((is_whole, fits))
    }

    /// The same where a front of what is asked for is taken off on the way, or is set where the
    /// handler runs: all of the handler's own path is known behind it, by two segments at least.
    pub(crate) fn fit_behind(&self, asked: &Asked) -> Option<Fit> {
        let n = self.segments.len();
        let front = asked.segments.len().checked_sub(n).filter(|&front| front > 0)?;
        let is_plain = |segment: &Segment| matches!(segment, Segment::Text(_));
        if !asked.segments[..front].iter().all(is_plain) || self.segments.last() == Some(&Segment::Rest) {
            return None;
        }
        let pairs = self.segments.iter().zip(&asked.segments[front..]);
        let fits: Vec<u8> = pairs.map(|(own, asked)| segment_fit(own, asked)).collect::<Option<_>>()?;
        let n_known = fits.iter().filter(|&&fit| fit >= KNOWN).count();
        (n_known > 1 && !fits.contains(&GUESSED)).then_some((false, fits))
    }

    /// As it is written.
    pub(crate) fn text(&self) -> String {
        text(&self.segments)
    }
}

/// What is known on both sides fits at least so.
const KNOWN: u8 = 3;

/// How well what serves anything below it fits.
const ANYTHING: u8 = 1;

/// How well a known text fits what is put in.
const GUESSED: u8 = 0;

/// How well one segment of a handler serves one that is asked for.
fn segment_fit(own: &Segment, asked: &Segment) -> Option<u8> {
    match (own, asked) {
        (Segment::Text(own), Segment::Text(asked)) => (own == asked).then_some(5),
        (Segment::Partly(front, back), Segment::Text(asked)) => {
            (asked.starts_with(front.as_str()) && asked.ends_with(back.as_str())).then_some(4)
        }
        (Segment::Text(own), Segment::Partly(front, back)) => {
            (own.starts_with(front.as_str()) && own.ends_with(back.as_str())).then_some(4)
        }
        (Segment::Partly(a, b), Segment::Partly(c, d)) => (a == c && b == d).then_some(5),
        (Segment::Variable(_), Segment::Variable(_)) => Some(2),
        (Segment::Variable(_), Segment::Text(_) | Segment::Partly(..)) => Some(1),
        (Segment::Text(_) | Segment::Partly(..), Segment::Variable(_)) => Some(GUESSED),
        (Segment::Rest, _) | (_, Segment::Rest) => Some(ANYTHING),
    }
}

/// A path cut at slashes, not those within braces.
fn split(path: &str) -> Vec<String> {
    let (mut found, mut depth) = (vec![String::new()], 0_usize);
    for c in path.chars() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            '/' if depth == 0 => {
                found.push(String::new());
                continue;
            }
            _ => {}
        }
        found.last_mut().expect("begins with one").push(c);
    }
    found.retain(|segment| !segment.is_empty());
    found
}

/// One segment as libraries of servers write it.
fn served(segment: &str) -> Segment {
    let name = |inner: &str| {
        let name = inner.split(':').next().unwrap_or(inner);
        name.trim_matches(|c: char| !c.is_alphanumeric() && c != '_' && c != '-').to_owned()
    };
    if segment == "**" || segment == "*" {
        return if segment == "**" { Segment::Rest } else { Segment::Variable(String::new()) };
    }
    if let Some(inner) = segment.strip_prefix(':') {
        return Segment::Variable(name(inner));
    }
    let is_bracketed = segment.starts_with('<') && segment.ends_with('>');
    match (segment.find('{'), segment.rfind('}')) {
        (Some(0), Some(end)) if end + 1 == segment.len() && !segment[1..].contains("/{") => {
            let inner = &segment[1..end];
            match inner.starts_with('*') || inner.ends_with(":.*") || inner.ends_with(":.+") {
                true => Segment::Rest,
                false => Segment::Variable(name(inner)),
            }
        }
        (Some(start), Some(end)) if start < end => {
            Segment::Partly(segment[..start].to_owned(), segment[end + 1..].to_owned())
        }
        _ if is_bracketed => Segment::Variable(name(&segment[1..segment.len() - 1])),
        _ => match segment.split_once('*') {
            Some((front, back)) => Segment::Partly(front.to_owned(), back.to_owned()),
            None => Segment::Text(segment.to_owned()),
        },
    }
}

fn text(segments: &[Segment]) -> String {
    let one = |segment: &Segment| match segment {
        Segment::Text(text) => text.clone(),
        Segment::Variable(name) => format!("{{{name}}}"),
        Segment::Partly(front, back) => format!("{front}{{}}{back}"),
        Segment::Rest => "**".to_owned(),
    };
    let all: Vec<String> = segments.iter().map(one).collect();
    format!("/{}", all.join("/"))
}

/// How addresses begin that are asked for over a network.
pub(crate) const SCHEMES: &[&str] = &["http://", "https://", "lb://", "ws://", "wss://"];

/// A mark for what is put into a text, which no text has itself.
const MARK: char = '\u{1}';

impl Asked {
    /// What an address or path of such parts asks for; none if it is no such text.
    pub(crate) fn new(parts: &[Part]) -> Option<Self> {
        let mut whole = String::new();
        let mut values = Vec::new();
        for part in parts {
            match part {
                Part::Text(text) => whole.push_str(text),
                Part::Value(value) => {
                    whole.push(MARK);
                    values.push(*value);
                }
            }
        }
        let mut values = values.into_iter();
        let mut asked = Asked::default();
        let scheme = SCHEMES.iter().find(|scheme| whole.starts_with(**scheme));
        let mut path = whole.as_str();
        if let Some(scheme) = scheme {
            let rest = &whole[scheme.len()..];
            let end = rest.find(['/', '?']).unwrap_or(rest.len());
            let host = &rest[..end];
            host.chars().filter(|&c| c == MARK).for_each(|_| _ = values.next());
            let known = host.split(':').next().unwrap_or_default();
            // An address that a value ends goes on with what that holds.
            asked.is_open = host.ends_with(MARK);
            asked.host = if known.contains(MARK) { String::new() } else { known.to_owned() };
            path = &rest[end..];
        } else if let Some(rest) = whole.strip_prefix(MARK) {
            // The front of the address is not known.
            values.next();
            asked.is_open = true;
            path = rest;
            if !path.starts_with(['/', '?']) && !path.is_empty() {
                // What is put in can end anywhere: of the segment only the end is known.
                let end = path.find(['/', '?']).unwrap_or(path.len());
                let back = &path[..end];
                back.chars().filter(|&c| c == MARK).for_each(|_| _ = values.next());
                let is_of_host = back.contains([MARK, ':']);
                if !is_of_host {
                    asked.segments.push(Segment::Partly(String::new(), back.to_owned()));
                }
                path = &path[end..];
            }
        }
        // What has no host is asked of one that stands elsewhere, below what stands there.
        asked.is_open |= scheme.is_none();
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        asked.add_path(path.split('#').next().unwrap_or_default(), &mut values);
        asked.add_query(query, &mut values);
        Some(asked)
    }

    fn add_path(&mut self, path: &str, values: &mut impl Iterator<Item = Option<ValueId>>) {
        let segments = split(path);
        let last = segments.len().saturating_sub(1);
        for (at, segment) in segments.iter().enumerate() {
            let n_marks = segment.chars().filter(|&c| c == MARK).count();
            let given: Vec<Option<ValueId>> = values.by_ref().take(n_marks).collect();
            if segment.len() == MARK.len_utf8() && n_marks == 1 {
                self.values.extend(given[0].map(|value| (self.segments.len(), value)));
                self.segments.push(Segment::Variable(String::new()));
            } else if n_marks > 0 {
                let (front, rest) = segment.split_once(MARK).unwrap_or((segment, ""));
                let back = rest.rsplit(MARK).next().unwrap_or_default();
                self.goes_on |= at == last && segment.ends_with(MARK);
                self.segments.push(Segment::Partly(front.to_owned(), back.to_owned()));
            } else {
                let segment = served(segment);
                if let Segment::Variable(name) = &segment {
                    self.names.push((self.segments.len(), name.clone()));
                }
                self.segments.push(segment);
            }
        }
    }

    fn add_query(&mut self, query: &str, values: &mut impl Iterator<Item = Option<ValueId>>) {
        for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
            let n_marks = parameter.chars().filter(|&c| c == MARK).count();
            let given: Vec<Option<ValueId>> = values.by_ref().take(n_marks).collect();
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            if name.contains(MARK) {
                continue;
            }
            let is_whole = n_marks == 1 && value.len() == MARK.len_utf8();
            let value = given.first().copied().flatten().filter(|_| is_whole);
            self.parameters.push((name.to_owned(), value));
        }
    }

    /// Whether any segment is known.
    pub(crate) fn is_known(&self) -> bool {
        let is_told = |segment: &Segment| match segment {
            Segment::Text(_) => true,
            Segment::Partly(front, back) => !front.is_empty() || !back.is_empty(),
            Segment::Variable(_) | Segment::Rest => false,
        };
        self.segments.iter().any(is_told)
            || !self.is_open && self.segments.is_empty() && !self.host.is_empty()
    }

    /// As it would be written, without the host.
    pub(crate) fn text(&self) -> String {
        let front = if self.is_open { "**" } else { "" };
        format!("{front}{}", text(&self.segments))
    }
}

/// Whether a text looks like a path that a handler serves.
pub(crate) fn is_path(text: &str) -> bool {
    let is_plain = !text.is_empty() && !text.contains(char::is_whitespace) && !text.contains("${");
    let has_variable = text.find('{').is_some_and(|at| text[at..].contains('}') && text.contains('/'));
    is_plain && !text.contains("://") && (text.starts_with('/') || has_variable)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(text: &str) -> Asked {
        let mut parts = Vec::new();
        for (at, piece) in text.split('@').enumerate() {
            parts.extend((at > 0).then_some(Part::Value(Some(ValueId::new(at)))));
            parts.push(Part::Text(piece.to_owned()));
        }
        Asked::new(&parts).expect("an address")
    }

    fn best<'a>(served: &[&'a str], text: &str) -> Option<&'a str> {
        let asked = asked(text);
        let fits = served.iter().filter_map(|path| Some((Template::new(&[path]).fit(&asked)?, *path)));
        fits.max_by(|a, b| a.0.cmp(&b.0)).map(|(_, path)| path)
    }

    #[test]
    fn a_path_is_served_by_what_knows_most_of_it() {
        let served = ["/orders/{id}", "/orders/all", "/{kind}/{id}", "/orders/{id}/lines", "/files/**"];
        assert_eq!(best(&served, "http://orders:80/orders/@"), Some("/orders/{id}"));
        assert_eq!(best(&served, "http://orders/orders/all"), Some("/orders/all"));
        assert_eq!(best(&served, "/orders/7/lines?x=1"), Some("/orders/{id}/lines"));
        assert_eq!(best(&served, "@/orders/@"), Some("/orders/{id}"));
        assert_eq!(best(&served, "/users/@"), None);
        assert_eq!(best(&served, "/files/a/b"), Some("/files/**"));
        assert_eq!(best(&served, "@"), None);
        assert_eq!(best(&["/trucks/free", "/trucks/**"], "@/trucks/@"), Some("/trucks/**"));
        assert_eq!(best(&["/api/orders/{id:[0-9]+}"], "@/orders/@"), Some("/api/orders/{id:[0-9]+}"));
    }

    #[test]
    fn a_front_that_is_taken_off_on_the_way_is_passed_over() {
        let behind = |served: &str, text: &str| Template::new(&[served]).fit_behind(&asked(text)).is_some();
        assert!(behind("/api/orders/{id}", "http://gate/shop/api/orders/@"));
        assert!(behind("${base}/api/orders/{id}", "http://orders/shop/api/orders/@"));
        // One known segment is too little.
        assert!(!behind("/orders/{id}", "http://gate/shop/orders/@"));
        assert!(!behind("/api/orders/{id}", "http://gate/@/api/orders/@"));
        assert!(!behind("/api/orders/{id}", "http://orders/api/orders/@"));
    }

    #[test]
    fn what_is_put_in_stands_for_variables_and_parameters() {
        let asked = asked("http://@/orders/@?user=@&page=2");
        assert_eq!(asked.values, [(1, ValueId::new(2))]);
        assert_eq!(asked.parameters[0], ("user".to_owned(), Some(ValueId::new(3))));
        assert_eq!((asked.host.as_str(), asked.is_open), ("", true));
        assert_eq!(
            super::Asked::new(&[Part::Text("lb://shop/a".to_owned())]).map(|a| a.host),
            Some("shop".to_owned())
        );
    }

    #[test]
    fn other_ways_to_write_variables() {
        for path in ["/a/{id}", "/a/:id", "/a/<id>", "/a/{id:\\d{2,3}}"] {
            let id = Segment::Variable("id".to_owned());
            assert_eq!(Template::new(&[path]).segments[1], id, "{path}");
        }
        assert_eq!(Template::new(&["/api/", "orders"]).text(), "/api/orders");
    }
}
