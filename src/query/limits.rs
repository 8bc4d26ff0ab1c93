//! What queries may take: so much memory and so much time, so many at once. A query that would
//! take more ends in an error that says so, and nothing of it is left.
//!
//! A query runs in a task of its own that holds its place and its state. When time is over they
//! are given back at once, however slowly somebody reads the rows.

use std::fmt;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use crate::error::Result;
use datafusion::error::DataFusionError;
use futures::future::{Either, select};
use futures::{FutureExt as _, Stream, StreamExt as _};
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};
use tokio::task::JoinSet;

/// Items that are ready and not yet read, at most, given on together.
const READY_MAX: usize = 1024;

/// What the queries of a session may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Memory of sorts, joins and aggregates, in bytes, of all queries together. They go on on
    /// disk beyond it where they can.
    pub memory_bytes: usize,
    /// Time from the question to the last row of the answer.
    pub timeout: Option<Duration>,
    /// Queries that run at a time; others wait for their turn.
    pub at_once: usize,
}

impl Default for Limits {
    /// A gigabyte, any time, any number.
    fn default() -> Self {
        Self { memory_bytes: 1 << 30, timeout: None, at_once: Semaphore::MAX_PERMITS }
    }
}

/// Why a query was given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GivenUp {
    /// It takes longer than it may.
    Time(Duration),
    /// It needs more memory than it may, where it cannot go on on disk.
    Memory(usize),
    /// The engine panicked.
    Panic,
}

impl fmt::Display for GivenUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time(of) if of.subsec_nanos() == 0 => {
                write!(f, "not answered within {} s, so it was given up (--timeout)", of.as_secs())
            }
            Self::Time(of) => {
                write!(f, "not answered within {} ms, so it was given up (--timeout)", of.as_millis())
            }
            Self::Memory(bytes) => write!(
                f,
                "it needs more than the {} MB of memory that queries may use, so it was given up (--memory)",
                bytes.div_ceil(1_000_000)
            ),
            Self::Panic => f.write_str("the SQL engine gave up on this query"),
        }
    }
}

impl std::error::Error for GivenUp {}

impl From<GivenUp> for DataFusionError {
    fn from(why: GivenUp) -> Self {
        Self::External(Box::new(why))
    }
}

/// Limits, and the places that are free.
#[derive(Clone)]
pub(super) struct Limiter {
    limits: Limits,
    places: Arc<Semaphore>,
    /// Where queries run.
    threads: Handle,
}

/// A place that was taken, and until when.
#[derive(Clone)]
pub(super) struct Turn {
    place: Option<Arc<OwnedSemaphorePermit>>,
    bell: Option<Bell>,
    limits: Limits,
    threads: Handle,
}

/// Rings when time is over. It has a thread of its own: those of the engine may all be at work on
/// something that looks at no clock.
#[derive(Clone)]
struct Bell {
    rung: watch::Receiver<bool>,
    /// With the last one of these the thread ends.
    _kept: std::sync::mpsc::Sender<()>,
}

impl Bell {
    fn after(time: Duration) -> std::io::Result<Self> {
        let (ring, rung) = watch::channel(false);
        let (kept, waits) = std::sync::mpsc::channel();
        std::thread::Builder::new().name("deadline".to_owned()).spawn(move || {
            if waits.recv_timeout(time) == Err(RecvTimeoutError::Timeout) {
                let _ = ring.send(true);
            }
        })?;
        Ok(Self { rung, _kept: kept })
    }
}

impl Limiter {
    /// Nobody has a place yet.
    pub(super) fn new(limits: Limits, threads: Handle) -> Self {
        Self { limits, places: Arc::new(Semaphore::new(limits.at_once)), threads }
    }

    /// Waits for a place; `timeout` is what the asker wants to wait at most, if anything.
    pub(super) async fn turn(&self, timeout: Option<Duration>) -> Result<Turn> {
        let mut turn = self.aside(timeout)?;
        let place = until(turn.bell.as_ref(), Arc::clone(&self.places).acquire_owned()).await;
        turn.place = Some(Arc::new(place.ok_or(turn.over())??));
        Ok(turn)
    }

