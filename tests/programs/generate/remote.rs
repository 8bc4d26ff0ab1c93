//! Hand-overs to another process, which answers: how the message is written and read.

use super::hand_over::Over;
use super::java::{Code, fill};
use super::plan::Protocol;
use super::words::large;
use super::write::{Env, Var, Writer};

/// A process that serves others.
#[derive(Clone, Debug)]
pub(crate) struct Server {
    pub(crate) name: String,
    pub(crate) class: usize,
    protocol: Protocol,
    /// One case of its switch for each kind of message.
    cases: Vec<Code>,
}

impl Server {
    /// The system property that says its port.
    pub(crate) fn property(&self) -> String {
        format!("port.{}", self.name)
    }
}

const NAMES: &[&str] = &["vault", "relay"];

impl Writer<'_> {
    pub(crate) fn begin_servers(&mut self) {
        for (i, &protocol) in self.program.servers.iter().enumerate() {
            let name = NAMES[i].to_owned();
            let class = self.class(&format!("{}Server", large(&name)));
            self.classes[class].is_public = true;
            self.servers.push(Server { name, class, protocol, cases: Vec::new() });
        }
    }

    pub(crate) fn remote(&mut self, over: &Over, env: &Env, server: usize) -> Code {
        let noun = self.domains[env.kind].noun;
        let verb = self.words.verb();
        let operation = verb.to_uppercase();
        self.served(over, env, server, &operation);
        // The sender's end: a client class with a method for this message.
        let class = self.class(&format!("{}{}Client", large(&self.servers[server].name), large(noun)));
        let holder = self.hold(env, class);
        let values = self.values(env.kind);
        let Server { protocol, .. } = self.servers[server];
        let property = self.servers[server].property();
        let shared = protocol != Protocol::Http && self.random.chance(50);
        let names = [
            ("parameters", parameters(&values)),
            ("property", property),
            ("types", types(protocol).to_owned()),
            ("reply", reply(protocol).to_owned()),
            ("method", format!("{verb}{}", large(noun))),
        ];
        let names: Vec<(&str, &str)> = names.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let send = self.send(server, env.kind, &operation);
        let opened = Code { lines: open(protocol).lines().map(str::to_owned).collect(), throws: false };
        let template = match (protocol, shared) {
            (Protocol::Http, _) => HTTP_CLIENT,
            (_, true) => SHARED_CLIENT,
            (_, false) => CLIENT,
        };
        let code = fill(template, &names, &[("send", &send), ("opened", &opened)]);
        if shared {
            self.classes[class]
                .fields
                .extend(types(protocol).split(';').map(|field| format!("private {};", field.trim())));
        }
        self.classes[class].method(code);
        let given = [self.id(env), self.what(env), self.amount(env)].join(", ");
        Code { lines: vec![format!("{holder}.{verb}{}({given});", large(noun))], throws: true }
    }

    /// The receiver's end: a component of the server, and the case that reads the message.
    fn served(&mut self, over: &Over, env: &Env, server: usize, operation: &str) {
        let noun = self.domains[env.kind].noun;
        let Server { class, protocol, .. } = self.servers[server];
        let component = self.class(&format!("{}{}", large(noun), large(&self.servers[server].name)));
        let at_server = self.env(env.kind, class);
        let holder = self.hold(&at_server, component);
        let mut inside = self.env(env.kind, component);
        for var in &inside.vars {
            self.classes[component].fresh(&var.name);
        }
        let method = self.classes[component].fresh(self.domains[env.kind].verb);
        let parameters = inside.parameters();
        let mut body = Code::default();
        let carry = self.kind(env).carry;
        if self.random.chance(50) {
            body.add(self.carried(&mut inside, carry));
        }
        body.add(self.steps(over.inner, &inside, false));
        let code = fill(
            "void $method($parameters)$clause {\n$body\n}",
            &[("method", &method), ("parameters", &parameters), ("clause", body.clause())],
            &[("body", &body)],
        );
        self.classes[component].method(code);
        let mut locals = self.values(env.kind);
        for var in &mut locals {
            var.name = self.classes[class].fresh(&var.name);
        }
        let read = self.read(protocol, env.kind, operation, &locals);
        let given: Vec<&str> = locals.iter().map(|var| var.name.as_str()).collect();
        let case = fill(
            "$read\n$holder.$method($given);",
            &[("holder", &holder), ("method", &method), ("given", &given.join(", "))],
            &[("read", &read)],
        );
        let number = (self.servers[server].cases.len() + 1).to_string();
        let case = match protocol {
            Protocol::Data | Protocol::Writable => {
                fill("case $number:\n$case\nbreak;", &[("number", &number)], &[("case", &case)])
            }
            Protocol::Text | Protocol::Http => {
                fill("case \"$operation\":\n$case\nbreak;", &[("operation", operation)], &[("case", &case)])
            }
            Protocol::Objects => {
                let message = message_name(operation);
                fill(
                    "if (read instanceof $message) {\n$case\n}",
                    &[("message", &message)],
                    &[("case", &case)],
                )
            }
        };
        self.servers[server].cases.push(case);
    }

    /// Sends the message; its number is that of the case just made for it.
    fn send(&self, server: usize, kind: usize, operation: &str) -> Code {
        let values = self.values(kind);
        let given: Vec<&str> = values.iter().map(|var| var.name.as_str()).collect();
        let Server { protocol, ref cases, .. } = self.servers[server];
        let number = cases.len();
        let mut code = Code::default();
        match protocol {
            Protocol::Data => {
                code.line(format!("out.writeByte({number});"));
                code.lines.extend(values.iter().map(|var| write_field(var, &var.name)));
                code.line("out.writeUTF(Truth.get());");
                code.line("out.flush();");
            }
            Protocol::Writable => {
                let name = message_name(operation);
                code.line(format!("out.writeByte({number});"));
                code.line(format!("new {name}({}).write(out);", given.join(", ")));
                code.line("out.writeUTF(Truth.get());");
                code.line("out.flush();");
            }
            Protocol::Text => {
                code.line(format!("out.println(\"{operation} \" + {});", given.join(" + \" \" + ")));
                code.line("out.println(Truth.get());");
            }
            Protocol::Objects => {
                let name = message_name(operation);
                code.line(format!("out.writeObject(new {name}({}));", given.join(", ")));
                code.line("out.writeObject(Truth.get());");
                code.line("out.flush();");
            }
            Protocol::Http => {
                let query = format!(
                    "\"/{operation}?id=\" + URLEncoder.encode(String.valueOf({}), \"UTF-8\") + \"&of=\" + {} + \"&n=\" + {}",
                    given[0], given[1], given[2]
                );
                code.line(format!("String path = {query};"));
            }
        }
        code.throws = true;
        code
    }

    /// The message's values read into locals.
    fn read(&mut self, protocol: Protocol, kind: usize, operation: &str, locals: &[Var]) -> Code {
        let mut code = Code::default();
        match protocol {
            Protocol::Data => {
                for var in locals {
                    code.line(format!("{} {} = {};", var.ty, var.name, read_field(var, "in")));
                }
                code.line("Truth.set(in.readUTF());");
            }
            Protocol::Writable | Protocol::Objects => {
                self.message_class(kind, &message_name(operation));
                let name = message_name(operation);
                let message = format!("{}Message", operation.to_lowercase());
                if protocol == Protocol::Writable {
                    code.line(format!("{name} {message} = new {name}();"));
                    code.line(format!("{message}.readFields(in);"));
                    code.line("Truth.set(in.readUTF());");
                } else {
                    code.line(format!("{name} {message} = ({name}) read;"));
                }
                for (var, field) in locals.iter().zip(self.values(kind)) {
                    code.line(format!("{} {} = {message}.get{}();", var.ty, var.name, large(&field.name)));
                }
            }
            Protocol::Text => {
                let parsed = [
                    self.parsed(kind, "words[1]"),
                    "words[2]".to_owned(),
                    "Integer.parseInt(words[3])".to_owned(),
                ];
                for (var, text) in locals.iter().zip(parsed) {
                    code.line(format!("{} {} = {text};", var.ty, var.name));
                }
            }
            Protocol::Http => {
                let parsed = [
                    self.parsed(kind, "query.get(\"id\")"),
                    "query.get(\"of\")".to_owned(),
                    "Integer.parseInt(query.get(\"n\"))".to_owned(),
                ];
                for (var, text) in locals.iter().zip(parsed) {
                    code.line(format!("{} {} = {text};", var.ty, var.name));
                }
            }
        }
        code
    }

    /// A message that can be sent as an object, and writes and reads its own fields.
    fn message_class(&mut self, kind: usize, name: &str) {
        let class = self.class(name);
        let vars = self.values(kind);
        self.classes[class].heading = " implements Serializable".to_owned();
        let mut code = Code::default();
        code.lines.extend(vars.iter().map(|var| format!("private {} {};", var.ty, var.name)));
        code.line(format!("{name}() {{"));
        code.line("}");
        code.line(format!("{name}({}) {{", parameters(&vars)));
        code.lines.extend(vars.iter().map(|var| format!("this.{0} = {0};", var.name)));
        code.line("}");
        code.line("public void write(DataOutput out) throws IOException {");
        code.lines.extend(vars.iter().map(|var| write_field(var, &var.name)));
        code.line("}");
        code.line("public void readFields(DataInput in) throws IOException {");
        code.lines.extend(vars.iter().map(|var| format!("{} = {};", var.name, read_field(var, "in"))));
        code.line("}");
        for var in &vars {
            code.add(fill(
                "$ty get$Name() {\nreturn $name;\n}",
                &[("ty", &var.ty), ("Name", &large(&var.name)), ("name", &var.name)],
                &[],
            ));
        }
        self.classes[class].method(code);
    }

    /// The servers' loops, when all their messages are known.
    pub(crate) fn end_servers(&mut self) {
        for server in self.servers.clone() {
            let mut cases = Code::default();
            for case in &server.cases {
                cases.add(case.clone());
            }
            let names = [
                ("class", self.classes[server.class].name.clone()),
                ("property", server.property()),
                ("answer", answer(server.protocol).to_owned()),
                ("types", types(server.protocol).to_owned()),
            ];
            let names: Vec<(&str, &str)> =
                names.iter().map(|(name, value)| (*name, value.as_str())).collect();
            let env = self.env(0, server.class);
            let failed = format!("Message {}", self.words.verb());
            let failed = self.raw(&env, "error", &failed, Some("e"));
            let ready = format!("Server {}", self.words.verb());
            let ready = self.raw(&env, "info", &ready, None);
            let opened =
                Code { lines: open(server.protocol).lines().map(str::to_owned).collect(), throws: false };
            let template = match server.protocol {
                Protocol::Http => HTTP_SERVER.to_owned(),
                protocol => SERVER.replace("@ROUND", round(protocol)),
            };
            let code = fill(
                &template,
                &names,
                &[("cases", &cases), ("opened", &opened), ("failed", &failed), ("ready", &ready)],
            );
            self.classes[server.class].methods.extend(code.lines);
        }
    }
}

