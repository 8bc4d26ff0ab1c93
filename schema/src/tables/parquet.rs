//! Parquet files: the only place that writes and reads them. A file is written
//! to a temporary name in its folder, synced, renamed, and the folder synced,
//! so that no reader ever sees half of one.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, Field, SchemaRef};
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use parquet::arrow::{ArrowWriter, ProjectionMask};
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::schema::types::ColumnPath;
use xxhash_rust::xxh3::Xxh3;

use super::cell::Row;
use crate::error::{Error, ErrorKind, Result};

/// Rows of one row group: large enough to compress, small enough to hold.
const ROW_GROUP_ROWS_MAX: usize = 1 << 20;
/// Rows held at a time, as rows and as columns.
pub(super) const BATCH_ROWS_MAX: usize = 1 << 12;
const ZSTD_LEVEL: i32 = 3;
/// Columns of numbers that grow from row to row.
const GROWING: [&str; 2] = ["line", "byte_offset"];
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
    write_columns(path, R::schema(), rows.chunks(BATCH_ROWS_MAX).map(R::batch), &|| metadata.clone())
}

/// The same of a table of which only one batch of rows is held at a time; `metadata` is asked
/// for when all of them have been.
pub(super) fn write_columns(
    path: &Path,
    schema: SchemaRef,
    batches: impl Iterator<Item = RecordBatch>,
    metadata: &dyn Fn() -> Metadata,
) -> Result<Written> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let temporary: PathBuf = folder.join(format!(".{name}.{}.tmp", std::process::id()));
    let written = (|| {
        let file = File::create(&temporary).map_err(Error::io(path))?;
        let mut out = Digesting { inner: BufWriter::new(file), digest: Xxh3::new(), n_bytes: 0 };
        let mut n_rows = 0;
        let counted = batches.inspect(|batch| n_rows += batch.num_rows() as u64).map(Ok);
        write_with(&mut out, schema, counted, metadata).map_err(|e| as_io(path, e))?;
        let done = Written { n_rows, n_bytes: out.n_bytes, digest: out.digest.digest128() };
        let file = out.inner.into_inner().map_err(|e| Error::new(path, ErrorKind::Io(e.into_error())))?;
        file.sync_all().map_err(Error::io(path))?;
        fs::rename(&temporary, path).map_err(Error::io(path))?;
        File::open(folder).and_then(|folder| folder.sync_all()).map_err(Error::io(folder))?;
        Ok(done)
    })();
    if written.is_err() {
        // The temporary file may not exist; either way nothing is left behind.
        let _ = fs::remove_file(&temporary);
    }
    written
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
    write_with(out, schema, batches, &Metadata::new)
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
    let reader = builder.with_batch_size(BATCH_ROWS_MAX).build();
    let batches = reader.and_then(|batches| Ok(batches.collect::<std::result::Result<_, _>>()?));
    Ok((schema, batches.map_err(|e| Error::damaged(path, 0, e))?, metadata))
}

/// Begins to read `path`: its columns, and the pairs in its footer.
fn open(path: &Path) -> Result<(ParquetRecordBatchReaderBuilder<File>, Metadata)> {
    let file = File::open(path).map_err(Error::io(path))?;
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(|e| Error::damaged(path, 0, e))?;
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
    reader: ParquetRecordBatchReader,
    row: std::marker::PhantomData<R>,
}

impl<R: Row> Batches<R> {
    /// Begins to read `path`.
    ///
    /// # Errors
    /// Not Parquet, cut short or damaged; I/O errors.
    pub fn open(path: &Path) -> Result<Self> {
        let (builder, metadata) = open(path)?;
        let wanted = R::schema();
        let roots = builder.schema().fields().iter().enumerate();
        let roots = roots.filter(|(_, field)| wanted.column_with_name(field.name()).is_some());
        let columns = ProjectionMask::roots(builder.parquet_schema(), roots.map(|(at, _)| at));
        let reader = builder.with_projection(columns).with_batch_size(BATCH_ROWS_MAX).build();
        let reader = reader.map_err(|e| Error::damaged(path, 0, e))?;
        Ok(Self { path: path.to_owned(), metadata, reader, row: std::marker::PhantomData })
    }
}

impl<R: Row> Iterator for Batches<R> {
    type Item = Result<Vec<R>>;

    fn next(&mut self) -> Option<Self::Item> {
        let rows = |batch: std::result::Result<RecordBatch, _>| {
            let batch = batch.map_err(|e| Error::damaged(&self.path, 0, e))?;
            let not_ours = || Error::new(&self.path, ErrorKind::NotOurs { expected: R::TABLE });
            R::rows(&batch).ok_or_else(not_ours)
        };
        self.reader.next().map(rows)
    }
}

fn write_with(
    out: &mut (dyn Write + Send),
    schema: SchemaRef,
    batches: impl Iterator<Item = std::io::Result<RecordBatch>>,
    metadata: &dyn Fn() -> Metadata,
) -> std::io::Result<()> {
    let properties = properties(&schema);
    let mut writer = ArrowWriter::try_new(out, schema, Some(properties)).map_err(std::io::Error::other)?;
    for batch in batches {
        writer.write(&batch?).map_err(std::io::Error::other)?;
    }
    for (key, value) in metadata() {
        writer.append_key_value_metadata(KeyValue::new(key, value));
    }
    writer.close().map_err(std::io::Error::other)?;
    Ok(())
}

/// How the columns of a table are written. What grows from row to row, as times and places in
/// logs do, is written as differences, in about half of the bytes that a dictionary takes.
fn properties(schema: &SchemaRef) -> WriterProperties {
    let level = ZstdLevel::try_new(ZSTD_LEVEL).expect("a level that zstd has");
    let mut builder = WriterProperties::builder()
        .set_compression(Compression::ZSTD(level))
        .set_created_by(PRODUCER.to_owned())
        .set_max_row_group_row_count(Some(ROW_GROUP_ROWS_MAX));
    let mut growing = Vec::new();
    for field in schema.fields() {
        add_growing(field, &mut Vec::new(), &mut growing);
    }
    for path in growing {
        let column = ColumnPath::new(path);
        builder = builder
            .set_column_dictionary_enabled(column.clone(), false)
            .set_column_encoding(column, Encoding::DELTA_BINARY_PACKED);
    }
    builder.build()
}

/// Adds the paths of the columns of `field`, which lies at `path`, that grow from row to row.
fn add_growing(field: &Field, path: &mut Vec<String>, out: &mut Vec<Vec<String>>) {
    path.push(field.name().clone());
    match field.data_type() {
        DataType::Struct(fields) => fields.iter().for_each(|field| add_growing(field, path, out)),
        DataType::List(item) => {
            path.push("list".to_owned());
            add_growing(item, path, out);
            path.pop();
        }
        DataType::Timestamp(..) => out.push(path.clone()),
        DataType::Int64 if GROWING.contains(&&**field.name()) => out.push(path.clone()),
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
