//! From text to a query, word by word.

use super::query::{Aggregate, Edge, Expr, InTime, Item, Join, Named, Query, Range, SourceName, Text};
use super::text::{Fault, Reader, Token, hint};

/// Deepest nesting of an expression.
const NESTING_MAX: usize = 64;
/// Operators of a text: expressions are gone through one within the other.
const OPERATORS_MAX: usize = 2_000;

/// Words that begin a part of a query, for hints.
const KEYWORDS: [&str; 10] =
    ["From", "Join", "Left", "Where", "GroupBy", "Having", "Select", "OrderBy", "Limit", "On"];

/// Reads all queries of a text.
pub(super) fn parse(text: &str) -> Result<Text, Fault> {
    let mut parser = Parser { reader: Reader::new(text), depth: 0, n_operators: 0 };
    let mut queries: Vec<Query> = Vec::new();
    while parser.reader.peek()? != Token::End {
        if let Some(before) = queries.last()
            && before.name.is_none()
        {
            let at = parser.reader.start();
            return Err(Fault::new(at, "a query that others follow needs a name: `Name: From ...`"));
        }
        queries.push(parser.query()?);
        while parser.symbol(";")? {}
    }
    match queries.is_empty() {
        true => Err(Fault::new(0, "the query is empty; write `From e In Class.method Select COUNT`")),
        false => Ok(Text { queries }),
    }
}

struct Parser<'t> {
    reader: Reader<'t>,
    depth: usize,
    n_operators: usize,
}

