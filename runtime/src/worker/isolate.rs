//! The isolate: V8 from the snapshot, hardened.

use std::cell::RefCell;
use std::ffi::{c_char, c_void};
use std::rc::Rc;
use std::sync::{Arc, OnceLock};

use deno_core::{JsRuntime, RuntimeOptions, SourceMapper, v8, v8_set_flags};
use pml_ops::BrokerClient;

use super::buffers::Buffers;
use super::connection::Connection;
use super::control::Control;
use super::loader::Loader;
use super::stack;
use crate::worker_options::WorkerOptions;
use pml_protocol::{ErrorKind, RunError};

static SNAPSHOT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/worker.snapshot"));

/// What the heap may grow past its limit so that V8 can still unwind. A fixed amount: a factor
/// would let a script that allocates while it unwinds grow without end.
const UNWINDING_ROOM: usize = 16 * 1024 * 1024;

/// How V8 says so.
const TOO_LARGE: &str = "invalid size error";

/// An isolate, ready for its script.
pub struct Isolate {
    pub runtime: JsRuntime,
    pub loader: Rc<Loader>,
    pub driver: Driver,
}

/// The functions of `js/90_start.js` that drive a run.
pub struct Driver {
    pub begin: Function,
    pub run: Function,
    pub run_tests: Function,
    pub leftover: Function,
}

/// The way back from generated lines to the script's own.
pub type Mapper = Rc<RefCell<SourceMapper>>;

/// Starts V8. Must happen on the first thread, before any other exists.
pub fn init_platform(jit: bool) {
    // The first element stands for the program's name.
    let mut flags = vec!["pml".to_owned()];
    // A template has no threads to compile on: every copy would do again what it left undone.
    flags.push("--no-concurrent-sparkplug".to_owned());
    if !jit {
        flags.push("--jitless".to_owned());
    }
    v8_set_flags(flags);
    JsRuntime::init_platform(None);
}

pub fn create(options: &WorkerOptions, control: Arc<Control>) -> Isolate {
    let loader = Rc::new(Loader::default());
    let buffers = Buffers::new(to_usize(options.buffer_bytes), control.clone());
    let params = v8::CreateParams::default()
        .heap_limits(0, to_usize(options.heap_bytes))
        .array_buffer_allocator(buffers.clone().allocator().make_shared())
        .allow_atomics_wait(false);
    let mut runtime = JsRuntime::new(RuntimeOptions {
        module_loader: Some(loader.clone()),
        extensions: pml_ops::extensions(),
        startup_snapshot: Some(SNAPSHOT),
        // They are in the snapshot; binding them again would cost a twentieth of the start.
        skip_op_registration: true,
        create_params: Some(params),
        ..Default::default()
    });
    let mapper: Mapper = runtime.source_mapper();
    runtime.op_state().borrow_mut().put(mapper);
    runtime
        .v8_isolate()
        .set_prepare_stack_trace_callback(stack::prepare);

    let memory = Memory {
        control,
        buffers,
        heap_bytes: options.heap_bytes,
    };
    memory.watch(&mut runtime);
    let driver = seal(&mut runtime);
    Isolate {
        runtime,
        loader,
        driver,
    }
}

impl Isolate {
    /// Gives the script's ops someone to ask.
    pub fn connect(&mut self, connection: Rc<Connection>) {
        let state = self.runtime.op_state();
        state.borrow_mut().put::<Rc<dyn BrokerClient>>(connection);
    }
}

fn to_usize(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

type Function = v8::Global<v8::Function>;

/// Takes the driving functions out of the global object, removes deno_core from it, and forbids
/// code from strings.
fn seal(runtime: &mut JsRuntime) -> Driver {
    deno_core::scope!(scope, runtime);
    let context = scope.get_current_context();
    context.set_allow_generation_from_strings(false);
    let global = context.global(scope);
    // The snapshot in this binary defines these names; a binary without them cannot start.
    let driver = property(scope, global, "__pml");
    let driver = driver.to_object(scope).expect("`__pml` is an object");
    let seal = function(scope, driver, "seal");
    let mut take = |name| {
        let function = function(scope, driver, name);
        v8::Global::new(scope, function)
    };
    let taken = Driver {
        begin: take("begin"),
        run: take("run"),
        run_tests: take("runTests"),
        leftover: take("leftover"),
    };
    let undefined = v8::undefined(scope).into();
    seal.call(scope, undefined, &[])
        .expect("`seal` does not throw");
    taken
}

fn property<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    object: v8::Local<'s, v8::Object>,
    name: &str,
) -> v8::Local<'s, v8::Value> {
    let key = v8::String::new(scope, name).expect("a short name fits");
    object
        .get(scope, key.into())
        .expect("a plain property can be read")
}

fn function<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    object: v8::Local<'s, v8::Object>,
    name: &str,
) -> v8::Local<'s, v8::Function> {
    property(scope, object, name)
        .try_into()
        .expect("the snapshot defines this function")
}

/// For the out-of-memory handler, which V8 calls without any data of ours.
static MEMORY: OnceLock<Memory> = OnceLock::new();

/// What bounds the memory of the isolate.
struct Memory {
    control: Arc<Control>,
    buffers: Arc<Buffers>,
    heap_bytes: u64,
}

impl Memory {
    fn watch(self, runtime: &mut JsRuntime) {
        // One isolate per process: the cell is empty here.
        let _ = MEMORY.set(self);
        let isolate = runtime.v8_isolate();
        isolate.add_near_heap_limit_callback(near_heap_limit, std::ptr::null_mut());
        isolate.set_oom_error_handler(out_of_memory);
        v8::V8::set_fatal_error_handler(failed_check);
    }

    /// V8 does not say what it has too little of; a buffer that was just refused tells.
    fn trip(&self) {
        if self.buffers.are_full() {
            return self.buffers.trip();
        }
        self.control.trip(RunError::new(
            ErrorKind::Memory,
            format!(
                "the script's heap exceeds {} MiB",
                self.heap_bytes / (1024 * 1024)
            ),
        ));
    }
}

unsafe extern "C" fn near_heap_limit(_: *mut c_void, current: usize, _initial: usize) -> usize {
    trip_memory();
    current + UNWINDING_ROOM
}

/// V8 aborts the process after this returns; the broker must know why.
unsafe extern "C" fn out_of_memory(_location: *const c_char, _details: &v8::OomDetails) {
    trip_memory();
}

/// V8 aborts the process after this returns. What it says when a script asks for an array beyond all
/// measure is no mistake of its own.
fn failed_check(_file: &str, _line: i32, message: &str) {
    let Some(memory) = MEMORY.get() else { return };
    if message.contains(TOO_LARGE) {
        let told = "the script makes an array that is too large for V8";
        memory.control.trip(RunError::new(ErrorKind::Memory, told));
    } else {
        let told = format!("V8 failed a check of its own: {message}");
        memory
            .control
            .trip(RunError::new(ErrorKind::Internal, told));
    }
}

fn trip_memory() {
    if let Some(memory) = MEMORY.get() {
        memory.trip();
    }
}
