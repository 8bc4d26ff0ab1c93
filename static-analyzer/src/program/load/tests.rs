//! Class files, real, hand-made and damaged, through both parsers.

use super::*;
use crate::ir::print_body;

/// Writes class files, well-formed around code that need not be.
struct Writer {
    pool: Vec<u8>,
    n_constants: u16,
    supers: u16,
    methods: Vec<u8>,
    n_methods: u16,
}

impl Writer {
    fn new(name: &str, sup: &str) -> Self {
        let mut w = Writer { pool: Vec::new(), n_constants: 1, supers: 0, methods: Vec::new(), n_methods: 0 };
        // Constants 2 and 4 are this class and its superclass.
        w.class(name);
        w.class(sup);
        w
    }

    fn utf8(&mut self, text: &str) -> u16 {
        self.pool.push(1);
        self.pool.extend((text.len() as u16).to_be_bytes());
        self.pool.extend(text.as_bytes());
        self.n_constants += 1;
        self.n_constants - 1
    }

    fn class(&mut self, name: &str) -> u16 {
        let name = self.utf8(name);
        self.pool.push(7);
        self.pool.extend(name.to_be_bytes());
        self.n_constants += 1;
        self.n_constants - 1
    }

    fn method_ref(&mut self, class: &str, name: &str, descriptor: &str) -> u16 {
        let (class, name, descriptor) = (self.class(class), self.utf8(name), self.utf8(descriptor));
        self.pool.push(12);
        self.pool.extend([name, descriptor].iter().flat_map(|word| word.to_be_bytes()));
        self.n_constants += 1;
        let pair = self.n_constants - 1;
        self.pool.push(10);
        self.pool.extend([class, pair].iter().flat_map(|word| word.to_be_bytes()));
        self.n_constants += 1;
        self.n_constants - 1
    }

    /// A static method `name`; handlers are (start, end, handler, class).
    fn method(&mut self, name: &str, descriptor: &str, locals: u16, code: &[u8], handlers: &[[u16; 4]]) {
        let words = |words: &[u16]| words.iter().flat_map(|w| w.to_be_bytes()).collect::<Vec<u8>>();
        let (name, descriptor, attribute) = (self.utf8(name), self.utf8(descriptor), self.utf8("Code"));
        self.methods.extend(words(&[8, name, descriptor, 1, attribute]));
        let length = 12 + code.len() + 8 * handlers.len();
        self.methods.extend((length as u32).to_be_bytes());
        self.methods.extend(words(&[10, locals]));
        self.methods.extend((code.len() as u32).to_be_bytes());
        self.methods.extend(code);
        self.methods.extend((handlers.len() as u16).to_be_bytes());
        self.methods.extend(handlers.iter().flat_map(|h| words(h)));
        self.methods.extend([0, 0]);
        self.n_methods += 1;
    }

    fn finish(&self, super_class: u16) -> Vec<u8> {
        let mut class = vec![0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 49];
        class.extend(self.n_constants.to_be_bytes());
        class.extend(&self.pool);
        for word in [0x21, 2, super_class, self.supers, 0, self.n_methods] {
            class.extend(u16::to_be_bytes(word));
        }
        class.extend(&self.methods);
        class.extend([0, 0]);
        class
    }
}

/// Lifts `code` as the body of a static method.
fn lift_code(descriptor: &str, locals: u16, code: &[u8], handlers: &[[u16; 4]]) -> Result<String, String> {
    let mut writer = Writer::new("T", "java/lang/Object");
    writer.method("m", descriptor, locals, code, handlers);
    let start = std::time::Instant::now();
    let program = load_classes([("T.class".to_owned(), writer.finish(4))]);
    assert!(start.elapsed().as_secs_f64() < 1.0, "a hostile method must not take long");
    match program.methods.first().and_then(|m| m.body.as_ref()) {
        Some(body) => {
            assert_eq!(body.check(), Ok(()));
            Ok(print_body(body))
        }
        None => Err(program.diagnostics.join("\n")),
    }
}

