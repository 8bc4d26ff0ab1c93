//! Parquet files: the only place that writes and reads them. A file is written
//! to a temporary name in its folder, synced, renamed, and the folder synced,
//! so that no reader ever sees half of one.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray as _;
use arrow_array::types::Int64Type;
use arrow_schema::{DataType, Field, SchemaRef};
use parquet::arrow::arrow_reader::{
    ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder, RowSelection,
};
use parquet::arrow::{ArrowWriter, ProjectionMask};
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::{KeyValue, PageIndexPolicy};
use parquet::file::properties::WriterProperties;
use parquet::schema::types::ColumnPath;
use xxhash_rust::xxh3::Xxh3;

use super::cell::Row;
use crate::error::{Error, ErrorKind, Result};
use crate::faults::{Checked, step};

/// Rows of one row group: large enough to compress, small enough to hold.
const ROW_GROUP_ROWS_MAX: usize = 1 << 20;
/// Rows of a column that are packed together: of the usual 20,000 a fifth more bytes are left, in
/// spans a third.
const PAGE_ROWS_MAX: usize = 1 << 17;
/// Rows held at a time, as rows and as columns.
pub(super) const BATCH_ROWS_MAX: usize = 1 << 12;
/// A table is written once and read often; higher levels take twice the time for 3 % less.
const ZSTD_LEVEL: i32 = 6;
/// Bytes of the different values of a column up to which they are listed once: printed values
/// come again far from each other.
const DICTIONARY_BYTES_MAX: usize = 16 << 20;
/// Columns of numbers that grow from row to row.
const GROWING: [&str; 4] = ["line", "byte_offset", "first_line", "first_byte_offset"];
/// Columns of ids: each has most of its bytes in common with one shortly before it, and packs
/// better where it stands than in a list of the different ones.
const IDS: [&str; 3] = ["span_id", "parent_span_id", "request"];
/// Columns of longer ones in runs: what they have in common with the one before is left out.
const LONG_IDS: [&str; 1] = ["request_id"];
/// Column of all that is known of a span: no two are equal, and far from each other there is
/// much that is.
const STATE: &str = "state";
/// Bytes of a column that are packed together.
const PAGE_BYTES: usize = 4 << 20;
const PRODUCER: &str = concat!("lprof ", env!("CARGO_PKG_VERSION"));

/// Key and value pairs in a file's footer.
pub type Metadata = BTreeMap<String, String>;

/// What was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// Rows.
    pub n_rows: u64,
    /// Size of the file.
    pub n_bytes: u64,
    /// xxh3-128 of the file.
    pub digest: u128,
}

/// Writes `rows` to `path`, atomically.
///
/// # Errors
/// I/O errors, naming the file.
pub fn write<R: Row>(path: &Path, rows: &[R], metadata: &Metadata) -> Result<Written> {
    write_columns(path, R::schema(), rows.chunks(BATCH_ROWS_MAX).map(R::batch), metadata)
}

/// The same of a table of which only one batch of rows is held at a time.
pub(super) fn write_columns(
    path: &Path,
    schema: SchemaRef,
    batches: impl Iterator<Item = RecordBatch>,
    metadata: &Metadata,
) -> Result<Written> {
    let mut file = Aside::create(path, schema)?;
    for batch in batches {
        file.write(&batch)?;
    }
    file.finish(metadata.clone())
}

/// A file that rows are added to, of which one batch is held. Nobody sees it before it is
/// finished; if it is dropped instead, nothing is left of it.
pub struct Growing<R: Row> {
    file: Aside,
    held: Vec<R>,
}

impl<R: Row> Growing<R> {
    /// Begins `path`.
    ///
    /// # Errors
    /// I/O errors, naming the file.
    pub fn create(path: &Path) -> Result<Self> {
        Ok(Self { file: Aside::create(path, R::schema())?, held: Vec::new() })
    }

    /// Adds a row.
    ///
    /// # Errors
    /// I/O errors, naming the file.
    pub fn add(&mut self, row: R) -> Result<()> {
        self.held.push(row);
        if self.held.len() == BATCH_ROWS_MAX { self.write_held() } else { Ok(()) }
    }

