//! Connections: so many at a time, each with so much time to say what it wants and to take the answer.

use std::io::Read as _;
use std::net::{TcpListener, TcpStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::http::{Answer, Asked};
use super::live::Live;
use super::{api, guard};

/// Connections at a time; others wait to be accepted.
const CONNECTIONS_MAX: usize = 128;
/// Stack of who answers: the engine computes on it.
const STACK_BYTES: usize = 16 << 20;
/// Time to say what is wanted.
const ASKING: Duration = Duration::from_secs(10);
/// Time to take the answer.
const TAKING: Duration = Duration::from_secs(60);
/// Bytes of what was refused that are still read, so that the refusal is seen, and time for it.
const REFUSED_BYTES_MAX: usize = 4 << 20;
const LEAVING: Duration = Duration::from_secs(1);

/// Places, of which somebody takes one and gives it back.
pub(super) struct Places {
    free: Mutex<usize>,
    is_free: Condvar,
}

impl Places {
    /// So many.
    pub(super) fn new(n: usize) -> Self {
        Self { free: Mutex::new(n), is_free: Condvar::new() }
    }

    /// Waits for one.
    pub(super) fn take(&self) -> Place<'_> {
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.is_free.wait_while(free, |free| *free == 0);
        *waited.unwrap_or_else(PoisonError::into_inner) -= 1;
        Place(self)
    }
}

/// A place that was taken.
pub(super) struct Place<'p>(&'p Places);

impl Drop for Place<'_> {
    fn drop(&mut self) {
        *self.0.free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.0.is_free.notify_one();
    }
}

/// Answers whoever connects, until the process ends.
pub(super) fn accept(listener: &TcpListener, live: &Arc<Live>) -> ! {
    let places = Arc::new(Places::new(CONNECTIONS_MAX));
    loop {
        // Given back where the connection ends.
        std::mem::forget(places.take());
        let give_back = GiveBack(Arc::clone(&places));
        let Ok((stream, _)) = listener.accept() else {
            // Out of files, or gone before it was accepted: others are served.
            std::thread::sleep(Duration::from_millis(50));
            continue;
        };
        let live = Arc::clone(live);
        let answer = move || {
            let _place = give_back;
            // What a client does wrong harms its connection only.
            let _ = connection(&live, stream);
        };
        // Where no thread can be had the connection is closed.
        let _ =
            std::thread::Builder::new().name("connection".to_owned()).stack_size(STACK_BYTES).spawn(answer);
    }
}

/// Gives back a place that another thread has taken.
struct GiveBack(Arc<Places>);

impl Drop for GiveBack {
    fn drop(&mut self) {
        drop(Place(&self.0));
    }
}

fn connection(live: &Live, mut stream: TcpStream) -> std::io::Result<()> {
    let address = stream.local_addr()?;
    stream.set_read_timeout(Some(ASKING))?;
    stream.set_write_timeout(Some(ASKING))?;
    stream.set_nodelay(true)?;
    let (answer, is_head) = match Asked::read(&mut stream, Instant::now() + ASKING) {
        Err(refused) => (refused, false),
        Ok(asked) => match guard::refusal(&asked, address) {
            Some(why) => (Answer::fault(403, why), false),
            None => {
                let served = live.served();
                let answered = catch_unwind(AssertUnwindSafe(|| api::answer(&served, &asked)));
                let failed = |_| Answer::fault(500, "this could not be answered");
                (answered.unwrap_or_else(failed), asked.method == "HEAD")
            }
        },
    };
    answer.write(&mut stream, &guard::HEADERS, is_head, Instant::now() + TAKING)?;
    stream.shutdown(std::net::Shutdown::Write)?;
    // A connection that is closed with something unread is reset, and the answer with it.
    if answer.status >= 400 { drain(&mut stream) } else { Ok(()) }
}

/// Reads what was refused, for a moment.
fn drain(stream: &mut TcpStream) -> std::io::Result<()> {
    stream.set_read_timeout(Some(LEAVING))?;
    let (until, mut n_bytes, mut buffer) = (Instant::now() + LEAVING, 0, [0; 8 << 10]);
    while n_bytes < REFUSED_BYTES_MAX && Instant::now() < until {
        match stream.read(&mut buffer)? {
            0 => break,
            n => n_bytes += n,
        }
    }
    Ok(())
}
