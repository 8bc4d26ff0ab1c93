//! Lines of the log: what they say and how the message is put together.

use super::java::{Code, fill};
use super::plan::{Carry, Id, Library, Say, Shows, Style};
use super::words::large;
use super::write::{Env, Writer};

/// A piece of a message.
#[derive(Clone, Debug)]
enum Part {
    Text(String),
    /// An expression, and whether it is an `int`.
    Value(String, bool),
}

/// `%V %v` verb, `%N %n` noun, `%I` identifier, `%w %W` what it works on, `%a %A`
/// amount, `%O` the carried object, `%x %X` a further value: small the word, large the
/// value (the word with a large letter where it has no value).
const ID: &[&str] =
    &["%V %n %I", "%N %I %v", "%n=%I %v", "%I %v now", "%V for %n %I", "Now %v: %n %I", "%N %I is %v"];
const ID_WHAT: &[&str] = &["%V %n %I of %w %W", "%W: %n %I %v", "%N %I %v on %W", "%n=%I %w=%W %v"];
const ID_AMOUNT: &[&str] = &["%N %I %v after %A %a", "%V %A %a of %n %I", "%n %I %v (%A)", "%N %I %v, %a %A"];
const ID_FLAG: &[&str] = &["%N %I %v: %B", "%n %I, %v %B", "%V %n %I (%B)"];
const OBJECT: &[&str] = &["%V %O", "%O %v", "Now %v: %O"];
const FURTHER: &[&str] = &["%V %x %X of %n %I", "%N %I %v, %x %X", "%x %X of %I %v"];
const NO_ID: &[&str] = &["%V all %a", "%V the %w now", "%V %A %a", "Everything %v", "%V again"];

/// A value besides those of the request.
pub(crate) type Further<'a> = Option<(&'a str, &'a str)>;