#[track_caller]
fn check(descriptor: &str, locals: u16, code: &[u8], handlers: &[[u16; 4]], expected: &str) {
    let lines =
        |text: &str| text.lines().map(|l| l.trim().to_owned()).filter(|l| !l.is_empty()).collect::<Vec<_>>();
    let text = lift_code(descriptor, locals, code, handlers).unwrap_or_else(|reason| reason);
    assert_eq!(lines(&text), lines(expected), "\n{text}");
}

#[track_caller]
fn refused(descriptor: &str, locals: u16, code: &[u8], handlers: &[[u16; 4]], reason: &str) {
    let got = lift_code(descriptor, locals, code, handlers);
    assert!(got.as_ref().is_err_and(|e| e.contains(reason)), "{got:?}");
}

#[test]
fn a_diamond_joins_in_a_phi() {
    // iload_0; ifeq +7; iconst_1; goto +4; iconst_2; ireturn
    let code = [0x1a, 0x99, 0, 7, 0x04, 0xa7, 0, 4, 0x05, 0xac];
    check(
        "(I)I",
        1,
        &code,
        &[],
        "
        b0:
        v0 = param 0
        if v0 == 0 -> b2 b1
        b1: from b0
        v2 = const 1
        goto -> b3
        b2: from b0
        v4 = const 2
        goto -> b3
        b3: from b1 b2
        v6 = phi b1: v2, b2: v4
        return v6
    ",
    );
}

#[test]
fn a_loop_at_the_first_instruction_gets_an_entry_block() {
    // iinc 0 1; iload_0; ifne -4; return
    let code = [0x84, 0, 1, 0x1a, 0x9a, 0xff, 0xfc, 0xb1];
    check(
        "(IJ)V",
        3,
        &code,
        &[],
        "
        b0:
        v0 = param 0
        v1 = param 1
        goto -> b1
        b1: from b0 b1 in loop b1
        v3 = phi b0: v0, b1: v5
        v4 = const 1
        v5 = v3 + v4
        if v5 != 0 -> b1 b2
        b2: from b1
        return
    ",
    );
}

#[test]
fn long_values_take_two_slots() {
    // lload_0; dup2; ladd; l2i; iload_2; swap; pop; ireturn
    let code = [0x1e, 0x5c, 0x61, 0x88, 0x1c, 0x5f, 0x57, 0xac];
    check(
        "(JI)I",
        3,
        &code,
        &[],
        "
        b0:
        v0 = param 0
        v1 = param 1
        v2 = v0 + v0
        v3 = convert I v2
        return v1
    ",
    );
}

#[test]
fn handlers_see_the_locals_of_the_start_of_the_block() {
    // iconst_1; istore_1; [iload_0; iload_0; idiv; istore_1;] iload_1; ireturn; handler: pop; iload_1; ireturn
    let code = [0x04, 0x3c, 0x1a, 0x1a, 0x6c, 0x3c, 0x1b, 0xac, 0x57, 0x1b, 0xac];
    check(
        "(I)I",
        2,
        &code,
        &[[2, 6, 8, 0]],
        "
        b0:
        v0 = param 0
        v1 = const 1
        goto -> b1
        b1: from b0 catch any b3
        v3 = v0 / v0
        goto -> b2
        b2: from b1
        return v3
        b3: from b1 in handler
        v6 = caught any
        return v1
    ",
    );
}

#[test]
fn subroutines_are_copied_into_their_callers() {
    // 0: iconst_1; istore_0; jsr 11; iconst_2; istore_0; jsr 11; return(10); 11: astore_1; iload_0; istore_2; ret 1
    let code = [0x04, 0x3b, 0xa8, 0, 9, 0x05, 0x3b, 0xa8, 0, 4, 0xb1, 0x4c, 0x84, 0, 1, 0xa9, 1];
    check(
        "()V",
        3,
        &code,
        &[],
        "
        b0:
        v0 = const 1
        v1 = const opaque
        goto -> b1
        b1: from b0
        v3 = const 1
        v4 = v0 + v3
        goto -> b2
        b2: from b1
        v6 = const 2
        v7 = const opaque
        goto -> b3
        b3: from b2
        v9 = const 1
        v10 = v6 + v9
        goto -> b4
        b4: from b3
        return
    ",
    );
}

