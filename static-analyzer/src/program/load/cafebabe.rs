//! Adapter to the `cafebabe` parser, the one that reads all class files but
//! those with dynamic constants among bootstrap arguments and malformed ones.
//! It may panic; the caller catches that.

use std::borrow::Cow;

use ::cafebabe::attributes::{
    Annotation as CafebabeAnnotation, AnnotationElementValue, AttributeData, AttributeInfo,
    BootstrapMethodEntry, CodeData,
};
use ::cafebabe::bytecode::{ByteCode, Opcode};
use ::cafebabe::constant_pool::{
    BootstrapArgument, LiteralConstant, Loadable, MemberRef, MethodHandle, NameAndType, ObjectArrayType,
    ReferenceKind,
};
use ::cafebabe::{FieldInfo, MethodInfo};

use super::raw::{Pool, Pooled, RawClass, RawCode, RawHandler, RawMethod, decode};
use crate::ir::{BootstrapArg, Const};
use crate::program::{Annotation, AnnotationValue, Field, MethodRef, Name};

/// Parses a class file.
pub(super) fn parse(bytes: &[u8]) -> Result<RawClass, String> {
    let class = ::cafebabe::parse_class(bytes).map_err(|e| e.to_string())?;
    let mut raw = RawClass {
        name: name(&class.this_class),
        super_name: class.super_class.as_ref().map(|c| name(c)),
        interfaces: class.interfaces.iter().map(|c| name(c)).collect(),
        access: class.access_flags.bits(),
        signature: signature(&class.attributes),
        source_file: None,
        enclosing: None,
        annotations: Vec::new(),
        fields: class.fields.iter().map(field).collect(),
        methods: class.methods.iter().map(method).collect(),
        bootstraps: Vec::new(),
    };
    for attribute in &class.attributes {
        match &attribute.data {
            AttributeData::SourceFile(file) => raw.source_file = Some(name(file)),
            AttributeData::EnclosingMethod { class_name, method } => {
                let method = method.as_ref().map(|m| (name(&m.name), name(&m.descriptor)));
                raw.enclosing = Some((name(class_name), method));
            }
            AttributeData::RuntimeVisibleAnnotations(list) => {
                raw.annotations = list.iter().filter_map(annotation).collect();
            }
            AttributeData::BootstrapMethods(entries) => {
                raw.bootstraps = entries.iter().map(bootstrap).collect();
            }
            _ => {}
        }
    }
    Ok(raw)
}

fn name(text: &str) -> Name {
    Name::from(text)
}