    /// Makes it a whole file, the same as if [`write`] had been given all rows and `metadata`.
    ///
    /// # Errors
    /// I/O errors, naming the file.
    pub fn finish(mut self, metadata: Metadata) -> Result<Written> {
        if !self.held.is_empty() {
            self.write_held()?;
        }
        self.file.finish(metadata)
    }

    fn write_held(&mut self) -> Result<()> {
        let batch = R::batch(&self.held);
        self.held.clear();
        self.file.write(&batch)
    }
}

/// A file under a temporary name in its folder.
struct Aside {
    path: PathBuf,
    temporary: PathBuf,
    /// None: it is finished.
    writer: Option<ArrowWriter<Digesting<BufWriter<Checked>>>>,
    n_rows: u64,
}

impl Aside {
    fn create(path: &Path, schema: SchemaRef) -> Result<Self> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let temporary = folder_of(path).join(format!(".{name}.{}.tmp", std::process::id()));
        let file = step().and_then(|()| File::create(&temporary)).map_err(Error::io(path))?;
        let out = Digesting { inner: BufWriter::new(Checked(file)), digest: Xxh3::new(), n_bytes: 0 };
        let properties = properties(&schema);
        let writer = ArrowWriter::try_new(out, schema, Some(properties));
        let writer = writer.map_err(|e| as_io(path, std::io::Error::other(e)))?;
        Ok(Self { path: path.to_owned(), temporary, writer: Some(writer), n_rows: 0 })
    }

    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.n_rows += batch.num_rows() as u64;
        let writer = self.writer.as_mut().expect("it is not finished");
        writer.write(batch).map_err(|e| as_io(&self.path, std::io::Error::other(e)))
    }

    fn finish(mut self, metadata: Metadata) -> Result<Written> {
        let mut writer = self.writer.take().expect("it is not finished");
        let written = (|| {
            for (key, value) in metadata {
                writer.append_key_value_metadata(KeyValue::new(key, value));
            }
            let out = writer.into_inner().map_err(|e| as_io(&self.path, std::io::Error::other(e)))?;
            let done = Written { n_rows: self.n_rows, n_bytes: out.n_bytes, digest: out.digest.digest128() };
            let file = out.inner.into_inner();
            let file = file.map_err(|e| Error::new(&self.path, ErrorKind::Io(e.into_error())))?;
            step().and_then(|()| file.0.sync_all()).map_err(Error::io(&self.path))?;
            step().and_then(|()| fs::rename(&self.temporary, &self.path)).map_err(Error::io(&self.path))?;
            let folder = folder_of(&self.path);
            let synced = step().and_then(|()| File::open(folder)).and_then(|folder| folder.sync_all());
            synced.map_err(Error::io(folder))?;
            Ok(done)
        })();
        if written.is_err() {
            self.remove();
        }
        written
    }

    fn remove(&self) {
        // The temporary file may not exist; either way nothing is left behind.
        let _ = fs::remove_file(&self.temporary);
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        if self.writer.take().is_some() {
            self.remove();
        }
    }
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Writes `batches` as one Parquet file to `out`, e.g. a pipe.
///
/// # Errors
/// Those of `batches` and of `out`.
pub fn write_batches(
    out: &mut (dyn Write + Send),
    schema: SchemaRef,
    batches: impl Iterator<Item = std::io::Result<RecordBatch>>,
) -> std::io::Result<()> {
    let properties = properties(&schema);
    let mut writer = ArrowWriter::try_new(out, schema, Some(properties)).map_err(std::io::Error::other)?;
    for batch in batches {
        writer.write(&batch?).map_err(std::io::Error::other)?;
    }
    writer.close().map_err(std::io::Error::other)?;
    Ok(())
}

/// Reads all rows of `path` and its metadata.
///
/// # Errors
/// Not Parquet, cut short or damaged, or the columns of another table; I/O errors.
pub fn read<R: Row>(path: &Path) -> Result<(Vec<R>, Metadata)> {
    let mut rows = Vec::new();
    let metadata = read_batches(path, &mut |batch| {
        rows.extend(batch);
        Ok(())
    })?;
    Ok((rows, metadata))
}

