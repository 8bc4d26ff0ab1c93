//! The values that an event prints, of which a node holds millions: in one allocation however
//! many they are, and written as the list of pairs that they stand for.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserializer, SeqAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};

/// Printed values: (position in the log point's variables, text), in order.
///
/// One text: for each value two numbers, the variable and the bytes of its text, and then that.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Values(Box<str>);

/// Digits of a number are characters of one byte: six bits each, lowest first, this one set in
/// all but the last.
const MORE: u8 = 0x40;

impl Values {
    /// Of pairs. Those from the first on whose text does not fit into 4 GiB are left out.
    #[must_use]
    pub fn new<S: AsRef<str>>(pairs: &[(u32, S)]) -> Self {
        let pairs = || pairs.iter().map(|(variable, text)| (*variable, text.as_ref()));
        let n_bytes = pairs().map(|(variable, text)| n_digits(variable) + n_digits(len(text)) + text.len());
        let mut all = String::with_capacity(n_bytes.sum());
        for (variable, text) in pairs().take_while(|(_, text)| u32::try_from(text.len()).is_ok()) {
            put(&mut all, variable);
            put(&mut all, len(text));
            all.push_str(text);
        }
        Self(all.into())
    }

    /// Whether nothing was printed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The values in order.
    #[must_use]
    pub fn iter(&self) -> Iter<'_> {
        Iter(&self.0)
    }
}

fn len(text: &str) -> u32 {
    u32::try_from(text.len()).unwrap_or(u32::MAX)
}

fn n_digits(number: u32) -> usize {
    (32 - (number | 1).leading_zeros() as usize).div_ceil(6)
}

fn put(out: &mut String, mut number: u32) {
    while number >= u32::from(MORE) {
        out.push(char::from((number as u8 & (MORE - 1)) | MORE));
        number >>= 6;
    }
    out.push(char::from(number as u8));
}

/// Takes a number from the front of `text`.
fn take(text: &mut &str) -> u32 {
    let (mut number, mut n) = (0, 0);
    for digit in text.bytes() {
        number |= u32::from(digit & (MORE - 1)) << (6 * n);
        n += 1;
        if digit & MORE == 0 {
            break;
        }
    }
    *text = &text[n as usize..];
    number
}

/// The values of an event, one after the other.
#[derive(Clone, Debug)]
pub struct Iter<'v>(&'v str);

impl<'v> Iterator for Iter<'v> {
    type Item = (u32, &'v str);

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let (variable, len) = (take(&mut self.0), take(&mut self.0));
        let (text, rest) = self.0.split_at(len as usize);
        self.0 = rest;
        Some((variable, text))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let n = self.clone().fold(0, |n, _| n + 1);
        (n, Some(n))
    }
}

impl ExactSizeIterator for Iter<'_> {}

impl<'v> IntoIterator for &'v Values {
    type Item = (u32, &'v str);
    type IntoIter = Iter<'v>;

    fn into_iter(self) -> Iter<'v> {
        self.iter()
    }
}

impl<S: AsRef<str>> FromIterator<(u32, S)> for Values {
    fn from_iter<I: IntoIterator<Item = (u32, S)>>(values: I) -> Self {
        Self::new(&values.into_iter().collect::<Vec<_>>())
    }
}

impl fmt::Debug for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl Serialize for Values {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de> Deserialize<'de> for Values {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(Pairs)
    }
}

/// Reads the list of pairs.
struct Pairs;

/// One of them, as it stands in what is read where that is possible.
#[derive(Deserialize)]
struct Pair<'a>(u32, #[serde(borrow)] Cow<'a, str>);

impl<'de> Visitor<'de> for Pairs {
    type Value = Values;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of variables and texts")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Values, A::Error> {
        let mut pairs = Vec::new();
        while let Some(Pair(variable, text)) = seq.next_element()? {
            pairs.push((variable, text));
        }
        Ok(pairs.into_iter().collect())
    }
}

/// A text that many hold, written as a text.
pub(crate) mod shared {
    use std::borrow::Cow;
    use std::sync::Arc;

    use serde::{Deserialize, Deserializer, Serializer};

    /// A text as it stands in what is read, where that is possible.
    #[derive(Deserialize)]
    struct Read<'a>(#[serde(borrow)] Cow<'a, str>);

    pub(crate) fn serialize<S: Serializer>(text: &Arc<str>, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(text)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<str>, D::Error> {
        Read::deserialize(deserializer).map(|Read(text)| Arc::from(text))
    }

    /// The same of a text that may not be there.
    pub(crate) mod optional {
        use std::sync::Arc;

        use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

        use super::Read;

        pub(crate) fn serialize<S: Serializer>(
            text: &Option<Arc<str>>,
            serializer: S,
        ) -> Result<S::Ok, S::Error> {
            text.as_deref().serialize(serializer)
        }

        pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
            deserializer: D,
        ) -> Result<Option<Arc<str>>, D::Error> {
            Ok(Option::<Read<'de>>::deserialize(deserializer)?.map(|Read(text)| Arc::from(text)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Values;

    #[test]
    fn values_are_written_as_a_list_of_pairs() {
        let long = "é".repeat(3000);
        let edges = [0, 1, 63, 64, 4095, 4096, u32::MAX].map(|variable| (variable, &long[..]));
        for pairs in [
            vec![],
            vec![(0, "")],
            vec![(7, "id_1"), (300, "ü"), (2, ""), (2, "b")],
            vec![(0, &long[..64]), (1, &long[..62]), (2, "a")],
            edges.to_vec(),
        ] {
            let values: Values = pairs.iter().copied().collect();
            assert_eq!(values.iter().collect::<Vec<_>>(), pairs);
            assert_eq!(values.iter().len(), pairs.len());
            assert_eq!(values.is_empty(), pairs.is_empty());
            let bytes = postcard::to_stdvec(&values).expect("encoded");
            assert_eq!(bytes, postcard::to_stdvec(&pairs).expect("encoded"));
            assert_eq!(postcard::from_bytes::<Values>(&bytes).expect("decoded"), values);
        }
    }
}