fn signature(attributes: &[AttributeInfo<'_>]) -> Option<Name> {
    attributes.iter().find_map(|a| match &a.data {
        AttributeData::Signature(s) => Some(name(s)),
        _ => None,
    })
}

fn field(field: &FieldInfo<'_>) -> Field {
    Field {
        name: name(&field.name),
        descriptor: name(&field.descriptor.to_string()),
        signature: signature(&field.attributes),
        access: field.access_flags.bits(),
        constant: field.attributes.iter().find_map(|a| match &a.data {
            AttributeData::ConstantValue(value) => Some(literal(value).0),
            _ => None,
        }),
        annotations: field_annotations(field),
    }
}

fn field_annotations(field: &FieldInfo<'_>) -> Vec<Annotation> {
    let lists = field.attributes.iter().filter_map(|a| match &a.data {
        AttributeData::RuntimeVisibleAnnotations(list) => Some(list),
        _ => None,
    });
    lists.flatten().filter_map(annotation).collect()
}

fn method(method: &MethodInfo<'_>) -> RawMethod {
    let mut raw = RawMethod {
        name: name(&method.name),
        descriptor: name(&method.descriptor.to_string()),
        signature: signature(&method.attributes),
        access: method.access_flags.bits(),
        exceptions: Vec::new(),
        annotations: Vec::new(),
        parameter_annotations: Vec::new(),
        parameters: Vec::new(),
        code: None,
    };
    for attribute in &method.attributes {
        match &attribute.data {
            AttributeData::Exceptions(classes) => raw.exceptions = classes.iter().map(|c| name(c)).collect(),
            AttributeData::RuntimeVisibleAnnotations(list) => {
                raw.annotations = list.iter().filter_map(annotation).collect();
            }
            AttributeData::RuntimeVisibleParameterAnnotations(list) => {
                let of = list.iter().map(|p| p.annotations.iter().filter_map(annotation).collect());
                raw.parameter_annotations = of.collect();
            }
            AttributeData::MethodParameters(list) => {
                raw.parameters = list.iter().map(|p| p.name.as_ref().map(|n| name(n))).collect();
            }
            AttributeData::Code(data) => raw.code = Some(code(data)),
            _ => {}
        }
    }
    raw
}

fn annotation(annotation: &CafebabeAnnotation<'_>) -> Option<Annotation> {
    let descriptor = annotation.type_descriptor.to_string();
    let elements = annotation.elements.iter().filter(|_| Annotation::is_read(&descriptor));
    let values = elements.map(|e| (name(&e.name), annotation_value(&e.value)));
    Annotation::of(&descriptor, values.collect())
}

fn annotation_value(value: &AnnotationElementValue<'_>) -> AnnotationValue {
    match value {
        AnnotationElementValue::StringConstant(text) => AnnotationValue::Text(name(text)),
        AnnotationElementValue::EnumConstant { const_name, .. } => {
            AnnotationValue::Constant(name(const_name))
        }
        AnnotationElementValue::AnnotationValue(nested) => {
            annotation(nested).map_or(AnnotationValue::Other, AnnotationValue::Nested)
        }
        AnnotationElementValue::ArrayValue(all) => {
            AnnotationValue::List(all.iter().map(annotation_value).collect())
        }
        _ => AnnotationValue::Other,
    }
}

fn code(data: &CodeData<'_>) -> Result<RawCode, String> {
    let bytecode = data.bytecode.as_ref().ok_or("no code")?;
    let insts = decode(data.code, &mut Opcodes { bytecode, next: 0 })?;
    let mut raw = RawCode {
        max_stack: data.max_stack,
        max_locals: data.max_locals,
        length: data.code.len() as u32,
        insts,
        ..RawCode::default()
    };
    raw.handlers.extend(data.exception_table.iter().map(|row| RawHandler {
        start: row.start_pc.into(),
        end: row.end_pc.into(),
        handler: row.handler_pc.into(),
        class: row.catch_type.as_ref().map(|c| name(c)),
    }));
    for attribute in &data.attributes {
        match &attribute.data {
            AttributeData::LineNumberTable(rows) => {
                raw.lines.extend(rows.iter().map(|r| (r.start_pc.into(), r.line_number.into())));
            }
            AttributeData::LocalVariableTable(rows) => {
                raw.names.extend(rows.iter().filter(|r| r.start_pc == 0).map(|r| (r.index, name(&r.name))));
            }
            _ => {}
        }
    }
    Ok(raw)
}

/// Constants by the instructions that name them: the parser hands out
/// instructions with their constants, not the pool.
struct Opcodes<'a> {
    bytecode: &'a ByteCode<'a>,
    next: usize,
}

impl Pool for Opcodes<'_> {
    fn get(&mut self, pc: usize, _index: u16) -> Result<Pooled, String> {
        let rest = &self.bytecode.opcodes[self.next..];
        let skipped = rest.iter().position(|&(offset, _)| offset >= pc).unwrap_or(rest.len());
        self.next += skipped;
        match rest.get(skipped) {
            Some((offset, opcode)) if *offset == pc => pooled(opcode),
            _ => Err(format!("no instruction at offset {pc}")),
        }
    }
}

