//! Descriptors: the little that string evaluation reads from them.

use crate::program::Name;

/// Descriptors of the parameters of a method descriptor.
pub(crate) fn parameters(descriptor: &str) -> Vec<&str> {
    let mut all = Vec::new();
    let Some(mut rest) = descriptor.strip_prefix('(') else { return all };
    while !rest.is_empty() && !rest.starts_with(')') {
        let dimensions = rest.bytes().take_while(|&b| b == b'[').count();
        let len = match rest.as_bytes().get(dimensions) {
            Some(b'L') => rest.find(';').map_or(rest.len(), |end| end + 1),
            Some(_) => dimensions + 1,
            None => rest.len(),
        };
        all.push(&rest[..len]);
        rest = &rest[len..];
    }
    all
}

/// Descriptor of the result of a method descriptor.
pub(crate) fn result(descriptor: &str) -> &str {
    descriptor.rsplit_once(')').map_or("V", |(_, result)| result)
}

/// Internal name of the class of an object descriptor; arrays as they are.
pub(crate) fn class_of(descriptor: &str) -> Option<&str> {
    match descriptor.as_bytes().first()? {
        b'L' => descriptor.strip_prefix('L')?.strip_suffix(';'),
        b'[' => Some(descriptor),
        _ => None,
    }
}

/// Descriptor of a class name; arrays as they are.
pub(crate) fn descriptor_of(class: &str) -> Name {
    if class.starts_with('[') { Name::from(class) } else { Name::from(&format!("L{class};")) }
}

/// Whether a value of this descriptor is no reference.
pub(crate) fn is_primitive(descriptor: &str) -> bool {
    descriptor.len() == 1
}

/// Simple name with outer classes: the part after the last `/`.
pub(crate) fn simple_name(class: &str) -> &str {
    class.rsplit_once('/').map_or(class, |(_, simple)| simple)
}

/// What `Class.getSimpleName` returns for a class named by the usual scheme:
/// the part after the last `$` without leading digits.
pub(crate) fn source_simple_name(class: &str) -> String {
    if let Some(element) = class.strip_prefix('[') {
        return format!("{}[]", source_simple_name(class_of(element).unwrap_or(primitive_name(element))));
    }
    let simple = simple_name(class);
    let inner = simple.rsplit_once('$').filter(|(outer, _)| !outer.is_empty()).map_or(simple, |(_, i)| i);
    if simple.contains('$') {
        inner.trim_start_matches(|c: char| c.is_ascii_digit()).to_string()
    } else {
        inner.to_string()
    }
}

/// What `Class.getName` returns.
pub(crate) fn binary_name(class: &str) -> String {
    crate::program::load::applications::plain(class).replace('/', ".")
}

fn primitive_name(descriptor: &str) -> &str {
    match descriptor {
        "I" => "int",
        "J" => "long",
        "Z" => "boolean",
        "B" => "byte",
        "C" => "char",
        "S" => "short",
        "F" => "float",
        "D" => "double",
        _ => descriptor,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_descriptors() {
        assert_eq!(parameters("(I[[JLa/B;Z)V"), ["I", "[[J", "La/B;", "Z"]);
        assert_eq!(result("(I)[La/B;"), "[La/B;");
        assert_eq!(source_simple_name("a/B$1Local"), "Local");
        assert_eq!(source_simple_name("a/B$1"), "");
    }
}
