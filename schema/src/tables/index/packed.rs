//! Numbers that stand together in an index: each less the least of them, in as many bytes as the largest
//! takes, and all of that by zstd where it is worth it.

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

/// Twice as quick as the level of the table, for 2 % more bytes.
pub(super) const ZSTD_LEVEL: i32 = 3;

/// Where numbers stand, and how they are written.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Packed {
    pub(super) min: i64,
    pub(super) max: i64,
    pub(super) offset: u64,
    pub(super) n_bytes: u64,
    /// xxh3-64 of the bytes.
    pub(super) sum: u64,
    /// Bytes of a number.
    width: u8,
}

impl Packed {
    /// Appends `values` to `out`.
    pub(super) fn append(values: &[i64], out: &mut Vec<u8>) -> Self {
        let min = values.iter().min().copied().unwrap_or_default();
        let max = values.iter().max().copied().unwrap_or_default();
        let most = max.wrapping_sub(min).cast_unsigned();
        let width = (64 - most.leading_zeros()).div_ceil(8) as usize;
        let offset = out.len();
        for value in values {
            out.extend(&value.wrapping_sub(min).to_le_bytes()[..width]);
        }
        let plain = &out[offset..];
        let squeezed = zstd::bulk::compress(plain, ZSTD_LEVEL).expect("memory is enough for a block");
        if squeezed.len() < plain.len() - plain.len() / 8 {
            out.truncate(offset);
            out.extend(squeezed);
        }
        let bytes = &out[offset..];
        let (offset, n_bytes, sum) = (offset as u64, bytes.len() as u64, xxh3_64(bytes));
        Self { min, max, offset, n_bytes, sum, width: width as u8 }
    }

    /// The `n` numbers that `bytes` are.
    pub(super) fn unpack(&self, mut bytes: Vec<u8>, n: usize) -> std::io::Result<Vec<i64>> {
        let width = usize::from(self.width);
        if width == 0 {
            return Ok(vec![self.min; n]);
        }
        if bytes.len() < n * width {
            bytes = zstd::bulk::decompress(&bytes, n * width)?;
        }
        if bytes.len() != n * width || width > 8 {
            return Err(std::io::Error::other("not as many numbers as there are rows"));
        }
        // So that eight bytes can be read of the last one too.
        bytes.extend([0; 8]);
        let mask = u64::MAX >> (64 - 8 * width);
        let value = |at: usize| {
            let bytes: [u8; 8] = bytes[at * width..][..8].try_into().expect("eight bytes");
            self.min.wrapping_add((u64::from_le_bytes(bytes) & mask).cast_signed())
        };
        Ok((0..n).map(value).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::Packed;

    #[test]
    fn numbers_are_read_as_they_were_written() {
        for values in [
            vec![],
            vec![7; 100],
            vec![i64::MIN, 0, i64::MAX],
            vec![-1, 1, 255],
            (0..3_000).map(|n| n * n * 77).collect(),
            (0..3_000).map(|n| (n * 7_919) % 3).collect(),
        ] {
            let mut out = vec![1, 2, 3];
            let packed = Packed::append(&values, &mut out);
            let bytes = out[packed.offset as usize..][..packed.n_bytes as usize].to_vec();
            assert_eq!(packed.unpack(bytes, values.len()).expect("numbers"), values);
        }
    }
}
