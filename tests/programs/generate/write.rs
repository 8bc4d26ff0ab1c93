//! A plan written as Java: the classes of the application, and of the callers that
//! are not part of it.

use super::events::Dispatcher;
use super::java::{Class, Code, fill};
use super::plan::{self, Carry, Kind, Library, Program, Step};
use super::random::Random;
use super::remote::Server;
use super::words::{Domain, Words, large};

/// A written program.
#[derive(Debug)]
pub(crate) struct Source {
    /// Files by their path.
    pub(crate) files: Vec<(String, String)>,
    /// Servers first; the last process is the one that ends by itself.
    pub(crate) nodes: Vec<Node>,
    /// The application's package; what is not in it does not go into the jar.
    pub(crate) package: String,
    /// Class of the logging facade, where there is one.
    pub(crate) wrapper: Option<String>,
}

/// A process.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) name: String,
    pub(crate) main: String,
    /// System property that takes a free port.
    pub(crate) port: Option<String>,
}

/// A value that travels with a request.
#[derive(Clone, Debug)]
pub(crate) struct Var {
    pub(crate) ty: String,
    pub(crate) name: String,
    /// How the code at hand reads it.
    pub(crate) expr: String,
}

/// Where code stands: whose request it works on, and how it reads the values.
#[derive(Clone, Debug)]
pub(crate) struct Env {
    pub(crate) kind: usize,
    /// The top-level class around the code.
    pub(crate) class: usize,
    pub(crate) carry: Carry,
    /// Identifier, what it works on, amount; or one object that holds them.
    pub(crate) vars: Vec<Var>,
}

pub(crate) struct Writer<'a> {
    pub(crate) program: &'a Program,
    pub(crate) random: Random,
    pub(crate) words: Words,
    pub(crate) package: String,
    pub(crate) classes: Vec<Class>,
    pub(crate) domains: Vec<Domain>,
    pub(crate) servers: Vec<Server>,
    pub(crate) dispatchers: Vec<Dispatcher>,
    /// The class whose methods all kinds of request share.
    pub(crate) ledger: Option<usize>,
    /// The class that holds the identifier for a thread.
    pub(crate) context: Option<usize>,
    pub(crate) wrapper: Option<usize>,
    hands: usize,
}

pub(crate) const OUTSIDE: &str = "outside";

const IMPORTS: &[&str] = &[
    "com.sun.net.httpserver.*",
    "java.io.*",
    "java.net.*",
    "java.nio.charset.StandardCharsets",
    "java.util.*",
    "java.util.concurrent.*",
    "java.util.concurrent.atomic.*",
    "java.util.concurrent.locks.*",
];

pub(crate) fn write(program: &Program) -> Source {
    let mut random = plan::details(program);
    let mut words = Words::new(&mut random);
    let domains: Vec<Domain> = program.kinds.iter().map(|_| words.domain()).collect();
    let house = Words::house(&mut random);
    let package = format!("{house}.{}", domains[0].noun);
    let mut writer = Writer {
        program,
        random,
        words,
        package,
        classes: Vec::new(),
        domains,
        servers: Vec::new(),
        dispatchers: Vec::new(),
        ledger: None,
        context: None,
        wrapper: None,
        hands: 0,
    };
    writer.begin_servers();
    let main = writer.begin_main();
    writer.end_dispatchers();
    writer.end_servers();
    writer.print(main)
}

