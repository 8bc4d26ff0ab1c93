//! Adapter to the `noak` parser: lazy, accepts what others refuse. It reads
//! class files that `cafebabe` cannot, and checks the code arrays of all files
//! beforehand ([`scan`]).

use ::noak::reader::attributes::annotations::{Annotation as NoakAnnotation, ElementValue};
use ::noak::reader::attributes::{AttributeContent, Code, LocalVariableTable};
use ::noak::reader::cpool::{self, ConstantPool, Index, Item};
use ::noak::reader::{Attribute, Class, DecodeMany, Field as NoakField, Method as NoakMethod};

use super::raw::{self, Pool, Pooled, RawClass, RawCode, RawHandler, RawMethod, decode};
use crate::ir::{BootstrapArg, Const};
use crate::limits;
use crate::program::{Annotation, AnnotationValue, Field, MethodRef, Name};

type Result<T> = std::result::Result<T, String>;
type Attributes<'a> = DecodeMany<'a, Attribute<'a>, u16>;

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// Checks what would make a recursive or trusting parser abort: code arrays that
/// are no rows of whole instructions, attributes and annotations nested deep.
pub(super) fn scan(bytes: &[u8]) -> Result<()> {
    let class = Class::new(bytes).map_err(text)?;
    let pool = class.pool();
    scan_attributes(pool, class.attributes(), true)?;
    for field in class.fields() {
        scan_attributes(pool, field.map_err(text)?.attributes(), true)?;
    }
    for method in class.methods() {
        scan_attributes(pool, method.map_err(text)?.attributes(), true)?;
    }
    Ok(())
}

fn scan_attributes<'a>(pool: &ConstantPool<'a>, attributes: Attributes<'a>, is_outer: bool) -> Result<()> {
    for attribute in attributes {
        let attribute = attribute.map_err(text)?;
        let name = pool.retrieve(attribute.name()).map_err(text)?.as_bytes();
        match name {
            b"Code" | b"Record" if !is_outer => return Err("attributes are nested too deep".to_owned()),
            b"Code" => {
                let content = attribute.content();
                raw::scan(code_bytes(content)?)?;
                if let AttributeContent::Code(data) = attribute.read_content(pool).map_err(text)? {
                    scan_attributes(pool, data.attributes(), false)?;
                }
            }
            b"Record" => {
                if let AttributeContent::Record(record) = attribute.read_content(pool).map_err(text)? {
                    for component in record.components() {
                        scan_attributes(pool, component.map_err(text)?.attributes(), false)?;
                    }
                }
            }
            _ if name.windows(10).any(|w| w == b"Annotation") => scan_annotations(attribute.content())?,
            _ => {}
        }
    }
    Ok(())
}

/// Each level of nesting takes a byte `[` or `@`, so that their number is an
/// upper bound of the depth.
fn scan_annotations(content: &[u8]) -> Result<()> {
    let depth = content.iter().filter(|b| matches!(b, b'[' | b'@')).count();
    if depth > limits::ANNOTATION_DEPTH_MAX {
        Err("annotations may be nested too deep".to_owned())
    } else {
        Ok(())
    }
}

/// The code array of a `Code` attribute: `u2` stack, `u2` locals, `u4` length,
/// then the bytes.
fn code_bytes(content: &[u8]) -> Result<&[u8]> {
    let length = content.get(4..8).map_or(0, |b| u32::from_be_bytes([b[0], b[1], b[2], b[3]]) as usize);
    length.checked_add(8).and_then(|end| content.get(8..end)).ok_or_else(|| "code is cut off".to_owned())
}

