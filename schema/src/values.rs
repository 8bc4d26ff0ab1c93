//! The values that an event prints, of which a node holds millions: in two allocations
//! however many they are, and written as the list of pairs that they stand for.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserializer, SeqAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};

/// Printed values: (position in the log point's variables, text), in order.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Values {
    /// All texts, one after the other.
    texts: Box<str>,
    /// Variable and end of the text of each.
    ends: Box<[(u32, u32)]>,
}

impl Values {
    /// Whether nothing was printed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The values in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (u32, &str)> {
        let mut start = 0;
        self.ends.iter().map(move |&(variable, end)| {
            let text = &self.texts[start..end as usize];
            start = end as usize;
            (variable, text)
        })
    }
}

impl<S: AsRef<str>> FromIterator<(u32, S)> for Values {
    /// Values whose texts do not fit into 4 GiB are left out.
    fn from_iter<I: IntoIterator<Item = (u32, S)>>(values: I) -> Self {
        let values = values.into_iter();
        let mut texts = String::new();
        let mut ends = Vec::with_capacity(values.size_hint().0);
        for (variable, text) in values {
            let text = text.as_ref();
            let Ok(end) = u32::try_from(texts.len() + text.len()) else { break };
            texts.push_str(text);
            ends.push((variable, end));
        }
        Self { texts: texts.into(), ends: ends.into() }
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
}

#[cfg(test)]
mod tests {
    use super::Values;

    #[test]
    fn values_are_written_as_a_list_of_pairs() {
        for pairs in [vec![], vec![(0, "")], vec![(7, "id_1"), (300, "ü"), (2, ""), (2, "b")]] {
            let values: Values = pairs.iter().copied().collect();
            assert_eq!(values.iter().collect::<Vec<_>>(), pairs);
            assert_eq!(values.is_empty(), pairs.is_empty());
            let bytes = postcard::to_stdvec(&values).expect("encoded");
            assert_eq!(bytes, postcard::to_stdvec(&pairs).expect("encoded"));
            assert_eq!(postcard::from_bytes::<Values>(&bytes).expect("decoded"), values);
        }
    }
}