impl Writer<'_> {
    fn print(mut self, main: String) -> Source {
        let wrapper = self.wrapper.map(|class| self.classes[class].name.clone());
        let logger = logger(self.program.library);
        let mut files = Vec::new();
        let mut imports = IMPORTS.to_vec();
        imports.extend(logger_imports(self.program.library));
        for class in &mut self.classes {
            let package = if class.is_outside { OUTSIDE } else { &self.package };
            let own = format!("{}.*", self.package);
            let mut imports = imports.clone();
            if class.is_outside {
                imports.push(&own);
            }
            imports.push("truth.Truth");
            let path = format!("{}/{}.java", package.replace('.', "/"), class.name);
            files.push((path, class.print(package, &imports, &logger)));
        }
        let package = self.package.clone();
        let server = |server: &Server| Node {
            name: server.name.clone(),
            main: format!("{package}.{}", self.classes[server.class].name),
            port: Some(server.property()),
        };
        let mut nodes: Vec<Node> = self.servers.iter().map(server).collect();
        let name = if nodes.is_empty() { "node" } else { "front" };
        nodes.push(Node { name: name.to_owned(), main, port: None });
        Source { files, nodes, package: self.package, wrapper }
    }

    /// A new top-level class; its name gets a number if it is taken.
    pub(crate) fn class(&mut self, name: &str) -> usize {
        let taken = |name: &str| self.classes.iter().any(|class| class.name == name);
        let free = (1..)
            .map(|n| if n == 1 { name.to_owned() } else { format!("{name}{n}") })
            .find(|name| !taken(name))
            .expect("some number is free");
        self.classes.push(Class::new(&free));
        self.classes.len() - 1
    }

    pub(crate) fn fresh(&mut self, env: &Env, name: &str) -> String {
        self.classes[env.class].fresh(name)
    }

    pub(crate) fn field(&mut self, env: &Env, line: String) {
        self.classes[env.class].fields.push(line);
    }

    pub(crate) fn kind(&self, env: &Env) -> &Kind {
        &self.program.kinds[env.kind]
    }

    /// A name for the next hand-over, for the labels.
    pub(crate) fn hand(&mut self) -> String {
        self.hands += 1;
        format!("h{}", self.hands)
    }

    /// The steps one after the other; `ends`: the request ends with them.
    pub(crate) fn steps(&mut self, steps: &[Step], env: &Env, ends: bool) -> Code {
        let mut code = Code::default();
        for (i, step) in steps.iter().enumerate() {
            let last = i + 1 == steps.len();
            match step {
                Step::Do(form, say) => code.add(self.form(*form, *say, env)),
                Step::Over(hand, inner) => {
                    let passes = ends && last && !hand.waits;
                    code.add(self.over(*hand, inner, env, passes));
                    if passes {
                        return code;
                    }
                }
            }
        }
        if ends {
            code.add(self.release(env));
        }
        code
    }

    /// A method that waits a little; made where it is first needed.
    pub(crate) fn pause(&mut self, env: &Env, ms: &str) -> Code {
        let class = &mut self.classes[env.class];
        if !class.has("pause") {
            let name = class.fresh("pause");
            let method = "static void $name(long ms) {
                try {
                Thread.sleep(ms);
                } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                }
                }";
            class.method(fill(method, &[("name", &name)], &[]));
        }
        fill("pause($ms);", &[("ms", ms)], &[])
    }

    /// The code, and a line for what it may throw where nothing may be thrown.
    pub(crate) fn guarded(&mut self, env: &Env, code: Code) -> Code {
        if !code.throws {
            return code;
        }
        let verb = self.words.verb();
        let noun = self.domains[env.kind].noun;
        let error = self.raw(env, "error", &format!("{} not {verb}", large(noun)), Some("e"));
        let mut guarded = fill(
            "try {\n$code\n} catch (Exception e) {\n$error\n}",
            &[],
            &[("code", &code), ("error", &error)],
        );
        guarded.throws = false;
        guarded
    }
}

fn logger(library: Library) -> String {
    let made = match library {
        Library::Slf4j => "Logger LOG = LoggerFactory.getLogger($class.class)",
        Library::Log4j1 => "Logger LOG = Logger.getLogger($class.class)",
        Library::Log4j2 => "Logger LOG = LogManager.getLogger($class.class)",
        Library::Commons => "Log LOG = LogFactory.getLog($class.class)",
        Library::Jdk => "Logger LOG = Logger.getLogger($class.class.getName())",
    };
    format!("private static final {made};")
}

fn logger_imports(library: Library) -> &'static [&'static str] {
    match library {
        Library::Slf4j => &["org.slf4j.Logger", "org.slf4j.LoggerFactory"],
        Library::Log4j1 => &["org.apache.log4j.Logger"],
        Library::Log4j2 => &["org.apache.logging.log4j.LogManager", "org.apache.logging.log4j.Logger"],
        Library::Commons => &["org.apache.commons.logging.Log", "org.apache.commons.logging.LogFactory"],
        Library::Jdk => &["java.util.logging.Level", "java.util.logging.Logger"],
    }
}

impl Env {
    /// How the code reads the field of the carried values at `place` (0 identifier,
    /// 1 what it works on, 2 amount), called `name` in the carrying object.
    pub(crate) fn read(&self, place: usize, name: &str) -> String {
        if self.carry == Carry::Values {
            return self.vars[place].expr.clone();
        }
        let object = &self.vars[0].expr;
        match self.carry {
            Carry::Fields => format!("{object}.{name}"),
            Carry::Record => format!("{object}.{name}()"),
            Carry::Nested => format!("{object}.getRequest().get{}()", large(name)),
            _ => format!("{object}.get{}()", large(name)),
        }
    }

    /// `int scan, String table, int rows`.
    pub(crate) fn parameters(&self) -> String {
        let each: Vec<String> = self.vars.iter().map(|var| format!("{} {}", var.ty, var.name)).collect();
        each.join(", ")
    }

    /// The values as arguments.
    pub(crate) fn arguments(&self) -> String {
        let each: Vec<&str> = self.vars.iter().map(|var| var.expr.as_str()).collect();
        each.join(", ")
    }

    /// The same values under their plain names, as in a method that has them as parameters.
    pub(crate) fn plain(&self) -> Env {
        let mut env = self.clone();
        for var in &mut env.vars {
            var.expr.clone_from(&var.name);
        }
        env
    }

    /// The same values as fields of the object `of`.
    pub(crate) fn of(&self, of: &str) -> Env {
        let mut env = self.clone();
        for var in &mut env.vars {
            var.expr = format!("{of}.{}", var.name);
        }
        env
    }
}

impl Writer<'_> {
    /// Expression of the identifier.
    pub(crate) fn id(&self, env: &Env) -> String {
        env.read(0, self.domains[env.kind].noun)
    }

    pub(crate) fn what(&self, env: &Env) -> String {
        env.read(1, self.domains[env.kind].what)
    }

    pub(crate) fn amount(&self, env: &Env) -> String {
        env.read(2, self.domains[env.kind].amount)
    }
}