/// Parses a class file.
pub(super) fn parse(bytes: &[u8]) -> Result<RawClass> {
    let class = Class::new(bytes).map_err(text)?;
    let pool = class.pool();
    let mut raw = RawClass {
        name: class_name(pool, class.this_class())?,
        super_name: class.super_class().map(|c| class_name(pool, c)).transpose()?,
        interfaces: class_names(pool, class.interfaces())?,
        access: class.access_flags().bits(),
        signature: signature(pool, class.attributes())?,
        source_file: None,
        enclosing: None,
        annotations: Vec::new(),
        fields: Vec::new(),
        methods: Vec::new(),
        bootstraps: Vec::new(),
    };
    for attribute in class.attributes() {
        match attribute.map_err(text)?.read_content(pool) {
            Ok(AttributeContent::SourceFile(file)) => raw.source_file = Some(utf8(pool, file.source_file())?),
            Ok(AttributeContent::EnclosingMethod(enclosing)) => {
                let method = enclosing.method().map(|m| name_and_type(pool, m)).transpose()?;
                raw.enclosing = Some((class_name(pool, enclosing.class())?, method));
            }
            Ok(AttributeContent::RuntimeVisibleAnnotations(list)) => {
                raw.annotations = annotations(pool, list.annotations())?;
            }
            Ok(AttributeContent::BootstrapMethods(list)) => {
                for entry in list.methods() {
                    let entry = entry.map_err(text)?;
                    let handle = pool.get(entry.method_ref()).map_err(text)?;
                    let target = member(pool, handle.reference)?;
                    let arguments = entry.arguments().iter().map(|a| argument(pool, a.map_err(text)?));
                    raw.bootstraps.push((target, arguments.collect::<Result<_>>()?));
                }
            }
            _ => {}
        }
    }
    for f in class.fields() {
        raw.fields.push(field(pool, &f.map_err(text)?)?);
    }
    for m in class.methods() {
        raw.methods.push(method(pool, &m.map_err(text)?)?);
    }
    Ok(raw)
}

fn utf8(pool: &ConstantPool<'_>, index: Index<cpool::Utf8<'_>>) -> Result<Name> {
    let index = Index::new(index.as_u16()).map_err(text)?;
    let content = pool.retrieve::<cpool::Utf8<'_>>(index).map_err(text)?;
    Ok(match content.to_str() {
        Some(plain) => Name::from(plain),
        None => Name::from(&super::mutf8_lossy(content.as_bytes())),
    })
}

fn class_name<'a>(pool: &ConstantPool<'a>, index: Index<cpool::Class<'a>>) -> Result<Name> {
    utf8(pool, pool.get(index).map_err(text)?.name)
}

fn class_names<'a>(
    pool: &ConstantPool<'a>,
    list: DecodeMany<'a, Index<cpool::Class<'a>>, u16>,
) -> Result<Vec<Name>> {
    list.iter().map(|c| class_name(pool, c.map_err(text)?)).collect()
}

fn name_and_type<'a>(pool: &ConstantPool<'a>, index: Index<cpool::NameAndType<'a>>) -> Result<(Name, Name)> {
    let pair = pool.get(index).map_err(text)?;
    Ok((utf8(pool, pair.name)?, utf8(pool, pair.descriptor)?))
}

fn member(pool: &ConstantPool<'_>, index: Index<Item<'_>>) -> Result<MethodRef> {
    let index = Index::<Item<'_>>::new(index.as_u16()).map_err(text)?;
    let (class, pair) = match pool.get(index).map_err(text)? {
        Item::FieldRef(m) => (m.class, m.name_and_type),
        Item::MethodRef(m) => (m.class, m.name_and_type),
        Item::InterfaceMethodRef(m) => (m.class, m.name_and_type),
        other => return Err(format!("expected a member, got {other:?}")),
    };
    let (name, descriptor) = name_and_type(pool, pair)?;
    Ok(MethodRef { class: class_name(pool, class)?, name, descriptor })
}

fn pooled<'a>(pool: &ConstantPool<'a>, index: Index<Item<'a>>) -> Result<Pooled> {
    let constant = |value, wide| Ok(Pooled::Const { value, wide });
    match pool.get(index).map_err(text)? {
        Item::Integer(v) => constant(Const::Int(v.value), false),
        Item::Float(v) => constant(Const::Float(v.value), false),
        Item::Long(v) => constant(Const::Long(v.value), true),
        Item::Double(v) => constant(Const::Double(v.value), true),
        Item::String(s) => constant(Const::Text(utf8(pool, s.string)?), false),
        Item::Class(c) => Ok(Pooled::Class(utf8(pool, c.name)?)),
        Item::MethodHandle(_) | Item::MethodType(_) => constant(Const::Other, false),
        Item::Dynamic(d) => {
            let (_, descriptor) = name_and_type(pool, d.name_and_type)?;
            constant(Const::Other, matches!(descriptor.as_str(), "J" | "D"))
        }
        Item::InvokeDynamic(d) => {
            let (name, descriptor) = name_and_type(pool, d.name_and_type)?;
            Ok(Pooled::Dynamic { bootstrap: d.bootstrap_method_attr, name, descriptor })
        }
        Item::FieldRef(_) | Item::MethodRef(_) | Item::InterfaceMethodRef(_) => {
            Ok(Pooled::Member(member(pool, index)?))
        }
        other => Err(format!("unexpected constant {other:?}")),
    }
}

