//! Random plans: which ingredients a seed combines.

use super::plan::{
    Begin, Carry, Form, Hand, Id, Kind, Library, Program, Protocol, Say, Shows, Step, Style, Way, settle,
};
use super::random::Random;

pub(crate) fn draw(seed: u64) -> Program {
    let mut random = Random::new(seed);
    let library = *random.weighted(&[
        (35, Library::Slf4j),
        (25, Library::Log4j1),
        (20, Library::Log4j2),
        (12, Library::Commons),
        (8, Library::Jdk),
    ]);
    let release = *random.weighted(&[(45, 8), (30, 11), (25, 17)]);
    let n_servers = *random.weighted(&[(62, 0_usize), (30, 1), (8, 2)]);
    let servers = (0..n_servers).map(|_| *random.pick(PROTOCOLS)).collect();
    let n_kinds = *random.weighted(&[(50, 1_usize), (35, 2), (15, 3)]);
    let same_ids = random.chance(20);
    let mut program = Program { seed, library, release, same_ids, kinds: Vec::new(), servers };
    for _ in 0..n_kinds {
        let kind = Draw { random: &mut random, servers: n_servers, left: 4 }.kind(n_kinds);
        program.kinds.push(kind);
    }
    settle(&mut program);
    program
}

const PROTOCOLS: &[Protocol] =
    &[Protocol::Data, Protocol::Writable, Protocol::Text, Protocol::Objects, Protocol::Http];

const STYLES: &[(usize, Style)] = &[
    (40, Style::Concat),
    (25, Style::Places),
    (10, Style::Format),
    (8, Style::Builder),
    (6, Style::Ternary),
    (6, Style::Helper),
    (5, Style::Wrapper),
    (4, Style::Prefix),
    (4, Style::Same),
];

const WAYS: &[(usize, Way)] = &[
    (10, Way::Call),
    (4, Way::Interface),
    (7, Way::PoolLambda),
    (8, Way::PoolTask),
    (6, Way::Callable),
    (6, Way::Completable),
    (4, Way::Thread),
    (4, Way::ThreadClass),
    (3, Way::Daemon),
    (3, Way::Topic),
    (3, Way::Fifo),
    (8, Way::Queue),
    (5, Way::QueueOfTasks),
    (4, Way::QueueOfText),
    (4, Way::QueueOfKeys),
    (4, Way::Priority),
    (5, Way::Monitor),
    (7, Way::Events),
    (6, Way::Handlers),
    (4, Way::Delay),
    (4, Way::JdkTimer),
    (3, Way::ForkJoin),
    (5, Way::FanOut),
    (3, Way::InvokeAll),
    (5, Way::Batch),
    (3, Way::Ring),
    (4, Way::ReplyMap),
];

const FORMS: &[(usize, Form)] = &[
    (40, Form::Line),
    (10, Form::Optional),
    (6, Form::Loop),
    (5, Form::Retry),
    (4, Form::Recursion),
    (5, Form::Shared),
    (4, Form::SharedWithoutId),
    (5, Form::Caught),
    (4, Form::Finally),
    (5, Form::Choice),
    (3, Form::Debug),
    (4, Form::Locked),
    (5, Form::Quiet),
    (3, Form::ThreadLocal),
    (3, Form::Template),
    (3, Form::Progress),
];

struct Draw<'a> {
    random: &'a mut Random,
    servers: usize,
    /// Hand-overs that the kind may still have.
    left: usize,
}

impl Draw<'_> {
    fn kind(&mut self, n_kinds: usize) -> Kind {
        let begin = *self.random.weighted(&[
            (34, Begin::ClientThreads),
            (14, Begin::ClientClass),
            (14, Begin::TaskEach),
            (9, Begin::MainLoop),
            (9, Begin::Timer),
            (10, Begin::Unseen),
            (10, Begin::Connection),
        ]);
        let id = *self.random.weighted(&[
            (14, Id::Counter),
            (16, Id::Atomic),
            (8, Id::Uuid),
            (10, Id::Given),
            (9, Id::Text),
            (8, Id::Hex),
            (10, Id::Composite),
            (8, Id::Returned),
            (9, Id::Path),
            (8, Id::Slot),
        ]);
        let carry = *self.random.weighted(&[
            (40, Carry::Values),
            (20, Carry::Getters),
            (12, Carry::Fields),
            (10, Carry::Builder),
            (10, Carry::Nested),
            (8, Carry::Record),
        ]);
        let requests = (40 + self.random.below(30)) / n_kinds.min(2);
        let watched = self.random.chance(7);
        let mut steps = vec![Step::Do(Form::Line, self.say())];
        steps.extend(self.steps(0));
        Kind { begin, id, carry, requests, watched, steps }
    }

    fn say(&mut self) -> Say {
        let shows = *self.random.weighted(&[
            (45, Shows::Id),
            (20, Shows::IdWhat),
            (15, Shows::IdAmount),
            (6, Shows::IdFlag),
            (20, Shows::Object),
        ]);
        Say { style: *self.random.weighted(STYLES), shows }
    }

    fn steps(&mut self, depth: usize) -> Vec<Step> {
        let mut steps = Vec::new();
        for _ in 0..1 + self.random.below(2) {
            steps.push(Step::Do(*self.random.weighted(FORMS), self.say()));
        }
        // Deeper steps hand over less.
        let hands = usize::from(self.random.chance([92, 50, 35, 0][depth.min(3)]))
            + usize::from(self.random.chance([25, 10, 0, 0][depth.min(3)]));
        for _ in 0..hands.min(self.left) {
            self.left = self.left.saturating_sub(1);
            let hand = self.hand();
            let mut inner = self.steps(depth + 1);
            let hands_on = matches!(inner.last(), Some(Step::Over(..)));
            if hands_on && self.random.chance(15) {
                inner.drain(..inner.len() - 1);
            }
            steps.push(Step::Over(hand, inner));
            if self.random.chance(40) {
                steps.push(Step::Do(*self.random.weighted(FORMS), self.say()));
            }
        }
        steps
    }

    fn hand(&mut self) -> Hand {
        let way = if self.servers > 0 && self.random.chance(35) {
            Way::Remote(u8::try_from(self.random.below(self.servers)).expect("few servers"))
        } else {
            *self.random.weighted(WAYS)
        };
        let (waits, single, renames) =
            (self.random.chance(45), self.random.chance(35), self.random.chance(35));
        Hand { way, waits, single, renames }
    }
}
