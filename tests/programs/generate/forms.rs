//! Steps that do not hand over: lines, and the order in which code prints them.

use super::java::{Code, fill};
use super::plan::{Carry, Form, Say, Shows, Style};
use super::words::large;
use super::write::{Env, Writer};

impl Writer<'_> {
    pub(crate) fn form(&mut self, form: Form, say: Say, env: &Env) -> Code {
        match form {
            Form::Line => self.say(env, say),
            Form::Optional => self.optional(say, env),
            Form::Loop => self.counted(say, env),
            Form::Retry => self.retry(say, env),
            Form::Recursion => self.recursion(say, env),
            Form::Shared => self.shared(say, env),
            Form::SharedWithoutId => self.shared_without_id(say, env),
            Form::Caught => self.caught(say, env),
            Form::Finally => self.finally(say, env),
            Form::Choice => self.choice(say, env),
            Form::Debug => self.debug(say, env),
            Form::Locked => self.locked(say, env),
            Form::Quiet => self.quiet(say, env),
            Form::ThreadLocal => self.thread_local(say, env),
            Form::Template => self.template(say, env),
            Form::Progress => self.progress(say, env),
        }
    }

    /// A wait that depends on the request.
    fn wait(&mut self, env: &Env) -> Code {
        let ms = format!("{} % {}", self.amount(env), 2 + self.random.below(5));
        self.pause(env, &ms)
    }

    fn optional(&mut self, say: Say, env: &Env) -> Code {
        let line = self.say(env, say);
        let every = 2 + self.random.below(3);
        let test = format!("if ({} % {every} == 0) {{\n$line\n}}", self.amount(env));
        fill(&test, &[], &[("line", &line)])
    }

    fn counted(&mut self, say: Say, env: &Env) -> Code {
        let part = self.fresh(env, "part");
        let line = self.say_further(env, say, ("part", &part));
        let wait = self.pause(env, "1");
        let amount = self.amount(env);
        fill(
            "for (int $part = 0; $part <= $amount % 3; $part++) {\n$line\n$wait\n}",
            &[("part", &part), ("amount", &amount)],
            &[("line", &line), ("wait", &wait)],
        )
    }

    fn retry(&mut self, say: Say, env: &Env) -> Code {
        let attempt = self.fresh(env, "attempt");
        let probe = self.probe(env);
        let first = self.say_further(env, say, ("attempt", &attempt));
        let failed =
            if self.random.chance(30) { self.say_thrown(env, "e") } else { self.say(env, Say::PLAIN) };
        let wait = self.pause(env, "1");
        let amount = self.amount(env);
        fill(
            "for (int $attempt = 1; ; $attempt++) {
            try {
            $first
            $probe($amount + $attempt);
            break;
            } catch (IllegalStateException e) {
            $failed
            $wait
            }
            }",
            &[("attempt", &attempt), ("probe", &probe), ("amount", &amount)],
            &[("first", &first), ("failed", &failed), ("wait", &wait)],
        )
    }

    /// A method that fails for one number in three.
    fn probe(&mut self, env: &Env) -> String {
        let class = &mut self.classes[env.class];
        if !class.has("probe") {
            let name = class.fresh("probe");
            class.method(fill(
                "static void $name(int n) {
                if (n % 3 == 0) {
                throw new IllegalStateException(\"not ready\");
                }
                }",
                &[("name", &name)],
                &[],
            ));
        }
        "probe".to_owned()
    }

    fn recursion(&mut self, say: Say, env: &Env) -> Code {
        let name = self.fresh(env, "walk");
        let inside = self.method_env(env);
        let down = self.say_further(&inside, say, ("level", "level"));
        let up = if self.random.chance(50) {
            self.say_further(&inside, Say { style: Style::Concat, ..say }, ("level", "level"))
        } else {
            Code::default()
        };
        let amount = self.amount(&inside);
        let method = fill(
            "void $name($parameters, int level) {
            $down
            if (level < $amount % 3) {
            $name($again, level + 1);
            }
            $up
            }",
            &[
                ("name", &name),
                ("parameters", &inside.parameters()),
                ("amount", &amount),
                ("again", &inside.arguments()),
            ],
            &[("down", &down), ("up", &up)],
        );
        self.classes[env.class].method(method);
        Code { lines: vec![format!("{name}({}, 0);", env.arguments())], throws: false }
    }

    /// The values as a method of the same class gets them.
    pub(crate) fn method_env(&self, env: &Env) -> Env {
        env.plain()
    }

    fn the_ledger(&mut self) -> usize {
        if let Some(ledger) = self.ledger {
            return ledger;
        }
        let class = self.class("Ledger");
        self.ledger = Some(class);
        class
    }

    /// Code of a class that no kind of request owns: the identifier is an `Object` there.
    fn foreign(&self, env: &Env, class: usize) -> Env {
        let mut foreign = env.clone();
        foreign.class = class;
        foreign.carry = Carry::Values;
        foreign.vars = self.values(env.kind);
        foreign.vars[0].expr = "key".to_owned();
        foreign.vars[1].expr = "name".to_owned();
        foreign.vars[2].expr = "count".to_owned();
        foreign
    }

    fn shared(&mut self, say: Say, env: &Env) -> Code {
        let class = self.the_ledger();
        if !self.classes[class].has("record") {
            let name = self.classes[class].fresh("record");
            let verb = self.words.verb();
            let mut lines = Code::default();
            let inside = self.foreign(env, class);
            let style =
                Say { style: if say.style == Style::Wrapper { say.style } else { Style::Concat }, ..say };
            lines.add(self.say_object(
                &inside,
                style,
                &format!("Ledger {verb} "),
                "key",
                Some(("with", "count")),
            ));
            let method = "static void $name(Object key, int count) {\n$lines\n}";
            self.classes[class].method(fill(method, &[("name", &name)], &[("lines", &lines)]));
        }
        let line = format!("Ledger.record({}, {});", self.id(env), self.amount(env));
        Code { lines: vec![line], throws: false }
    }

    fn shared_without_id(&mut self, say: Say, env: &Env) -> Code {
        let class = self.the_ledger();
        if !self.classes[class].has("flush") {
            let name = self.classes[class].fresh("flush");
            let inside = self.foreign(env, class);
            let mut lines = self.say_constant(&inside, "Flushing the ledger");
            let wait = self.pause(&inside, "1");
            lines.add(wait);
            lines.add(self.say_constant(&inside, "Ledger is on disk"));
            let method = "static void $name() {\n$lines\n}";
            self.classes[class].method(fill(method, &[("name", &name)], &[("lines", &lines)]));
        }
        let before = self.say(env, say);
        let after = self.say(env, Say::PLAIN);
        let code = "synchronized (Ledger.class) {\n$before\nLedger.flush();\n$after\n}";
        fill(code, &[], &[("before", &before), ("after", &after)])
    }

    fn caught(&mut self, say: Say, env: &Env) -> Code {
        let probe = self.probe(env);
        let line = self.say(env, say);
        let caught = self.say_thrown(env, "e");
        let amount = self.amount(env);
        fill(
            "try {\n$probe($amount);\n$line\n} catch (IllegalStateException e) {\n$caught\n}",
            &[("probe", &probe), ("amount", &amount)],
            &[("line", &line), ("caught", &caught)],
        )
    }

    fn finally(&mut self, say: Say, env: &Env) -> Code {
        let line = self.say(env, say);
        let wait = self.wait(env);
        let last = self.say(env, Say::PLAIN);
        fill(
            "try {\n$line\n$wait\n} finally {\n$last\n}",
            &[],
            &[("line", &line), ("wait", &wait), ("last", &last)],
        )
    }

    fn choice(&mut self, say: Say, env: &Env) -> Code {
        let amount = self.amount(env);
        let first = self.say(env, say);
        let mut second = self.say(env, Say::PLAIN);
        second.add(self.say(env, Say { shows: Shows::IdWhat, ..Say::PLAIN }));
        let third = self.say(env, say);
        fill(
            "switch ($amount % 3) {
            case 0:
            $first
            break;
            case 1:
            $second
            break;
            default:
            $third
            }",
            &[("amount", &amount)],
            &[("first", &first), ("second", &second), ("third", &third)],
        )
    }

    fn debug(&mut self, say: Say, env: &Env) -> Code {
        let say = Say { style: Style::Concat, ..say };
        let mut code = self.say_at(env, say, "debug", None);
        code.add(self.wait(env));
        code.add(self.say_at(env, say, "debug", None));
        code
    }

    /// The identifier in the first line, the others after it under the same lock.
    fn locked(&mut self, say: Say, env: &Env) -> Code {
        let gate = self.fresh(env, "GATE");
        self.field(env, format!("private static final Object {gate} = new Object();"));
        let lines = self.quiet(say, env);
        fill("synchronized ($gate) {\n$lines\n}", &[("gate", &gate)], &[("lines", &lines)])
    }

    fn quiet(&mut self, say: Say, env: &Env) -> Code {
        let mut code = self.say(env, say);
        code.add(self.pause(env, "1"));
        for _ in 0..1 + self.random.below(2) {
            code.add(self.say_no_id(env, say));
        }
        code
    }

    fn thread_local(&mut self, say: Say, env: &Env) -> Code {
        let class = self.context.unwrap_or_else(|| {
            let class = self.class("Context");
            let field = "static final ThreadLocal<Object> CURRENT = new ThreadLocal<Object>();";
            self.classes[class].fields.push(field.to_owned());
            class
        });
        self.context = Some(class);
        let name = self.classes[class].fresh("show");
        let inside = self.foreign(env, class);
        let verb = self.words.verb();
        let line = self.say_object(&inside, say, &format!("Context {verb} for "), "CURRENT.get()", None);
        let method = "static void $name() {\n$line\n}";
        self.classes[class].method(fill(method, &[("name", &name)], &[("line", &line)]));
        let id = self.id(env);
        let wait = self.wait(env);
        fill(
            "Context.CURRENT.set($id);\n$wait\nContext.$name();",
            &[("id", &id), ("name", &name)],
            &[("wait", &wait)],
        )
    }

    /// An abstract class whose method prints around a step that two classes do differently.
    fn template(&mut self, say: Say, env: &Env) -> Code {
        let noun = large(self.domains[env.kind].noun);
        let base = self.class(&format!("{noun}Procedure"));
        let name = self.classes[base].name.clone();
        let mut inside = self.method_env(env);
        inside.class = base;
        let first = self.say(&inside, say);
        let last = self.say(&inside, Say::PLAIN);
        let wait = self.wait(&inside);
        self.classes[base].heading = format!("abstract class {name}");
        self.classes[base].parameters = inside.parameters();
        for var in &inside.vars {
            self.classes[base].fields.push(format!("final {} {};", var.ty, var.name));
            self.classes[base].constructor.push(format!("this.{0} = {0};", var.name));
        }
        let method = "final void execute() {\n$first\nstep();\n$wait\n$last\n}\nabstract void step();";
        let method = fill(method, &[], &[("first", &first), ("wait", &wait), ("last", &last)]);
        self.classes[base].method(method);
        let mut made = Vec::new();
        for flavour in ["Swift", "Careful"] {
            let class = self.class(&format!("{flavour}{noun}"));
            let mut step = inside.clone();
            step.class = class;
            let line = self.say(&step, Say::PLAIN);
            self.classes[class].heading = format!(" extends {name}");
            self.classes[class].parameters = inside.parameters();
            self.classes[class].constructor.push(format!("super({});", inside.arguments()));
            self.classes[class].method(fill("@Override\nvoid step() {\n$line\n}", &[], &[("line", &line)]));
            made.push(self.classes[class].name.clone());
        }
        let local = self.fresh(env, "procedure");
        let given = env.arguments();
        let amount = self.amount(env);
        fill(
            "$name $local = $amount % 2 == 0 ? new $swift($given) : new $careful($given);\n$local.execute();",
            &[
                ("name", &name),
                ("local", &local),
                ("amount", &amount),
                ("swift", &made[0]),
                ("careful", &made[1]),
                ("given", &given),
            ],
            &[],
        )
    }

    fn progress(&mut self, say: Say, env: &Env) -> Code {
        let left = self.fresh(env, "left");
        let line = self.say_further(env, say, ("left", &left));
        let wait = self.pause(env, "1");
        let amount = self.amount(env);
        fill(
            "int $left = $amount;\nwhile ($left > 0) {\n$line\n$wait\n$left -= 45;\n}",
            &[("left", &left), ("amount", &amount)],
            &[("line", &line), ("wait", &wait)],
        )
    }
}