fn argument<'a>(pool: &ConstantPool<'a>, index: Index<Item<'a>>) -> Result<BootstrapArg> {
    Ok(match pool.get(index).map_err(text)? {
        Item::MethodHandle(handle) => {
            BootstrapArg::Handle { kind: handle.kind as u8 + 1, target: member(pool, handle.reference)? }
        }
        Item::MethodType(t) => BootstrapArg::MethodType(utf8(pool, t.descriptor)?),
        _ => match pooled(pool, index)? {
            Pooled::Const { value, .. } => BootstrapArg::Const(value),
            Pooled::Class(name) => BootstrapArg::Const(Const::Class(name)),
            _ => BootstrapArg::Const(Const::Other),
        },
    })
}

fn signature<'a>(pool: &ConstantPool<'a>, attributes: Attributes<'a>) -> Result<Option<Name>> {
    for attribute in attributes {
        if let Ok(AttributeContent::Signature(s)) = attribute.map_err(text)?.read_content(pool) {
            return utf8(pool, s.signature()).map(Some);
        }
    }
    Ok(None)
}

fn field<'a>(pool: &ConstantPool<'a>, field: &NoakField<'a>) -> Result<Field> {
    let (mut constant, mut its_annotations) = (None, Vec::new());
    for attribute in field.attributes() {
        match attribute.map_err(text)?.read_content(pool) {
            Ok(AttributeContent::ConstantValue(value)) => {
                if let Pooled::Const { value, .. } = pooled(pool, value.value())? {
                    constant = Some(value);
                }
            }
            Ok(AttributeContent::RuntimeVisibleAnnotations(list)) => {
                its_annotations = annotations(pool, list.annotations())?;
            }
            _ => {}
        }
    }
    Ok(Field {
        name: utf8(pool, field.name())?,
        descriptor: utf8(pool, field.descriptor())?,
        signature: signature(pool, field.attributes())?,
        access: field.access_flags().bits(),
        constant,
        annotations: its_annotations,
    })
}

fn annotations<'a>(
    pool: &ConstantPool<'a>,
    list: DecodeMany<'a, NoakAnnotation<'a>, u16>,
) -> Result<Vec<Annotation>> {
    let mut found = Vec::new();
    for one in list {
        found.extend(annotation(pool, &one.map_err(text)?)?);
    }
    Ok(found)
}

fn annotation<'a>(pool: &ConstantPool<'a>, one: &NoakAnnotation<'a>) -> Result<Option<Annotation>> {
    let descriptor = utf8(pool, one.type_())?;
    let mut values = Vec::new();
    if Annotation::is_read(&descriptor) {
        for pair in one.pairs() {
            let pair = pair.map_err(text)?;
            values.push((utf8(pool, pair.name())?, annotation_value(pool, &pair.value())?));
        }
    }
    Ok(Annotation::of(&descriptor, values))
}

fn annotation_value<'a>(pool: &ConstantPool<'a>, value: &ElementValue<'a>) -> Result<AnnotationValue> {
    Ok(match value {
        ElementValue::String(of) => AnnotationValue::Text(utf8(pool, *of)?),
        ElementValue::Enum { const_name, .. } => AnnotationValue::Constant(utf8(pool, *const_name)?),
        ElementValue::Annotation(nested) => {
            annotation(pool, nested)?.map_or(AnnotationValue::Other, AnnotationValue::Nested)
        }
        ElementValue::Array(all) => {
            let all = all.iter().map(|one| annotation_value(pool, &one.map_err(text)?));
            AnnotationValue::List(all.collect::<Result<_>>()?)
        }
        _ => AnnotationValue::Other,
    })
}

