//! Who begins requests: `main`, clients, timers, connections, and callers that are not
//! part of the application's classes.

use super::java::{Code, fill};
use super::plan::{Begin, Carry};
use super::words::{Words, large};
use super::write::{Env, OUTSIDE, Writer};

impl Writer<'_> {
    /// The services and what calls them; the name of the class to start.
    pub(crate) fn begin_main(&mut self) -> String {
        let is_outside =
            self.program.kinds.iter().any(|kind| matches!(kind.begin, Begin::Unseen | Begin::Connection));
        let name =
            if is_outside { "Load".to_owned() } else { format!("{}Main", large(self.domains[0].noun)) };
        let main = self.class(&name);
        self.classes[main].is_public = true;
        self.classes[main].is_outside = is_outside;
        let mut services = Code::default();
        let mut starts = Code::default();
        let mut last = Code::default();
        if !is_outside && self.random.chance(60) {
            let env = self.env(0, main);
            services.add(self.say_constant(&env, "Starting"));
        }
        for kind in 0..self.program.kinds.len() {
            let service = self.service(kind, is_outside);
            let service_name = self.classes[service].name.clone();
            let local = format!("{}s", self.domains[kind].noun);
            services.line(format!("{service_name} {local} = new {service_name}();"));
            let begin = self.program.kinds[kind].begin;
            let code = match begin {
                Begin::Timer => self.timer(kind, service, &local),
                Begin::MainLoop => self.main_loop(kind, main, &local),
                Begin::TaskEach => self.task_each(kind, main, &local),
                Begin::ClientThreads | Begin::Unseen => self.client_threads(kind, main, &local),
                Begin::ClientClass => self.client_class(kind, &local),
                Begin::Connection => self.connection(kind, main, &local),
            };
            if begin == Begin::MainLoop {
                last.add(code)
            } else {
                starts.add(code)
            }
            if begin == Begin::Timer {
                last.line(format!("{local}.await();"));
            }
        }
        let method = fill(
            "public static void main(String[] args) throws Exception {
            $services
            List<Thread> clients = new ArrayList<Thread>();
            $starts
            $last
            for (Thread client : clients) {
            client.join();
            }
            }",
            &[],
            &[("services", &services), ("starts", &starts), ("last", &last)],
        );
        self.classes[main].method(method);
        let package = if is_outside { OUTSIDE } else { &self.package };
        format!("{package}.{name}")
    }

    pub(crate) fn env(&self, kind: usize, class: usize) -> Env {
        Env { kind, class, carry: Carry::Values, vars: self.values(kind) }
    }

    /// The class whose method is a request of this kind.
    fn service(&mut self, kind: usize, is_public: bool) -> usize {
        let noun = self.domains[kind].noun;
        let class = self.class(&format!("{}Service", large(noun)));
        self.classes[class].is_public = is_public;
        let mut env = self.env(kind, class);
        for var in self.values(kind) {
            self.classes[class].fresh(&var.name);
        }
        let method = self.classes[class].fresh(self.domains[kind].verb);
        let parameters = self.passed(kind, |var, ty| format!("{ty} {var}"));
        let mut body = self.identify(&mut env);
        let program = self.program;
        body.add(self.steps(&program.kinds[kind].steps, &env, true));
        let public = if is_public { "public " } else { "" };
        let code = fill(
            "$public void $method($parameters)$clause {\n$body\n}",
            &[
                ("public", public.trim()),
                ("method", &method),
                ("parameters", &parameters),
                ("clause", body.clause()),
            ],
            &[("body", &body)],
        );
        self.classes[class].throws = body.throws;
        self.classes[class].method(code);
        class
    }

    /// What a caller passes, each by `each(name, type)`.
    fn passed(&self, kind: usize, each: impl Fn(&str, &str) -> String) -> String {
        let vars = self.values(kind);
        let from = usize::from(!Self::is_passed(self.program.kinds[kind].id));
        let all: Vec<String> = vars[from..].iter().map(|var| each(&var.name, &var.ty)).collect();
        all.join(", ")
    }

    /// Expressions for what a caller passes. `number`: counts this caller's requests.
    fn made_up(&mut self, kind: usize, number: &str, random: &str) -> Vec<(String, String, String)> {
        let domain = self.domains[kind];
        let place = Words::place(&mut self.random);
        let id = match self.id_type(kind).as_str() {
            "int" => format!("{} + {number}", self.base(kind)),
            _ if self.program.same_ids => format!("\"/shared/\" + {random}.nextInt(9)"),
            _ => format!("\"/{}s/\" + {random}.nextInt(9)", domain.noun),
        };
        let mut all = vec![
            ("String".to_owned(), domain.what.to_owned(), format!("\"{place}\" + {random}.nextInt(5)")),
            ("int".to_owned(), domain.amount.to_owned(), format!("1 + {random}.nextInt(99)")),
        ];
        if Self::is_passed(self.program.kinds[kind].id) {
            all.insert(0, (self.id_type(kind), domain.noun.to_owned(), id));
        }
        all
    }

    /// One call of the service, where nothing may be thrown.
    fn call_service(&mut self, kind: usize, class: usize, service: &str, number: &str) -> Code {
        let given: Vec<String> =
            self.made_up(kind, number, "random").into_iter().map(|(_, _, expr)| expr).collect();
        let verb = self.domains[kind].verb;
        let throws = self.service_throws(kind);
        let call = Code { lines: vec![format!("{service}.{verb}({});", given.join(", "))], throws };
        let env = self.env(kind, class);
        let mut code = if self.classes[class].is_outside {
            fill(
                "try {\n$call\n} catch (Exception e) {\nthrow new IllegalStateException(e);\n}",
                &[],
                &[("call", &call)],
            )
        } else {
            self.guarded(&env, call)
        };
        code.throws = false;
        code.line("Truth.clear();");
        code.add(self.pause(&env, "random.nextInt(4)"));
        code
    }

    fn service_throws(&self, kind: usize) -> bool {
        let name = format!("{}Service", large(self.domains[kind].noun));
        self.classes.iter().any(|class| class.name == name && class.throws)
    }

    /// Names that the start of every kind of client needs.
    fn client_names(&self, kind: usize) -> Vec<(&'static str, String)> {
        let noun = self.domains[kind].noun;
        let clients = 3 + kind % 3;
        let seed = self.program.seed % 1000 + 100 * kind as u64;
        vec![
            ("noun", noun.to_owned()),
            ("Noun", large(noun)),
            ("clients", clients.to_string()),
            ("each", self.program.kinds[kind].requests.div_ceil(clients).to_string()),
            ("all", self.program.kinds[kind].requests.to_string()),
            ("seed", seed.to_string()),
        ]
    }

    fn client_threads(&mut self, kind: usize, class: usize, local: &str) -> Code {
        let call = self.call_service(kind, class, "service", "100 * client + i");
        let names = self.client_names(kind);
        let names: Vec<(&str, &str)> = names.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let method = fill(
            "private static void start$Nouns($NounService service, List<Thread> clients) {
            for (int c = 0; c < $clients; c++) {
            final int client = c;
            final Random random = new Random($seed + c);
            Thread thread = new Thread(() -> {
            for (int i = 0; i < $each; i++) {
            $call
            }
            }, \"$noun-client-\" + c);
            clients.add(thread);
            thread.start();
            }
            }",
            &names,
            &[("call", &call)],
        );
        self.classes[class].method(method);
        fill(
            "start$Nouns($local, clients);",
            &[("Noun", &large(self.domains[kind].noun)), ("local", local)],
            &[],
        )
    }

    fn client_class(&mut self, kind: usize, local: &str) -> Code {
        let class = self.class(&format!("{}Client", large(self.domains[kind].noun)));
        let call = self.call_service(kind, class, "service", "100 * client + i");
        let mut names = self.client_names(kind);
        names.push(("class", self.classes[class].name.clone()));
        names.push(("local", local.to_owned()));
        let names: Vec<(&str, &str)> = names.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let body = fill(
            "private final $NounService service;
            private final int client;
            private final Random random;

            $class($NounService service, int client) {
            this.service = service;
            this.client = client;
            this.random = new Random($seed + client);
            }

            @Override
            public void run() {
            for (int i = 0; i < $each; i++) {
            $call
            }
            }",
            &names,
            &[("call", &call)],
        );
        self.classes[class].heading = " extends Thread".to_owned();
        self.classes[class].method(body);
        fill(
            "for (int c = 0; c < $clients; c++) {
            Thread $nounClient = new $class($local, c);
            clients.add($nounClient);
            $nounClient.start();
            }",
            &names,
            &[],
        )
    }

    fn task_each(&mut self, kind: usize, main: usize, local: &str) -> Code {
        let verb = self.domains[kind].verb;
        let made = self.made_up(kind, "i", "random");
        let mut locals = Code::default();
        let given: Vec<String> = made.iter().map(|(_, name, _)| name.clone()).collect();
        locals.lines.extend(made.into_iter().map(|(ty, name, expr)| format!("final {ty} {name} = {expr};")));
        let env = self.env(kind, main);
        let throws = self.service_throws(kind);
        let call = Code { lines: vec![format!("service.{verb}({});", given.join(", "))], throws };
        let mut call = self.guarded(&env, call);
        call.line("Truth.clear();");
        let pause = self.pause(&env, "random.nextInt(3)");
        let names = self.client_names(kind);
        let names: Vec<(&str, &str)> = names.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let method = fill(
            "private static void submit$Nouns($NounService service) throws InterruptedException {
            ExecutorService callers = Executors.newFixedThreadPool(4);
            Random random = new Random($seed);
            for (int i = 0; i < $all; i++) {
            $locals
            callers.execute(() -> {
            $call
            });
            $pause
            }
            callers.shutdown();
            callers.awaitTermination(20, TimeUnit.SECONDS);
            }",
            &names,
            &[("locals", &locals), ("call", &call), ("pause", &pause)],
        );
        self.classes[main].method(method);
        fill("submit$Nouns($local);", &[("Noun", &large(self.domains[kind].noun)), ("local", local)], &[])
    }

    fn main_loop(&mut self, kind: usize, main: usize, local: &str) -> Code {
        let call = self.call_service(kind, main, local, "i");
        let names = self.client_names(kind);
        let names: Vec<(&str, &str)> = names.iter().map(|(name, value)| (*name, value.as_str())).collect();
        fill(
            "Random random = new Random($seed);\nfor (int i = 0; i < $all; i++) {\n$call\n}",
            &names,
            &[("call", &call)],
        )
    }

    /// The service calls itself at a fixed rate.
    fn timer(&mut self, kind: usize, service: usize, local: &str) -> Code {
        let made = self.made_up(kind, "rounds", "random");
        let verb = self.domains[kind].verb;
        let given: Vec<String> = made.into_iter().map(|(_, _, expr)| expr).collect();
        let env = self.env(kind, service);
        let throws = self.service_throws(kind);
        let call = Code { lines: vec![format!("{verb}({});", given.join(", "))], throws };
        let call = self.guarded(&env, call);
        let names = self.client_names(kind);
        let mut names: Vec<(&str, &str)> =
            names.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let public = if self.classes[service].is_public { "public " } else { "" };
        names.push(("public", public.trim()));
        let methods = fill(
            "$public void await() throws InterruptedException {
            clock.awaitTermination(20, TimeUnit.SECONDS);
            }

            $public void start() {
            clock.scheduleAtFixedRate(this::tick, 3, 4, TimeUnit.MILLISECONDS);
            }

            private void tick() {
            if (rounds == $all) {
            clock.shutdown();
            return;
            }
            rounds++;
            $call
            Truth.clear();
            }",
            &names,
            &[("call", &call)],
        );
        for field in [
            "private final ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor();"
                .to_owned(),
            fill("private final Random random = new Random($seed);", &names, &[]).lines.remove(0),
            "private int rounds;".to_owned(),
        ] {
            self.classes[service].fields.push(field);
        }
        self.classes[service].method(methods);
        Code { lines: vec![format!("{local}.start();")], throws: false }
    }

    /// Lines of text arrive; a thread of each connection reads them and calls the service.
    fn connection(&mut self, kind: usize, main: usize, local: &str) -> Code {
        let domain = self.domains[kind];
        let class = self.class(&format!("{}Listener", large(domain.noun)));
        let env = self.env(kind, class);
        let made = self.made_up(kind, "100 * client + i", "random");
        let words: Vec<String> = made
            .iter()
            .enumerate()
            .map(|(i, (ty, ..))| match ty.as_str() {
                "int" => format!("Integer.parseInt(words[{}])", i + 1),
                _ => format!("words[{}]", i + 1),
            })
            .collect();
        let throws = self.service_throws(kind);
        let call = Code { lines: vec![format!("service.{}({});", domain.verb, words.join(", "))], throws };
        let mut call = self.guarded(&env, call);
        call.line("Truth.clear();");
        let lost = format!("Connection {}", self.words.verb());
        let lost = self.raw(&env, "warn", &lost, None);
        let mut names = self.client_names(kind);
        names.push(("class", self.classes[class].name.clone()));
        names.push(("OP", domain.verb.to_uppercase()));
        names.push(("local", local.to_owned()));
        let sent: Vec<String> = made.into_iter().map(|(_, _, expr)| format!(" + \" \" + ({expr})")).collect();
        names.push(("sent", sent.concat()));
        let names: Vec<(&str, &str)> = names.iter().map(|(name, value)| (*name, value.as_str())).collect();
        self.classes[class].is_public = true;
        self.classes[class].parameters = fill("$NounService service", &names, &[]).lines.remove(0);
        self.classes[class].constructor.push("this.service = service;".to_owned());
        self.classes[class].methods.extend(fill(LISTENER, &names, &[("call", &call), ("lost", &lost)]).lines);
        let driver = fill(DRIVER, &names, &[]);
        self.classes[main].method(driver);
        fill("start$Nouns(new $class($local), clients);", &names, &[])
    }
}

