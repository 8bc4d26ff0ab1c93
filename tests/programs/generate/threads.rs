//! Hand-overs to threads, pools, timers and fork/join tasks.

use super::hand_over::{Over, Task};
use super::java::{Code, fill};
use super::plan::Say;
use super::write::{Env, Writer};

const RUN: &str = "public void run()";

impl Writer<'_> {
    /// A field with an executor.
    fn pool(&mut self, over: &Over, env: &Env) -> String {
        let noun = self.domains[env.kind].noun;
        let name = *self.random.pick(&["Workers", "Pool", "Executor"]);
        let pool = self.fresh(env, &format!("{noun}{name}"));
        let threads = if over.hand.single { 1 } else { 3 + self.random.below(3) };
        let made = if threads == 1 {
            "Executors.newSingleThreadExecutor()".to_owned()
        } else {
            format!("Executors.newFixedThreadPool({threads})")
        };
        self.field(env, format!("private final ExecutorService {pool} = {made};"));
        pool
    }

    /// What the receiver does where nothing may be thrown.
    pub(crate) fn receive_guarded(&mut self, over: &Over, env: &Env) -> Code {
        let mut code = self.recall(over, env);
        let steps = self.steps(over.inner, env, over.ends);
        code.add(self.guarded(env, steps));
        code
    }

    pub(crate) fn pool_lambda(&mut self, over: &Over, env: &Env) -> Code {
        let pool = self.pool(over, env);
        let body = self.receive_guarded(over, env);
        let mut code = if over.hand.waits {
            fill("$pool.submit(() -> {\n$body\n}).get();", &[("pool", &pool)], &[("body", &body)])
        } else {
            fill("$pool.execute(() -> {\n$body\n});", &[("pool", &pool)], &[("body", &body)])
        };
        code.throws = over.hand.waits;
        code
    }

    pub(crate) fn pool_task(&mut self, over: &Over, env: &Env) -> Code {
        let pool = self.pool(over, env);
        let inside = self.received(over, env);
        let body = self.receive_guarded(over, &inside);
        let task = Task { name: "Task", heading: " implements Runnable", signature: RUN, further: &[] };
        let name = self.task(&task, &inside, &body);
        let given = env.arguments();
        let call = if over.hand.waits {
            format!("{pool}.submit(new {name}({given})).get();")
        } else {
            format!("{pool}.execute(new {name}({given}));")
        };
        Code { lines: vec![call], throws: over.hand.waits }
    }

    pub(crate) fn callable(&mut self, over: &Over, env: &Env) -> Code {
        let pool = self.pool(over, env);
        let future = self.fresh(env, "future");
        if self.random.chance(40) {
            let mut body = self.receive(over, env);
            body.line(format!("return {};", self.amount(env)));
            let mut code = fill(
                "Future<Integer> $future = $pool.submit(() -> {\n$body\n});\n$future.get();",
                &[("future", &future), ("pool", &pool)],
                &[("body", &body)],
            );
            code.throws = true;
            return code;
        }
        let inside = self.received(over, env);
        let mut body = self.receive(over, &inside);
        body.line(format!("return {};", self.amount(&inside)));
        let task = Task {
            name: "Call",
            heading: " implements Callable<Integer>",
            signature: "public Integer call() throws Exception",
            further: &[],
        };
        let name = self.task(&task, &inside, &body);
        let given = env.arguments();
        let mut code = Code::default();
        code.line(format!("Future<Integer> {future} = {pool}.submit(new {name}({given}));"));
        code.line(format!("{future}.get();"));
        code.throws = true;
        code
    }

    pub(crate) fn completable(&mut self, over: &Over, env: &Env) -> Code {
        let pool = self.pool(over, env);
        let half = over.inner.len().div_ceil(2);
        let (first, second) = over.inner.split_at(half);
        let only = second.is_empty();
        let first = Over { inner: first, ends: over.ends && only, name: over.name.clone(), ..*over };
        let second = Over { inner: second, name: over.name.clone(), ..*over };
        let mut body = self.receive_guarded(&first, env);
        let amount = self.amount(env);
        body.line(format!("return {amount};"));
        let future = self.fresh(env, "stage");
        let then = if only {
            Code::default()
        } else {
            let then = self.receive_guarded(&second, env);
            let result = self.fresh(env, "result");
            fill(
                "}, $pool).thenApplyAsync($result -> {\n$then\nreturn $result;",
                &[("pool", &pool), ("result", &result)],
                &[("then", &then)],
            )
        };
        let wait = if over.hand.waits { format!("{future}.join();") } else { String::new() };
        fill(
            "CompletableFuture<Integer> $future = CompletableFuture.supplyAsync(() -> {
            $body
            $then
            }, $pool);
            $wait",
            &[("future", &future), ("pool", &pool), ("wait", &wait)],
            &[("body", &body), ("then", &then)],
        )
    }

    pub(crate) fn thread(&mut self, over: &Over, env: &Env) -> Code {
        let body = self.receive_guarded(over, env);
        let thread = self.fresh(env, "thread");
        let wait = if over.hand.waits { format!("{thread}.join();") } else { String::new() };
        let noun = self.domains[env.kind].noun;
        let mut code = fill(
            "Thread $thread = new Thread(() -> {\n$body\n}, \"$noun-thread\");\n$thread.start();\n$wait",
            &[("thread", &thread), ("noun", noun), ("wait", &wait)],
            &[("body", &body)],
        );
        code.lines.retain(|line| !line.is_empty());
        code.throws = over.hand.waits;
        code
    }

    pub(crate) fn thread_class(&mut self, over: &Over, env: &Env) -> Code {
        let inside = self.received(over, env);
        let body = self.receive_guarded(over, &inside);
        let task = Task { name: "Thread", heading: " extends Thread", signature: RUN, further: &[] };
        let name = self.task(&task, &inside, &body);
        let thread = self.fresh(env, "thread");
        let mut code = Code::default();
        code.line(format!("Thread {thread} = new {name}({});", env.arguments()));
        code.add(started(&thread, over));
        code
    }

    /// A thread of the application's own class around a task.
    pub(crate) fn daemon(&mut self, over: &Over, env: &Env) -> Code {
        if !self.classes.iter().any(|class| class.name == "Daemon") {
            let class = self.class("Daemon");
            self.classes[class].heading = " extends Thread".to_owned();
            self.classes[class].method(fill(DAEMON, &[], &[]));
        }
        let inside = self.received(over, env);
        let body = self.receive_guarded(over, &inside);
        let task = Task { name: "Work", heading: " implements Runnable", signature: RUN, further: &[] };
        let name = self.task(&task, &inside, &body);
        let daemon = self.fresh(env, "daemon");
        let mut code = Code::default();
        code.line(format!("Daemon {daemon} = new Daemon(new {name}({}));", env.arguments()));
        code.add(started(&daemon, over));
        code
    }

    pub(crate) fn delay(&mut self, over: &Over, env: &Env) -> Code {
        let timer = self.fresh(env, "scheduler");
        let field =
            format!("private final ScheduledExecutorService {timer} = Executors.newScheduledThreadPool(3);");
        self.field(env, field);
        let body = self.receive_guarded(over, env);
        let amount = self.amount(env);
        let wait = if over.hand.waits { ".get()" } else { "" };
        let mut code = fill(
            "$timer.schedule(() -> {\n$body\n}, $amount % 5, TimeUnit.MILLISECONDS)$wait;",
            &[("timer", &timer), ("amount", &amount), ("wait", wait)],
            &[("body", &body)],
        );
        code.throws = over.hand.waits;
        code
    }

    /// The task puts itself off once where the amount says so.
    pub(crate) fn jdk_timer(&mut self, over: &Over, env: &Env) -> Code {
        let timer = self.fresh(env, "timer");
        self.field(env, format!("private final Timer {timer} = new Timer(true);"));
        let inside = self.received(over, env);
        let recall = self.recall(over, &inside);
        let tried = self.say_further(&inside, Say::PLAIN, ("try", "attempt"));
        let again = self.say(&inside, Say::PLAIN);
        let steps = self.steps(over.inner, &inside, over.ends);
        let steps = self.guarded(&inside, steps);
        let amount = self.amount(&inside);
        let names = [("timer", timer.as_str()), ("amount", &amount), ("again", &inside.arguments())];
        let body = fill(
            "$recall
            $tried
            if (attempt == 1 && $amount % 3 == 0) {
            $line
            $timer.schedule(new @TASK($again, attempt + 1), 2);
            return;
            }
            $steps",
            &names,
            &[("recall", &recall), ("tried", &tried), ("line", &again), ("steps", &steps)],
        );
        let further = [("int", "attempt")];
        let task = Task { name: "Attempt", heading: " extends TimerTask", signature: RUN, further: &further };
        let name = self.task(&task, &inside, &body);
        for line in &mut self.classes[env.class].inner {
            *line = line.replace("@TASK", &name);
        }
        let amount = self.amount(env);
        Code {
            lines: vec![format!("{timer}.schedule(new {name}({}, 1), {amount} % 4);", env.arguments())],
            throws: false,
        }
    }

    pub(crate) fn fork_join(&mut self, over: &Over, env: &Env) -> Code {
        let pool = self.fresh(env, "forks");
        self.field(env, format!("private final ForkJoinPool {pool} = new ForkJoinPool(3);"));
        let inside = self.received(over, env);
        let leaf = self.say_further(&inside, Say::PLAIN, ("from", "from"));
        let recall = self.recall(over, &inside);
        let steps = self.steps(over.inner, &inside, false);
        let steps = self.guarded(&inside, steps);
        let body = fill(
            "$recall
            if (to - from <= 40) {
            $leaf
            $steps
            return to - from;
            }
            int middle = (from + to) / 2;
            @TASK left = new @TASK($again, from, middle);
            @TASK right = new @TASK($again, middle, to);
            left.fork();
            int done = right.compute() + left.join();
            $recall
            return done;",
            &[("again", &inside.arguments())],
            &[("recall", &recall), ("leaf", &leaf), ("steps", &steps)],
        );
        let further = [("int", "from"), ("int", "to")];
        let task = Task {
            name: "Range",
            heading: " extends RecursiveTask<Integer>",
            signature: "protected Integer compute()",
            further: &further,
        };
        let name = self.task(&task, &inside, &body);
        for line in &mut self.classes[env.class].inner {
            *line = line.replace("@TASK", &name);
        }
        let amount = self.amount(env);
        let line = format!("{pool}.invoke(new {name}({}, 0, {amount}));", env.arguments());
        Code { lines: vec![line], throws: false }
    }

    pub(crate) fn fan_out(&mut self, over: &Over, env: &Env) -> Code {
        let pool = self.pool(over, env);
        let latch = self.fresh(env, "latch");
        let replica = self.fresh(env, "replica");
        let index = self.fresh(env, "i");
        let mut code = if self.random.chance(50) {
            let mut body = self.recall(over, env);
            body.add(self.say_further(env, Say::PLAIN, ("replica", &replica)));
            let steps = self.steps(over.inner, env, false);
            body.add(self.guarded(env, steps));
            fill(
                "final int $replica = $index;\n$pool.execute(() -> {\n$body\n$latch.countDown();\n});",
                &[("replica", &replica), ("index", &index), ("pool", &pool), ("latch", &latch)],
                &[("body", &body)],
            )
        } else {
            let inside = self.received(over, env);
            let mut body = self.recall(over, &inside);
            body.add(self.say_further(&inside, Say::PLAIN, ("replica", "replica")));
            let steps = self.steps(over.inner, &inside, false);
            body.add(self.guarded(&inside, steps));
            body.line("done.countDown();");
            let further = [("int", "replica"), ("CountDownLatch", "done")];
            let task =
                Task { name: "Copy", heading: " implements Runnable", signature: RUN, further: &further };
            let name = self.task(&task, &inside, &body);
            let given = env.arguments();
            Code {
                lines: vec![format!("{pool}.execute(new {name}({given}, {index}, {latch}));")],
                throws: false,
            }
        };
        code = fill(
            "CountDownLatch $latch = new CountDownLatch(3);
            for (int $index = 0; $index < 3; $index++) {
            $code
            }
            $latch.await();",
            &[("latch", &latch), ("index", &index)],
            &[("code", &code)],
        );
        code.throws = true;
        code
    }

    pub(crate) fn invoke_all(&mut self, over: &Over, env: &Env) -> Code {
        let pool = self.pool(over, env);
        let calls = self.fresh(env, "calls");
        let side = self.fresh(env, "side");
        let index = self.fresh(env, "i");
        let future = self.fresh(env, "future");
        let mut body = self.recall(over, env);
        body.add(self.say_further(env, Say::PLAIN, ("side", &side)));
        body.add(self.steps(over.inner, env, false));
        body.line(format!("return {side};"));
        let mut code = fill(
            "List<Callable<Integer>> $calls = new ArrayList<>();
            for (int $index = 0; $index < 2; $index++) {
            final int $side = $index;
            $calls.add(() -> {
            $body
            });
            }
            for (Future<Integer> $future : $pool.invokeAll($calls)) {
            $future.get();
            }",
            &[("calls", &calls), ("side", &side), ("index", &index), ("future", &future), ("pool", &pool)],
            &[("body", &body)],
        );
        code.throws = true;
        code
    }
}

/// Starts a thread, and waits for its end where the hand-over waits.
fn started(thread: &str, over: &Over) -> Code {
    let mut code = Code::default();
    code.line(format!("{thread}.start();"));
    if over.hand.waits {
        code.line(format!("{thread}.join();"));
        code.throws = true;
    }
    code
}

const DAEMON: &str = "private final Runnable work;

    Daemon(Runnable work) {
    super(work.getClass().getSimpleName());
    setDaemon(true);
    this.work = work;
    }

    @Override
    public void run() {
    work.run();
    }";
