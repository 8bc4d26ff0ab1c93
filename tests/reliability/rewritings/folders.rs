//! The same lines in files as people have them: rotated, compressed, encoded, in folders.

use std::io::Write as _;

use super::sample_log::{Files, NODES, Sample, Write, gzip};

fn plain(s: &Sample) -> Files {
    s.each_line(".log", |_, line| line.to_owned())
}

/// Of each file what `of` makes of it.
fn each(s: &Sample, of: impl Fn(&str, &[u8]) -> Files) -> Files {
    plain(s).iter().flat_map(|(name, bytes)| of(name.trim_end_matches(".log"), bytes)).collect()
}

/// The start and the rest of a log, cut between two records.
fn halves(bytes: &[u8]) -> (&[u8], &[u8]) {
    let lines: Vec<usize> = record_starts(bytes).collect();
    bytes.split_at(lines[lines.len() / 2])
}

/// The older half of each log under the name that `older` gives it, packed; the log itself begins anew.
fn rotated(s: &Sample, older: impl Fn(&str) -> String, pack: impl Fn(&[u8]) -> Vec<u8>) -> Files {
    each(s, |n, b| vec![(older(n), pack(halves(b).0)), (format!("{n}.log"), halves(b).1.to_vec())])
}

/// Where lines begin that begin a record.
fn record_starts(bytes: &[u8]) -> impl Iterator<Item = usize> {
    (0..bytes.len()).filter(|&at| (at == 0 || bytes[at - 1] == b'\n') && bytes[at..].starts_with(b"2026"))
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("UTF-8")
}

fn zip(entries: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut out = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in entries {
        out.start_file(name.as_str(), zip::write::SimpleFileOptions::default()).expect("in memory");
        out.write_all(bytes).expect("in memory");
    }
    out.finish().expect("in memory").into_inner()
}

/// A tar archive of small files.
fn tar(entries: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut out = Vec::new();
    for (name, bytes) in entries {
        let mut header = [0_u8; 512];
        header[..name.len()].copy_from_slice(name.as_bytes());
        header[100..107].copy_from_slice(b"0000644");
        header[124..136].copy_from_slice(format!("{:011o} ", bytes.len()).as_bytes());
        header[136..148].copy_from_slice(b"15210057347 ");
        header[156] = b'0';
        header[257..265].copy_from_slice(b"ustar\x0000");
        header[148..156].copy_from_slice(b"        ");
        let sum: u32 = header.iter().map(|b| u32::from(*b)).sum();
        header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        out.extend_from_slice(&header);
        out.extend_from_slice(bytes);
        out.resize(out.len().next_multiple_of(512), 0);
    }
    out.resize(out.len() + 1024, 0);
    out
}

