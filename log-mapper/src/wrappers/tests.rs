//! Lines in their wrappers in, inner text out.

use super::*;

#[track_caller]
fn check(names: &[&str], text: &str, expected: &str) {
    let wrappers: Vec<Wrapper> = names.iter().map(|name| by_name(name).expect("a wrapper")).collect();
    let got = unwrap(&wrappers, text.as_bytes());
    assert_eq!(String::from_utf8_lossy(&got.text), expected, "{names:?} {text}");
    for place in &got.places {
        let before = &text.as_bytes()[..place.start as usize];
        assert_eq!(memchr::memchr_iter(b'\n', before).count(), place.line as usize);
    }
}

#[test]
fn container_runtimes() {
    let cri = "2025-03-29T11:54:05.123456789Z";
    check(&["cri"], &format!("{cri} stdout F a b\n{cri} stderr F \tat c\n"), "a b\n\tat c\n");
    check(&["cri"], &format!("{cri} stdout P a \n{cri} stdout F b\n{cri} stdout F c\n"), "a b\nc\n");
    check(&["cri"], "bare\n", "bare\n");
    check(
        &["docker-json"],
        "{\"log\":\"a \\\"b\\\"\\n\",\"stream\":\"stdout\",\"time\":\"x\"}\n",
        "a \"b\"\n",
    );
    check(
        &["docker-json"],
        "{\"log\":\"a\",\"stream\":\"stdout\"}\n{\"log\":\"b\\u00e4\\n\",\"stream\":\"stdout\"}\n",
        "ab\u{e4}\n",
    );
    check(&["timestamps"], &format!("{cri} a b\n"), "a b\n");
    check(&["kubectl-prefix", "timestamps"], &format!("[pod/x-1/y] {cri} a\n"), "a\n");
    check(&["compose"], "app-1  | a | b\n", "a | b\n");
    check(&["stern"], "web-5f7 app a b\n", "a b\n");
}

#[test]
fn what_was_cut_is_one_line_for_the_next_wrapper() {
    let record = r#"{"level":"INFO","message":"a long text","timestamp":"2025-03-29T11:54:05Z"}"#;
    let (head, rest) = record.split_at(20);
    let stamp = "2025-03-29T11:54:05.123456789Z";
    check(
        &["cri", "json"],
        &format!("{stamp} stdout P {head}\n{stamp} stdout F {rest}\n"),
        "2025-03-29T11:54:05Z\u{1f}INFO\u{1f}\u{1f}\u{1f}\u{1f}\u{1f}\u{1f}a long text\n",
    );
    let pretty = record.replace(",", ",\n  ").replace('{', "{\n  ").replace('}', "\n}");
    for (text, n) in [(format!("{pretty}\n"), 1), (format!("[\n{pretty},\n{pretty}\n]\n"), 2)] {
        let one = "2025-03-29T11:54:05Z\u{1f}INFO\u{1f}\u{1f}\u{1f}\u{1f}\u{1f}\u{1f}a long text\n";
        check(&["json-lines", "json"], &text, &one.repeat(n));
    }
    let indented = pretty.lines().map(|line| format!("  {line}\n")).collect::<String>();
    check(
        &["json-lines-2", "json"],
        &format!("[\n{indented}]\n"),
        "2025-03-29T11:54:05Z\u{1f}INFO\u{1f}\u{1f}\u{1f}\u{1f}\u{1f}\u{1f}a long text\n",
    );
    // Several objects of one line are no record.
    check(&["json"], &format!("{record},{record}\n"), &format!("\u{1e}{record},{record}\n"));
    check(
        &["json"],
        &format!("[{record},\n"),
        "2025-03-29T11:54:05Z\u{1f}INFO\u{1f}\u{1f}\u{1f}\u{1f}\u{1f}\u{1f}a long text\n",
    );
}

#[test]
fn services() {
    check(&["syslog-3164"], "<34>Mar  9 11:54:05 host app[12]: a\n", "a\n");
    check(&["syslog-3164"], "Mar 29 11:54:05 host app: a\n", "a\n");
    check(&["syslog-5424"], "<34>1 2025-03-29T11:54:05.1Z host app 12 - [x y=\"]z\"] a\n", "a\n");
    check(&["syslog-5424"], "<34>1 2025-03-29T11:54:05.1Z host app 12 ID - a b\n", "a b\n");
    check(&["journal"], "2025-03-29T11:54:05+0100 host app[12]: a b\n", "a b\n");
    check(&["syslog-5424"], "<34>1 2025-03-29T11:54:05.1Z host app 12 - - a#012#011at b\n", "a\n\tat b\n");
    check(&["journal-full"], "Sat 2025-03-29 11:54:05 UTC host app[12]: a b\n", "a b\n");
    check(&["service-wrapper"], "INFO   | jvm 1    | 2025/03/29 11:54:05 | a | b\n", "a | b\n");
    check(&["service-wrapper"], "jvm 1    | a | b\n", "a | b\n");
    check(&["cloudfoundry"], "   2025-03-29T11:54:05.12+0000 [APP/PROC/WEB/0] OUT a b\n", "a b\n");
    check(&["logcli"], "2025-03-29T11:54:05Z {app=\"x\", pod=\"y\"} a {b}\n", "a {b}\n");
    check(&["grafana"], "1743249245123000000\t2025-03-29T11:54:05.123Z\ta\tb\n", "a\tb\n");
    check(
        &["fluentd"],
        "2025-03-29T11:54:05+00:00\tkube.app\t{\"log\":\"a b\",\"stream\":\"stdout\"}\n",
        "a b\n",
    );
    check(&["compose"], "web.1.abc@host1    | a\n", "a\n");
    check(&["journal-export"], "__CURSOR=1\nMESSAGE=a b\nPRIORITY=6\n\nMESSAGE=c\n", "a b\nc\n");
}