/// Reads all columns of `path`, whatever they are, and its metadata.
pub(super) fn read_columns(path: &Path) -> Result<(SchemaRef, Vec<RecordBatch>, Metadata)> {
    let (builder, metadata) = open(path)?;
    let schema = builder.schema().clone();
    let batches = decoded(path, || {
        let batches = builder.with_batch_size(BATCH_ROWS_MAX).build()?;
        Ok::<_, ParquetError>(batches.collect::<std::result::Result<_, _>>()?)
    })?;
    Ok((schema, batches, metadata))
}

/// Begins to read `path`: its columns, and the pairs in its footer.
fn open(path: &Path) -> Result<(ParquetRecordBatchReaderBuilder<File>, Metadata)> {
    open_with(path, ArrowReaderOptions::new())
}

fn open_with(
    path: &Path,
    options: ArrowReaderOptions,
) -> Result<(ParquetRecordBatchReaderBuilder<File>, Metadata)> {
    let file = step().and_then(|()| File::open(path)).map_err(Error::io(path))?;
    let builder = decoded(path, || ParquetRecordBatchReaderBuilder::try_new_with_options(file, options))?;
    let pairs = builder.metadata().file_metadata().key_value_metadata();
    let pairs = pairs.into_iter().flatten().filter_map(|pair| Some((pair.key.clone(), pair.value.clone()?)));
    let metadata = pairs.collect();
    Ok((builder, metadata))
}

/// Hands the rows of `path` to `take`, one batch at a time; returns its metadata.
pub(super) fn read_batches<R: Row>(
    path: &Path,
    take: &mut dyn FnMut(Vec<R>) -> Result<()>,
) -> Result<Metadata> {
    let mut batches = Batches::open(path)?;
    let metadata = std::mem::take(&mut batches.metadata);
    batches.try_for_each(|rows| take(rows?))?;
    Ok(metadata)
}

/// The rows of a file in order, one batch at a time; columns that `R` has not are not read.
pub struct Batches<R> {
    path: PathBuf,
    metadata: Metadata,
    reader: Decoder,
    row: std::marker::PhantomData<R>,
}

/// The batches of a file; none after one that cannot be decoded.
struct Decoder {
    path: PathBuf,
    reader: ParquetRecordBatchReader,
    is_over: bool,
}

impl Iterator for Decoder {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        let batch = decoded(&self.path, || self.reader.next().transpose()).transpose();
        self.is_over = batch.as_ref().is_none_or(Result::is_err);
        batch
    }
}

/// What `decode` makes of a file at `path`, which can be damaged in ways that the decoders do not
/// look for: they panic then, and that is an error as any other.
fn decoded<T, E: Display>(path: &Path, decode: impl FnOnce() -> std::result::Result<T, E>) -> Result<T> {
    let found = catch_unwind(AssertUnwindSafe(decode));
    let found = found.map_err(|_| Error::damaged(path, 0, "it cannot be decoded"))?;
    found.map_err(|e| Error::damaged(path, 0, e))
}

impl<R: Row> Batches<R> {
    /// Begins to read `path`.
    ///
    /// # Errors
    /// Not Parquet, cut short or damaged; I/O errors.
    pub fn open(path: &Path) -> Result<Self> {
        let (builder, metadata) = open(path)?;
        Self::of(path, builder, metadata)
    }

