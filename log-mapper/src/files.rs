//! The files of one node: their layouts and order, and their text as one
//! sequence of chunks. Files are read one after another, the one with the
//! earliest first time stamp first, whatever rotation named them.

use std::sync::Arc;

use rayon::prelude::*;
use schema::{InputAccount, Result};
use xxhash_rust::xxh3::Xxh3;

use crate::Config;
use crate::chunks::{Chunk, Chunker};
use crate::header::timestamp::Clock;
use crate::header::{Layout, detect};
use crate::input::{Input, Source};
use crate::limits::LAYOUT_SAMPLE_BYTES;
use crate::lines::RawRecords;

/// One file, looked at.
pub(crate) struct PreparedFile {
    source: usize,
    pub(crate) layout: Option<Arc<Layout>>,
    first_us: Option<i64>,
    /// A stream cannot be opened again: it and what was read of it.
    opened: Option<(Input, Vec<u8>)>,
}

/// Detects the layout of each source and puts them in order of time; sources
/// without a time come last, in the order given.
pub(crate) fn prepare(sources: &[Source], config: &Config) -> Result<Vec<PreparedFile>> {
    let looked: Result<Vec<PreparedFile>> =
        sources.par_iter().enumerate().map(|(i, source)| prepare_one(i, source, config)).collect();
    let mut files = looked?;
    files.sort_by_key(|f| (f.first_us.is_none(), f.first_us, f.source));
    Ok(files)
}

fn prepare_one(index: usize, source: &Source, config: &Config) -> Result<PreparedFile> {
    let mut input = Input::open(source, config.input_bytes_max)?;
    let mut sample = Vec::new();
    input.read(&mut sample, LAYOUT_SAMPLE_BYTES);
    let text = sample.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&sample);
    let layout = detect(text, &config.layouts);
    let mut clock = clock(config, layout.as_deref());
    let first_us = RawRecords::new(text, layout.as_deref())
        .filter_map(|r| r.header)
        .filter_map(|h| clock.resolve(&h.time?))
        .next();
    let opened = source.is_stream().then_some((input, sample));
    Ok(PreparedFile { source: index, layout, first_us, opened })
}

/// The clock of one file: the layout's own zone, else the configured one.
pub(crate) fn clock(config: &Config, layout: Option<&Layout>) -> Clock {
    let zone = layout.and_then(Layout::zone).unwrap_or(&config.zone);
    Clock::new(zone.clone(), config.date)
}

/// Reads the chunks of all files, in order, and keeps their accounts.
pub(crate) struct ChunkReader<'a> {
    sources: &'a [Source],
    files: Vec<PreparedFile>,
    config: &'a Config,
    progress: &'a (dyn Fn(u64) + Sync),
    next_file: usize,
    current: Option<Current>,
    pub(crate) accounts: Vec<InputAccount>,
}

struct Current {
    input: Input,
    chunker: Chunker,
    digest: Xxh3,
}

impl<'a> ChunkReader<'a> {
    pub(crate) fn new(
        sources: &'a [Source],
        files: Vec<PreparedFile>,
        config: &'a Config,
        progress: &'a (dyn Fn(u64) + Sync),
    ) -> Self {
        let accounts = files
            .iter()
            .map(|file| InputAccount {
                file: sources[file.source].name().to_owned(),
                layout: file.layout.as_ref().map(|l| l.pattern().to_owned()).unwrap_or_default(),
                ..InputAccount::default()
            })
            .collect();
        Self { sources, files, config, progress, next_file: 0, current: None, accounts }
    }

    /// Up to `n` chunks; none left if it gives none.
    pub(crate) fn batch(&mut self, n: usize) -> Result<Vec<Chunk>> {
        let mut out = Vec::new();
        while out.len() < n {
            match self.next()? {
                Some(chunk) => out.push(chunk),
                None => break,
            }
        }
        Ok(out)
    }

    fn next(&mut self) -> Result<Option<Chunk>> {
        loop {
            let Some(current) = &mut self.current else {
                if self.next_file == self.files.len() {
                    return Ok(None);
                }
                self.open_next()?;
                continue;
            };
            let account = &mut self.accounts[self.next_file - 1];
            let digest = &mut current.digest;
            let chunk = current.chunker.next(&mut current.input, &mut |bytes| {
                digest.update(bytes);
                account.n_bytes += bytes.len() as u64;
            });
            (self.progress)(current.input.progress());
            account.damage.append(&mut current.input.take_damage());
            if let Some(mut chunk) = chunk {
                chunk.file = (self.next_file - 1) as u32;
                return Ok(Some(chunk));
            }
            account.digest = current.digest.digest128();
            self.current = None;
        }
    }

    fn open_next(&mut self) -> Result<()> {
        let file = &mut self.files[self.next_file];
        let (input, head) = match file.opened.take() {
            Some(opened) => opened,
            None => (Input::open(&self.sources[file.source], self.config.input_bytes_max)?, Vec::new()),
        };
        let account = &mut self.accounts[self.next_file];
        let mut digest = Xxh3::new();
        digest.update(&head);
        account.n_bytes += head.len() as u64;
        if file.layout.is_none() {
            account.damage.push("no line has a header of a known layout: give the layout".to_owned());
        }
        let chunker = Chunker::new(head, file.layout.clone(), self.config.chunk_bytes);
        self.current = Some(Current { input, chunker, digest });
        self.next_file += 1;
        Ok(())
    }

    /// Layout of a file, by its position.
    pub(crate) fn layouts(files: &[PreparedFile]) -> Vec<Option<Arc<Layout>>> {
        files.iter().map(|f| f.layout.clone()).collect()
    }
}
