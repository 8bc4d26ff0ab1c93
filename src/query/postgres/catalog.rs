//! The catalogs: what PostgreSQL tells of itself and of its tables, as tables.
//!
//! ```text
//! relations.tsv ─▶ Relation   columns and types of each, those of a table of requests too
//!               ─▶ Rows       what is told of these; constants of PostgreSQL (types, functions, operators)
//!               ─▶ Catalog    two schemas, and names by numbers
//! ```
//! A relation of PostgreSQL that has nothing to tell here (indexes, constraints, triggers) is there and
//! empty, so that what clients ask of it has its columns and no rows.

mod constants;
mod names;
mod relation;
mod rows;
mod told;

use std::sync::{Arc, LazyLock};

use async_trait::async_trait;
use datafusion::catalog::{MemTable, SchemaProvider};
use datafusion::common::Result;
use datafusion::datasource::TableProvider;
use rustc_hash::{FxHashMap, FxHashSet};

pub(super) use names::Names;
use relation::Relation;
pub(super) use relation::{ALIAS, TYPE, Table};

/// All relations of PostgreSQL.
static RELATIONS: LazyLock<Vec<Relation>> = LazyLock::new(relation::all);

/// Whether an unqualified name is one of the catalog.
pub(super) fn is_of_catalog(name: &str) -> bool {
    name.starts_with("pg_") && RELATIONS.iter().any(|of| of.schema == "pg_catalog" && of.name == name)
}

/// The catalogs of a session.
pub(super) struct Catalog {
    /// By the name of a schema.
    schemas: FxHashMap<&'static str, Arc<Relations>>,
    pub(super) names: Arc<Names>,
}

impl Catalog {
    /// Of the `tables` of a session, whose engine knows `functions`.
    ///
    /// # Errors
    /// Constants that cannot be read.
    pub(super) fn new(tables: &[Table], functions: &FxHashSet<String>) -> Result<Self> {
        let own: Vec<Relation> =
            tables.iter().zip(0..).map(|(table, at)| relation::of_table(table, at)).collect();
        let relations: Vec<&Relation> = own.iter().chain(RELATIONS.iter()).collect();
        let constants = constants::Constants::new()?;
        let names = Arc::new(Names::new(&relations, &constants)?);
        let mut schemas = FxHashMap::<&str, Relations>::default();
        for of in RELATIONS.iter() {
            let batch = match told::rows(of, &relations, &names) {
                Some(rows) => rows.batch()?,
                None => constants.batch(of, &names, functions)?,
            };
            let table = MemTable::try_new(batch.schema(), vec![vec![batch]])?;
            schemas.entry(of.schema).or_default().0.insert(of.name.clone(), Arc::new(table));
        }
        Ok(Self { schemas: schemas.into_iter().map(|(name, of)| (name, Arc::new(of))).collect(), names })
    }

    /// The schemas by their names.
    pub(super) fn schemas(&self) -> impl Iterator<Item = (&'static str, Arc<dyn SchemaProvider>)> + '_ {
        self.schemas.iter().map(|(name, of)| (*name, Arc::clone(of) as Arc<dyn SchemaProvider>))
    }
}

/// The relations of a schema.
#[derive(Debug, Default)]
struct Relations(FxHashMap<String, Arc<dyn TableProvider>>);

#[async_trait]
impl SchemaProvider for Relations {
    fn table_names(&self) -> Vec<String> {
        self.0.keys().cloned().collect()
    }

    async fn table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        Ok(self.0.get(name).cloned())
    }

    fn table_exist(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }
}