    /// Begins to read the rows of `path` that stand in `ranges`, which ascend; pages without any
    /// of them are passed over.
    ///
    /// # Errors
    /// Not Parquet, cut short or damaged, or fewer rows than `ranges` reach to; I/O errors.
    pub fn open_rows(path: &Path, ranges: &[Range<usize>]) -> Result<Self> {
        let options = ArrowReaderOptions::new().with_page_index_policy(PageIndexPolicy::Optional);
        let (builder, metadata) = open_with(path, options)?;
        let n_rows = usize::try_from(builder.metadata().file_metadata().num_rows()).unwrap_or(0);
        if ranges.last().is_some_and(|last| last.end > n_rows) {
            let detail = format!("{n_rows} rows, fewer than belong to the requests of the table");
            return Err(Error::damaged(path, 0, detail));
        }
        let selection = RowSelection::from_consecutive_ranges(ranges.iter().cloned(), n_rows);
        Self::of(path, builder.with_row_selection(selection), metadata)
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn of(path: &Path, builder: ParquetRecordBatchReaderBuilder<File>, metadata: Metadata) -> Result<Self> {
        let wanted = R::schema();
        let roots = builder.schema().fields().iter().enumerate();
        let roots = roots.filter(|(_, field)| wanted.column_with_name(field.name()).is_some());
        let columns = ProjectionMask::roots(builder.parquet_schema(), roots.map(|(at, _)| at));
        let builder = builder.with_projection(columns).with_batch_size(BATCH_ROWS_MAX);
        let reader = decoded(path, || builder.build())?;
        let reader = Decoder { path: path.to_owned(), reader, is_over: false };
        Ok(Self { path: path.to_owned(), metadata, reader, row: std::marker::PhantomData })
    }
}

impl<R: Row> Iterator for Batches<R> {
    type Item = Result<Vec<R>>;

    fn next(&mut self) -> Option<Self::Item> {
        let rows = |batch: Result<RecordBatch>| {
            let batch = batch?;
            let not_ours = || Error::new(&self.path, ErrorKind::NotOurs { expected: R::TABLE });
            R::rows(&batch).ok_or_else(not_ours)
        };
        self.reader.next().map(rows)
    }
}

/// Tells `take` of every row of `path`, a file of `requests`, its id, spans and events; no other
/// column is read, and nothing is allocated for a row.
///
/// # Errors
/// Not Parquet, cut short or damaged, or of another table; I/O errors.
pub fn each_request(path: &Path, take: &mut dyn FnMut(&str, i64, i64)) -> Result<()> {
    let (builder, _) = open(path)?;
    let not_ours = || Error::new(path, ErrorKind::NotOurs { expected: "requests" });
    let names = ["request_id", "n_spans", "n_events"];
    let columns = ProjectionMask::columns(builder.parquet_schema(), names);
    let builder = builder.with_projection(columns).with_batch_size(1 << 16);
    let reader = decoded(path, || builder.build())?;
    for batch in (Decoder { path: path.to_owned(), reader, is_over: false }) {
        let batch = batch?;
        let column = |name| batch.column_by_name(name).ok_or_else(not_ours);
        let ids = column(names[0])?.as_string_opt::<i32>().ok_or_else(not_ours)?;
        let number = |name| column(name)?.as_primitive_opt::<Int64Type>().ok_or_else(not_ours);
        let (spans, events) = (number(names[1])?, number(names[2])?);
        for row in 0..batch.num_rows() {
            take(ids.value(row), spans.value(row), events.value(row));
        }
    }
    Ok(())
}

/// How the columns of a table are written. What grows from row to row, as times and places in
/// logs do, is written as differences, in about half of the bytes that a dictionary takes.
fn properties(schema: &SchemaRef) -> WriterProperties {
    let level = ZstdLevel::try_new(ZSTD_LEVEL).expect("a level that zstd has");
    let mut builder = WriterProperties::builder()
        .set_compression(Compression::ZSTD(level))
        .set_created_by(PRODUCER.to_owned())
        .set_dictionary_page_size_limit(DICTIONARY_BYTES_MAX)
        .set_data_page_row_count_limit(PAGE_ROWS_MAX)
        .set_data_page_size_limit(PAGE_BYTES)
        .set_max_row_group_row_count(Some(ROW_GROUP_ROWS_MAX));
    let mut listed = Vec::new();
    for field in schema.fields() {
        add_encodings(field, &mut Vec::new(), &mut listed);
    }
    for (path, encoding) in listed {
        let column = ColumnPath::new(path);
        builder = builder
            .set_column_dictionary_enabled(column.clone(), false)
            .set_column_encoding(column, encoding);
    }
    builder.build()
}

/// Adds the paths of the columns of `field`, which lies at `path`, that are written without a
/// dictionary, and how.
fn add_encodings(field: &Field, path: &mut Vec<String>, out: &mut Vec<(Vec<String>, Encoding)>) {
    path.push(field.name().clone());
    let is_among = |names: &[&str]| names.contains(&&**field.name());
    match field.data_type() {
        DataType::Struct(fields) => fields.iter().for_each(|field| add_encodings(field, path, out)),
        DataType::List(item) => {
            path.push("list".to_owned());
            add_encodings(item, path, out);
            path.pop();
        }
        DataType::Timestamp(..) => out.push((path.clone(), Encoding::DELTA_BINARY_PACKED)),
        DataType::Int64 if is_among(&GROWING) => out.push((path.clone(), Encoding::DELTA_BINARY_PACKED)),
        DataType::Int64 | DataType::Utf8 if is_among(&IDS) => {
            out.push((path.clone(), Encoding::PLAIN));
        }
        DataType::Utf8 if is_among(&LONG_IDS) => out.push((path.clone(), Encoding::DELTA_BYTE_ARRAY)),
        DataType::Binary if is_among(&[STATE]) => out.push((path.clone(), Encoding::PLAIN)),
        _ => {}
    }
    path.pop();
}

fn as_io(path: &Path, error: std::io::Error) -> Error {
    Error::new(path, ErrorKind::Io(error))
}

/// Counts and digests what passes through.
struct Digesting<W> {
    inner: W,
    digest: Xxh3,
    n_bytes: u64,
}

impl<W: Write> Write for Digesting<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let n = self.inner.write(bytes)?;
        self.digest.update(&bytes[..n]);
        self.n_bytes += n as u64;
        Ok(n)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{BATCH_ROWS_MAX, Growing, Metadata, read, write};
    use crate::tables::{EventRow, NameValue};

