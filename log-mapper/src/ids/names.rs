//! Names under which tracing libraries, frameworks and platforms print ids: data, compared by
//! their letters and digits alone (`X-B3-TraceId`, `dd.trace_id`, `trace.id`).

/// What an id is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// All that one call from outside causes.
    Trace,
    /// One piece of that.
    Span,
    /// The same as a trace, as far as services hand it on.
    Request,
}

/// Of OpenTelemetry, Sleuth and Micrometer, Brave, Datadog, Elastic, New Relic, SkyWalking, Jaeger,
/// Pinpoint, W3C, AWS, Google Cloud, Azure; of Camel, Zalando's libraries, and what people call
/// such fields themselves.
const NAMES: &[(Role, &[&str])] = &[
    (
        Role::Trace,
        &[
            "traceid",
            "xb3traceid",
            "b3traceid",
            "ddtraceid",
            "oteltraceid",
            "xtraceid",
            "traceparent",
            "tracetraceid",
            "awsxraytraceid",
            "xraytraceid",
            "xamzntraceid",
            "awstraceid",
            "logginggoogleapiscomtrace",
            "xcloudtracecontext",
            "ubertraceid",
            "swtraceid",
            "skywalkingtraceid",
            "ptxid",
            "operationid",
            "trace",
        ],
    ),
    (
        Role::Span,
        &[
            "spanid",
            "xb3spanid",
            "b3spanid",
            "ddspanid",
            "otelspanid",
            "xspanid",
            "logginggoogleapiscomspanid",
            "pspanid",
        ],
    ),
    (
        Role::Request,
        &[
            "correlationid",
            "xcorrelationid",
            "correlation",
            "corrid",
            "requestid",
            "xrequestid",
            "reqid",
            "requestuuid",
            "awsrequestid",
            "transactionid",
            "xtransactionid",
            "flowid",
            "xflowid",
            "breadcrumbid",
            "callid",
        ],
    ),
];

/// Letters and digits of the longest of them.
const BYTES_MAX: usize = 32;

/// What the ids of a field are of, as its name says.
pub(super) fn role(name: &str) -> Option<Role> {
    let mut plain = [0; BYTES_MAX];
    let mut n = 0;
    for b in name.bytes().filter(u8::is_ascii_alphanumeric) {
        *plain.get_mut(n)? = b.to_ascii_lowercase();
        n += 1;
    }
    let of = |(role, names): &(Role, &[&str])| {
        names.iter().any(|known| known.as_bytes() == &plain[..n]).then_some(*role)
    };
    NAMES.iter().find_map(of)
}

/// Whether two names have the same letters and digits, or are the same signs.
pub(super) fn are_alike(a: &str, b: &str) -> bool {
    let plain = |name: &str| -> String {
        name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
    };
    a == b || (role(a).is_some() && plain(a) == plain(b))
}

/// Names of them in a text, each with where it ends: before a sign that parts it from its value.
pub(super) fn named(text: &[u8]) -> impl Iterator<Item = (&str, usize)> {
    let ends = memchr::memchr2_iter(b'=', b':', text);
    ends.filter_map(|end| {
        let before = text[..end].strip_suffix(b"\"").unwrap_or(&text[..end]);
        let is_of_name = |b: &&u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
        let n = before.iter().rev().take(2 * BYTES_MAX).take_while(is_of_name).count();
        let name = std::str::from_utf8(&before[before.len() - n..]).ok()?;
        role(name).map(|_| (name, before.len()))
    })
}