#[test]
fn contexts_of_records() {
    let value = |names: &[&str], text: &str, key: &str| {
        let wrappers: Vec<Wrapper> = names.iter().map(|name| by_name(name).expect("a wrapper")).collect();
        context(&wrappers, text.as_bytes(), key).map(|value| String::from_utf8_lossy(&value).into_owned())
    };
    let line = r#"{"message":"m","mdc":{"order":"o-1","n":7},"tenant":"t\"2","nested":{"order":"no"}}"#;
    assert_eq!(value(&["json"], line, "order").as_deref(), Some("o-1"));
    assert_eq!(value(&["json"], line, "n").as_deref(), Some("7"));
    assert_eq!(value(&["json"], line, "tenant").as_deref(), Some("t\"2"));
    assert_eq!(value(&["json"], line, "nested"), None);
    let cri = format!("2025-03-29T11:54:05.1Z stdout F {line}\n");
    assert_eq!(value(&["cri", "json"], &cri, "order").as_deref(), Some("o-1"));
    let pairs = r#"time=1 level=info msg="a b" order=o-2"#;
    assert_eq!(value(&["logfmt"], pairs, "order").as_deref(), Some("o-2"));
    assert_eq!(value(&["cri"], &cri, "order"), None);
}

#[test]
fn ends_of_lines() {
    check(&["trailing-blank"], "a \nb  \nc\n", "a\nb \nc\n");
    check(&["carriage-return"], "a\r\nb\n", "a\nb\n");
    check(&["compose", "trailing-blank"], "app-1  | a \r\n", "a\n");
    let ends = |text: &[u8]| line_ends(text).map(|wrapper| wrapper.name);
    assert_eq!(ends(b"a \n\nb \nc"), Some("trailing-blank"));
    assert_eq!(ends(b"a\r\nb\r\n"), Some("carriage-return"));
    assert_eq!(ends(b"a \nb\n\n"), None);
    assert_eq!(ends(b""), None);
}

#[test]
fn no_text() {
    check(&[], "\u{1b}[32ma\u{1b}[0m b\u{1b}[1;31mc\u{1b}[m\n", "a bc\n");
    check(&[], "\0\0a\n\u{feff}b\n", "a\nb\n");
    let wide = unwrap(&[], b"\xff\xfea\0\n\0b\0\n\0");
    assert_eq!(wide.text, b"a\nb\n");
}

#[test]
fn json_layouts() {
    let check = |line: &str, expected: &str| {
        check(&["json"], &format!("{line}\n"), &format!("{}\n", expected.replace('|', "\u{1f}")))
    };
    check(
        r#"{"@timestamp":"2025-03-29T11:54:05.123Z","log.level":"INFO","message":"a\tb","process.thread.name":"main","log.logger":"a.B","trace.id":"t"}"#,
        "2025-03-29T11:54:05.123Z|INFO|main|a.B|t|||a\tb",
    );
    check(
        r#"{"instant":{"epochSecond":1743249245,"nanoOfSecond":123000000},"thread":"main","level":"WARN","loggerName":"a.B","message":"m","thrown":{"extendedStackTrace":"x.E: y\n\tat z"},"contextMap":{"traceId":"t"}}"#,
        "1743249245123|WARN|main|a.B|t|||m\nx.E: y\n\tat z",
    );
    check(
        r#"{"version":"1.1","short_message":"m","timestamp":1743249245.123,"level":3,"_thread":"t1","_logger":"a.B"}"#,
        "1743249245123|ERROR|t1|a.B||||m",
    );
    check(r#"{"a":1}"#, "\u{1e}{\"a\":1}");
    let logfmt = |line: &str, expected: &str| {
        super::tests::check(
            &["logfmt"],
            &format!("{line}\n"),
            &format!("{}\n", expected.replace('|', "\u{1f}")),
        )
    };
    logfmt(
        "ts=2025-03-29T11:54:05Z level=info logger=a.B thread=main msg=\"a \\\"b\\\"\"",
        "2025-03-29T11:54:05Z|info|main|a.B||||a \"b\"",
    );
}