#[test]
fn unreachable_code_is_dropped() {
    check("()V", 0, &[0xb1, 0x57, 0x57, 0xb1], &[], "b0:\nreturn");
}

#[test]
fn illegal_code_is_refused_with_a_reason() {
    refused("()V", 1, &[0x57, 0xb1], &[], "stack underflow at offset 0");
    refused("()V", 1, &[0x1a, 0x57, 0xb1], &[], "local 0 is not assigned");
    refused("(I)V", 0, &[0xb1], &[], "1 locals used, 0 declared");
    refused("()V", 1, &[0x00], &[], "runs off the end");
    refused("()V", 1, &[0xa9, 0], &[], "`ret` leads nowhere");
    refused("()V", 1, &[0x09, 0x57, 0x57, 0x57, 0xb1], &[], "stack underflow");
    // `pop` of half a `long`, then `ireturn` of the other half.
    refused("()I", 1, &[0x0a, 0x04, 0x88, 0xac], &[], "no `long` or `double`");
    // Jump into the middle of `sipush`.
    refused("()V", 1, &[0xa7, 0, 4, 0x11, 0, 0, 0xb1], &[], "no instruction");
    // Stack depths 0 and 1 meet.
    refused("(I)V", 1, &[0x1a, 0x99, 0, 4, 0x04, 0xb1], &[], "stack depths differ");
    // Handler range that is none.
    refused("()V", 1, &[0x00, 0xb1], &[[1, 1, 0, 0]], "bad handler range");
    // A variable that only one side assigns.
    refused("(I)V", 2, &[0x1a, 0x99, 0, 5, 0x04, 0x3c, 0x1b, 0x57, 0xb1], &[], "not assigned");
}

#[test]
fn switches_with_more_cases_than_bytes_are_refused() {
    // tableswitch -2^31..2^31-1 and lookupswitch with 2^31-1 pairs
    let table = [0x03, 0xaa, 0, 0, 0, 0, 0, 0x10, 0x80, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff, 0xb1];
    let lookup = [0x03, 0xab, 0, 0, 0, 0, 0, 0x10, 0x7f, 0xff, 0xff, 0xff, 0xb1];
    refused("()V", 1, &table, &[], "bad instruction 0xaa");
    refused("()V", 1, &lookup, &[], "bad instruction 0xab");
}

#[test]
fn the_largest_methods_are_lifted_or_refused_in_time() {
    // 10,900 branches over one instruction each.
    let mut branches = Vec::new();
    for _ in 0..10_900 {
        branches.extend([0x1a, 0x99, 0x00, 0x04, 0x00]);
    }
    branches.push(0xb1);
    lift_code("(I)V", 1, &branches, &[]).expect("a long method");
    // Every instruction throws and is covered by 60,000 handlers.
    let mut throwing = [0x01, 0xbe, 0x3b].repeat(2000);
    throwing.extend([0xb1, 0x57, 0xb1]);
    let handlers = vec![[0, 6000, 6001, 2]; 60_000];
    refused("()V", 1, &throwing, &handlers, "steps to lift");
    // Each block is a loop over 60,000 locals.
    let mut wide = vec![0xc4, 0x15, 0xff, 0x00, 0x57];
    for _ in 0..5000 {
        wide.extend([0x04, 0x9a, 0xff, 0xff]);
    }
    wide.push(0xb1);
    assert!(lift_code("()V", 0xffff, &wide, &[]).is_err());
    // Subroutines that call each other twice: 2^n copies.
    let mut nested = Vec::new();
    for level in 0..60u16 {
        let local = level as u8;
        nested.extend([0x3a, local, 0xa8, 0, 8, 0xa8, 0, 5, 0xa9, local]);
    }
    nested.extend([0x3a, 200, 0xa9, 200]);
    let mut code = vec![0xa8, 0, 4, 0xb1];
    code.extend(nested);
    refused("()V", 256, &code, &[], "blocks");
}

