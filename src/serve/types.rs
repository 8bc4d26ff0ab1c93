//! What the page is answered, as TypeScript: `web/src/types.ts` is written by this test, and has to be
//! what the structs say.

use std::any::TypeId;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use ts_rs::{Config, TS, TypeVisitor};

use super::api::{OverviewAnswer, SqlAnswer};
use super::coverage::Coverage;
use super::http::Fault;
use super::list::RequestList;
use super::order::OrderShown;
use crate::compare::report::Report;
use crate::page::profile::ProfileShown;
use crate::page::request::RequestShown;
use crate::page::table::TableShown;

/// Declarations by name, with those of the types that they are made of.
#[derive(Default)]
struct Declared {
    seen: BTreeSet<TypeId>,
    by_name: BTreeMap<String, String>,
}

impl TypeVisitor for Declared {
    fn visit<T: TS + 'static + ?Sized>(&mut self) {
        // What is in the language has no place to be written to.
        if !self.seen.insert(TypeId::of::<T>()) {
            return;
        }
        if T::output_path().is_some() {
            let config = Config::new().with_large_int("number");
            let docs = T::docs().unwrap_or_default();
            let text = format!("{docs}export {}\n", T::decl(&config));
            let before = self.by_name.insert(T::ident(&config), text);
            assert_eq!(before, None, "two types are called {}", T::ident(&config));
        }
        T::visit_dependencies(self);
    }
}

#[test]
fn the_page_knows_the_types_of_the_answers() {
    let mut declared = Declared::default();
    declared.visit::<TableShown>();
    declared.visit::<OverviewAnswer>();
    declared.visit::<RequestList>();
    declared.visit::<RequestShown>();
    declared.visit::<OrderShown>();
    declared.visit::<ProfileShown>();
    declared.visit::<Report>();
    declared.visit::<Coverage>();
    declared.visit::<SqlAnswer>();
    declared.visit::<Fault>();
    let head = "// What the server answers. Written from the structs that are sent, by their test:\n\
                // `LPROF_UPDATE_TYPES=1 cargo test --lib types_of_the_answers`.\n\n";
    let all: Vec<String> = declared.by_name.into_values().collect();
    let text = format!("{head}{}", all.join("\n"));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("web/src/types.ts");
    if std::env::var_os("LPROF_UPDATE_TYPES").is_some() {
        std::fs::write(&path, &text).expect("a file to write");
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == text, "web/src/types.ts is of other structs: LPROF_UPDATE_TYPES=1 writes it");
}