/// What is in the folder of logs, and what is to be said of it.
pub(crate) const FOLDERS: &[(&str, Option<&str>, Write)] = &[
    ("as they are", None, plain),
    ("in folders", None, |s| each(s, |n, b| vec![(format!("{n}/app.log"), b.to_vec())])),
    ("in folders called logs", None, |s| each(s, |n, b| vec![(format!("{n}/logs/app.log"), b.to_vec())])),
    ("rotated by number", None, |s| {
        each(s, |n, b| {
            vec![(format!("{n}.log.1"), halves(b).0.to_vec()), (format!("{n}.log"), halves(b).1.to_vec())]
        })
    }),
    ("rotated by number, first", None, |s| rotated(s, |n| format!("{n}.1.log"), <[u8]>::to_vec)),
    ("rotated and compressed", None, |s| {
        each(s, |n, b| {
            vec![(format!("{n}.log.2.gz"), gzip(halves(b).0)), (format!("{n}.log.1"), halves(b).1.to_vec())]
        })
    }),
    ("rotated by day", None, |s| rotated(s, |n| format!("{n}.log.2026-11-20"), <[u8]>::to_vec)),
    ("rotated by day, log4j 2", None, |s| rotated(s, |n| format!("{n}-2026-11-20-1.log.gz"), gzip)),
    ("rotated by day, logrotate", None, |s| rotated(s, |n| format!("{n}.log-20261120.gz"), gzip)),
    ("rotated by hour", None, |s| rotated(s, |n| format!("{n}.log.2026-11-21_11"), <[u8]>::to_vec)),
    ("rotated by month, in folders", None, |s| {
        rotated(s, |n| format!("2026-11/{n}-11-20-2026-1.log.gz"), gzip)
    }),
    ("gzip in members", None, |s| {
        each(s, |n, b| vec![(format!("{n}.log.gz"), [gzip(halves(b).0), gzip(halves(b).1)].concat())])
    }),
    ("zstd", None, |s| {
        each(s, |n, b| vec![(format!("{n}.log.zst"), zstd::encode_all(b, 3).expect("in memory"))])
    }),
    ("a zip each", None, |s| {
        each(s, |n, b| vec![(format!("{n}.log.zip"), zip(&[(format!("{n}.log"), b.to_vec())]))])
    }),
    ("one zip with a folder each", Some("unpack it"), |s| {
        vec![("logs.zip".to_owned(), zip(&each(s, |n, b| vec![(format!("{n}/app.log"), b.to_vec())])))]
    }),
    ("one tar archive", Some("unpack it"), |s| vec![("logs.tar".to_owned(), tar(&plain(s)))]),
    ("one tar archive, compressed", Some("unpack it"), |s| {
        vec![("logs.tar.gz".to_owned(), gzip(&tar(&plain(s))))]
    }),
    ("a tar archive each", Some("unpack it"), |s| {
        each(s, |n, b| vec![(format!("{n}.tar.gz"), gzip(&tar(&[(format!("{n}.log"), b.to_vec())])))])
    }),
    ("named txt", None, |s| each(s, |n, b| vec![(format!("{n}.txt"), b.to_vec())])),
    ("named out", None, |s| each(s, |n, b| vec![(format!("{n}.out"), b.to_vec())])),
    ("named out and log, a half each", None, |s| {
        each(s, |n, b| {
            vec![(format!("{n}.out"), halves(b).0.to_vec()), (format!("{n}.log"), halves(b).1.to_vec())]
        })
    }),
    ("without an extension", None, |s| each(s, |n, b| vec![(n.to_owned(), b.to_vec())])),
    ("beside files that are none", None, |s| {
        let mut files = plain(s);
        files.push(("README.md".to_owned(), b"# Logs\nof the store\n".to_vec()));
        files.push(("gc.log".to_owned(), b"[0.012s][info][gc] Using G1\n[0.212s][info][gc] GC(0) Pause Young (Normal) 24M->4M(256M) 3.1ms\n".repeat(50)));
        files.push(("heap.hprof".to_owned(), b"JAVA PROFILE 1.0.2\0\0\0\x08".repeat(30)));
        files.push((".hidden.swp".to_owned(), b"b0VIM 9.0\0".to_vec()));
        files.push(("empty.log".to_owned(), Vec::new()));
        files
    }),
    ("copies", Some("read once"), |s| {
        each(s, |n, b| vec![(format!("{n}.log"), b.to_vec()), (format!("{n}.log.bak"), b.to_vec())])
    }),
    ("copies, compressed", Some("read once"), |s| {
        each(s, |n, b| vec![(format!("{n}.log"), b.to_vec()), (format!("{n}.log.gz"), gzip(b))])
    }),
    ("copied and not yet truncated", Some("read once"), |s| {
        each(s, |n, b| vec![(format!("{n}.log"), b.to_vec()), (format!("{n}.log.1"), halves(b).0.to_vec())])
    }),
    ("the console as well", Some("read once"), |s| {
        let mut files = plain(s);
        files.extend(s.each("-console.out", |r| {
            let rest: String = r.lines[1..].iter().map(|line| format!("{line}\n")).collect();
            format!("{} [main] {} {} - {}\n{rest}", r.at("%H:%M:%S.%3f"), r.level, r.logger, r.lines[0])
        }));
        files
    }),
    ("line ends of Windows", None, |s| {
        each(s, |n, b| vec![(format!("{n}.log"), text(b).replace('\n', "\r\n").into())])
    }),
    ("blanks at line ends", None, |s| {
        each(s, |n, b| vec![(format!("{n}.log"), text(b).replace('\n', " \n").into())])
    }),
    ("an empty line after each", None, |s| {
        each(s, |n, b| vec![(format!("{n}.log"), text(b).replace('\n', "\n\n").into())])
    }),
    ("no line end at the end", None, |s| {
        each(s, |n, b| vec![(format!("{n}.log"), b[..b.len() - 1].to_vec())])
    }),
    ("a mark of the byte order", None, |s| {
        each(s, |n, b| vec![(format!("{n}.log"), [b"\xef\xbb\xbf", b].concat())])
    }),
    ("UTF-16, little end first", None, |s| {
        each(s, |n, b| vec![(format!("{n}.log"), utf_16(text(b), u16::to_le_bytes))])
    }),
    ("UTF-16, big end first", None, |s| {
        each(s, |n, b| vec![(format!("{n}.log"), utf_16(text(b), u16::to_be_bytes))])
    }),
    ("NUL bytes where it was truncated", None, |s| {
        each(s, |n, b| vec![(format!("{n}.log"), [&[0; 4096], b].concat())])
    }),
    ("a banner before", None, |s| {
        each(s, |n, b| {
            vec![(format!("{n}.log"), [b"  ____  _\n / ___|| |_\n :: Store ::   (v1.0)\n\n", b].concat())]
        })
    }),
    ("a prompt of a shell around", None, |s| {
        each(s, |n, b| {
            vec![(
                format!("{n}.log"),
                [b"Script started on 2026-11-21 12:00:00+00:00\n$ java -jar x.jar\n", b, b"$ exit\n"]
                    .concat(),
            )]
        })
    }),
    ("the console of a JVM amid", None, |s| {
        each(s, |n, b| {
            let (one, two) = halves(b);
            let amid = b"OpenJDK 64-Bit Server VM warning: Sharing is only supported for boot loader classes\n[12.345s][info][gc] GC(7) Pause Young (Normal) 24M->4M(256M) 3.1ms\n";
            vec![(format!("{n}.log"), [one, amid, two].concat())]
        })
    }),
    ("another layout from the middle on", None, |s| {
        NODES
            .map(|node| {
                let n = s.of(node).count();
                let text: String = s
                    .of(node)
                    .map(|r| {
                        let mut lines = r.plain();
                        if r.number >= n / 2 {
                            lines[0] = format!(
                                "{} [{}] {} - {}",
                                r.at("%d.%m.%Y %H:%M:%S,%3f"),
                                r.level,
                                r.logger,
                                r.lines[0]
                            );
                        }
                        lines.join("\n") + "\n"
                    })
                    .collect();
                (format!("{node}.log"), text.into())
            })
            .into()
    }),
    ("another layout for a while", None, |s| {
        NODES
            .map(|node| {
                let text: String = s
                    .of(node)
                    .map(|r| {
                        let mut lines = r.plain();
                        if (50..60).contains(&r.number) {
                            lines[0] = format!(
                                "{} [{}] {} - {}",
                                r.at("%d.%m.%Y %H:%M:%S,%3f"),
                                r.level,
                                r.logger,
                                r.lines[0]
                            );
                        }
                        lines.join("\n") + "\n"
                    })
                    .collect();
                (format!("{node}.log"), text.into())
            })
            .into()
    }),
    ("messages alone", Some("no line has a header"), |s| s.each(".log", |r| r.lines.join("\n") + "\n")),
    ("several units in one export of the journal", Some("export each by itself"), |s| {
        s.one("all.export", |r, line| {
            format!("__CURSOR=s=1\n_HOSTNAME=h\n_SYSTEMD_UNIT={}.service\n_PID=7\nMESSAGE={line}\n", r.node)
        })
    }),
    ("newest first", None, |s| {
        NODES
            .map(|node| {
                let mut all: Vec<String> = s.of(node).map(|r| r.plain().join("\n") + "\n").collect();
                all.reverse();
                (format!("{node}.log"), all.concat().into())
            })
            .into()
    }),
    ("newest first, compressed", None, |s| {
        NODES
            .map(|node| {
                let mut all: Vec<String> = s.of(node).map(|r| r.plain().join("\n") + "\n").collect();
                all.reverse();
                (format!("{node}.log.gz"), gzip(all.concat().as_bytes()))
            })
            .into()
    }),
    ("newest line first", None, |s| {
        NODES
            .map(|node| {
                let mut all: Vec<String> = s.of(node).flat_map(|r| r.plain()).collect();
                all.reverse();
                (format!("{node}.log"), (all.join("\n") + "\n").into())
            })
            .into()
    }),
    ("a log of the machine beside", Some("the Java machine"), |s| {
        let mut files = plain(s);
        let line = "[2026-11-21T12:15:00.101+0000][0.421s][info][gc] GC(0) Pause Young (Normal) 24M->4M(256M) 2.5ms\n";
        files.push(("gc.log".to_owned(), line.repeat(50).into()));
        files
    }),
    ("empty lines about traces", None, |s| {
        NODES
            .map(|node| {
                let text: String = s
                    .of(node)
                    .map(|r| {
                        let mut lines = r.plain();
                        if lines.len() > 1 {
                            lines.insert(1, String::new());
                            lines.push(String::new());
                        }
                        lines.join("\n") + "\n"
                    })
                    .collect();
                (format!("{node}.log"), text.into())
            })
            .into()
    }),
];

fn utf_16(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    std::iter::once(0xfeff).chain(text.encode_utf16()).flat_map(bytes).collect()
}
