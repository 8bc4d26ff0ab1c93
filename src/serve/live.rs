//! Live: a table that goes on is served as it is by now. A thread sees that there is a new manifest
//! and opens it; who has begun to answer ends with the table that it has, whose files stay.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use crate::error::Result;

use super::{Options, Served};
use crate::output::Voice;
use crate::table::Table;

/// How often is looked for a new manifest.
const EVERY: Duration = Duration::from_millis(500);

/// What is served now.
pub(super) struct Live {
    served: RwLock<Arc<Served>>,
}

impl Live {
    /// Begins to look for newer states of the table that `served` is of.
    pub(super) fn follow(served: Arc<Served>, args: Options, voice: Voice) -> Result<Arc<Self>> {
        let newest = served.table.manifest().number;
        let live = Arc::new(Self { served: RwLock::new(served) });
        let followed = Arc::clone(&live);
        let look = move || followed.look(newest, &args, voice);
        std::thread::Builder::new().name("live".to_owned()).spawn(look)?;
        Ok(live)
    }

    /// What is served now.
    pub(super) fn served(&self) -> Arc<Served> {
        Arc::clone(&self.served.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn look(&self, mut newest: u64, args: &Options, voice: Voice) -> ! {
        loop {
            std::thread::sleep(EVERY);
            // Where it cannot be read, what is known is served.
            let Ok(number) = reducer::table::newest_number(&args.table) else { continue };
            if number <= newest {
                continue;
            }
            newest = number;
            let before = self.served();
            match Table::open(&args.table).and_then(|table| Served::new(table, args, Some(&before))) {
                Ok(served) => {
                    if let Some(damage) = served.table.damage() {
                        voice.say(&format!("warning: {damage}; the state before it is served"));
                    }
                    *self.served.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(served);
                }
                Err(error) => voice.say(&format!("warning: {error:#}; the state before it is served")),
            }
        }
    }
}