fn message_name(operation: &str) -> String {
    format!("{}Message", large(&operation.to_lowercase()))
}

fn parameters(vars: &[Var]) -> String {
    let each: Vec<String> = vars.iter().map(|var| format!("{} {}", var.ty, var.name)).collect();
    each.join(", ")
}

fn write_field(var: &Var, expr: &str) -> String {
    match var.ty.as_str() {
        "int" => format!("out.writeInt({expr});"),
        "long" => format!("out.writeLong({expr});"),
        "String" => format!("out.writeUTF({expr});"),
        _ => format!("out.writeUTF({expr}.toString());"),
    }
}

fn read_field(var: &Var, from: &str) -> String {
    match var.ty.as_str() {
        "int" => format!("{from}.readInt()"),
        "long" => format!("{from}.readLong()"),
        "String" => format!("{from}.readUTF()"),
        composite => format!("{composite}.parse({from}.readUTF())"),
    }
}

/// Both streams of a socket.
fn open(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Data | Protocol::Writable => {
            "out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream()));
in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));"
        }
        Protocol::Objects => {
            "out = new ObjectOutputStream(socket.getOutputStream());
out.flush();
in = new ObjectInputStream(socket.getInputStream());"
        }
        Protocol::Text | Protocol::Http => {
            "out = new PrintWriter(socket.getOutputStream(), true);
in = new BufferedReader(new InputStreamReader(socket.getInputStream()));"
        }
    }
}

