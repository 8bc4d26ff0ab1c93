//! Hand-overs through a dispatcher: one thread, one queue of events with types, and a
//! `switch` or a map of handlers. Hand-overs of one class share its dispatcher.

use super::hand_over::Over;
use super::java::{Class, Code, fill, holder};
use super::plan::Way;
use super::words::large;
use super::write::{Env, Var, Writer};

/// The dispatcher of a class for values of the same names.
#[derive(Clone, Debug)]
pub(crate) struct Dispatcher {
    class: usize,
    kind: usize,
    vars: Vec<Var>,
    has_map: bool,
    /// Names of the enum, the event class, the queue.
    ty: String,
    event: String,
    queue: String,
    /// Type of event and the method that handles it.
    cases: Vec<(String, String)>,
}

impl Writer<'_> {
    pub(crate) fn event(&mut self, over: &Over, env: &Env) -> Code {
        let has_map = over.hand.way == Way::Handlers;
        let at = self.dispatcher(env, has_map);
        let dispatcher = self.dispatchers[at].clone();
        let mut inside = env.clone();
        inside.vars.clone_from(&dispatcher.vars);
        let inside = inside.of("event");
        let verb = self.words.verb();
        let constant = verb.to_uppercase();
        let method = self.fresh(env, &format!("on{}", large(verb)));
        self.dispatchers[at].cases.push((constant.clone(), method.clone()));
        let body = self.receive_guarded(over, &inside);
        self.classes[env.class].method(fill(
            "private void $method($event event) {\n$body\n}",
            &[("method", &method), ("event", &dispatcher.event)],
            &[("body", &body)],
        ));
        let Dispatcher { queue, event, ty, .. } = dispatcher;
        let line = format!("{queue}.add(new {event}({ty}.{constant}, {}));", env.arguments());
        Code { lines: vec![line], throws: false }
    }

    /// The class's dispatcher for values like those of `env`.
    fn dispatcher(&mut self, env: &Env, has_map: bool) -> usize {
        let types = |vars: &[Var]| vars.iter().map(|var| var.ty.clone()).collect::<Vec<_>>();
        let same = |is: &Dispatcher| {
            is.class == env.class
                && is.kind == env.kind
                && is.has_map == has_map
                && types(&is.vars) == types(&env.vars)
        };
        if let Some(at) = self.dispatchers.iter().position(same) {
            return at;
        }
        let noun = large(self.domains[env.kind].noun);
        let dispatcher = Dispatcher {
            class: env.class,
            kind: env.kind,
            vars: env.plain().vars,
            has_map,
            ty: self.fresh(env, &format!("{noun}EventType")),
            event: self.fresh(env, &format!("{noun}Event")),
            queue: self.fresh(env, "events"),
            cases: Vec::new(),
        };
        self.dispatchers.push(dispatcher);
        self.dispatchers.len() - 1
    }

    /// The parts of the dispatchers that need to know all their events.
    pub(crate) fn end_dispatchers(&mut self) {
        for dispatcher in self.dispatchers.clone() {
            self.end_dispatcher(&dispatcher);
        }
    }

    fn end_dispatcher(&mut self, dispatcher: &Dispatcher) {
        let Dispatcher { class, kind, vars, has_map, ty, event, queue, cases } = dispatcher;
        let noun = large(self.domains[*kind].noun);
        let class = &mut self.classes[*class];
        let constants: Vec<&str> = cases.iter().map(|(constant, _)| constant.as_str()).collect();
        class.nested(fill(
            "enum $ty { $constants }",
            &[("ty", ty), ("constants", &constants.join(", "))],
            &[],
        ));
        let mut fields = vec![(ty.as_str(), "type")];
        fields.extend(vars.iter().map(|var| (var.ty.as_str(), var.name.as_str())));
        let mut code = Code::default();
        code.line(format!("static class {event} {{"));
        code.add(holder(event, "final ", &fields, &[]));
        code.line("}");
        class.nested(code);
        class.fields.push(format!(
            "private final BlockingQueue<{event}> {queue} = new LinkedBlockingQueue<{event}>();"
        ));
        let dispatch = class.fresh("dispatch");
        let body = if *has_map { handler_map(class, &noun, dispatcher) } else { switch(cases) };
        let method = "private void $dispatch() {
            try {
            while (true) {
            $event event = $queue.take();
            $body
            }
            } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            }
            }";
        let names = [("dispatch", dispatch.as_str()), ("event", event), ("queue", queue)];
        class.method(fill(method, &names, &[("body", &body)]));
        let thread = class.fresh("dispatcher");
        let start = "Thread $thread = new Thread(this::$dispatch, \"$noun dispatcher\");
            $thread.setDaemon(true);
            $thread.start();";
        let names = [("thread", thread.as_str()), ("dispatch", &dispatch), ("noun", &noun)];
        class.constructor.extend(fill(start, &names, &[]).lines);
    }
}

/// One way or another for each type of event.
fn switch(cases: &[(String, String)]) -> Code {
    let mut body = Code::default();
    body.line("switch (event.type) {");
    for (constant, method) in cases {
        body.line(format!("case {constant}:"));
        body.line(format!("{method}(event);"));
        body.line("break;");
    }
    body.line("default:");
    body.line("throw new IllegalStateException(\"unknown event\");");
    body.line("}");
    body
}

/// Handlers in a map that the constructor fills.
fn handler_map(class: &mut Class, noun: &str, dispatcher: &Dispatcher) -> Code {
    let Dispatcher { ty, event, cases, .. } = dispatcher;
    let handler = class.fresh(&format!("{noun}Handler"));
    let handlers = class.fresh("handlers");
    class.nested(fill(
        "interface $handler {\nvoid handle($event event);\n}",
        &[("handler", &handler), ("event", event)],
        &[],
    ));
    class.fields.push(format!(
        "private final Map<{ty}, {handler}> {handlers} = new EnumMap<{ty}, {handler}>({ty}.class);"
    ));
    for (constant, method) in cases {
        class.constructor.push(format!("{handlers}.put({ty}.{constant}, this::{method});"));
    }
    Code { lines: vec![format!("{handlers}.get(event.type).handle(event);")], throws: false }
}