impl Writer<'_> {
    /// A line with the identifier.
    pub(crate) fn say(&mut self, env: &Env, say: Say) -> Code {
        let level = if self.random.chance(8) { "warn" } else { "info" };
        self.say_at(env, say, level, None)
    }

    /// The same with a further value.
    pub(crate) fn say_further(&mut self, env: &Env, say: Say, further: (&str, &str)) -> Code {
        self.say_at(env, say, "info", Some(further))
    }

    pub(crate) fn say_at(&mut self, env: &Env, say: Say, level: &str, further: Further) -> Code {
        if say.style == Style::Same && further.is_none() {
            let text = format!("{} ", large(self.domains[env.kind].noun));
            let parts = [Part::Text(text), Part::Value(self.id(env), false), Part::Text(" noted".to_owned())];
            return self.call(env, level, &concat(&parts), None);
        }
        let parts = self.parts(env, say.shows, further);
        let style = if level == "debug" && say.style != Style::Wrapper { Style::Concat } else { say.style };
        if style == Style::Ternary {
            let other = self.parts(env, say.shows, further);
            let amount = self.amount(env);
            let text = format!("{amount} % 2 == 0 ? {} : {}", concat(&parts), concat(&other));
            return self.call(env, level, &text, None);
        }
        self.print_parts(env, style, level, &parts)
    }

    /// A line without the identifier.
    pub(crate) fn say_no_id(&mut self, env: &Env, say: Say) -> Code {
        let template = *self.random.pick(NO_ID);
        let parts = self.parse(env, template, None);
        let style = if say.style == Style::Ternary { Style::Concat } else { say.style };
        self.print_parts(env, style, "info", &parts)
    }

    /// A constant text, with an exception's trace.
    pub(crate) fn raw(&mut self, env: &Env, level: &str, text: &str, thrown: Option<&str>) -> Code {
        self.call(env, level, &format!("\"{text}\""), thrown)
    }

    /// A constant text.
    pub(crate) fn say_constant(&mut self, env: &Env, text: &str) -> Code {
        self.raw(env, "info", text, None)
    }

    /// A line that shows an object after `text`, and a number with its word.
    pub(crate) fn say_object(
        &mut self,
        env: &Env,
        say: Say,
        text: &str,
        object: &str,
        number: Further,
    ) -> Code {
        let mut parts = vec![Part::Text(text.to_owned()), Part::Value(object.to_owned(), false)];
        if let Some((word, value)) = number {
            parts.push(Part::Text(format!(" {word} ")));
            parts.push(Part::Value(value.to_owned(), true));
        }
        self.print_parts(env, say.style, "info", &parts)
    }

    /// A line with the identifier and an exception's trace.
    pub(crate) fn say_thrown(&mut self, env: &Env, thrown: &str) -> Code {
        let parts = self.parts(env, Shows::Id, None);
        self.call(env, "warn", &concat(&parts), Some(thrown))
    }

    /// The call of the library: `LOG.info(TEXT)`.
    fn call(&mut self, env: &Env, level: &str, text: &str, thrown: Option<&str>) -> Code {
        self.classes[env.class].says = true;
        let name = match (self.program.library, level) {
            (Library::Jdk, "warn") => "warning",
            (Library::Jdk, "error") => "severe",
            (Library::Jdk, "debug") => "fine",
            (_, level) => level,
        };
        match (self.program.library, thrown) {
            (Library::Jdk, Some(thrown)) => {
                let level = name.to_uppercase();
                fill(
                    "LOG.log(Level.$level, $text, $thrown);",
                    &[("level", &level), ("text", text), ("thrown", thrown)],
                    &[],
                )
            }
            (_, Some(thrown)) => {
                Code { lines: vec![format!("LOG.{name}({text}, {thrown});")], throws: false }
            }
            (_, None) => Code { lines: vec![format!("LOG.{name}({text});")], throws: false },
        }
    }

    fn print_parts(&mut self, env: &Env, style: Style, level: &str, parts: &[Part]) -> Code {
        match style {
            Style::Concat | Style::Ternary | Style::Same => self.call(env, level, &concat(parts), None),
            Style::Places => self.places(env, level, parts),
            Style::Format => {
                let text = format!("String.format({})", formatted(parts));
                self.call(env, level, &text, None)
            }
            Style::Prefix => self.prefixed(env, level, parts),
            Style::Builder => self.builder(env, level, parts),
            Style::Helper => self.helper(env, level, parts),
            Style::Wrapper => {
                self.need_wrapper();
                let component = self.domains[env.kind].what;
                let text = format!("Journal.note(\"{component}\", {});", formatted(parts));
                Code { lines: vec![text], throws: false }
            }
        }
    }

    fn places(&mut self, env: &Env, level: &str, parts: &[Part]) -> Code {
        let values: Vec<String> = parts.iter().filter_map(value).collect();
        let jdk = self.program.library == Library::Jdk;
        let has_none = matches!(self.program.library, Library::Log4j1 | Library::Commons);
        if values.is_empty() || has_none || (jdk && level != "info") {
            return self.call(env, level, &concat(parts), None);
        }
        let mut place = 0_usize..;
        let text: String = parts
            .iter()
            .map(|part| match part {
                Part::Text(text) => text.clone(),
                Part::Value(..) if jdk => format!("{{{}}}", place.next().expect("endless")),
                Part::Value(..) => "{}".to_owned(),
            })
            .collect();
        if jdk {
            self.classes[env.class].says = true;
            let values = values.join(", ");
            let line = format!("LOG.log(Level.INFO, \"{text}\", new Object[] {{{values}}});");
            return Code { lines: vec![line], throws: false };
        }
        self.call(env, level, &format!("\"{text}\", {}", values.join(", ")), None)
    }

    /// A text that the class computed when it was loaded stands before the message.
    fn prefixed(&mut self, env: &Env, level: &str, parts: &[Part]) -> Code {
        let class = &mut self.classes[env.class];
        if !class.has("PREFIX") {
            class.fresh("PREFIX");
            class
                .fields
                .push(format!("private static final String PREFIX = prefix({}.class, 7);", class.name));
            let method = "private static String prefix(Class<?> of, int number) {
                return \"[\" + of.getSimpleName() + \"-\" + number + \"] \";
                }";
            class.method(fill(method, &[], &[]));
        }
        self.call(env, level, &format!("PREFIX + {}", concat(parts)), None)
    }

    fn builder(&mut self, env: &Env, level: &str, parts: &[Part]) -> Code {
        let name = self.fresh(env, "text");
        let mut code = Code::default();
        code.line(format!("StringBuilder {name} = new StringBuilder();"));
        for part in parts {
            match part {
                Part::Text(text) => code.line(format!("{name}.append(\"{text}\");")),
                Part::Value(value, _) => code.line(format!("{name}.append({value});")),
            }
        }
        code.add(self.call(env, level, &format!("{name}.toString()"), None));
        code
    }

    /// A method of the class makes the text.
    fn helper(&mut self, env: &Env, level: &str, parts: &[Part]) -> Code {
        let name = self.fresh(env, "describe");
        let mut given = Vec::new();
        let mut inside = Vec::new();
        for part in parts {
            match part {
                Part::Value(expr, is_int) => {
                    let ty = if *is_int { "int" } else { "Object" };
                    given.push((ty, expr.clone()));
                    inside.push(Part::Value(format!("value{}", given.len()), *is_int));
                }
                text @ Part::Text(_) => inside.push(text.clone()),
            }
        }
        let parameters: Vec<String> =
            given.iter().enumerate().map(|(i, (ty, _))| format!("{ty} value{}", i + 1)).collect();
        let arguments: Vec<String> = given.into_iter().map(|(_, expr)| expr).collect();
        let method = fill(
            "static String $name($parameters) {\nreturn $text;\n}",
            &[("name", &name), ("parameters", &parameters.join(", ")), ("text", &concat(&inside))],
            &[],
        );
        self.classes[env.class].method(method);
        self.call(env, level, &format!("{name}({})", arguments.join(", ")), None)
    }

    /// The facade that prints for the application.
    fn need_wrapper(&mut self) {
        if self.wrapper.is_some() {
            return;
        }
        let class = self.class("Journal");
        self.wrapper = Some(class);
        let journal = &mut self.classes[class];
        journal.says = true;
        journal.method(fill(
            "static void note(String component, String format, Object... values) {
            LOG.info(\"[\" + component + \"] \" + String.format(format, values));
            }",
            &[],
            &[],
        ));
    }

    fn parts(&mut self, env: &Env, shows: Shows, further: Further) -> Vec<Part> {
        let templates = match (further, shows) {
            (Some(_), _) => FURTHER,
            (None, Shows::Id) => ID,
            (None, Shows::IdWhat) => ID_WHAT,
            (None, Shows::IdAmount) => ID_AMOUNT,
            (None, Shows::IdFlag) => ID_FLAG,
            (None, Shows::Object) if env.carry == Carry::Values => ID,
            (None, Shows::Object) => OBJECT,
        };
        let template = *self.random.pick(templates);
        self.parse(env, template, further)
    }

    fn parse(&mut self, env: &Env, template: &str, further: Further) -> Vec<Part> {
        let domain = self.domains[env.kind];
        let verb = self.words.verb();
        let mut parts: Vec<Part> = Vec::new();
        let mut text = String::new();
        let mut letters = template.chars();
        while let Some(letter) = letters.next() {
            if letter != '%' {
                text.push(letter);
                continue;
            }
            let value = match letters.next().expect("a letter after %") {
                'V' => Err(large(verb)),
                'v' => Err(verb.to_owned()),
                'N' => Err(large(domain.noun)),
                'n' => Err(domain.noun.to_owned()),
                'w' => Err(domain.what.to_owned()),
                'a' => Err(domain.amount.to_owned()),
                'x' => Err(further.expect("a further value").0.to_owned()),
                'I' => Ok((self.shown_id(env, &mut text), false)),
                'W' => Ok((self.what(env), false)),
                'A' => Ok((self.amount(env), true)),
                'B' => Ok((format!("({} % 2 == 0)", self.amount(env)), false)),
                'O' => Ok((env.vars[0].expr.clone(), false)),
                'X' => Ok((further.expect("a further value").1.to_owned(), true)),
                other => unreachable!("%{other} in a template"),
            };
            match value {
                Err(word) => text.push_str(&word),
                Ok((value, is_int)) => {
                    if !text.is_empty() {
                        parts.push(Part::Text(std::mem::take(&mut text)));
                    }
                    parts.push(Part::Value(value, is_int));
                }
            }
        }
        if !text.is_empty() {
            parts.push(Part::Text(text));
        }
        parts
    }

    /// The identifier as this line shows it; `before` is the text before it.
    fn shown_id(&mut self, env: &Env, before: &mut String) -> String {
        let id = self.id(env);
        let of = self.kind(env).id;
        match of {
            Id::Hex if self.random.chance(50) => {
                before.push_str("0x");
                format!("Long.toHexString({id})")
            }
            Id::Composite if self.random.chance(25) => format!("{id}.getNumber()"),
            _ => id,
        }
    }
}

fn value(part: &Part) -> Option<String> {
    match part {
        Part::Value(value, _) => Some(value.clone()),
        Part::Text(_) => None,
    }
}

fn concat(parts: &[Part]) -> String {
    let each: Vec<String> = parts
        .iter()
        .map(|part| match part {
            Part::Text(text) => format!("\"{text}\""),
            Part::Value(value, _) => value.clone(),
        })
        .collect();
    each.join(" + ")
}

/// `"scan %s has %d", scan, rows`.
fn formatted(parts: &[Part]) -> String {
    let text: String = parts
        .iter()
        .map(|part| match part {
            Part::Text(text) => text.as_str(),
            Part::Value(_, true) => "%d",
            Part::Value(_, false) => "%s",
        })
        .collect();
    let mut all = vec![format!("\"{text}\"")];
    all.extend(parts.iter().filter_map(value));
    all.join(", ")
}
