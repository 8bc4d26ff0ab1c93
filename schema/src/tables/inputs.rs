//! `inputs` and `runs`: the accounting, that is what was read and what became
//! of it. `n_records = n_attributed + n_unattributed + n_headerless + n_rejected`.

use std::path::Path;

use super::cell::{Text, Time, record};
use crate::accumulator::InputAccount;
use crate::error::{Error, Result};

record! {
    /// An input file of a run.
    InputRow = "inputs" {
        /// The run that read it; joins `runs`.
        run: i64,
        /// Label of the log source.
        node: Text,
        /// Path as given.
        file: Text,
        /// Layouts that were used, as patterns, ` || ` between them.
        layout: Text,
        /// How they were found, for people.
        layout_found: Text,
        /// Zone of time stamps that have none, and what else the reading depends on.
        settings: Text,
        /// Bytes read, after decompression.
        n_bytes: i64,
        /// Lines read.
        n_lines: i64,
        /// Records.
        n_records: i64,
        /// Records that are in a request.
        n_attributed: i64,
        /// Records that no log point of the model can have printed.
        n_unattributed: i64,
        /// Text without a header.
        n_headerless: i64,
        /// Records refused.
        n_rejected: i64,
        /// The field that holds ids of requests, if one does.
        id_field: Option<Text>,
        /// Records that print one; none in tables from before they were counted.
        n_ids: Option<i64>,
        /// First time stamp.
        first_ts: Option<Time>,
        /// Last time stamp.
        last_ts: Option<Time>,
        /// xxh3-128 of the (decompressed) content, 32 hex digits.
        digest: Text,
        /// The same of its first 32 bytes, of its first 64 and so on, a blank between them.
        prefixes: Option<Text>,
        /// Damage met while reading.
        damage: Vec<Text>,
    }
}

record! {
    /// What one command added to the table.
    RunRow = "runs" {
        /// Number of the manifest that made it visible.
        run: i64,
        /// Version of lprof.
        producer: Text,
        /// Digest of the model, 32 hex digits.
        model_digest: Text,
        /// Detail kept: `requests`, `spans` or `events`.
        keep: Text,
        /// Files read.
        n_inputs: i64,
        /// Records read.
        n_records: i64,
        /// Requests added.
        n_requests: i64,
        /// Spans added.
        n_spans: i64,
        /// Events added, unattributed ones among them.
        n_events: i64,
    }
}

impl InputRow {
    /// The accounting of `account`, read as `node` by run `run`.
    #[must_use]
    pub fn new(run: i64, node: &Text, account: &InputAccount) -> Self {
        Self {
            run,
            node: node.clone(),
            file: Text::from(account.file.as_str()),
            layout: Text::from(account.layout.as_str()),
            layout_found: Text::from(account.layout_found.as_str()),
            settings: Text::from(account.settings.as_str()),
            n_bytes: signed(account.n_bytes),
            n_lines: signed(account.n_lines),
            n_records: signed(account.n_records),
            n_attributed: signed(account.n_attributed),
            n_unattributed: signed(account.n_unattributed),
            n_headerless: signed(account.n_headerless),
            n_rejected: signed(account.n_rejected),
            id_field: account.id_field.as_deref().map(Text::from),
            n_ids: Some(signed(account.n_ids)),
            first_ts: account.first_us.map(Time),
            last_ts: account.last_us.map(Time),
            digest: Text::from(format!("{:032x}", account.digest)),
            prefixes: (!account.prefixes.is_empty()).then(|| {
                let hex: Vec<String> = account.prefixes.iter().map(|n| format!("{n:032x}")).collect();
                Text::from(hex.join(" "))
            }),
            damage: account.damage.iter().map(|d| Text::from(d.as_str())).collect(),
        }
    }

    /// The accounting as the mapper made it; `path` is named if it cannot be.
    ///
    /// # Errors
    /// A digest that is not one.
    pub fn account(&self, path: &Path) -> Result<InputAccount> {
        let digest = u128::from_str_radix(&self.digest, 16)
            .map_err(|e| Error::damaged(path, 0, format!("digest `{}`: {e}", self.digest)))?;
        Ok(InputAccount {
            file: self.file.to_string(),
            layout: self.layout.to_string(),
            layout_found: self.layout_found.to_string(),
            settings: self.settings.to_string(),
            n_bytes: self.n_bytes.unsigned_abs(),
            n_lines: self.n_lines.unsigned_abs(),
            n_records: self.n_records.unsigned_abs(),
            n_attributed: self.n_attributed.unsigned_abs(),
            n_unattributed: self.n_unattributed.unsigned_abs(),
            n_headerless: self.n_headerless.unsigned_abs(),
            n_rejected: self.n_rejected.unsigned_abs(),
            id_field: self.id_field.as_ref().map(ToString::to_string),
            n_ids: self.n_ids.unwrap_or_default().unsigned_abs(),
            damage: self.damage.iter().map(ToString::to_string).collect(),
            first_us: self.first_ts.map(|t| t.0),
            last_us: self.last_ts.map(|t| t.0),
            digest,
            prefixes: self.prefix_digests(),
        })
    }

    /// Digests of the content's first bytes; none in tables from before they were kept.
    #[must_use]
    pub fn prefix_digests(&self) -> Vec<u128> {
        let hex = self.prefixes.as_deref().unwrap_or_default().split(' ');
        hex.map_while(|digest| u128::from_str_radix(digest, 16).ok()).collect()
    }
}

/// Counters are far below 2^63; a larger one is damage and is capped.
fn signed(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}
