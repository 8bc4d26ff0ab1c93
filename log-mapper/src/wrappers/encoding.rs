//! Encodings: text that is not UTF-8 and has a byte for each character. It is read as that of
//! Windows-1252, which holds what ISO 8859-1 has; lines in UTF-8 stay as they are.

use super::{Inner, Wrapper};

/// Lines of bytes as those of Windows-1252.
pub(super) const WINDOWS_1252: Wrapper = Wrapper::new("windows-1252", decode);

/// The encoding of `sample`, the start of a file, if it is another one than UTF-8.
pub(crate) fn encoding(sample: &[u8]) -> Option<Wrapper> {
    let is_wide = sample.starts_with(b"\xff\xfe") || sample.starts_with(b"\xfe\xff");
    if is_wide || memchr::memchr(0, sample).is_some() {
        return None;
    }
    let error = std::str::from_utf8(sample).err()?;
    // The last character can have been cut.
    error.error_len().is_some().then_some(WINDOWS_1252)
}

/// Characters of the bytes from 0x80 to 0x9f; where there is none, that of ISO 8859-1.
const SIGNS: [char; 32] = [
    '\u{20ac}', '\u{81}', '\u{201a}', '\u{192}', '\u{201e}', '\u{2026}', '\u{2020}', '\u{2021}', '\u{2c6}',
    '\u{2030}', '\u{160}', '\u{2039}', '\u{152}', '\u{8d}', '\u{17d}', '\u{8f}', '\u{90}', '\u{2018}',
    '\u{2019}', '\u{201c}', '\u{201d}', '\u{2022}', '\u{2013}', '\u{2014}', '\u{2dc}', '\u{2122}', '\u{161}',
    '\u{203a}', '\u{153}', '\u{9d}', '\u{17e}', '\u{178}',
];

fn decode(line: &[u8], out: &mut Vec<u8>) -> Option<Inner> {
    if std::str::from_utf8(line).is_ok() {
        out.extend_from_slice(line);
        return Some(Inner::Whole);
    }
    for &byte in line {
        let c = match byte {
            0x80..=0x9f => SIGNS[usize::from(byte - 0x80)],
            other => char::from(other),
        };
        out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
    }
    Some(Inner::Whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_as_characters() {
        let mut out = Vec::new();
        assert_eq!(decode(b"M\xe4r \x80", &mut out), Some(Inner::Whole));
        assert_eq!(out, "M\u{e4}r \u{20ac}".as_bytes());
        assert!(encoding(b"f\xe9v\n").is_some());
        assert!(encoding("f\u{e9}v\n".as_bytes()).is_none());
        assert!(encoding(b"cut \xc3").is_none());
        assert!(encoding(b"\xff\xfea\0").is_none());
    }
}
