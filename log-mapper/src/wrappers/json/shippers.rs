//! Whose a line is and of which stream, as log shippers say it in the object that holds the line.

use super::keys::PARSED;
use super::syntax::{Value, is_path, object, walk_whole};

/// What says that a line goes on in the next one of its stream, and that it does not.
pub(super) const PIECES: &[(&str, &[u8])] =
    &[("partial_message", b"true"), ("logtag", b"P"), ("_p", b"P"), ("CONTAINER_PARTIAL_MESSAGE", b"true")];
pub(super) const LAST_PIECES: &[(&str, &[u8])] =
    &[("partial_last", b"true"), ("CONTAINER_PARTIAL_LAST", b"true")];

/// A key of Vector and GELF. In other objects it can be a value of the program's own.
const HOST: &str = "host";
const OF_HOSTS: [&[u8]; 2] = [b"source_type", b"short_message"];

/// Keys that say of whom a line is, those that say more first: one of each row. Of Fluent Bit,
/// fluentd, Filebeat, OpenTelemetry, Google Cloud, AWS, journald, and of layouts themselves.
const PROCESSES: [&[&str]; 4] = [
    &[
        "kubernetes.pod_name",
        "kubernetes.pod.name",
        "resource.labels.pod_name",
        "resource.attributes.k8s.pod.name",
        "resource.k8s.pod.name",
        "k8s.pod.name",
        "labels.pod",
        "stream.pod",
        "pod_name",
        "podName",
        "pod",
        "resource.attributes.service.instance.id",
        "resource.attributes.host.name",
        "logStreamName",
        "logStream",
        "@logStream",
        "_HOSTNAME",
        "host.name",
        "host.hostname",
        "hostname",
        "agent.hostname",
        "source_host",
        HOST,
    ],
    &[
        "kubernetes.container_name",
        "kubernetes.container.name",
        "resource.labels.container_name",
        "resource.attributes.k8s.container.name",
        "labels.container",
        "resource.attributes.service.name",
        "stream.container",
        "container_name",
        "containerName",
        "container.name",
        "CONTAINER_NAME",
        "_SYSTEMD_UNIT",
    ],
    &["container_id", "container.id"],
    &["_PID", "processId", "process.pid"],
];

/// Who has printed a line: `pod/container`, or `host/unit[pid]`.
pub(in crate::wrappers) fn process(line: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let mut found: [Option<(usize, Value<'_>)>; 4] = [None; 4];
    let mut is_host = false;
    walk_whole(object(line)?, &mut |path, value| {
        is_host |= path.len() == 1 && OF_HOSTS.contains(&path[0]);
        let path = match path {
            [parent, rest @ ..] if !rest.is_empty() && PARSED.contains(parent) => rest,
            path => path,
        };
        for (row, slot) in PROCESSES.iter().zip(&mut found) {
            if let Some(rank) = row.iter().position(|key| is_path(key.as_bytes(), path))
                && slot.is_none_or(|(known, _)| rank < known)
            {
                *slot = Some((rank, value));
            }
        }
    })?;
    let last = PROCESSES[0].len() - 1;
    found[0] = found[0].filter(|(rank, _)| *rank < last || is_host);
    let [place, name, id, pid] = found.map(|one| one.map(|(_, value)| value));
    for value in [place, name.or(id)].into_iter().flatten() {
        if !out.is_empty() {
            out.push(b'/');
        }
        value.write(out)?;
    }
    if let Some(pid) = pid.filter(|_| id.is_none()) {
        out.push(b'[');
        pid.write(out)?;
        out.push(b']');
    }
    Some(())
}

/// The stream that a line is of, and whose it is.
pub(in crate::wrappers) fn stream(line: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let line = line.get(memchr::memchr(b'{', line)?..)?;
    process(line, out)?;
    walk_whole(object(line)?, &mut |path, value| {
        if let [key] = path
            && STREAMS.contains(key)
        {
            out.push(b' ');
            let _ = value.write(out);
        }
    })
}

const STREAMS: [&[u8]; 4] = [b"stream", b"source", b"_TRANSPORT", b"partial_id"];