    /// The same without a place, for what only waits to be read.
    pub(super) fn aside(&self, timeout: Option<Duration>) -> Result<Turn> {
        let limits = Limits { timeout: earlier(self.limits.timeout, timeout), ..self.limits };
        let bell = limits.timeout.map(Bell::after).transpose()?;
        Ok(Turn { place: None, bell, limits, threads: self.threads.clone() })
    }

    /// What is said of `error`: plainly, where a limit is the reason.
    pub(super) fn told(&self, error: DataFusionError) -> DataFusionError {
        match error.find_root() {
            DataFusionError::ResourcesExhausted(_) => self.out_of_memory().into(),
            _ => error,
        }
    }

    /// That no memory is left.
    pub(super) fn out_of_memory(&self) -> GivenUp {
        GivenUp::Memory(self.limits.memory_bytes)
    }
}

fn earlier(a: Option<Duration>, b: Option<Duration>) -> Option<Duration> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

/// What `run` gives, unless the bell rings before.
async fn until<T>(bell: Option<&Bell>, run: impl Future<Output = T>) -> Option<T> {
    let Some(bell) = bell else { return Some(run.await) };
    let mut rung = bell.rung.clone();
    match select(pin!(run), pin!(rung.wait_for(|is_rung| *is_rung))).await {
        Either::Left((done, _)) => Some(done),
        Either::Right(_) => None,
    }
}

impl Turn {
    /// Does `run`, a part of the query that gives no rows yet, on a thread of the engine, which
    /// has room for deep plans; a panic is a failed query.
    pub(super) async fn begin<T: Send + 'static>(
        &self,
        run: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Result<T> {
        let mut task = JoinSet::new();
        task.spawn_on(run, &self.threads);
        match until(self.bell.as_ref(), task.join_next()).await {
            None => Err(self.over().into()),
            Some(Some(Ok(done))) => done,
            Some(_) => Err(GivenUp::Panic.into()),
        }
    }

    /// The same, on this thread: what borrows from its asker. What it begins runs on the engine's.
    #[cfg(feature = "postgres")]
    pub(super) async fn within<T>(&self, run: impl Future<Output = T>) -> Result<T, GivenUp> {
        let mut run = pin!(run);
        let run = std::future::poll_fn(|context| {
            let _threads = self.threads.enter();
            run.as_mut().poll(context)
        });
        match until(self.bell.as_ref(), AssertUnwindSafe(run).catch_unwind()).await {
            None => Err(self.over()),
            Some(Err(_)) => Err(GivenUp::Panic),
            Some(Ok(done)) => Ok(done),
        }
    }

    fn over(&self) -> GivenUp {
        GivenUp::Time(self.limits.timeout.unwrap_or_default())
    }

