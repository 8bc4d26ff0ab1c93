//! Identifiers: where a request's identifier comes from, the object that carries it,
//! and how one that comes again is given back.

use super::java::{Code, fill};
use super::plan::{Carry, Id, Say};
use super::words::large;
use super::write::{Env, Var, Writer};

impl Writer<'_> {
    /// Java type of the identifier of a kind.
    pub(crate) fn id_type(&self, kind: usize) -> String {
        match self.program.kinds[kind].id {
            Id::Counter | Id::Given | Id::Slot => "int".to_owned(),
            Id::Atomic | Id::Hex | Id::Returned => "long".to_owned(),
            Id::Uuid | Id::Text | Id::Path => "String".to_owned(),
            Id::Composite => self.composite_name(kind),
        }
    }

    /// The type as an object's.
    pub(crate) fn boxed(&self, kind: usize) -> String {
        match self.id_type(kind).as_str() {
            "int" => "Integer".to_owned(),
            "long" => "Long".to_owned(),
            other => other.to_owned(),
        }
    }

    fn composite_name(&self, kind: usize) -> String {
        format!("{}Id", large(self.domains[kind].noun))
    }

    /// The identifier read out of a text.
    pub(crate) fn parsed(&self, kind: usize, text: &str) -> String {
        match self.id_type(kind).as_str() {
            "int" => format!("Integer.parseInt({text})"),
            "long" => format!("Long.parseLong({text})"),
            "String" => text.to_owned(),
            composite => format!("{composite}.parse({text})"),
        }
    }

    /// What a caller passes besides what every request has.
    pub(crate) fn is_passed(id: Id) -> bool {
        matches!(id, Id::Given | Id::Path)
    }

    /// Values as they travel one by one, under their plain names.
    pub(crate) fn values(&self, kind: usize) -> Vec<Var> {
        let domain = self.domains[kind];
        let var =
            |ty: &str, name: &str| Var { ty: ty.to_owned(), name: name.to_owned(), expr: name.to_owned() };
        vec![var(&self.id_type(kind), domain.noun), var("String", domain.what), var("int", domain.amount)]
    }

    /// First lines of a request: its identifier, then the object that carries it.
    pub(crate) fn identify(&mut self, env: &mut Env) -> Code {
        let kind = self.kind(env).clone();
        let domain = self.domains[env.kind];
        let composite = self.composite_name(env.kind);
        let names = [
            ("noun", domain.noun),
            ("Noun", &large(domain.noun)),
            ("what", domain.what),
            ("composite", &composite),
        ];
        let mut code = match kind.id {
            Id::Given => Code::default(),
            Id::Uuid => fill("String $noun = UUID.randomUUID().toString();", &names, &[]),
            Id::Returned => self.returned(env),
            Id::Path | Id::Slot => self.held(env, kind.id, &names),
            Id::Counter | Id::Atomic | Id::Hex | Id::Text | Id::Composite => {
                self.counted_up(env, kind.id, &names)
            }
        };
        if kind.id != Id::Returned {
            code.line(format!("Truth.set(Truth.next(\"{}\"));", domain.noun));
        }
        env.vars = self.values(env.kind);
        env.carry = Carry::Values;
        if kind.watched {
            code.add(self.watched(env));
        }
        code.add(self.carried(env, kind.carry));
        code
    }

    /// The request is among those that a thread prints from time to time. A round of that
    /// thread is a unit of its own.
    fn watched(&mut self, env: &Env) -> Code {
        let boxed = self.boxed(env.kind);
        let mut round = env.clone();
        round.vars[0].expr = "open".to_owned();
        let text = format!("{} in progress: ", large(self.domains[env.kind].noun));
        let count = self.say_object(&round, Say::PLAIN, &text, "LIVE.size()", None);
        let each = self.say(&round, Say::PLAIN);
        let names = [("boxed", boxed.as_str())];
        self.field(env, format!("private static final Set<{boxed}> LIVE = ConcurrentHashMap.newKeySet();"));
        let watch = "private void watch() {
            if (LIVE.isEmpty()) {
            return;
            }
            Truth.set(Truth.next(\"watch\"));
            $count
            for ($boxed open : LIVE) {
            $each
            }
            }";
        self.classes[env.class].method(fill(watch, &names, &[("count", &count), ("each", &each)]));
        let closed = "static void closed(Object open) {\nLIVE.remove(open);\n}";
        self.classes[env.class].method(fill(closed, &[], &[]));
        let field =
            "private final ScheduledExecutorService watcher = Executors.newSingleThreadScheduledExecutor();";
        self.field(env, field.to_owned());
        let start = "watcher.scheduleWithFixedDelay(this::watch, 7, 19, TimeUnit.MILLISECONDS);";
        self.classes[env.class].constructor.push(start.to_owned());
        Code { lines: vec![format!("LIVE.add({});", self.domains[env.kind].noun)], throws: false }
    }

    /// First number of a kind. Where all kinds share what prints, equal numbers of two
    /// kinds would not be told apart.
    pub(crate) fn base(&self, kind: usize) -> String {
        if self.program.same_ids { "1000".to_owned() } else { (1000 * (kind + 1)).to_string() }
    }

    /// An identifier made of a counter of the service.
    fn counted_up(&mut self, env: &Env, id: Id, names: &[(&str, &str)]) -> Code {
        let base = self.base(env.kind);
        let noun = self.domains[env.kind].noun;
        if id == Id::Counter {
            self.field(env, format!("private int last{} = {base};", large(noun)));
            let next = "private synchronized int next$Noun() {\nreturn ++last$Noun;\n}";
            self.classes[env.class].method(fill(next, names, &[]));
            return fill("int $noun = next$Noun();", names, &[]);
        }
        let start = if id == Id::Hex {
            format!("0x5ee{}00000000L", if self.program.same_ids { 0 } else { env.kind })
        } else {
            base
        };
        self.field(env, format!("private final AtomicLong {noun}s = new AtomicLong({start});"));
        let line = match id {
            Id::Hex => "long $noun = $nouns.addAndGet(40503L);",
            Id::Text => "String $noun = \"$noun-\" + $nouns.incrementAndGet();",
            Id::Composite => "$composite $noun = new $composite($what, $nouns.incrementAndGet());",
            _ => "long $noun = $nouns.incrementAndGet();",
        };
        if id == Id::Composite {
            self.composite(env.kind);
        }
        fill(line, names, &[])
    }

    /// An identifier that a request holds until its end.
    fn held(&mut self, env: &Env, id: Id, names: &[(&str, &str)]) -> Code {
        let (field, methods, line) = if id == Id::Path {
            (
                "Set<String> BUSY = ConcurrentHashMap.newKeySet()",
                "static void release(String $noun) {\nBUSY.remove($noun);\n}",
                "if (!BUSY.add($noun)) {\nreturn;\n}",
            )
        } else {
            (
                "BitSet TAKEN = new BitSet()",
                "private static synchronized int allocate() {
                int free = TAKEN.nextClearBit(0);
                TAKEN.set(free);
                return free;
                }

                static synchronized void release(int $noun) {
                TAKEN.clear($noun);
                }",
                "int $noun = allocate();",
            )
        };
        self.field(env, format!("private static final {field};"));
        self.classes[env.class].method(fill(methods, names, &[]));
        fill(line, names, &[])
    }

    /// The end of a request whose identifier comes again, or that is watched.
    pub(crate) fn release(&mut self, env: &Env) -> Code {
        let service = format!("{}Service", large(self.domains[env.kind].noun));
        let mut code = Code::default();
        if self.kind(env).watched {
            code.line(format!("{service}.closed({});", self.id(env)));
        }
        if self.kind(env).id.comes_again() {
            code.line(format!("{service}.release({});", self.id(env)));
        }
        code
    }

    /// A component that makes the identifier, prints it and returns it.
    fn returned(&mut self, env: &Env) -> Code {
        let domain = self.domains[env.kind];
        let class = self.class(&format!("{}Registry", large(domain.noun)));
        let registry = self.classes[class].name.clone();
        let mut inside = Env { class, carry: Carry::Values, vars: self.values(env.kind), ..env.clone() };
        inside.vars[0].expr = "number".to_owned();
        let line = self.say(&inside, Say::PLAIN);
        let base = self.base(env.kind);
        let names = [("what", domain.what), ("amount", domain.amount)];
        let method = fill(
            "long open(String $what, int $amount) {
            long number = last.incrementAndGet();
            $line
            return number;
            }",
            &names,
            &[("line", &line)],
        );
        self.classes[class].method(method);
        self.classes[class].fields.push(format!("private final AtomicLong last = new AtomicLong({base});"));
        self.field(env, format!("private final {registry} registry = new {registry}();"));
        let (noun, what, amount) = (domain.noun, domain.what, domain.amount);
        let mut code = Code::default();
        code.line(format!("Truth.set(Truth.next(\"{noun}\"));"));
        code.line(format!("long {noun} = registry.open({what}, {amount});"));
        code
    }

    fn composite(&mut self, kind: usize) {
        let name = self.composite_name(kind);
        let what = self.domains[kind].what;
        let class = self.class(&name);
        let separator = *self.random.pick(&["_", "#", "/", "-"]);
        let text = format!(
            "private final String $what;
            private final long number;

            $name(String $what, long number) {{
            this.$what = $what;
            this.number = number;
            }}

            static $name parse(String text) {{
            int at = text.lastIndexOf(\"{separator}\");
            return new $name(text.substring(0, at), Long.parseLong(text.substring(at + 1)));
            }}

            long getNumber() {{
            return number;
            }}

            @Override
            public int hashCode() {{
            return $what.hashCode() * 31 + (int) number;
            }}

            @Override
            public boolean equals(Object other) {{
            return other instanceof $name && (($name) other).number == number && (($name) other).$what.equals($what);
            }}

            @Override
            public String toString() {{
            return $what + \"{separator}\" + number;
            }}"
        );
        self.classes[class].heading = " implements Serializable".to_owned();
        self.classes[class].method(fill(&text, &[("name", &name), ("what", what)], &[]));
    }

    /// From values one by one to what carries them from here on.
    pub(crate) fn carried(&mut self, env: &mut Env, carry: Carry) -> Code {
        if carry == Carry::Values {
            return Code::default();
        }
        let domain = self.domains[env.kind];
        let name = format!("{}Request", large(domain.noun));
        if !self.classes.iter().any(|class| class.name == name) {
            self.request_class(env.kind, carry, &name);
        }
        let given = env.arguments();
        let object = self.fresh(env, "request");
        let line = match carry {
            Carry::Builder => {
                let sets: String =
                    env.vars.iter().map(|var| format!(".set{}({})", large(&var.name), var.expr)).collect();
                format!("{name} {object} = {name}.newBuilder(){sets}.build();")
            }
            Carry::Nested => {
                format!(
                    "{}Envelope {object} = new {}Envelope(new {name}({given}), \"client\");",
                    large(domain.noun),
                    large(domain.noun)
                )
            }
            _ => format!("{name} {object} = new {name}({given});"),
        };
        let ty = if carry == Carry::Nested { format!("{}Envelope", large(domain.noun)) } else { name };
        env.vars = vec![Var { ty, name: object.clone(), expr: object }];
        env.carry = carry;
        Code { lines: vec![line], throws: false }
    }

    fn request_class(&mut self, kind: usize, carry: Carry, name: &str) {
        let class = self.class(name);
        let vars = self.values(kind);
        let parameters: Vec<String> = vars.iter().map(|var| format!("{} {}", var.ty, var.name)).collect();
        let parameters = parameters.join(", ");
        let noun = self.domains[kind].noun;
        let to_string = self.text_method(name, &vars);
        if carry == Carry::Record {
            self.classes[class].heading = String::new();
            let own = self.random.chance(50);
            let body = if own { to_string } else { Code::default() };
            // A record's header stands where a class has nothing.
            self.classes[class].record = Some(parameters);
            self.classes[class].method(body);
            return;
        }
        let is_open = carry == Carry::Fields;
        self.classes[class].heading = " implements Serializable".to_owned();
        for var in &vars {
            let private = if is_open { "" } else { "private " };
            self.classes[class].fields.push(format!("{private}final {} {};", var.ty, var.name));
            if !is_open {
                let getter = "$ty get$Name() {\nreturn $name;\n}";
                let names = [("ty", var.ty.as_str()), ("Name", &large(&var.name)), ("name", &var.name)];
                self.classes[class].method(fill(getter, &names, &[]));
            }
            self.classes[class].constructor.push(format!("this.{0} = {0};", var.name));
        }
        self.classes[class].parameters = parameters;
        self.classes[class].method(to_string);
        if carry == Carry::Builder {
            let builder = builder(name, &vars);
            self.classes[class].nested(builder);
        }
        if carry == Carry::Nested {
            let call = self.class(&format!("{}Envelope", large(noun)));
            let method = "private final $name request;
                private final String from;

                $Callname($name request, String from) {
                this.request = request;
                this.from = from;
                }

                $name getRequest() {
                return request;
                }

                @Override
                public String toString() {
                return \"Envelope{from=\" + from + \", request=\" + request + \"}\";
                }";
            let call_name = self.classes[call].name.clone();
            self.classes[call].method(fill(method, &[("name", name), ("Callname", &call_name)], &[]));
        }
    }

    fn text_method(&mut self, name: &str, vars: &[Var]) -> Code {
        let [id, what, amount] = [0, 1, 2].map(|i| vars[i].name.clone());
        let forms = [
            format!("\"{name}{{{id}=\" + {id} + \", {what}=\" + {what} + \"}}\""),
            format!("\"{id} \" + {id} + \" of \" + {what} + \" with \" + {amount}"),
            format!("String.format(\"{id}:%s/%d\", {id}, {amount})"),
            format!("{what} + \"#\" + {id}"),
        ];
        let form = self.random.pick(&forms).clone();
        fill("@Override\npublic String toString() {\nreturn $form;\n}", &[("form", &form)], &[])
    }
}

fn builder(name: &str, vars: &[Var]) -> Code {
    let mut code =
        fill("static Builder newBuilder() {\nreturn new Builder();\n}\nstatic class Builder {", &[], &[]);
    for var in vars {
        code.line(format!("private {} {};", var.ty, var.name));
    }
    for var in vars {
        let setter = "Builder set$Name($ty value) {\nthis.$name = value;\nreturn this;\n}";
        code.add(fill(setter, &[("Name", &large(&var.name)), ("ty", &var.ty), ("name", &var.name)], &[]));
    }
    let given: Vec<&str> = vars.iter().map(|var| var.name.as_str()).collect();
    code.add(fill(
        "$name build() {\nreturn new $name($given);\n}\n}",
        &[("name", name), ("given", &given.join(", "))],
        &[],
    ));
    code
}