fn types(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Data | Protocol::Writable => "DataOutputStream out; DataInputStream in",
        Protocol::Objects => "ObjectOutputStream out; ObjectInputStream in",
        Protocol::Text | Protocol::Http => "PrintWriter out; BufferedReader in",
    }
}

/// The answer read by the sender.
fn reply(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Text | Protocol::Http => "in.readLine();",
        _ => "in.readInt();",
    }
}

/// The answer written by the server.
fn answer(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Text | Protocol::Http => "out.println(\"done\");",
        _ => "out.writeInt(0); out.flush();",
    }
}

/// One round of a connection's loop.
fn round(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Data | Protocol::Writable => {
            "int operation = in.readByte();
            switch (operation) {
            $cases
            default:
            throw new IOException(\"unknown message\");
            }"
        }
        Protocol::Objects => {
            "Object read = in.readObject();
            Truth.set((String) in.readObject());
            $cases"
        }
        Protocol::Text | Protocol::Http => {
            "String line = in.readLine();
            if (line == null) {
            return;
            }
            Truth.set(in.readLine());
            String[] words = line.split(\" \");
            switch (words[0]) {
            $cases
            default:
            throw new IOException(\"unknown message\");
            }"
        }
    }
}

const CLIENT: &str = "void $method($parameters) throws IOException {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), Integer.getInteger(\"$property\"))) {
    $types;
    $opened
    $send
    $reply
    }
    }";