const LISTENER: &str = "private final $NounService service;
    private ServerSocket server;

    public int listen() throws IOException {
    server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    Thread acceptor = new Thread(this::accept, \"acceptor\");
    acceptor.setDaemon(true);
    acceptor.start();
    return server.getLocalPort();
    }

    private void accept() {
    try {
    while (true) {
    Thread thread = new Thread(new Connection(server.accept()));
    thread.setDaemon(true);
    thread.start();
    }
    } catch (IOException e) {
    $lost
    }
    }

    private class Connection implements Runnable {
    private final Socket socket;

    Connection(Socket socket) {
    this.socket = socket;
    }

    @Override
    public void run() {
    try {
    BufferedReader in = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
    PrintWriter out = new PrintWriter(socket.getOutputStream(), true);
    for (String line = in.readLine(); line != null; line = in.readLine()) {
    String[] words = line.split(\" \");
    switch (words[0]) {
    case \"$OP\":
    $call
    out.println(\"ok\");
    break;
    default:
    out.println(\"unknown\");
    }
    }
    } catch (IOException e) {
    return;
    }
    }
    }";

const DRIVER: &str = "private static void start$Nouns($class listener, List<Thread> clients) throws IOException {
    final int port = listener.listen();
    for (int c = 0; c < $clients; c++) {
    final int client = c;
    final Random random = new Random($seed + c);
    Thread thread = new Thread(() -> {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
    PrintWriter out = new PrintWriter(socket.getOutputStream(), true);
    BufferedReader in = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
    for (int i = 0; i < $each; i++) {
    out.println(\"$OP\"$sent);
    in.readLine();
    Thread.sleep(random.nextInt(4));
    }
    } catch (Exception e) {
    throw new IllegalStateException(e);
    }
    });
    clients.add(thread);
    thread.start();
    }
    }";
