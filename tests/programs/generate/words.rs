//! Words: what generated programs are about and what their lines say.

use super::random::Random;

/// What one kind of request is about: its name, what it works on, what is counted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Domain {
    pub(crate) noun: &'static str,
    pub(crate) verb: &'static str,
    pub(crate) what: &'static str,
    pub(crate) amount: &'static str,
}

const DOMAINS: &[(&str, &str, &str, &str)] = &[
    ("scan", "openScan", "table", "rows"),
    ("lease", "grant", "tenant", "days"),
    ("order", "place", "customer", "items"),
    ("job", "submit", "queue", "parts"),
    ("upload", "store", "bucket", "chunks"),
    ("session", "establish", "user", "hops"),
    ("transfer", "book", "account", "cents"),
    ("shipment", "dispatch", "depot", "crates"),
    ("ticket", "issue", "stage", "seats"),
    ("build", "compile", "branch", "modules"),
    ("lookup", "search", "catalog", "hits"),
    ("backup", "archive", "volume", "files"),
    ("invoice", "charge", "payer", "positions"),
    ("snapshot", "freeze", "region", "cells"),
    ("flight", "depart", "gate", "passengers"),
    ("parcel", "collect", "street", "grams"),
    ("render", "draw", "scene", "frames"),
    ("merge", "combine", "shard", "segments"),
    ("harvest", "reap", "field", "sacks"),
    ("loan", "lend", "branchOffice", "weeks"),
    ("voyage", "sail", "harbour", "containers"),
    ("exam", "grade", "course", "pages"),
    ("mirror", "copy", "rack", "blocks"),
    ("patch", "apply", "module", "hunks"),
];

const VERBS: &str = "accepted admitted aligned allotted announced appended approved arranged assigned attached \
    audited balanced banked blended braced bundled cached carried checked chosen cleared clipped closed coded \
    confirmed counted covered crossed cut dated decided decoded delivered divided drained edited encoded \
    enrolled entered erased examined expanded exported fetched filed filled filtered finished fixed flagged \
    folded forged formed forwarded found framed gathered given granted grouped guarded handled hashed held \
    imported indexed inspected issued joined judged kept labelled landed launched lifted linked listed loaded \
    located locked logged looked mailed mapped marked matched measured mended mixed mounted moved named noted \
    numbered offered opened ordered packed paired parked passed picked placed planned plotted polled posted \
    primed printed probed published pulled pushed queued quoted raised ranked rated reached read received \
    recorded reduced refined registered released repaired reported reserved resolved returned reviewed \
    revised rolled rotated routed sampled saved scaled scanned scheduled sealed secured seen selected sent \
    served settled shaped shared shifted shipped shown signed sized skipped slotted sorted spent split spooled \
    staged stamped started stated steered stopped stored striped studied summed swapped swept synced tagged \
    taken tallied tested timed told traced tracked trimmed tuned turned typed united updated valued verified \
    viewed voted walked warmed washed watched weighed welded wired won worked woven wrapped written zoned";

const HOUSES: &[&str] = &[
    "org.acorn",
    "com.bluefin",
    "io.cinder",
    "net.delta",
    "org.ember",
    "com.fjord",
    "io.garnet",
    "net.heron",
    "org.isle",
    "com.juniper",
    "io.kestrel",
    "net.larch",
    "org.mistral",
    "com.nimbus",
    "io.otter",
    "net.pumice",
    "org.quarry",
    "com.rowan",
    "io.sable",
    "net.thistle",
    "org.umber",
    "com.vesper",
    "io.willow",
    "net.zephyr",
];

/// What the objects that requests work on are called.
const PLACES: &[&str] = &["north", "alpha", "t", "zone", "red", "unit", "k", "harbor"];

/// Words not used yet.
#[derive(Debug)]
pub(crate) struct Words {
    verbs: Vec<&'static str>,
    domains: Vec<Domain>,
}

impl Words {
    pub(crate) fn new(random: &mut Random) -> Words {
        let mut verbs: Vec<&str> = VERBS.split_whitespace().collect();
        random.shuffle(&mut verbs);
        let mut domains: Vec<Domain> =
            DOMAINS.iter().map(|&(noun, verb, what, amount)| Domain { noun, verb, what, amount }).collect();
        random.shuffle(&mut domains);
        Words { verbs, domains }
    }

    /// A verb that no other line of the program says.
    pub(crate) fn verb(&mut self) -> &'static str {
        self.verbs.pop().expect("a program has fewer lines than there are verbs")
    }

    pub(crate) fn domain(&mut self) -> Domain {
        self.domains.pop().expect("a program has fewer kinds than there are domains")
    }

    pub(crate) fn house(random: &mut Random) -> &'static str {
        HOUSES[random.below(HOUSES.len())]
    }

    pub(crate) fn place(random: &mut Random) -> &'static str {
        PLACES[random.below(PLACES.len())]
    }
}

/// The word with its first letter large.
pub(crate) fn large(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
