//! Names of what the catalogs have numbers for: relations, types, functions, schemas and roles.

use datafusion::common::{Result, exec_err};
use rustc_hash::FxHashMap;

use super::constants::Constants;
use super::relation::Relation;
use super::told::{ROLE, ROLE_NUMBER, SCHEMAS};

/// Types by the names that the language has for them.
const SPOKEN: [(&str, &str); 15] = [
    ("bool", "boolean"),
    ("int2", "smallint"),
    ("int4", "integer"),
    ("int8", "bigint"),
    ("float4", "real"),
    ("float8", "double precision"),
    ("varchar", "character varying"),
    ("bpchar", "character"),
    ("char", "\"char\""),
    ("bit", "bit"),
    ("varbit", "bit varying"),
    ("time", "time without time zone"),
    ("timetz", "time with time zone"),
    ("timestamp", "timestamp without time zone"),
    ("timestamptz", "timestamp with time zone"),
];

/// A type, as far as columns tell of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct TypeOf {
    pub(crate) number: i32,
    pub(crate) length: i32,
    pub(crate) is_by_value: bool,
    pub(crate) align: String,
    pub(crate) storage: String,
    pub(crate) collation: i32,
    pub(crate) name: String,
    pub(crate) element: i32,
}

/// A function, as far as is told of it.
#[derive(Debug)]
struct Signature {
    name: String,
    gives: i32,
    is_set: bool,
    arguments: Vec<i32>,
    argument_names: Vec<String>,
}