fn pooled(opcode: &Opcode<'_>) -> Result<Pooled, String> {
    Ok(match opcode {
        Opcode::Ldc(c) | Opcode::LdcW(c) | Opcode::Ldc2W(c) => loadable(c),
        Opcode::Getfield(m)
        | Opcode::Getstatic(m)
        | Opcode::Putfield(m)
        | Opcode::Putstatic(m)
        | Opcode::Invokeinterface(m, _)
        | Opcode::Invokespecial(m)
        | Opcode::Invokestatic(m)
        | Opcode::Invokevirtual(m) => Pooled::Member(member(m)),
        Opcode::Invokedynamic(d) => Pooled::Dynamic {
            bootstrap: d.attr_index,
            name: name(&d.name_and_type.name),
            descriptor: name(&d.name_and_type.descriptor),
        },
        Opcode::New(class) => Pooled::Class(name(class)),
        Opcode::Anewarray(t)
        | Opcode::Checkcast(t)
        | Opcode::Instanceof(t)
        | Opcode::Multianewarray(t, _) => Pooled::Class(match t {
            ObjectArrayType::ArrayType(descriptor) => name(&descriptor.to_string()),
            ObjectArrayType::BinaryName(class) => name(class),
        }),
        other => return Err(format!("no constant in `{other:?}`")),
    })
}

fn member(m: &MemberRef<'_>) -> MethodRef {
    named(&m.class_name, &m.name_and_type)
}

fn named(class: &str, member: &NameAndType<'_>) -> MethodRef {
    MethodRef { class: name(class), name: name(&member.name), descriptor: name(&member.descriptor) }
}

fn loadable(constant: &Loadable<'_>) -> Pooled {
    let (value, wide) = match constant {
        Loadable::LiteralConstant(value) => literal(value),
        Loadable::ClassInfo(class) => return Pooled::Class(name(class)),
        Loadable::MethodHandle(_) | Loadable::MethodType(_) => (Const::Other, false),
        Loadable::Dynamic(d) => (Const::Other, matches!(&*d.name_and_type.descriptor, "J" | "D")),
    };
    Pooled::Const { value, wide }
}

/// The constant, and whether it takes two slots.
fn literal(constant: &LiteralConstant<'_>) -> (Const, bool) {
    match constant {
        LiteralConstant::Integer(v) => (Const::Int(*v), false),
        LiteralConstant::Float(v) => (Const::Float(*v), false),
        LiteralConstant::Long(v) => (Const::Long(*v), true),
        LiteralConstant::Double(v) => (Const::Double(*v), true),
        LiteralConstant::String(v) => (Const::Text(name(v)), false),
        LiteralConstant::StringBytes(bytes) => (Const::Text(name(&super::mutf8_lossy(bytes))), false),
    }
}

fn bootstrap(entry: &BootstrapMethodEntry<'_>) -> (MethodRef, Vec<BootstrapArg>) {
    let arguments = entry.arguments.iter().map(|argument| match argument {
        BootstrapArgument::LiteralConstant(value) => BootstrapArg::Const(literal(value).0),
        BootstrapArgument::ClassInfo(class) => BootstrapArg::Const(Const::Class(name(class))),
        BootstrapArgument::MethodHandle(handle) => {
            BootstrapArg::Handle { kind: kind(&handle.kind), target: handle_target(handle) }
        }
        BootstrapArgument::MethodType(descriptor) => BootstrapArg::MethodType(name(descriptor)),
    });
    (handle_target(&entry.method), arguments.collect())
}

fn handle_target(handle: &MethodHandle<'_>) -> MethodRef {
    let class: &Cow<'_, str> = &handle.class_name;
    named(class, &handle.member_ref)
}

fn kind(kind: &ReferenceKind) -> u8 {
    match kind {
        ReferenceKind::GetField => 1,
        ReferenceKind::GetStatic => 2,
        ReferenceKind::PutField => 3,
        ReferenceKind::PutStatic => 4,
        ReferenceKind::InvokeVirtual => 5,
        ReferenceKind::InvokeStatic => 6,
        ReferenceKind::InvokeSpecial => 7,
        ReferenceKind::NewInvokeSpecial => 8,
        ReferenceKind::InvokeInterface => 9,
    }
}