    /// The items of `stream`, the rest of the query, which ends with an error if time is over
    /// before the last one was read.
    pub(super) fn items<T, E>(
        self,
        stream: impl Stream<Item = Result<T, E>> + Send + 'static,
    ) -> impl Stream<Item = Result<T, E>> + Send + Unpin + 'static
    where
        T: Send + 'static,
        E: From<GivenUp> + Send + 'static,
    {
        let (sender, receiver) = mpsc::channel(1);
        let over = self.over();
        let Self { place, bell, threads, .. } = self;
        let reader_bell = bell.clone();
        let mut task = JoinSet::new();
        let run = async move {
            let sent = async {
                let mut stream = pin!(stream.ready_chunks(READY_MAX));
                while let Some(items) = stream.next().await {
                    if sender.send(items).await.is_err() {
                        return;
                    }
                }
            };
            let done = until(bell.as_ref(), AssertUnwindSafe(sent).catch_unwind()).await;
            drop(place);
            let why = match done {
                Some(Ok(())) => return,
                Some(Err(_)) => GivenUp::Panic,
                None => over,
            };
            // Nobody may be there to read it any more.
            let _ = sender.send(vec![Err(why.into())]).await;
        };
        task.spawn_on(run, &threads);
        // The task ends with the stream that is read, and who reads waits no longer than it may.
        let parts = futures::stream::unfold(Some((receiver, task, reader_bell)), move |state| async move {
            let (mut receiver, task, bell) = state?;
            let items: Option<Vec<Result<T, E>>> = match until(bell.as_ref(), receiver.recv()).await {
                Some(items) => items,
                None => return Some((futures::stream::iter(vec![Err(over.into())]), None)),
            };
            Some((futures::stream::iter(items?), Some((receiver, task, bell))))
        });
        // Who has read the end may ask again.
        Box::pin(parts.flatten().fuse())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use datafusion::error::DataFusionError;
    use futures::StreamExt as _;

    use super::{GivenUp, Limiter, Limits};

    type Item = Result<u32, DataFusionError>;

    fn limiter(timeout_ms: u64, at_once: usize) -> Limiter {
        let timeout = Some(Duration::from_millis(timeout_ms));
        Limiter::new(Limits { timeout, at_once, ..Limits::default() }, tokio::runtime::Handle::current())
    }

    #[track_caller]
    fn run<T>(future: impl Future<Output = T>) -> T {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_time().build();
        runtime.expect("threads").block_on(future)
    }

    fn why(item: Option<Item>) -> String {
        item.expect("an item").expect_err("a limit").find_root().to_string()
    }

    #[test]
    fn items_come_in_order_and_end() {
        run(async {
            let turn = limiter(60_000, 1).turn(None).await.expect("a place");
            let items = turn.items(futures::stream::iter((0..5_000).map(Item::Ok)));
            let found: Vec<u32> = items.map(|item| item.expect("an item")).collect().await;
            assert_eq!(found, (0..5_000).collect::<Vec<_>>());
        });
    }

    #[test]
    fn who_takes_too_long_gives_its_place_back_unread() {
        run(async {
            let limiter = limiter(100, 1);
            let turn = limiter.turn(None).await.expect("a place");
            let endless = futures::stream::repeat_with(|| Item::Ok(1));
            let mut items = turn.items(endless);
            assert!(matches!(items.next().await, Some(Ok(1))));
            // Nobody reads on.
            tokio::time::sleep(Duration::from_millis(200)).await;
            drop(limiter.turn(None).await.expect("its place"));
            let last = items.skip_while(|item| std::future::ready(item.is_ok())).next().await;
            assert!(why(last).contains("not answered within 100 ms"));
        });
    }

    #[test]
    fn a_shorter_wish_counts() {
        run(async {
            let turn = limiter(60_000, 1).turn(Some(Duration::from_millis(50))).await.expect("a place");
            let begun = turn.begin(std::future::pending::<crate::error::Result<()>>()).await;
            assert_eq!(
                begun.expect_err("time is over").cause(),
                Some(&GivenUp::Time(Duration::from_millis(50)))
            );
        });
    }

    #[test]
    fn a_panic_is_a_failed_query() {
        run(async {
            let limiter = limiter(60_000, 1);
            let turn = limiter.turn(None).await.expect("a place");
            let begun = turn.begin(async { panic!("on purpose") as crate::error::Result<()> }).await;
            assert_eq!(begun.expect_err("failed").cause(), Some(&GivenUp::Panic));
            let broken = futures::stream::iter(0..2).map(|n: u32| {
                assert!(n == 0, "on purpose");
                Item::Ok(n)
            });
            let mut items = turn.items(broken);
            assert!(why(items.next().await).contains("gave up"));
            assert!(items.next().await.is_none());
            assert!(limiter.turn(None).await.is_ok(), "its place is free");
        });
    }

    #[test]
    fn memory_is_told_plainly() {
        let error = DataFusionError::ResourcesExhausted("top memory consumers".to_owned());
        let told = run(async { limiter(1, 1).told(error.context("somewhere")).find_root().to_string() });
        assert!(told.contains("1074 MB of memory") && told.contains("--memory"), "{told}");
    }
}
