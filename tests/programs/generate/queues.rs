//! Hand-overs through queues: what is put in, who takes it out.

use super::hand_over::{Over, Task};
use super::java::{Code, fill, holder};
use super::plan::{Carry, Say, Shows, Step, Way};
use super::words::large;
use super::write::{Env, Writer};

/// What goes through a queue.
struct Element {
    ty: String,
    /// How the sender makes it.
    made: String,
    /// What the receiver reads, when the element is called `taken`.
    env: Env,
    /// Whether it holds a latch `done` for the sender.
    has_latch: bool,
}

impl Writer<'_> {
    /// The carried object itself, or a small class around the values.
    fn element(&mut self, over: &Over, env: &Env, taken: &str, comparable: bool) -> Element {
        let has_latch = over.hand.waits && over.hand.way != Way::ReplyMap;
        if env.carry != Carry::Values && !has_latch && !comparable {
            let mut inside = env.clone();
            taken.clone_into(&mut inside.vars[0].expr);
            let var = &env.vars[0];
            return Element { ty: var.ty.clone(), made: var.expr.clone(), env: inside, has_latch };
        }
        let inside = self.received(over, env);
        let noun = large(self.domains[env.kind].noun);
        let name = self.fresh(env, &format!("{noun}{}", if comparable { "Rank" } else { "Entry" }));
        let heading = if comparable { format!(" implements Comparable<{name}>") } else { String::new() };
        let mut code = Code::default();
        code.line(format!("static class {name}{heading} {{"));
        let fields: Vec<(&str, &str)> =
            inside.vars.iter().map(|var| (var.ty.as_str(), var.name.as_str())).collect();
        let latch = ["final CountDownLatch done = new CountDownLatch(1);".to_owned()];
        code.add(holder(&name, "final ", &fields, if has_latch { &latch } else { &[] }));
        if comparable {
            let (one, other) = (self.amount(&inside), self.amount(&inside.of("other")));
            code.add(fill(
                "@Override\npublic int compareTo($name other) {\nreturn Integer.compare($one, $other);\n}",
                &[("name", &name), ("one", &one), ("other", &other)],
                &[],
            ));
        }
        code.line("}");
        self.classes[env.class].nested(code);
        Element {
            made: format!("new {name}({})", env.arguments()),
            ty: name,
            env: inside.of(taken),
            has_latch,
        }
    }

    /// Threads of the constructor that do `take` for ever.
    fn workers(&mut self, over: &Over, env: &Env, take: &Code) {
        let noun = self.domains[env.kind].noun;
        let method = self.fresh(env, &format!("serve{}s", large(noun)));
        let mut code = fill(
            "private void $method() {
            try {
            while (true) {
            $take
            }
            } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            }
            }",
            &[("method", &method)],
            &[("take", take)],
        );
        code.throws = false;
        let threads = if over.hand.single || over.hand.way == Way::Batch { 1 } else { 3 };
        let worker = if self.random.chance(50) {
            format!("new Thread(this::{method}, \"{noun}-worker\")")
        } else {
            let task = format!("{}Worker", large(noun));
            let task = self.fresh(env, &task);
            self.classes[env.class].nested(fill(
                "private class $task extends Thread {\n@Override\npublic void run() {\n$method();\n}\n}",
                &[("task", &task), ("method", &method)],
                &[],
            ));
            format!("new {task}()")
        };
        self.classes[env.class].method(code);
        let name = self.fresh(env, "worker");
        let start = fill(
            "Thread $name = $worker;\n$name.setDaemon(true);\n$name.start();",
            &[("name", &name), ("worker", &worker)],
            &[],
        );
        let start = if threads == 1 {
            start
        } else {
            fill("for (int i = 0; i < 3; i++) {\n$start\n}", &[], &[("start", &start)])
        };
        self.classes[env.class].constructor.extend(start.lines);
    }

    /// What is done with one element: in the loop, or in a method of its own.
    fn handling(&mut self, over: &Over, env: &Env, ty: &str, taken: &str) -> Code {
        let body = self.receive_guarded(over, env);
        if self.random.chance(50) {
            return body;
        }
        let noun = large(self.domains[env.kind].noun);
        let method = self.fresh(env, &format!("handle{noun}"));
        self.classes[env.class].method(fill(
            "private void $method($ty $taken) {\n$body\n}",
            &[("method", &method), ("ty", ty), ("taken", taken)],
            &[("body", &body)],
        ));
        Code { lines: vec![format!("{method}({taken});")], throws: false }
    }

    /// Sender's code: put, and wait where it does.
    fn put(&mut self, env: &Env, element: &Element, put: &str) -> Code {
        let mut code = Code::default();
        if !element.has_latch {
            code.lines.extend(put.replace("@ELEMENT", &element.made).lines().map(str::to_owned));
            return code;
        }
        let local = self.fresh(env, "entry");
        code.line(format!("{} {local} = {};", element.ty, element.made));
        code.lines.extend(put.replace("@ELEMENT", &local).lines().map(str::to_owned));
        code.line(format!("{local}.done.await();"));
        code.throws = true;
        code
    }

    pub(crate) fn queue(&mut self, over: &Over, env: &Env) -> Code {
        let taken = self.fresh(env, "next");
        let element = self.element(over, env, &taken, over.hand.way == Way::Priority);
        let noun = self.domains[env.kind].noun;
        let queue = self.fresh(env, &format!("{noun}Queue"));
        let ty = element.ty.clone();
        let (field, take, put) = match over.hand.way {
            Way::Monitor => (
                format!("LinkedList<{ty}> {queue} = new LinkedList<{ty}>()"),
                format!(
                    "{ty} {taken};\nsynchronized ({queue}) {{\nwhile ({queue}.isEmpty()) {{\n{queue}.wait();\n}}\n\
                     {taken} = {queue}.removeFirst();\n}}\n$body\n$done"
                ),
                format!("synchronized ({queue}) {{\n{queue}.addLast(@ELEMENT);\n{queue}.notify();\n}}"),
            ),
            Way::Priority => (
                format!("BlockingQueue<{ty}> {queue} = new PriorityBlockingQueue<{ty}>()"),
                format!("{ty} {taken} = {queue}.take();\n$body\n$done"),
                format!("{queue}.add(@ELEMENT);"),
            ),
            _ => (
                format!("BlockingQueue<{ty}> {queue} = new LinkedBlockingQueue<{ty}>()"),
                format!("{ty} {taken} = {queue}.take();\n$body\n$done"),
                format!("{queue}.add(@ELEMENT);"),
            ),
        };
        self.field(env, format!("private final {field};"));
        let body = self.handling(over, &element.env, &ty, &taken);
        let done = if element.has_latch { format!("{taken}.done.countDown();") } else { String::new() };
        let take = fill(&take, &[], &[("body", &body), ("done", &Code { lines: vec![done], throws: false })]);
        self.workers(over, env, &take);
        self.put(env, &element, &put)
    }

    pub(crate) fn queue_of_tasks(&mut self, over: &Over, env: &Env) -> Code {
        let noun = self.domains[env.kind].noun;
        let queue = self.fresh(env, &format!("{noun}Tasks"));
        self.field(
            env,
            format!("private final BlockingQueue<Runnable> {queue} = new LinkedBlockingQueue<Runnable>();"),
        );
        let inside = self.received(over, env);
        let mut body = self.receive_guarded(over, &inside);
        let further: &[(&str, &str)] = if over.hand.waits { &[("CountDownLatch", "done")] } else { &[] };
        if over.hand.waits {
            body.line("done.countDown();");
        }
        let task =
            Task { name: "Job", heading: " implements Runnable", signature: "public void run()", further };
        let name = self.task(&task, &inside, &body);
        let taken = self.fresh(env, "next");
        let take = fill(
            "Runnable $taken = $queue.take();\n$taken.run();",
            &[("taken", &taken), ("queue", &queue)],
            &[],
        );
        self.workers(over, env, &take);
        let given = env.arguments();
        if !over.hand.waits {
            return Code { lines: vec![format!("{queue}.add(new {name}({given}));")], throws: false };
        }
        let latch = self.fresh(env, "latch");
        let lines = vec![
            format!("CountDownLatch {latch} = new CountDownLatch(1);"),
            format!("{queue}.add(new {name}({given}, {latch}));"),
            format!("{latch}.await();"),
        ];
        Code { lines, throws: true }
    }

    pub(crate) fn queue_of_text(&mut self, over: &Over, env: &Env) -> Code {
        let noun = self.domains[env.kind].noun;
        let queue = if over.hand.way == Way::Topic {
            self.topic(env)
        } else {
            let queue = self.fresh(env, &format!("{noun}Lines"));
            let made = "new LinkedBlockingQueue<String>()";
            self.field(env, format!("private final BlockingQueue<String> {queue} = {made};"));
            queue
        };
        let part = self.fresh(env, "part");
        let (code, inside) = self.unpacked(env, &part);
        let line = self.fresh(env, "line");
        let handled = self.receive_guarded(over, &inside);
        let take = fill(
            "String $line = $queue.take();\nString[] $part = $line.split(\" \");\n$code\n$handled",
            &[("line", &line), ("queue", &queue), ("part", &part)],
            &[("code", &code), ("handled", &handled)],
        );
        self.workers(over, env, &take);
        Code { lines: vec![format!("{queue}.add({});", self.packed(env))], throws: false }
    }

    /// A queue found by a name in a map.
    fn topic(&mut self, env: &Env) -> String {
        let class = &mut self.classes[env.class];
        if !class.has("topics") {
            class.fresh("topics");
            class.fresh("topic");
            let made = "topics = new ConcurrentHashMap<>()";
            class.fields.push(format!("private final ConcurrentMap<String, BlockingQueue<String>> {made};"));
            class.method(fill(
                "private BlockingQueue<String> topic(String name) {
                return topics.computeIfAbsent(name, any -> new LinkedBlockingQueue<String>());
                }",
                &[],
                &[],
            ));
        }
        let verb = self.words.verb();
        format!("topic(\"{}.{verb}\")", self.domains[env.kind].noun)
    }

    /// The sender's line and the put are one step under the lock, so the order in the queue is
    /// the order in the log, which is all that tells whose the receiver's lines are.
    pub(crate) fn fifo(&mut self, over: &Over, env: &Env) -> Code {
        let noun = self.domains[env.kind].noun;
        let taken = self.fresh(env, "next");
        let element = self.element(over, env, &taken, false);
        let queue = self.fresh(env, &format!("{noun}Line"));
        let ty = element.ty.clone();
        let made = format!("new LinkedBlockingQueue<{ty}>()");
        self.field(env, format!("private final BlockingQueue<{ty}> {queue} = {made};"));
        let mut body = self.recall(over, &element.env);
        for _ in 0..2 {
            body.add(self.say_no_id(&element.env, Say::PLAIN));
            body.add(self.pause(&element.env, "1"));
        }
        body.add(self.steps(over.inner, &element.env, over.ends));
        let names = [("ty", ty.as_str()), ("taken", &taken), ("queue", &queue), ("made", &element.made)];
        let take = fill("$ty $taken = $queue.take();\n$body", &names, &[("body", &body)]);
        self.workers(over, env, &take);
        let line = self.say(env, Say { shows: Shows::IdWhat, ..Say::PLAIN });
        fill("synchronized ($queue) {\n$line\n$queue.add($made);\n}", &names, &[("line", &line)])
    }

    /// The values as words of one text.
    pub(crate) fn packed(&self, env: &Env) -> String {
        format!("{} + \" \" + {} + \" \" + {}", self.id(env), self.what(env), self.amount(env))
    }

    /// The values read out of the words `part`, as locals.
    pub(crate) fn unpacked(&mut self, env: &Env, part: &str) -> (Code, Env) {
        let mut inside = env.clone();
        inside.carry = Carry::Values;
        inside.vars = self.values(env.kind);
        for var in &mut inside.vars {
            var.name = self.classes[env.class].fresh(&var.name);
            var.expr.clone_from(&var.name);
        }
        let texts = [
            self.parsed(env.kind, &format!("{part}[0]")),
            format!("{part}[1]"),
            format!("Integer.parseInt({part}[2])"),
        ];
        let mut code = Code::default();
        for (var, text) in inside.vars.iter().zip(texts) {
            code.line(format!("{} {} = {text};", var.ty, var.name));
        }
        (code, inside)
    }

    pub(crate) fn queue_of_keys(&mut self, over: &Over, env: &Env) -> Code {
        let taken = self.fresh(env, "next");
        let element = self.element(over, env, &taken, false);
        let noun = self.domains[env.kind].noun;
        let (queue, map) =
            (self.fresh(env, &format!("{noun}Keys")), self.fresh(env, &format!("waiting{}s", large(noun))));
        let key = self.fresh(env, "key");
        let (boxed, ty) = (self.boxed(env.kind), element.ty.clone());
        self.field(
            env,
            format!("private final BlockingQueue<{boxed}> {queue} = new LinkedBlockingQueue<{boxed}>();"),
        );
        self.field(
            env,
            format!("private final Map<{boxed}, {ty}> {map} = new ConcurrentHashMap<{boxed}, {ty}>();"),
        );
        let body = self.handling(over, &element.env, &ty, &taken);
        let done = if element.has_latch { format!("{taken}.done.countDown();") } else { String::new() };
        let take = fill(
            "$boxed $key = $queue.take();\n$ty $taken = $map.remove($key);\n$body\n$done",
            &[
                ("boxed", &boxed),
                ("key", &key),
                ("queue", &queue),
                ("ty", &ty),
                ("taken", &taken),
                ("map", &map),
                ("done", &done),
            ],
            &[("body", &body)],
        );
        self.workers(over, env, &take);
        let id = self.id(env);
        let put = format!("{map}.put({id}, @ELEMENT);\n{queue}.add({id});");
        self.put(env, &element, &put)
    }

    pub(crate) fn reply_map(&mut self, over: &Over, env: &Env) -> Code {
        let taken = self.fresh(env, "next");
        let element = self.element(over, env, &taken, false);
        let noun = self.domains[env.kind].noun;
        let (queue, map) =
            (self.fresh(env, &format!("{noun}Calls")), self.fresh(env, &format!("pending{}s", large(noun))));
        let (boxed, ty) = (self.boxed(env.kind), element.ty.clone());
        self.field(
            env,
            format!("private final BlockingQueue<{ty}> {queue} = new LinkedBlockingQueue<{ty}>();"),
        );
        self.field(
            env,
            format!(
                "private final Map<{boxed}, CompletableFuture<Integer>> {map} = new ConcurrentHashMap<>();"
            ),
        );
        let body = self.handling(over, &element.env, &ty, &taken);
        let reply =
            format!("{map}.remove({}).complete({});", self.id(&element.env), self.amount(&element.env));
        let take = fill(
            "$ty $taken = $queue.take();\n$body\n$reply",
            &[("ty", &ty), ("taken", &taken), ("queue", &queue), ("reply", &reply)],
            &[("body", &body)],
        );
        self.workers(over, env, &take);
        let future = self.fresh(env, "reply");
        let lines = vec![
            format!("CompletableFuture<Integer> {future} = new CompletableFuture<>();"),
            format!("{map}.put({}, {future});", self.id(env)),
            format!("{queue}.add({});", element.made),
            format!("{future}.get();"),
        ];
        Code { lines, throws: true }
    }

    /// Many requests at once, between two lines of the batch that claim no request.
    pub(crate) fn batch(&mut self, over: &Over, env: &Env) -> Code {
        let taken = self.fresh(env, "next");
        let element = self.element(over, env, &taken, false);
        let noun = self.domains[env.kind].noun;
        let queue = self.fresh(env, &format!("{noun}Backlog"));
        let (batch, unit) = (self.fresh(env, "batch"), self.fresh(env, "unit"));
        let ty = element.ty.clone();
        self.field(
            env,
            format!("private final BlockingQueue<{ty}> {queue} = new LinkedBlockingQueue<{ty}>();"),
        );
        let body = self.handling(over, &element.env, &ty, &taken);
        let size = format!("{batch}.size()");
        let verb = self.words.verb();
        let first = self.say_object(&element.env, Say::PLAIN, &format!("Batch {verb}: "), &size, None);
        let last = format!("All batches {} so far", self.words.verb());
        let last = self.say_constant(&element.env, &last);
        let done = if element.has_latch {
            fill(
                "for ($ty $taken : $batch) {\n$taken.done.countDown();\n}",
                &[("ty", &ty), ("taken", &taken), ("batch", &batch)],
                &[],
            )
        } else {
            Code::default()
        };
        let take = fill(
            "List<$ty> $batch = new ArrayList<>();
            $batch.add($queue.take());
            Thread.sleep(2);
            $queue.drainTo($batch, 7);
            String $unit = Truth.next(\"batch\") + \"\\t?\";
            Truth.set($unit);
            $first
            for ($ty $taken : $batch) {
            $body
            }
            Truth.set($unit); // Truth.
            $last
            $done",
            &[("ty", &ty), ("batch", &batch), ("queue", &queue), ("unit", &unit), ("taken", &taken)],
            &[("first", &first), ("last", &last), ("body", &body), ("done", &done)],
        );
        self.workers(over, env, &take);
        self.put(env, &element, &format!("{queue}.add(@ELEMENT);"))
    }

    /// Slots of an array that are overwritten; the one consumer follows the producers.
    pub(crate) fn ring(&mut self, over: &Over, env: &Env) -> Code {
        let noun = large(self.domains[env.kind].noun);
        let inside = self.received(over, env);
        let slot = self.slot(env, &inside);
        let ring = self.fresh(env, "ring");
        let (published, consumed) = (self.fresh(env, "published"), self.fresh(env, "consumed"));
        self.field(env, format!("private final {slot}[] {ring} = new {slot}[16];"));
        self.field(env, format!("private final AtomicLong {published} = new AtomicLong();"));
        self.field(env, format!("private final AtomicLong {consumed} = new AtomicLong();"));
        let publish = self.fresh(env, &format!("publish{noun}"));
        let taken = self.fresh(env, "slot");
        let names = [
            ("publish", publish.as_str()),
            ("parameters", &inside.parameters()),
            ("arguments", &inside.arguments()),
            ("published", &published),
            ("consumed", &consumed),
            ("ring", &ring),
            ("slot", &slot),
            ("taken", &taken),
        ];
        let filled = "for (int i = 0; i < $ring.length; i++) {\n$ring[i] = new $slot();\n}";
        self.classes[env.class].constructor.extend(fill(filled, &names, &[]).lines);
        self.classes[env.class].method(fill(PUBLISH, &names, &[]));
        // What is handed on must not be overwritten: it is read into locals first.
        let mut copies = Code::default();
        let mut read = inside.of(&taken);
        if over.inner.iter().any(|step| matches!(step, Step::Over(..))) {
            for var in &mut read.vars {
                let local = self.fresh(env, &var.name);
                copies.line(format!("{} {local} = {};", var.ty, var.expr));
                var.expr = local;
            }
        }
        let body = self.receive_guarded(over, &read);
        let take = fill(CONSUME, &names, &[("copies", &copies), ("body", &body)]);
        self.workers(over, env, &take);
        Code { lines: vec![format!("{publish}({});", env.arguments())], throws: false }
    }

    /// The class of a ring's slots.
    fn slot(&mut self, env: &Env, inside: &Env) -> String {
        let noun = large(self.domains[env.kind].noun);
        let slot = self.fresh(env, &format!("{noun}Slot"));
        let mut code = Code::default();
        code.line(format!("static class {slot} {{"));
        code.lines.extend(inside.vars.iter().map(|var| format!("private {} {};", var.ty, var.name)));
        code.line(format!("void fill({}) {{", inside.parameters()));
        code.lines.extend(inside.vars.iter().map(|var| format!("this.{0} = {0};", var.name)));
        code.line("}");
        code.line("}");
        self.classes[env.class].nested(code);
        slot
    }
}

const PUBLISH: &str = "private synchronized void $publish($parameters) {
    long at = $published.get();
    while (at - $consumed.get() >= $ring.length) {
    LockSupport.parkNanos(200000);
    }
    $ring[(int) (at % $ring.length)].fill($arguments);
    $published.set(at + 1);
    }";

const CONSUME: &str = "while ($consumed.get() >= $published.get()) {
    Thread.sleep(1);
    }
    $slot $taken = $ring[(int) ($consumed.get() % $ring.length)];
    $copies
    $body
    $consumed.incrementAndGet();";
