//! Ends a run that has crossed a limit.
//!
//! Three steps, each a backstop of the one before: V8 is told to terminate, again and again,
//! because deno_core cancels a termination while it formats an exception; the event loop is told
//! to stop waiting; and the broker is told first of all, so that it can kill a process in which
//! neither helped.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use deno_core::JsRuntime;
use deno_core::v8::IsolateHandle;
use tokio::sync::Notify;

use super::connection::Writer;
use crate::timer_fd::TimerFd;
use crate::worker_options::peak_rss_bytes;
use pml_protocol::Limits;
use pml_protocol::message::FromWorker;
use pml_protocol::{ErrorKind, RunError};

const TERMINATE_AGAIN: Duration = Duration::from_millis(10);
/// Processor time is polled: often enough to be fair, seldom enough to cost nothing.
const CPU_POLL: (Duration, Duration) = (Duration::from_millis(2), Duration::from_millis(50));

pub struct Control {
    writer: Arc<Writer>,
    isolate: OnceLock<IsolateHandle>,
    state: Mutex<State>,
    /// Wakes the watchdog. It is set while the state is held, so that no two settings cross.
    bell: OnceLock<TimerFd>,
    tripped: Notify,
}

#[derive(Default)]
struct State {
    clock: Option<Clock>,
    verdict: Option<RunError>,
    finished: bool,
}

#[derive(Clone, Copy)]
struct Clock {
    started: Instant,
    cpu_at_start: Duration,
    wall: Duration,
    cpu: Duration,
    /// Since when the run has been waiting for a person.
    stopped: Option<Instant>,
}

impl Control {
    pub fn new(writer: Arc<Writer>) -> Self {
        Self {
            writer,
            isolate: OnceLock::new(),
            state: Mutex::default(),
            bell: OnceLock::new(),
            tripped: Notify::new(),
        }
    }

    /// Names the isolate to terminate and starts the thread that watches the clocks.
    pub fn watch(self: &Arc<Self>, runtime: &mut JsRuntime) {
        let _ = self.isolate.set(runtime.v8_isolate().thread_safe_handle());
        self.announce_panics();
        // Without its watchdog a worker must not run scripts; a panic ends it before it does. The
        // bell is made here because copies of a process share what was made before.
        let bell = TimerFd::new().expect("a fresh process can have a timer");
        let _ = self.bell.set(bell);
        let control = self.clone();
        std::thread::Builder::new()
            .name("watchdog".to_owned())
            .stack_size(128 * 1024)
            .spawn(move || control.watch_clocks())
            .expect("a fresh process can start a thread");
    }

    /// Starts the clocks of a run.
    pub fn begin(&self, limits: &Limits) {
        let clock = Clock {
            started: Instant::now(),
            cpu_at_start: process_cpu_time(),
            wall: Duration::from_millis(limits.wall_ms),
            cpu: Duration::from_millis(limits.cpu_ms),
            stopped: None,
        };
        let mut state = self.lock();
        state.clock = Some(clock);
        self.arm(&state, clock.check().unwrap_or_default());
    }

    /// Time that passes while the clock is stopped is not the script's. Processor time always is.
    pub fn stop_clock(&self, stop: bool) {
        let mut state = self.lock();
        if let Some(clock) = &mut state.clock {
            match (stop, clock.stopped) {
                (true, None) => clock.stopped = Some(Instant::now()),
                (false, Some(since)) => {
                    clock.wall += since.elapsed();
                    clock.stopped = None;
                }
                _ => {}
            }
        }
        self.arm(&state, Duration::ZERO);
    }

    /// Ends the run with this verdict; the first one stands.
    pub fn trip(&self, error: RunError) {
        {
            let mut state = self.lock();
            if state.finished || state.verdict.is_some() {
                return;
            }
            state.verdict = Some(error.clone());
            self.arm(&state, TERMINATE_AGAIN);
        }
        // Without a broker the process ends anyway.
        let _ = self.writer.send(&FromWorker::Stopping(Box::new(error)));
        self.terminate();
        self.tripped.notify_one();
    }

    /// Returns when a limit has been crossed.
    pub async fn tripped(&self) {
        while self.verdict().is_none() {
            self.tripped.notified().await;
        }
    }

    pub fn verdict(&self) -> Option<RunError> {
        self.lock().verdict.clone()
    }

    /// The run is over; no verdict counts any more. The watchdog is not told: it looks by itself
    /// after a while, and the process ends before that.
    pub fn finish(&self) {
        self.lock().finished = true;
    }

    /// A panic ends this process; the broker should hear that it was one.
    fn announce_panics(self: &Arc<Self>) {
        let control = Arc::downgrade(self);
        std::panic::set_hook(Box::new(move |panic| {
            // Where, without the folders of whoever built it.
            let place = panic.location().map_or_else(String::new, |location| {
                let file = location.file().rsplit('/').next().unwrap_or_default();
                format!(" at {file}:{}", location.line())
            });
            if let Some(control) = control.upgrade() {
                let message = format!("the worker panicked{place}");
                control.trip(RunError::new(ErrorKind::Internal, message));
            }
        }));
    }

    fn terminate(&self) {
        if let Some(isolate) = self.isolate.get() {
            isolate.terminate_execution();
        }
    }

    fn watch_clocks(&self) {
        loop {
            let state = self.lock();
            match (state.finished, state.verdict.is_some(), state.clock) {
                (true, _, _) => return,
                (false, true, _) => {
                    self.terminate();
                    self.arm(&state, TERMINATE_AGAIN);
                }
                (false, false, None) => {}
                (false, false, Some(clock)) => match clock.check() {
                    Ok(next_look) => self.arm(&state, next_look),
                    Err(crossed) => {
                        drop(state);
                        self.trip(crossed);
                        continue;
                    }
                },
            }
            drop(state);
            if let Some(bell) = self.bell.get() {
                bell.wait();
            }
        }
    }

    fn arm(&self, _state: &State, time: Duration) {
        if let Some(bell) = self.bell.get() {
            bell.arm(time);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clock {
    /// How long to wait before the next look, or the limit that was crossed.
    fn check(&self) -> Result<Duration, RunError> {
        let wall = match self.stopped {
            Some(since) => since - self.started,
            None => self.started.elapsed(),
        };
        let cpu = process_cpu_time().saturating_sub(self.cpu_at_start);
        if cpu >= self.cpu {
            let limit = self.cpu.as_millis();
            let message = format!("the script used its {limit} ms of CPU time");
            return Err(RunError::new(ErrorKind::Cpu, message));
        }
        if wall >= self.wall {
            let limit = self.wall.as_millis();
            let message = format!("the script ran for {limit} ms, which is its limit");
            return Err(RunError::new(ErrorKind::Timeout, message));
        }
        let (soonest, latest) = CPU_POLL;
        let next_look = (self.cpu - cpu).clamp(soonest, latest);
        Ok(match self.stopped {
            Some(_) => next_look,
            None => next_look.min(self.wall - wall),
        })
    }
}

/// Processor time of this process, all threads.
pub fn process_cpu_time() -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the clock exists on every Linux, and `time` is ours to fill.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    Duration::new(
        u64::try_from(time.tv_sec).unwrap_or(0),
        u32::try_from(time.tv_nsec).unwrap_or(0),
    )
}

/// The most memory that this process has held.
pub fn own_peak_rss_bytes() -> u64 {
    // SAFETY: zeros are valid counts, which the call replaces.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &raw mut usage);
        usage
    };
    peak_rss_bytes(&usage)
}