const SHARED_CLIENT: &str = "private void connect() throws IOException {
    if (out == null) {
    Socket socket = new Socket(InetAddress.getLoopbackAddress(), Integer.getInteger(\"$property\"));
    socket.setTcpNoDelay(true);
    $opened
    }
    }

    synchronized void $method($parameters) throws IOException {
    connect();
    $send
    $reply
    }";

const HTTP_CLIENT: &str = "void $method($parameters) throws IOException {
    $send
    URL url = new URL(\"http://127.0.0.1:\" + Integer.getInteger(\"$property\") + path);
    HttpURLConnection connection = (HttpURLConnection) url.openConnection();
    connection.setRequestProperty(\"X-T\", Truth.get());
    BufferedReader in = new BufferedReader(new InputStreamReader(connection.getInputStream()));
    $reply
    in.close();
    }";

const SERVER: &str = "public static void main(String[] args) throws IOException {
    ServerSocket server = new ServerSocket(Integer.getInteger(\"$property\"), 50, InetAddress.getLoopbackAddress());
    $class serving = new $class();
    $ready
    while (true) {
    Thread thread = new Thread(serving.new Connection(server.accept()), \"connection\");
    thread.setDaemon(true);
    thread.start();
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
    socket.setTcpNoDelay(true);
    $types;
    $opened
    while (true) {
    @ROUND
    $answer
    }
    } catch (EOFException e) {
    return;
    } catch (Exception e) {
    $failed
    }
    }
    }";

const HTTP_SERVER: &str = "public static void main(String[] args) throws Exception {
    HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.getInteger(\"$property\")), 50);
    server.createContext(\"/\", new $class().new Requests());
    server.setExecutor(Executors.newFixedThreadPool(6));
    $ready
    server.start();
    new CountDownLatch(1).await();
    }

    private class Requests implements HttpHandler {
    @Override
    public void handle(HttpExchange exchange) throws IOException {
    Truth.set(exchange.getRequestHeaders().getFirst(\"X-T\"));
    Map<String, String> query = new HashMap<String, String>();
    for (String pair : exchange.getRequestURI().getQuery().split(\"&\")) {
    query.put(pair.substring(0, pair.indexOf('=')), pair.substring(pair.indexOf('=') + 1));
    }
    try {
    switch (exchange.getRequestURI().getPath().substring(1)) {
    $cases
    default:
    throw new IOException(\"unknown path\");
    }
    } catch (Exception e) {
    $failed
    }
    byte[] body = \"done\".getBytes(StandardCharsets.UTF_8);
    exchange.sendResponseHeaders(200, body.length);
    exchange.getResponseBody().write(body);
    exchange.close();
    }
    }";