#[test]
fn deep_and_cyclic_hierarchies_end() {
    let n = 10_000;
    let mut files: Vec<(String, Vec<u8>)> = (0..n)
        .map(|i| {
            let sup = if i == 0 { "java/lang/Thread".to_owned() } else { format!("C{}", i - 1) };
            let mut w = Writer::new(&format!("C{i}"), &sup);
            if i == 0 {
                w.method("top", "()V", 0, &[0xb1], &[]);
            }
            (format!("C{i}.class"), w.finish(4))
        })
        .collect();
    for (a, b) in [("X", "Y"), ("Y", "X"), ("Z", "Z")] {
        files.push((format!("{a}.class"), Writer::new(a, b).finish(4)));
    }
    let program = load_classes(files);
    assert_eq!(program.classes.len(), n + 3, "{:?}", program.diagnostics);
    let name = |s: &str| Name::from(s);
    assert!(program.is_subtype(name("C9999"), name("java/lang/Runnable")));
    assert!(!program.is_subtype(name("X"), name("java/lang/Runnable")));
    assert_eq!(program.all_subtypes(name("java/lang/Runnable")).len(), n);
    assert_eq!(program.all_subtypes(name("X")).len(), 2);
    assert_eq!(program.resolve_virtual(name("Z"), name("top"), name("()V")), None);
    let found = program.resolve_virtual(name("C9999"), name("top"), name("()V")).expect("inherited");
    assert_eq!(program.method_name(found), "C0.top()V");
    assert_eq!(program.virtual_targets(name("C5000"), name("top"), name("()V")), vec![found]);
    assert_eq!(program.field_owner(name("X"), name("f"), name("I")), None);
}

#[test]
fn the_first_of_two_classes_wins_and_the_other_is_told() {
    let class = Writer::new("A", "java/lang/Object").finish(4);
    let program = load_classes([("1/A.class".to_owned(), class.clone()), ("2/A.class".to_owned(), class)]);
    assert_eq!(program.classes.len(), 1);
    assert!(program.diagnostics[0].starts_with("duplicate classes"), "{:?}", program.diagnostics);
}

#[test]
fn broken_classes_are_skipped_and_named() {
    let class = Writer::new("A", "java/lang/Object").finish(4);
    let broken = class[..class.len() / 2].to_vec();
    let program = load_classes([("B.class".to_owned(), broken), ("A.class".to_owned(), class)]);
    assert_eq!((program.entries[0].n_classes, program.entries[0].n_skipped), (1, 1));
    assert!(program.diagnostics[0].contains("B.class"), "{:?}", program.diagnostics);
}

/// 2,000 classes with damaged bytes: nothing but skipped classes and methods.
#[test]
fn damaged_classes_neither_crash_nor_hang() {
    let mut writer = Writer::new("A", "java/lang/Object");
    writer.method("d", "(I)I", 1, &[0x1a, 0x99, 0, 7, 0x04, 0xa7, 0, 4, 0x05, 0xac], &[]);
    writer.method(
        "h",
        "(I)I",
        2,
        &[0x04, 0x3c, 0x1a, 0x1a, 0x6c, 0x3c, 0x1b, 0xac, 0x57, 0x1b, 0xac],
        &[[2, 6, 8, 0]],
    );
    let jsr = [0x04, 0x3b, 0xa8, 0, 9, 0x05, 0x3b, 0xa8, 0, 4, 0xb1, 0x4c, 0x84, 0, 1, 0xa9, 1];
    writer.method("s", "()V", 3, &jsr, &[]);
    let switch = [0x1a, 0xaa, 0, 0, 0, 0, 0, 19, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 19, 0xb1];
    writer.method("t", "(I)V", 1, &switch, &[]);
    let good = writer.finish(4);
    assert_eq!(load_classes([("A".to_owned(), good.clone())]).diagnostics, Vec::<String>::new());
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = |n: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % n as u64) as usize
    };
    let mut n_lifted = 0;
    for _ in 0..2000 {
        let mut class = good.clone();
        for _ in 0..=random(4) {
            let at = random(class.len());
            class[at] = random(256) as u8;
        }
        if random(8) == 0 {
            class.truncate(random(class.len()));
        }
        let program = load_classes([("A".to_owned(), class)]);
        n_lifted += program.methods.iter().filter(|m| m.body.is_some()).count();
        let caught = program.diagnostics.iter().find(|d| d.contains("panic"));
        assert_eq!(caught, None);
    }
    assert!(n_lifted > 1000, "most damage leaves some methods alone: {n_lifted}");
}

