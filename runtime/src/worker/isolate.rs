//! Creates the isolate from the snapshot, and removes what a script must not reach.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use deno_core::{JsRuntime, RuntimeOptions, SourceMapper, v8, v8_set_flags};
use pml_ops::BrokerClient;

use super::buffers::Buffers;
use super::connection::Connection;
use super::control::Control;
use super::heap_guard::HeapGuard;
use super::loader::Loader;
use super::stack_trace::prepare_stack_trace;
use crate::worker_options::WorkerOptions;

static SNAPSHOT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/worker.snapshot"));

/// An isolate, ready for its script.
pub struct Isolate {
    pub runtime: JsRuntime,
    pub loader: Rc<Loader>,
    /// Taken out of the global object, so that the script cannot replace them.
    pub driver: Driver,
}

/// The functions of `js/90_start.js` that drive a run.
pub struct Driver {
    pub prepare: Function,
    pub begin: Function,
    pub run: Function,
    pub run_tests: Function,
    pub leftover: Function,
}

/// Maps lines of generated code to lines of the source.
pub type Mapper = Rc<RefCell<SourceMapper>>;

/// Starts V8. Must happen on the first thread, before any other exists.
pub fn init_platform(jit: bool) {
    // The first element is the program's name.
    let mut flags = vec!["pml".to_owned()];
    // A template has no threads to compile on: every fork would repeat what was left undone.
    flags.push("--no-concurrent-sparkplug".to_owned());
    if !jit {
        flags.push("--jitless".to_owned());
    }
    v8_set_flags(flags);
    JsRuntime::init_platform(None);
}

/// Creates an isolate that trips `control` at its memory limits.
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
        // The snapshot contains the registered ops; registering them again takes 5 % of the start.
        skip_op_registration: true,
        create_params: Some(params),
        ..Default::default()
    });
    let mapper: Mapper = runtime.source_mapper();
    runtime.op_state().borrow_mut().put(mapper);
    runtime
        .v8_isolate()
        .set_prepare_stack_trace_callback(prepare_stack_trace);

    let guard = HeapGuard {
        control,
        buffers,
        heap_bytes: options.heap_bytes,
    };
    guard.install(&mut runtime);
    let driver = seal(&mut runtime);
    Isolate {
        runtime,
        loader,
        driver,
    }
}

impl Isolate {
    /// Sets the connection that the ops send requests over.
    pub fn connect(&mut self, connection: Rc<Connection>) {
        let state = self.runtime.op_state();
        state.borrow_mut().put::<Rc<dyn BrokerClient>>(connection);
    }
}

fn to_usize(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

type Function = v8::Global<v8::Function>;

/// Takes the driver functions out of the global object, removes deno_core from it, and forbids code
/// generation from strings (`eval`, `new Function`).
fn seal(runtime: &mut JsRuntime) -> Driver {
    deno_core::scope!(scope, runtime);
    let context = scope.get_current_context();
    context.set_allow_generation_from_strings(false);
    let global = context.global(scope);
    // The snapshot in this binary defines these names, so no `expect` below can fail.
    let driver = property(scope, global, "__pml");
    let driver = driver.to_object(scope).expect("`__pml` is an object");
    let seal = function(scope, driver, "seal");
    let mut take = |name| {
        let function = function(scope, driver, name);
        v8::Global::new(scope, function)
    };
    let taken = Driver {
        prepare: take("prepare"),
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