fn method<'a>(pool: &ConstantPool<'a>, method: &NoakMethod<'a>) -> Result<RawMethod> {
    let mut raw = RawMethod {
        name: utf8(pool, method.name())?,
        descriptor: utf8(pool, method.descriptor())?,
        signature: signature(pool, method.attributes())?,
        access: method.access_flags().bits(),
        exceptions: Vec::new(),
        annotations: Vec::new(),
        parameter_annotations: Vec::new(),
        parameters: Vec::new(),
        code: None,
    };
    for attribute in method.attributes() {
        let attribute = attribute.map_err(text)?;
        match attribute.read_content(pool) {
            Ok(AttributeContent::Exceptions(list)) => raw.exceptions = class_names(pool, list.exceptions())?,
            Ok(AttributeContent::RuntimeVisibleAnnotations(list)) => {
                raw.annotations = annotations(pool, list.annotations())?;
            }
            Ok(AttributeContent::RuntimeVisibleParameterAnnotations(list)) => {
                for parameter in list.parameters() {
                    let of = annotations(pool, parameter.map_err(text)?.annotations())?;
                    raw.parameter_annotations.push(of);
                }
            }
            Ok(AttributeContent::MethodParameters(list)) => {
                for parameter in list.parameters() {
                    let name = parameter.map_err(text)?.name();
                    raw.parameters.push(name.map(|n| utf8(pool, n)).transpose()?);
                }
            }
            Ok(AttributeContent::Code(data)) => raw.code = Some(code(pool, &data, attribute.content())),
            _ => {}
        }
    }
    Ok(raw)
}

fn code<'a>(pool: &ConstantPool<'a>, data: &Code<'a>, content: &[u8]) -> Result<RawCode> {
    let bytes = code_bytes(content)?;
    let mut raw = RawCode {
        max_stack: data.max_stack(),
        max_locals: data.max_locals(),
        length: bytes.len() as u32,
        insts: decode(bytes, &mut Indices(pool))?,
        ..RawCode::default()
    };
    for row in data.exception_handlers() {
        raw.handlers.push(RawHandler {
            start: row.start().as_u32(),
            end: row.end().as_u32(),
            handler: row.handler().as_u32(),
            class: row.catch_type().map(|c| class_name(pool, c)).transpose()?,
        });
    }
    for attribute in data.attributes() {
        let attribute = attribute.map_err(text)?;
        match pool.retrieve(attribute.name()).map_err(text)?.as_bytes() {
            b"LineNumberTable" => raw.lines.extend(lines(attribute.content())),
            b"LocalVariableTable" => {
                if let Ok(AttributeContent::LocalVariableTable(table)) = attribute.read_content(pool) {
                    names(pool, &table, &mut raw)?;
                }
            }
            _ => {}
        }
    }
    Ok(raw)
}

/// Rows of a `LineNumberTable`: `u2` count, then (`u2` offset, `u2` line).
/// Read here because the parser takes the offset for a `u4`.
fn lines(content: &[u8]) -> impl Iterator<Item = (u32, u32)> {
    content.get(2..).unwrap_or_default().chunks_exact(4).map(|row| {
        let (pc, line) = (u16::from_be_bytes([row[0], row[1]]), u16::from_be_bytes([row[2], row[3]]));
        (pc.into(), line.into())
    })
}

fn names<'a>(pool: &ConstantPool<'a>, table: &LocalVariableTable<'a>, raw: &mut RawCode) -> Result<()> {
    for row in table.locals() {
        let row = row.map_err(text)?;
        if row.range().start.as_u32() == 0 {
            raw.names.push((row.index(), utf8(pool, row.name())?));
        }
    }
    Ok(())
}

struct Indices<'p, 'a>(&'p ConstantPool<'a>);

impl Pool for Indices<'_, '_> {
    fn get(&mut self, _pc: usize, index: u16) -> Result<Pooled> {
        pooled(self.0, Index::new(index).map_err(text)?)
    }
}