#[test]
fn modified_utf8_is_read_leniently() {
    assert_eq!(mutf8_lossy(b"a\xc0\x80\xc3\xa9\xed\xa0\xbd\xed\xb8\x80\xed\xa0\xbd"), "a\0é😀\u{fffd}");
}

/// The sample programs, one jar per compiler.
fn samples() -> Vec<PathBuf> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../samples/classes");
    ["java8", "java17", "java21"].iter().map(|java| folder.join(java).join("store.jar")).collect()
}

#[test]
fn both_parsers_read_the_same() {
    let class_path = class_path::read(&samples(), &Config::default()).expect("the samples");
    for file in class_path.files {
        let bytes = file.bytes.expect("a class file");
        let (first, second) = (cafebabe::parse(&bytes), noak::parse(&bytes));
        assert_eq!(format!("{first:?}"), format!("{second:?}"), "{}", file.path);
        assert!(first.is_ok() && noak::scan(&bytes).is_ok(), "{}", file.path);
    }
}

#[test]
fn all_sample_methods_are_lifted() {
    for jar in samples() {
        let program = load(&[jar], &Config::default()).expect("a sample");
        assert_eq!(program.diagnostics, Vec::<String>::new());
        let has_code = |m: &&Method| m.access & 0x0500 == 0;
        assert!(program.methods.iter().filter(has_code).all(|m| m.body.is_some()));
        assert!(program.methods.len() > 50);
    }
}

/// Two applications that have classes of one name: what is the same is read once, what is not is
/// kept for each, and called by each as its own.
#[test]
fn applications_have_classes_of_their_own() {
    let class = |name: &str, calls: Option<&str>, n_locals: u16| {
        let mut w = Writer::new(name, "java/lang/Object");
        let code = match calls {
            Some(other) => {
                let method = w.method_ref(other, "run", "()V");
                vec![0xb8, (method >> 8) as u8, method as u8, 0xb1]
            }
            None => vec![0xb1],
        };
        w.method("run", "()V", n_locals, &code, &[]);
        w.finish(4)
    };
    let files = |entry: usize, n_locals: u16| {
        let file = |name: &str, bytes: Vec<u8>| ClassFile {
            entry,
            path: format!("BOOT-INF/classes/{name}.class"),
            bytes: Ok(bytes),
        };
        [
            file("a/Same", class("a/Same", None, 0)),
            file("a/Main", class("a/Main", None, n_locals)),
            file("a/User", class("a/User", Some("a/Main"), n_locals)),
        ]
    };
    let mut class_path = ClassPath::default();
    for name in ["one.jar", "two.jar"] {
        class_path.entries.push(class_path::Entry { name: name.to_owned(), digest: 0 });
    }
    class_path.files = files(0, 0).into_iter().chain(files(1, 1)).collect();
    let program = link(class_path);
    let mut names: Vec<(&str, usize)> =
        program.classes.iter().map(|c| (applications::plain(c.name.as_str()), c.entry)).collect();
    names.sort_unstable();
    assert_eq!(names, [("a/Main", 0), ("a/Main", 1), ("a/Same", 0), ("a/User", 0), ("a/User", 1)]);
    for user in program.classes.iter().filter(|c| c.name.ends_with("User")) {
        let body = program.methods[user.methods.start].body.as_ref().expect("it has code");
        let called = body.iter().find_map(|(_, inst)| match &inst.op {
            Op::Invoke { method, .. } => program.class(method.class),
            _ => None,
        });
        assert_eq!(program.classes[called.expect("a call of the program's").index()].entry, user.entry);
    }
    assert_eq!(program.diagnostics.len(), 1, "{:?}", program.diagnostics);
}
