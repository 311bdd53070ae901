//! Ends a run that has crossed a limit.
//!
//! Three mechanisms, each a fallback for another: V8 is terminated, repeatedly, because deno_core
//! cancels a termination while it formats an exception; the event loop is notified, so that it stops
//! waiting; and the broker is informed before both, so that it can kill a process in which neither
//! helped.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use deno_core::JsRuntime;
use deno_core::v8::IsolateHandle;
use tokio::sync::Notify;

use super::connection::Writer;
use crate::resource_usage::own_cpu_time;
use crate::timer_fd::TimerFd;
use pml_protocol::Limits;
use pml_protocol::message::FromWorker;
use pml_protocol::{ErrorKind, RunError};

/// How often V8 is terminated until it stops.
const TERMINATE_AGAIN: Duration = Duration::from_millis(10);
/// The shortest and longest interval between two reads of the CPU clock, which has no notification.
const CPU_POLL: (Duration, Duration) = (Duration::from_millis(2), Duration::from_millis(50));

/// Watches the limits of the run and ends it. Shared by the script's thread and the watchdog.
pub struct Control {
    writer: Arc<Writer>,
    isolate: OnceLock<IsolateHandle>,
    state: Mutex<State>,
    /// Wakes the watchdog. Armed only under the lock of `state`, so that settings do not interleave.
    timer: OnceLock<TimerFd>,
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
    /// Since when the clock is stopped, because a person is asked.
    stopped: Option<Instant>,
}

impl Control {
    pub fn new(writer: Arc<Writer>) -> Self {
        Self {
            writer,
            isolate: OnceLock::new(),
            state: Mutex::default(),
            timer: OnceLock::new(),
            tripped: Notify::new(),
        }
    }

    /// Sets the isolate to terminate and starts the watchdog thread.
    ///
    /// # Panics
    ///
    /// If the timer or the thread cannot be created: without its watchdog a worker must not run
    /// scripts.
    pub fn watch(self: &Arc<Self>, runtime: &mut JsRuntime) {
        let _ = self.isolate.set(runtime.v8_isolate().thread_safe_handle());
        self.report_panics();
        // Created here, after the fork: forks would share an earlier timer.
        let timer = TimerFd::new().expect("a fresh process can create a timer");
        let _ = self.timer.set(timer);
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
            cpu_at_start: own_cpu_time(),
            wall: Duration::from_millis(limits.wall_ms),
            cpu: Duration::from_millis(limits.cpu_ms),
            stopped: None,
        };
        let mut state = self.lock();
        state.clock = Some(clock);
        self.arm(&state, clock.check().unwrap_or_default());
    }

    /// Stops the clock or lets it go on. Stopped time does not count; CPU time always does.
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

    /// Ends the run with this error. The first one stands.
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

    /// The error that the run was ended with.
    pub fn verdict(&self) -> Option<RunError> {
        self.lock().verdict.clone()
    }

    /// Ends the watch: later errors do not count. The watchdog is not woken; it sees the flag at its
    /// next timer, and the process ends before that.
    pub fn finish(&self) {
        self.lock().finished = true;
    }

    /// Reports a panic of any thread to the broker, without its message, and ends this process.
    fn report_panics(self: &Arc<Self>) {
        let control = Arc::downgrade(self);
        std::panic::set_hook(Box::new(move |panic| {
            // The file name alone: the folders are those of the build machine.
            let position = panic.location().map_or_else(String::new, |location| {
                let file = location.file().rsplit('/').next().unwrap_or_default();
                format!(" at {file}:{}", location.line())
            });
            if let Some(control) = control.upgrade() {
                let message = format!("the worker panicked{position}");
                control.trip(RunError::new(ErrorKind::Internal, message));
            }
            // A worker that continued without one of its threads would be in a state that no code
            // expects.
            std::process::abort();
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
                    Ok(next_check) => self.arm(&state, next_check),
                    Err(crossed) => {
                        drop(state);
                        self.trip(crossed);
                        continue;
                    }
                },
            }
            drop(state);
            if let Some(timer) = self.timer.get() {
                timer.wait();
            }
        }
    }

    /// Wakes the watchdog after `delay`. The parameter proves that the caller holds the lock.
    fn arm(&self, _state: &State, delay: Duration) {
        if let Some(timer) = self.timer.get() {
            timer.arm(delay);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clock {
    /// The time until the next check, or the error of the limit that was crossed.
    fn check(&self) -> Result<Duration, RunError> {
        let wall = match self.stopped {
            Some(since) => since - self.started,
            None => self.started.elapsed(),
        };
        let cpu = own_cpu_time().saturating_sub(self.cpu_at_start);
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
        let next_check = (self.cpu - cpu).clamp(soonest, latest);
        Ok(match self.stopped {
            Some(_) => next_check,
            None => next_check.min(self.wall - wall),
        })
    }
}