impl Parser<'_> {
    fn query(&mut self) -> Result<Query, Fault> {
        let name = self.name_of_query()?;
        self.expect("From")?;
        let from = self.range()?;
        if let Some((filter, at)) = from.1 {
            let name = if filter.0 == InTime::First { "First" } else { "MostRecent" };
            return Err(Fault::new(at, format!("`{name}` is of what is joined: before which event?")));
        }
        let mut joins = Vec::new();
        loop {
            let is_left = self.keyword("Left")?;
            if !self.keyword("Join")? {
                if is_left {
                    return Err(self.wrong("`Join`"));
                }
                break;
            }
            joins.push(self.join(is_left)?);
        }
        let filter = if self.keyword("Where")? { Some(self.expr()?) } else { None };
        let group = if self.two_words("Group", "By")? { self.list(Self::expr)? } else { Vec::new() };
        let having = if self.keyword("Having")? { Some(self.expr()?) } else { None };
        self.expect("Select")?;
        let is_distinct = self.keyword("Distinct")?;
        let select = self.list(Self::item)?;
        let order = if self.two_words("Order", "By")? { self.list(Self::order)? } else { Vec::new() };
        let limit = if self.keyword("Limit")? { Some(self.whole_number()?.to_string()) } else { None };
        let next = self.reader.peek()?;
        let is_from = matches!(&next, Token::Word(word) if word.eq_ignore_ascii_case("From"));
        if !is_from && !matches!(next, Token::End | Token::Symbol(";")) && !self.begins_query() {
            return Err(self.wrong("the end of the query"));
        }
        Ok(Query { name, from: from.0, joins, filter, group, having, is_distinct, select, order, limit })
    }

    /// Whether `Name: From` comes next.
    fn begins_query(&mut self) -> bool {
        let mut ahead = self.reader.clone();
        matches!(ahead.take(), Ok(Token::Word(_))) && matches!(ahead.take(), Ok(Token::Symbol(":")))
    }

    fn name_of_query(&mut self) -> Result<Option<String>, Fault> {
        if !self.begins_query() {
            return Ok(None);
        }
        let Token::Word(name) = self.reader.take()? else { return Ok(None) };
        self.reader.take()?;
        Ok(Some(name))
    }

    /// `v In sources`, and the filter in time around them.
    #[expect(clippy::type_complexity, reason = "a filter and where it stands")]
    fn range(&mut self) -> Result<(Range, Option<((InTime, usize), usize)>), Fault> {
        let at = self.reader.start();
        let variable = self.name("a name for the event, e.g. `e`")?;
        self.expect("In")?;
        let filter_at = self.reader.start();
        let filter = self.filter()?;
        let sources = self.list(Self::source)?;
        if filter.is_some() && !self.symbol(")")? {
            return Err(self.wrong("`)`"));
        }
        Ok((Range { variable, at, sources }, filter.map(|filter| (filter, filter_at))))
    }

    /// `First(` and the like.
    fn filter(&mut self) -> Result<Option<(InTime, usize)>, Fault> {
        const FILTERS: [(&str, InTime, bool); 4] = [
            ("First", InTime::First, false),
            ("FirstN", InTime::First, true),
            ("MostRecent", InTime::MostRecent, false),
            ("MostRecentN", InTime::MostRecent, true),
        ];
        let mut ahead = self.reader.clone();
        let (Token::Word(word), Token::Symbol("(")) = (ahead.take()?, ahead.take()?) else { return Ok(None) };
        let known = FILTERS.into_iter().find(|(name, ..)| name.eq_ignore_ascii_case(&word));
        let Some((_, filter, has_number)) = known else {
            let hint = hint(&word, FILTERS.iter().map(|(name, ..)| *name));
            return Err(Fault::new(self.reader.start(), format!("`{word}` is no filter in time{hint}")));
        };
        self.reader = ahead;
        if !has_number {
            return Ok(Some((filter, 1)));
        }
        let n = self.whole_number()?;
        if self.symbol(",")? { Ok(Some((filter, n))) } else { Err(self.wrong("`,` and then the source")) }
    }

    fn source(&mut self) -> Result<SourceName, Fault> {
        let at = self.reader.start();
        if self.symbol("*")? && !self.reader.text[self.reader.at..].starts_with(['.', '*']) {
            return Ok(SourceName { name: Named::Anything, at });
        }
        self.reader.at = at;
        if let Token::Text(text) = self.reader.peek()? {
            self.reader.take()?;
            return Ok(SourceName { name: Named::Template(text), at });
        }
        let rest = &self.reader.text[at..];
        let is_of_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '$' | '*' | ':');
        let mut end = 0;
        while let Some(c) = rest[end..].chars().next() {
            let special = ["<init>", "<clinit>"].into_iter().find(|name| rest[end..].starts_with(name));
            match special {
                Some(name) if rest[..end].ends_with('.') => end += name.len(),
                _ if is_of_name(c) => end += c.len_utf8(),
                _ => break,
            }
        }
        if end == 0 {
            return Err(self.wrong("a class, `Class.method`, \"text of a template\" or the name of a query"));
        }
        self.reader.at = at + end;
        Ok(SourceName { name: Named::Name(rest[..end].to_owned()), at })
    }

    fn join(&mut self, is_left: bool) -> Result<Join, Fault> {
        let (range, filter) = self.range()?;
        self.expect("On")?;
        let mut edges = vec![self.edge()?];
        while self.keyword("And")? {
            edges.push(self.edge()?);
        }
        Ok(Join { range, filter: filter.map(|(filter, _)| filter), is_left, edges })
    }

    fn edge(&mut self) -> Result<Edge, Fault> {
        let at = self.reader.start();
        let is_not = self.keyword("not")?;
        let from = self.name("a name of an event")?;
        let relation = match self.reader.peek()? {
            Token::Symbol("->") => "happened_before",
            Token::Symbol("~>") => "may_happen_before",
            Token::Symbol("||") => "concurrent",
            Token::Symbol(">>") => "ancestor",
            _ => return Err(self.wrong("`->` (happened before), `~>` (may have), `||` (concurrent) or `>>`")),
        };
        self.reader.take()?;
        let to = self.name("a name of an event")?;
        let within_us = if self.keyword("within")? { Some(self.time_span()?) } else { None };
        Ok(Edge { from, to, relation, is_not, within_us, at })
    }

    fn time_span(&mut self) -> Result<i64, Fault> {
        match self.reader.peek()? {
            Token::Span(us) => self.reader.take().map(|_| us),
            _ => Err(self.wrong("a time, e.g. 5s")),
        }
    }

    fn item(&mut self) -> Result<Item, Fault> {
        let start = self.reader.start();
        let expr = self.expr()?;
        let written = self.reader.text[start..self.reader.at].trim().to_owned();
        let name = if self.keyword("As")? { self.name("a name for the column")? } else { written };
        Ok(Item { expr, name })
    }

    fn order(&mut self) -> Result<(Expr, bool), Fault> {
        let expr = self.expr()?;
        let is_descending = self.keyword("Desc")?;
        if !is_descending {
            self.keyword("Asc")?;
        }
        Ok((expr, is_descending))
    }

    fn expr(&mut self) -> Result<Expr, Fault> {
        self.depth += 1;
        if self.depth > NESTING_MAX {
            return Err(Fault::new(self.reader.start(), format!("more than {NESTING_MAX} levels deep")));
        }
        let mut left = self.conjunction()?;
        while let Some(at) = self.keyword_at("Or")? {
            let right = self.conjunction()?;
            left = self.binary("OR", left, right, at)?;
        }
        self.depth -= 1;
        Ok(left)
    }

    fn conjunction(&mut self) -> Result<Expr, Fault> {
        let mut left = self.negation()?;
        while let Some(at) = self.keyword_at("And")? {
            let right = self.negation()?;
            left = self.binary("AND", left, right, at)?;
        }
        Ok(left)
    }

    fn negation(&mut self) -> Result<Expr, Fault> {
        let mut is_not = false;
        while self.keyword("Not")? {
            is_not = !is_not;
        }
        let expr = self.comparison()?;
        Ok(if is_not { Expr::Not(Box::new(expr)) } else { expr })
    }

    fn comparison(&mut self) -> Result<Expr, Fault> {
        const OPS: [(&str, &str); 8] = [
            ("==", "="),
            ("=", "="),
            ("!=", "<>"),
            ("<>", "<>"),
            ("<=", "<="),
            (">=", ">="),
            ("<", "<"),
            (">", ">"),
        ];
        let left = self.sum()?;
        let at = self.reader.start();
        if self.keyword("Is")? {
            let is_not = self.keyword("Not")?;
            self.expect("Null")?;
            return Ok(Expr::IsNull { of: Box::new(left), is_not });
        }
        if self.keyword("Like")? {
            let right = self.sum()?;
            return self.binary("LIKE", left, right, at);
        }
        let Token::Symbol(symbol) = self.reader.peek()? else { return Ok(left) };
        let Some((_, op)) = OPS.into_iter().find(|(written, _)| *written == symbol) else { return Ok(left) };
        self.reader.take()?;
        let right = self.sum()?;
        self.binary(op, left, right, at)
    }

    fn sum(&mut self) -> Result<Expr, Fault> {
        let mut left = self.product()?;
        loop {
            let at = self.reader.start();
            let op = if self.symbol("+")? {
                "+"
            } else if self.symbol("-")? {
                "-"
            } else {
                return Ok(left);
            };
            let right = self.product()?;
            left = self.binary(op, left, right, at)?;
        }
    }

    fn product(&mut self) -> Result<Expr, Fault> {
        let mut left = self.atom()?;
        loop {
            let at = self.reader.start();
            let op = if self.symbol("*")? {
                "*"
            } else if self.symbol("/")? {
                "/"
            } else if self.symbol("%")? {
                "%"
            } else {
                return Ok(left);
            };
            let right = self.atom()?;
            left = self.binary(op, left, right, at)?;
        }
    }

    fn atom(&mut self) -> Result<Expr, Fault> {
        let at = self.reader.start();
        match self.reader.take()? {
            Token::Symbol("(") => {
                let expr = self.expr()?;
                if self.symbol(")")? { Ok(expr) } else { Err(self.wrong("`)`")) }
            }
            Token::Symbol("-") => {
                let mut n_signs = 1;
                while self.symbol("-")? {
                    n_signs += 1;
                }
                let of = self.atom()?;
                let zero = Expr::Number("0".to_owned());
                if n_signs % 2 == 0 { Ok(of) } else { self.binary("-", zero, of, at) }
            }
            Token::Number(number) => Ok(Expr::Number(number)),
            Token::Span(us) => Ok(Expr::Span(us)),
            Token::Text(text) => Ok(Expr::Text(text)),
            Token::Word(word) if word.eq_ignore_ascii_case("null") => Ok(Expr::Null),
            Token::Word(word) => self.field_or_call(word, at),
            _ => {
                self.reader.at = at;
                Err(self.wrong("a value: `event.export`, a number, a text or an aggregate"))
            }
        }
    }

    fn binary(&mut self, op: &'static str, left: Expr, right: Expr, at: usize) -> Result<Expr, Fault> {
        self.n_operators += 1;
        if self.n_operators > OPERATORS_MAX {
            return Err(Fault::new(at, format!("more than {OPERATORS_MAX} operators in one text")));
        }
        Ok(Expr::Binary { op, left: Box::new(left), right: Box::new(right), at })
    }

    fn field_or_call(&mut self, word: String, at: usize) -> Result<Expr, Fault> {
        let known = Aggregate::ALL.into_iter().find(|(name, _)| name.eq_ignore_ascii_case(&word));
        if let Some((_, function)) = known {
            return self.call(function, at);
        }
        if self.reader.peek()? == Token::Symbol("(") {
            let hint = hint(&word, Aggregate::ALL.iter().map(|(name, _)| *name));
            let message = format!("`{word}` is no aggregate{hint} (there are COUNT, SUM, MIN, MAX, AVERAGE)");
            return Err(Fault::new(at, message));
        }
        let mut field: Option<String> = None;
        while self.reader.text[self.reader.at..].starts_with('.') {
            self.reader.take()?;
            let part = match self.reader.take()? {
                Token::Word(part) | Token::Text(part) => part,
                _ => return Err(Fault::new(self.reader.at, "a dot is followed by the name of an export")),
            };
            field = Some(field.map_or(part.clone(), |field| format!("{field}.{part}")));
        }
        Ok(Expr::Field { variable: word, field, at })
    }

    fn call(&mut self, function: Aggregate, at: usize) -> Result<Expr, Fault> {
        if !self.symbol("(")? {
            return match function {
                Aggregate::Count => Ok(Expr::Call { function, argument: None, at }),
                _ => Err(self.wrong("`(` and what to aggregate")),
            };
        }
        if function == Aggregate::Count && (self.symbol("*")? || self.reader.peek()? == Token::Symbol(")")) {
            let closed = self.symbol(")")?;
            return if closed {
                Ok(Expr::Call { function, argument: None, at })
            } else {
                Err(self.wrong("`)`"))
            };
        }
        let argument = Box::new(self.expr()?);
        if !self.symbol(")")? {
            return Err(self.wrong("`)`"));
        }
        if argument.has_aggregate() {
            return Err(Fault::new(
                at,
                "an aggregate of an aggregate: give the inner one a query of its own",
            ));
        }
        Ok(Expr::Call { function, argument: Some(argument), at })
    }

    fn list<T>(&mut self, one: impl Fn(&mut Self) -> Result<T, Fault>) -> Result<Vec<T>, Fault> {
        let mut out = vec![one(self)?];
        while self.symbol(",")? {
            out.push(one(self)?);
        }
        Ok(out)
    }

    fn name(&mut self, what: &str) -> Result<String, Fault> {
        match self.reader.peek()? {
            Token::Word(word) => self.reader.take().map(|_| word),
            Token::Text(text) => self.reader.take().map(|_| text),
            _ => Err(self.wrong(what)),
        }
    }

    fn whole_number(&mut self) -> Result<usize, Fault> {
        let number = match self.reader.peek()? {
            Token::Number(number) => number.parse().ok(),
            _ => None,
        };
        match number {
            Some(n) => self.reader.take().map(|_| n),
            None => Err(self.wrong("a whole number")),
        }
    }

    fn symbol(&mut self, symbol: &str) -> Result<bool, Fault> {
        let is_it = matches!(self.reader.peek()?, Token::Symbol(found) if found == symbol);
        if is_it {
            self.reader.take()?;
        }
        Ok(is_it)
    }

    fn keyword(&mut self, word: &str) -> Result<bool, Fault> {
        Ok(self.keyword_at(word)?.is_some())
    }

    /// Takes a keyword if it comes next; where it stands.
    fn keyword_at(&mut self, word: &str) -> Result<Option<usize>, Fault> {
        let at = self.reader.start();
        let is_it = matches!(self.reader.peek()?, Token::Word(found) if found.eq_ignore_ascii_case(word));
        if is_it {
            self.reader.take()?;
        }
        Ok(is_it.then_some(at))
    }

    /// `GroupBy` or `Group By`.
    fn two_words(&mut self, first: &str, second: &str) -> Result<bool, Fault> {
        if self.keyword(&format!("{first}{second}"))? {
            return Ok(true);
        }
        if !self.keyword(first)? {
            return Ok(false);
        }
        self.expect(second).map(|()| true)
    }

    fn expect(&mut self, word: &str) -> Result<(), Fault> {
        if self.keyword(word)? { Ok(()) } else { Err(self.wrong(&format!("`{word}`"))) }
    }

    /// What stands here instead of what was expected.
    fn wrong(&mut self, expected: &str) -> Fault {
        let at = self.reader.start();
        let found = match self.reader.peek() {
            Err(fault) => return fault,
            Ok(Token::End) => return Fault::new(at, format!("the query ends, but {expected} was expected")),
            Ok(Token::Word(word)) => {
                let hint = hint(&word, KEYWORDS.into_iter().filter(|keyword| *keyword != word));
                format!("`{word}`{hint}")
            }
            Ok(_) => {
                let mut ahead = self.reader.clone();
                let _ = ahead.take();
                format!("`{}`", &self.reader.text[at..ahead.at])
            }
        };
        Fault::new(at, format!("expected {expected}, got {found}"))
    }
}