/// The names, both ways.
#[derive(Debug)]
pub(crate) struct Names {
    relations: FxHashMap<i32, (&'static str, String)>,
    types: FxHashMap<i32, TypeOf>,
    functions: FxHashMap<i32, Signature>,
    /// By object, relation of the catalog, column.
    descriptions: FxHashMap<(i32, i32, i32), String>,
    /// Bytes of the files of relations.
    sizes: FxHashMap<i32, i64>,
    by_name: FxHashMap<(&'static str, String), i32>,
}

impl Names {
    /// Those of `relations` and of PostgreSQL.
    ///
    /// # Errors
    /// Constants that cannot be read.
    pub(super) fn new(relations: &[&Relation], constants: &Constants) -> Result<Self> {
        let mut names = Self {
            relations: FxHashMap::default(),
            types: FxHashMap::default(),
            functions: FxHashMap::default(),
            descriptions: FxHashMap::default(),
            sizes: relations.iter().map(|of| (of.number, of.n_bytes)).collect(),
            by_name: FxHashMap::default(),
        };
        for of in relations {
            names.relations.insert(of.number, (of.schema, of.name.clone()));
            let whole = format!("{}.{}", of.schema, of.name);
            names.by_name.insert(("regclass", whole), of.number);
            if of.schema != "information_schema" {
                names.by_name.insert(("regclass", of.name.clone()), of.number);
            }
        }
        let columns =
            ["oid", "typname", "typlen", "typbyval", "typalign", "typstorage", "typcollation", "typelem"];
        constants.each("pg_type", &columns, &mut |row| names.add_type(row))?;
        let columns = ["oid", "proname", "prorettype", "proretset", "proargtypes", "proargnames"];
        constants.each("pg_proc", &columns, &mut |row| names.add_function(row))?;
        constants.each("pg_description", &["objoid", "classoid", "objsubid", "description"], &mut |row| {
            let number = |at: usize| row[at].parse().unwrap_or(0);
            names.descriptions.insert((number(0), number(1), number(2)), row[3].clone());
        })?;
        for (name, number) in SCHEMAS {
            names.by_name.insert(("regnamespace", name.to_owned()), number);
        }
        names.by_name.insert(("regrole", ROLE.to_owned()), ROLE_NUMBER);
        for (name, spoken) in SPOKEN.into_iter().chain([("int4", "int"), ("numeric", "decimal")]) {
            if let Some(number) = names.by_name.get(&("regtype", name.to_owned())).copied() {
                names.by_name.insert(("regtype", spoken.to_owned()), number);
            }
        }
        Ok(names)
    }

    fn add_type(&mut self, row: &[String]) {
        let number = |at: usize| row[at].parse().unwrap_or(0);
        let of = TypeOf {
            number: number(0),
            name: row[1].clone(),
            length: number(2),
            is_by_value: row[3] == "true",
            align: row[4].clone(),
            storage: row[5].clone(),
            collation: number(6),
            element: number(7),
        };
        self.by_name.insert(("regtype", of.name.clone()), of.number);
        self.types.insert(of.number, of);
    }

    fn add_function(&mut self, row: &[String]) {
        let number = row[0].parse().unwrap_or(0);
        let arguments = row[4].split(' ').filter_map(|number| number.parse().ok()).collect();
        let within = row[5].trim_start_matches('{').trim_end_matches('}');
        let of = Signature {
            name: row[1].clone(),
            gives: row[2].parse().unwrap_or(0),
            is_set: row[3] == "true",
            arguments,
            argument_names: within.split(',').map(str::to_owned).collect(),
        };
        self.by_name.entry(("regproc", of.name.clone())).or_insert(number);
        self.functions.insert(number, of);
    }

    /// What is said of an object of a relation of the catalog.
    pub(crate) fn description(&self, object: i32, relation: i32, column: i32) -> Option<&str> {
        self.descriptions.get(&(object, relation, column)).map(String::as_str)
    }

    /// Bytes of the files of a relation.
    pub(crate) fn size(&self, relation: i32) -> Option<i64> {
        self.sizes.get(&relation).copied()
    }

    /// Bytes of all files.
    pub(crate) fn whole_size(&self) -> i64 {
        self.sizes.values().sum()
    }

    /// Whether a relation is found without its schema.
    pub(crate) fn is_visible(&self, relation: i32) -> Option<bool> {
        self.relations.get(&relation).map(|(schema, _)| *schema != "information_schema")
    }

    /// What a function gives, as the language writes it.
    pub(crate) fn result_shown(&self, function: i32) -> Option<String> {
        let of = self.functions.get(&function)?;
        let gives = self.type_shown(of.gives)?;
        Some(if of.is_set { format!("SETOF {gives}") } else { gives })
    }

    /// What it takes.
    pub(crate) fn arguments_shown(&self, function: i32) -> Option<String> {
        let of = self.functions.get(&function)?;
        let shown = of.arguments.iter().enumerate().map(|(at, number)| {
            let shown = self.type_shown(*number).unwrap_or_default();
            match of.argument_names.get(at).filter(|name| !name.is_empty()) {
                Some(name) => format!("{name} {shown}"),
                None => shown,
            }
        });
        Some(shown.collect::<Vec<_>>().join(", "))
    }

    /// A type by its name in the catalog.
    pub(super) fn type_of(&self, name: &str) -> TypeOf {
        let number = self.number("regtype", name).unwrap_or(25);
        self.types.get(&number).cloned().unwrap_or_default()
    }

    /// The number of `name`, one of a `kind` such as `regclass`.
    pub(crate) fn number(&self, kind: &str, name: &str) -> Option<i32> {
        let kind = match kind {
            "regclass" => "regclass",
            "regtype" => "regtype",
            "regproc" | "regprocedure" => "regproc",
            "regnamespace" => "regnamespace",
            _ => "regrole",
        };
        let name = match kind {
            "regproc" => name.split('(').next().unwrap_or_default(),
            _ => name,
        };
        let plain = plain(name);
        if kind == "regtype"
            && let Some(element) = plain.strip_suffix("[]")
        {
            let element = self.number(kind, element)?;
            return self
                .types
                .values()
                .find(|of| of.element == element && of.length == -1)
                .map(|of| of.number);
        }
        let find = |name: &str| self.by_name.get(&(kind, name.to_owned())).copied();
        find(&plain).or_else(|| find(plain.strip_prefix("pg_catalog.")?))
    }

    /// The same for what is asked for by a client, to whom a name of nothing is an error.
    pub(crate) fn asked(&self, kind: &str, name: &str) -> Result<i32> {
        if let Ok(number) = name.parse() {
            return Ok(number);
        }
        if name == "-" {
            return Ok(0);
        }
        let what = match kind {
            "regclass" => "relation",
            "regtype" => "type",
            "regproc" | "regprocedure" => "function",
            "regnamespace" => "schema",
            _ => "role",
        };
        match self.number(kind, name) {
            Some(number) => Ok(number),
            None => exec_err!("{what} \"{name}\" does not exist"),
        }
    }

    /// What `number` is shown as.
    pub(crate) fn shown(&self, kind: &str, number: i32) -> String {
        let found = match kind {
            "regclass" => self.relations.get(&number).map(|(schema, name)| match *schema {
                "information_schema" => format!("{schema}.{name}"),
                _ => name.clone(),
            }),
            "regtype" => self.type_shown(number),
            "regproc" | "regprocedure" => self.functions.get(&number).map(|of| of.name.clone()),
            "regnamespace" => {
                SCHEMAS.iter().find(|(_, of)| *of == number).map(|(name, _)| (*name).to_owned())
            }
            "oid" => Some(number.to_string()),
            "regrole" => (number == ROLE_NUMBER).then(|| ROLE.to_owned()),
            _ => None,
        };
        match found {
            Some(found) => found,
            None if number == 0 => "-".to_owned(),
            None => number.to_string(),
        }
    }

    /// A type as the language writes it.
    pub(crate) fn type_shown(&self, number: i32) -> Option<String> {
        let of = self.types.get(&number)?;
        if of.element != 0 && of.length == -1 && of.name.starts_with('_') {
            return Some(format!("{}[]", self.type_shown(of.element)?));
        }
        let spoken = SPOKEN.iter().find(|(name, _)| *name == of.name).map(|(_, spoken)| *spoken);
        Some(spoken.unwrap_or(&of.name).to_owned())
    }
}

/// Without quotes, and in lower case where there are none.
fn plain(name: &str) -> String {
    let part = |part: &str| match part.strip_prefix('"').and_then(|part| part.strip_suffix('"')) {
        Some(quoted) => quoted.replace("\"\"", "\""),
        None => part.to_lowercase(),
    };
    name.trim().split('.').map(part).collect::<Vec<_>>().join(".")
}
