//! Annotations that are there at run time, with what they say (JVMS 4.7.16).

use crate::program::Name;

/// One annotation.
#[derive(Clone, Debug, PartialEq)]
pub struct Annotation {
    /// Its class.
    pub class: Name,
    /// What is written in it, by the name of the element.
    pub values: Vec<(Name, AnnotationValue)>,
}

/// The value of an element.
#[derive(Clone, Debug, PartialEq)]
pub enum AnnotationValue {
    /// A text.
    Text(Name),
    /// A constant of an enum, by its name.
    Constant(Name),
    /// Another annotation.
    Nested(Annotation),
    /// Several.
    List(Vec<AnnotationValue>),
    /// A number, a boolean or a class.
    Other,
}

/// What compilers keep for themselves, which can be large.
const OF_COMPILERS: &[&str] =
    &["Lkotlin/Metadata;", "Lscala/reflect/ScalaSignature;", "Lscala/reflect/ScalaLongSignature;"];

impl Annotation {
    /// Whether what is written in an annotation of this descriptor is of interest.
    pub(crate) fn is_read(descriptor: &str) -> bool {
        !OF_COMPILERS.contains(&descriptor)
    }

    /// The annotation of a descriptor; none of an array or a primitive, which are none.
    pub(crate) fn of(descriptor: &str, values: Vec<(Name, AnnotationValue)>) -> Option<Self> {
        let class = descriptor.strip_prefix('L').and_then(|rest| rest.strip_suffix(';'))?;
        Some(Self { class: Name::from(class), values })
    }

    /// Package with its last `/`, and the name in it.
    pub(crate) fn name(&self) -> (&str, &str) {
        self.class.as_str().split_at(self.class.rfind('/').map_or(0, |at| at + 1))
    }

    /// All texts of the elements called so, in order.
    pub(crate) fn texts<'a>(&'a self, elements: &'a [&str]) -> impl Iterator<Item = Name> + 'a {
        let wanted = self.values.iter().filter(|(name, _)| elements.contains(&name.as_str()));
        wanted.flat_map(|(_, value)| value.texts())
    }

    /// All texts, whatever their elements are called.
    pub(crate) fn all_texts(&self) -> Vec<Name> {
        self.values.iter().flat_map(|(_, value)| value.texts()).collect()
    }

    /// All constants of enums.
    pub(crate) fn constants(&self) -> Vec<Name> {
        self.values.iter().flat_map(|(_, value)| value.constants()).collect()
    }

    /// Annotations that stand in this one.
    pub(crate) fn nested(&self) -> Vec<&Annotation> {
        self.values.iter().flat_map(|(_, value)| value.nested()).collect()
    }
}

impl AnnotationValue {
    fn texts(&self) -> Vec<Name> {
        match self {
            AnnotationValue::Text(text) => vec![*text],
            AnnotationValue::List(all) => all.iter().flat_map(AnnotationValue::texts).collect(),
            _ => Vec::new(),
        }
    }

    fn constants(&self) -> Vec<Name> {
        match self {
            AnnotationValue::Constant(constant) => vec![*constant],
            AnnotationValue::List(all) => all.iter().flat_map(AnnotationValue::constants).collect(),
            _ => Vec::new(),
        }
    }

    fn nested(&self) -> Vec<&Annotation> {
        match self {
            AnnotationValue::Nested(annotation) => vec![annotation],
            AnnotationValue::List(all) => all.iter().flat_map(AnnotationValue::nested).collect(),
            _ => Vec::new(),
        }
    }
}
