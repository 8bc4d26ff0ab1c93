//! All bounds of this crate: how much of a hostile or broken input is looked
//! at. Reaching one is counted or named in the accounting, never silent.

/// Bytes of a chunk unless the caller says otherwise: large enough that cutting
/// costs nothing, small enough that some dozen in flight do not matter.
pub const CHUNK_BYTES: usize = 1 << 20;

/// Longest line that can be the header line of a record; a record with a longer
/// one is rejected.
pub const LINE_BYTES_MAX: usize = 1 << 20;

/// Bytes of a record that are matched. What follows is counted as lines of the
/// record and named as cut.
pub const RECORD_BYTES_MAX: usize = 4 << 20;

/// Bytes of a line in which its header must end.
pub const HEADER_BYTES_MAX: usize = 16 << 10;

/// Ends tried for the fields of one header line, all together. Thread names and
/// MDC values can hold what follows them in the layout, a few times.
pub const HEADER_TRIES_MAX: u32 = 64;

/// Nesting of groups in a layout pattern.
pub const LAYOUT_DEPTH_MAX: usize = 8;

/// MDC keys of one layout, and texts that have no name, whose values are kept.
pub const MDC_KEYS_MAX: usize = 6;

/// Bytes of an id of a request: those that are known have 55 at most (`traceparent`), some put
/// names of services before them.
pub const ID_BYTES_MAX: usize = 128;

/// Bytes at the start of a file from which its layout is detected.
pub const LAYOUT_SAMPLE_BYTES: usize = 128 << 10;

/// Lines of a sample on which layouts are tried, and by which words before lines are told: each costs
/// a scan by a hundred layouts. It decides nothing: a layout that they do not show is looked for among
/// all lines of the sample that are left.
pub const LAYOUT_LINES_MAX: usize = 400;

/// Bytes from one piece of a file to the next of those in which a layout is looked for that its
/// start does not show. A stretch of another layout that is longer is found; of a shorter one,
/// what lies between two pieces is counted as lines that fit none.
pub const LATER_STRIDE_BYTES: usize = 64 << 10;

/// Bytes of a piece that are looked at: a sixteenth of the file.
pub const LATER_LOOK_BYTES: usize = 4 << 10;

/// Bytes of a piece that shows no record of a known layout, from which another one is found.
pub const LATER_SAMPLE_BYTES: usize = 16 << 10;

/// Bytes in which the first record is looked for.
pub const LAYOUT_SEARCH_BYTES: usize = 4 << 20;

/// Decompressed bytes before the ratio below is looked at.
pub const RATIO_FREE_BYTES: u64 = 64 << 20;

/// Decompressed bytes per compressed byte. Logs reach about 30, and those of a program that repeats
/// itself some thousands; what goes beyond and has no lines is a bomb and is read no further.
pub const RATIO_MAX: u64 = 200;

/// Decompressed bytes of a text beyond that ratio, with lines: what is read in some minutes.
pub const FLOOD_BYTES_MAX: u64 = 16 << 30;

/// NUL bytes in a row that are a hole, which a file system shows where nothing was written: a block
/// of a disk. A log that was cut while a program went on behind its old end begins with one.
pub const HOLE_BYTES_MIN: usize = 512;

/// Processes of one file that are told apart; each is a node, for which the file is read once.
pub const PROCESSES_MAX: usize = 64;

/// Bytes of text that are held where a text is read from its end and is packed: exports that stores
/// make newest first are some thousand lines long.
pub const BACKWARD_HELD_MAX: usize = 256 << 20;

/// Depth of folders.
pub const FOLDER_DEPTH_MAX: usize = 32;

/// Entries of a zip archive.
pub const ZIP_ENTRIES_MAX: usize = 200_000;

/// Compiled size of one template; a larger one is left out and named.
pub const TEMPLATE_BYTES_MAX: usize = 1 << 20;

/// Equally good log points kept for one record.
pub const CANDIDATES_MAX: usize = 64;

/// Steps of the direct matcher before a template is left to the regex engine,
/// whose time is linear whatever the text.
pub const MATCH_STEPS_MAX: u32 = 256;

/// Bytes at the cut side of a template's literal that the rest of a cut message
/// can begin (or end) with; each is a step of recursion, and a constant text
/// beyond them is found by its next part.
pub const CUT_LITERAL_MAX: usize = 64;

/// Records of a part of the log, at whose end closed spans become accumulators: enough to learn
/// from, few enough that two parts fit into some hundred MB.
pub const PART_RECORDS: u64 = 1 << 16;
