//! Hand-overs: from the code of one step to the method, thread or process that does
//! the next ones. Threads and pools are in `threads`, queues in `queues`, dispatchers
//! in `events`, processes in `remote`.

use super::java::{Code, fill, holder};
use super::plan::{Carry, Hand, Step, Way};
use super::words::large;
use super::write::{Env, Writer};

const COMPONENTS: &[&str] = &[
    "Keeper", "Router", "Desk", "Engine", "Planner", "Broker", "Clerk", "Store", "Warden", "Manager",
    "Tracker", "Runner",
];

impl Writer<'_> {
    /// The sender's code of a hand-over. `ends`: the request ends with the receiver.
    pub(crate) fn over(&mut self, hand: Hand, inner: &[Step], env: &Env, ends: bool) -> Code {
        let name = self.hand();
        let mut code = Code::default();
        if !matches!(hand.way, Way::Call | Way::Interface | Way::Remote(_)) {
            code.line(format!("Truth.keep(\"{name}\", {});", self.id(env)));
        }
        let over = Over { hand, name, inner, ends };
        code.add(match hand.way {
            Way::Call => self.call_component(&over, env),
            Way::Interface => self.call_interface(&over, env),
            Way::PoolLambda => self.pool_lambda(&over, env),
            Way::PoolTask => self.pool_task(&over, env),
            Way::Callable => self.callable(&over, env),
            Way::Completable => self.completable(&over, env),
            Way::Thread => self.thread(&over, env),
            Way::ThreadClass => self.thread_class(&over, env),
            Way::Delay => self.delay(&over, env),
            Way::JdkTimer => self.jdk_timer(&over, env),
            Way::ForkJoin => self.fork_join(&over, env),
            Way::FanOut => self.fan_out(&over, env),
            Way::InvokeAll => self.invoke_all(&over, env),
            Way::Queue | Way::Priority | Way::Monitor => self.queue(&over, env),
            Way::QueueOfTasks => self.queue_of_tasks(&over, env),
            Way::Daemon => self.daemon(&over, env),
            Way::Fifo => self.fifo(&over, env),
            Way::QueueOfText | Way::Topic => self.queue_of_text(&over, env),
            Way::QueueOfKeys => self.queue_of_keys(&over, env),
            Way::ReplyMap => self.reply_map(&over, env),
            Way::Batch => self.batch(&over, env),
            Way::Ring => self.ring(&over, env),
            Way::Events | Way::Handlers => self.event(&over, env),
            Way::Remote(server) => self.remote(&over, env, usize::from(server)),
        });
        code
    }

    /// What the receiver does: for the labels it takes up the request, then the steps.
    pub(crate) fn receive(&mut self, over: &Over, env: &Env) -> Code {
        let mut code = self.recall(over, env);
        code.add(self.steps(over.inner, env, over.ends));
        code
    }

    pub(crate) fn recall(&mut self, over: &Over, env: &Env) -> Code {
        Code { lines: vec![format!("Truth.recall(\"{}\", {});", over.name, self.id(env))], throws: false }
    }

    /// The values as they are called at the receiver: the same, or renamed.
    pub(crate) fn received(&mut self, over: &Over, env: &Env) -> Env {
        let mut inside = env.plain();
        if !over.hand.renames {
            return inside;
        }
        let domain = self.domains[env.kind];
        for (place, var) in inside.vars.iter_mut().enumerate() {
            let noun = domain.noun;
            let others = match (inside.carry, place) {
                (Carry::Values, 0) => {
                    vec![format!("{noun}Number"), "number".to_owned(), format!("{noun}Ref"), "key".to_owned()]
                }
                (Carry::Values, 1) => vec!["target".to_owned(), "source".to_owned()],
                (Carry::Values, _) => vec!["size".to_owned(), "count".to_owned()],
                _ => vec!["work".to_owned(), "item".to_owned(), "call".to_owned()],
            };
            var.name = self.random.pick(&others).clone();
            var.expr.clone_from(&var.name);
        }
        inside
    }

    /// A class inside of the one at hand that holds the values and does `body`.
    /// `further`: more fields, as type and name. Its name, for `new NAME(arguments)`.
    pub(crate) fn task(&mut self, task: &Task, env: &Env, body: &Code) -> String {
        let noun = large(self.domains[env.kind].noun);
        let name = self.fresh(env, &format!("{noun}{}", task.name));
        let mut fields: Vec<(&str, &str)> =
            env.vars.iter().map(|var| (var.ty.as_str(), var.name.as_str())).collect();
        fields.extend(task.further);
        let mut code = Code::default();
        code.line(format!("class {name}{} {{", task.heading));
        code.add(holder(&name, "private final ", &fields, &[]));
        code.add(fill(
            "@Override\n$signature {\n$body\n}\n}",
            &[("signature", task.signature)],
            &[("body", body)],
        ));
        self.classes[env.class].nested(code);
        name
    }

    fn component(&mut self, env: &Env) -> usize {
        let noun = large(self.domains[env.kind].noun);
        let role = *self.random.pick(COMPONENTS);
        self.class(&format!("{noun}{role}"))
    }

    /// A field that holds a component made with the object.
    pub(crate) fn hold(&mut self, env: &Env, class: usize) -> String {
        let name = self.classes[class].name.clone();
        let mut letters = name.chars();
        let small: String =
            letters.next().map(|first| first.to_lowercase().chain(letters).collect()).expect("a name");
        let field = self.fresh(env, &small);
        self.field(env, format!("private final {name} {field} = new {name}();"));
        field
    }

    fn call_component(&mut self, over: &Over, env: &Env) -> Code {
        let class = self.component(env);
        let holder = self.hold(env, class);
        let mut inside = self.received(over, env);
        inside.class = class;
        self.adopt(&inside);
        let method = self.fresh(&inside, self.domains[env.kind].verb);
        let body = self.steps(over.inner, &inside, over.ends);
        self.method(&inside, &method, &body);
        Code { lines: vec![format!("{holder}.{method}({});", env.arguments())], throws: body.throws }
    }

    /// The names of the values are taken in a class whose methods have them as parameters.
    pub(crate) fn adopt(&mut self, env: &Env) {
        for var in &env.vars {
            self.classes[env.class].fresh(&var.name);
        }
    }

    /// `void NAME(VALUES) { BODY }` in the class at hand.
    pub(crate) fn method(&mut self, env: &Env, name: &str, body: &Code) {
        let method = fill(
            "void $name($parameters)$clause {\n$body\n}",
            &[("name", name), ("parameters", &env.parameters()), ("clause", body.clause())],
            &[("body", body)],
        );
        self.classes[env.class].method(method);
    }

    /// An interface with two classes behind it; which one does a request, its amount says.
    fn call_interface(&mut self, over: &Over, env: &Env) -> Code {
        let noun = large(self.domains[env.kind].noun);
        let interface = self.class(&format!("{noun}Policy"));
        let interface_name = self.classes[interface].name.clone();
        let method = self.domains[env.kind].verb.to_owned();
        let mut fields = Vec::new();
        let mut inside = self.received(over, env);
        for flavour in ["Local", "Distant"] {
            let class = self.class(&format!("{flavour}{noun}"));
            inside.class = class;
            self.adopt(&inside);
            let method = self.fresh(&inside, &method);
            let body = self.steps(over.inner, &inside, over.ends);
            self.classes[class].heading = format!(" implements {interface_name}");
            let code = fill(
                "@Override\npublic void $method($parameters) throws Exception {\n$body\n}",
                &[("method", &method), ("parameters", &inside.parameters())],
                &[("body", &body)],
            );
            self.classes[class].method(code);
            let (holder, made) = (self.fresh(env, &flavour.to_lowercase()), self.classes[class].name.clone());
            self.field(env, format!("private final {interface_name} {holder} = new {made}();"));
            fields.push(holder);
        }
        self.classes[interface].heading = format!("interface {interface_name}");
        let declared = format!("void {method}({}) throws Exception;", inside.parameters());
        self.classes[interface].methods.push(declared);
        let chosen = self.fresh(env, "policy");
        let amount = self.amount(env);
        let given = env.arguments();
        let mut code = fill(
            "$type $chosen = $amount % 2 == 0 ? $one : $other;\n$chosen.$method($given);",
            &[
                ("type", &interface_name),
                ("chosen", &chosen),
                ("amount", &amount),
                ("one", &fields[0]),
                ("other", &fields[1]),
                ("method", &method),
                ("given", &given),
            ],
            &[],
        );
        code.throws = true;
        code
    }
}

/// A hand-over being written.
pub(crate) struct Over<'a> {
    pub(crate) hand: Hand,
    /// Its name for the labels.
    pub(crate) name: String,
    pub(crate) inner: &'a [Step],
    pub(crate) ends: bool,
}

/// A class that holds the values and does something with them.
pub(crate) struct Task<'a> {
    pub(crate) name: &'a str,
    pub(crate) heading: &'a str,
    pub(crate) signature: &'a str,
    /// Fields beside the values, as type and name.
    pub(crate) further: &'a [(&'a str, &'a str)],
}