    fn row(number: usize) -> EventRow {
        let values = (0..number % 3).map(|n| NameValue { name: "v".into(), value: n.to_string().into() });
        EventRow {
            request_id: (!number.is_multiple_of(5)).then(|| format!("{number:032x}").into()),
            line: i64::try_from(number).expect("few rows"),
            values: values.collect(),
            ..EventRow::default()
        }
    }

    #[test]
    fn a_damaged_file_is_refused_or_read_and_nothing_panics() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("damaged");
        let rows: Vec<EventRow> = (0..40).map(row).collect();
        write(&path, &rows, &Metadata::new()).expect("written");
        let whole = fs::read(&path).expect("a file");
        let mut n_refused = 0;
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 1 << (at % 8);
            fs::write(&path, bytes).expect("written");
            n_refused += usize::from(read::<EventRow>(&path).is_err());
        }
        assert!(n_refused * 2 > whole.len(), "{n_refused} of {}", whole.len());
    }

    #[test]
    fn a_file_that_grew_is_the_file_of_all_its_rows() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (whole, grown) = (folder.path().join("whole"), folder.path().join("grown"));
        for n_rows in [0, 1, BATCH_ROWS_MAX - 1, BATCH_ROWS_MAX, 2 * BATCH_ROWS_MAX + 1] {
            let rows: Vec<EventRow> = (0..n_rows).map(row).collect();
            let expected = write(&whole, &rows, &Metadata::new()).expect("written");
            let mut file = Growing::create(&grown).expect("begun");
            rows.iter().for_each(|row| file.add(row.clone()).expect("added"));
            assert_eq!(file.finish(Metadata::new()).expect("written"), expected);
            let bytes = |path| fs::read(path).expect("a file");
            assert!(bytes(&whole) == bytes(&grown), "{n_rows} rows");
            assert!(read::<EventRow>(&grown).expect("whole").0 == rows, "{n_rows} rows");
        }
    }

    #[test]
    fn nothing_is_left_of_a_file_that_is_not_finished() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut file = Growing::create(&folder.path().join("part")).expect("begun");
        (0..=BATCH_ROWS_MAX).for_each(|number| file.add(row(number)).expect("added"));
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1, "aside");
        drop(file);
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0);
    }
}
