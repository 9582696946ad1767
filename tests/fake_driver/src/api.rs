//! The calls of the driver API.
//!
//! A call with `may_fail` fails when [`control`](crate::control) selects it, and returns the code
//! given there. A call with `gives_back` fails only when all calls fail.

use crate::control::{LATE, Launches, before, before_release, count, launches_on};
use crate::device::{BLOCKS, Step, context_of, ended, state};
use crate::launch::{Launch, Shape};
use crate::log::log;
use crate::params::{Config, NodeParams, shape_text};
use std::ffi::{CStr, CString, c_char, c_void};
use std::path::Path;
use std::{slice, thread};

const SUCCESS: u32 = 0;
const INVALID_VALUE: u32 = 1;
const OUT_OF_MEMORY: u32 = 2;
const INVALID_DEVICE: u32 = 101;
const INVALID_HANDLE: u32 = 400;
const NOT_READY: u32 = 600;
const LAUNCH_OUT_OF_RESOURCES: u32 = 701;
const NOT_SUPPORTED: u32 = 801;

/// The first line of a linked text.
const LINKED: &str = "// linked\n";

/// `CU_JIT_INPUT_PTX` and `CU_JIT_INPUT_LIBRARY`.
const PTX: u32 = 1;
const LIBRARY: u32 = 4;

/// The kernel of a function, or the kernels of a module with commas between them.
fn kernel(handle: *const c_char) -> &'static str {
    // SAFETY: the handle points to the names. This driver made it, and keeps it for the life of the
    // process.
    unsafe { CStr::from_ptr(handle) }.to_str().expect("a name in PTX is ASCII")
}

/// The word in PTX after the first `directive`.
fn word_after<'a>(ptx: &'a str, directive: &str) -> &'a str {
    let (_, rest) = ptx.split_once(directive).unwrap_or(("", ""));
    rest.split(['(', '\n']).next().unwrap_or("").trim()
}

/// The names of the kernels that have a body in the text, with commas between them.
fn kernels_in(text: &str) -> String {
    let entries = text.split(".entry").skip(1).filter(|entry| {
        let body = entry.find('{').unwrap_or(usize::MAX);
        body < entry.find(");").unwrap_or(usize::MAX)
    });
    let names = entries.map(|entry| word_after(entry, ""));
    names.collect::<Vec<_>>().join(",")
}

macro_rules! calls {
    ($(fn $name:ident($($argument:ident: $type:ty),* $(,)?) $kind:tt $($by_itself:ident)? $body:block)*) => {$(
        #[doc = concat!("`", stringify!($name), "` of the driver API.")]
        ///
        /// # Safety
        ///
        /// Same as the driver's call.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: $type),*) -> u32 {
            let first = calls!(@ $kind $name $($by_itself)?);
            if first != SUCCESS {
                return first;
            }
            // SAFETY: the caller upholds the contract of the driver call with this name.
            #[allow(unused_unsafe)]
            unsafe { $body }
        }
    )*};
    (@ may_fail $name:ident $by_itself:ident) => { before(stringify!($name), $by_itself) };
    (@ gives_back $name:ident) => { before_release() };
}

pub mod contexts;
pub mod events;
pub mod memory;

calls! {
    fn cuStreamCreateWithPriority(stream: *mut usize, _flags: u32, _priority: i32)
    may_fail OUT_OF_MEMORY {
        let mut state = state();
        if state.ready(0) != SUCCESS { return state.ready(0) }
        *stream = state.owned_handle();
        count("stream", 1);
        SUCCESS
    }
    fn cuStreamCreate(stream: *mut usize, flags: u32) may_fail OUT_OF_MEMORY {
        cuStreamCreateWithPriority(stream, flags, 0)
    }
    fn cuStreamDestroy_v2(stream: usize) gives_back {
        log(&format!("destroy {stream}"));
        let mut state = state();
        if state.disown(stream) != SUCCESS { return state.mistake("a stream") }
        count("stream", -1);
        state.ready(0)
    }
    fn cuStreamSynchronize(stream: usize) may_fail INVALID_VALUE {
        log(&format!("synchronize {stream}"));
        ended(Some(stream)).uncapturable(stream)
    }
    // All work is done when the call that adds it returns, except endless work.
    fn cuStreamQuery(stream: usize) may_fail INVALID_VALUE {
        let mut state = state();
        let first = state.uncapturable(stream);
        if first == SUCCESS && state.endless.contains(&stream) { NOT_READY } else { first }
    }
    // The default stream belongs to the current context.
    fn cuStreamGetCtx(stream: usize, context: *mut usize) may_fail INVALID_VALUE {
        let state = state();
        if state.ready(0) != SUCCESS { return state.ready(0) }
        let owner = if stream == 0 { Some(state.current()) } else { state.owner(stream) };
        let Some(owner) = owner else { return INVALID_VALUE };
        *context = context_of(owner);
        SUCCESS
    }
    fn cuStreamIsCapturing(stream: usize, status: *mut u32) may_fail INVALID_VALUE {
        *status = u32::from(state().captures.contains_key(&stream));
        SUCCESS
    }
    // It checks no call by its mode.
    fn cuThreadExchangeStreamCaptureMode(mode: *mut u32) may_fail INVALID_VALUE {
        *mode = 0;
        SUCCESS
    }
    fn cuStreamBeginCapture_v2(stream: usize, mode: u32) may_fail INVALID_VALUE {
        let mut state = state();
        if state.ready(stream) != SUCCESS { return state.ready(stream) }
        if mode != 2 || state.captures.contains_key(&stream) { return INVALID_VALUE }
        state.captures.insert(stream, Some(Vec::new()));
        SUCCESS
    }
    fn cuStreamEndCapture(stream: usize, graph: *mut usize) may_fail OUT_OF_MEMORY {
        let mut state = state();
        *graph = 0;
        state.joined.retain(|_, origin| *origin != stream);
        state.captured_events.retain(|_, origin| *origin != stream);
        match state.captures.remove(&stream) {
            None => 401,
            Some(None) => 901,
            Some(Some(steps)) => {
                *graph = state.owned_handle();
                state.graphs.insert(*graph, steps);
                count("graph", 1);
                SUCCESS
            }
        }
    }
    fn cuGraphCreate(graph: *mut usize, flags: u32) may_fail OUT_OF_MEMORY {
        let mut state = state();
        if flags != 0 { return INVALID_VALUE }
        if state.ready(0) != SUCCESS { return state.ready(0) }
        *graph = state.owned_handle();
        let handle = *graph;
        state.graphs.insert(handle, Vec::new());
        count("graph", 1);
        SUCCESS
    }
    fn cuGraphAddKernelNode(
        node: *mut usize, graph: usize, after: *const usize, number: usize, params: *const NodeParams,
    ) may_fail OUT_OF_MEMORY {
        let NodeParams { function, grid, block, shared, arguments, extra } = *params;
        if extra != 0 { return INVALID_VALUE }
        let shape = Shape { grid, block, shared, cluster: None };
        let name = kernel(function);
        let step = Step::Launch(Launch::new(name, shape, arguments));
        let mut state = state();
        let handle = state.handle();
        // Handles count up, so an earlier node has a lower handle, which is higher than that of the
        // graph.
        let after = match number {
            0 => &[],
            number => slice::from_raw_parts(after, number),
        };
        if after.iter().any(|&before| before <= graph || before >= handle) { return INVALID_VALUE }
        let Some(steps) = state.graphs.get_mut(&graph) else { return INVALID_VALUE };
        steps.push(step);
        log(&format!("node {name} {} after {number}", shape_text(&shape)));
        *node = handle;
        SUCCESS
    }
    fn cuGraphInstantiateWithFlags(exec: *mut usize, graph: usize, flags: u64)
    may_fail OUT_OF_MEMORY {
        let mut state = state();
        let Some(steps) = state.graphs.get(&graph).filter(|_| flags == 0).cloned() else {
            return INVALID_VALUE;
        };
        if state.ready(0) != SUCCESS { return state.ready(0) }
        *exec = state.owned_handle();
        state.graphs.insert(*exec, steps);
        count("executable graph", 1);
        SUCCESS
    }
    fn cuGraphUpload(exec: usize, stream: usize) may_fail OUT_OF_MEMORY {
        let mut state = state();
        if !state.graphs.contains_key(&exec) { return INVALID_VALUE }
        state.uncapturable(stream)
    }
    fn cuGraphLaunch(exec: usize, stream: usize) may_fail LAUNCH_OUT_OF_RESOURCES {
        let mut state = state();
        for handle in [stream, exec] {
            if state.ready(handle) != SUCCESS { return state.ready(handle) }
        }
        let Some(steps) = state.graphs.get(&exec).cloned() else { return INVALID_VALUE };
        for step in &steps {
            if let Step::Launch(launch) = step { log(&format!("replay {}", launch.name)) }
            state.run(stream, step);
        }
        SUCCESS
    }
    fn cuGraphDestroy(graph: usize) gives_back {
        let mut state = state();
        if state.disown(graph) != SUCCESS { return state.mistake("a graph") }
        if state.graphs.remove(&graph).is_none() { return INVALID_VALUE }
        count("graph", -1);
        state.ready(0)
    }
    fn cuGraphExecDestroy(exec: usize) gives_back {
        let mut state = state();
        if state.disown(exec) != SUCCESS { return state.mistake("a graph") }
        let Some(steps) = state.graphs.remove(&exec) else { return INVALID_VALUE };
        for step in steps {
            if let Step::Launch(launch) = step { log(&format!("destroy {}", launch.name)) }
        }
        count("executable graph", -1);
        state.ready(0)
    }
    fn cuLinkCreate_v2(
        _count: u32, _options: *const u32, _values: *const *mut c_void, link: *mut *mut String,
    ) may_fail OUT_OF_MEMORY {
        let first = state().ready(0);
        if first != SUCCESS { return first }
        *link = Box::into_raw(Box::new(String::from(LINKED)));
        count("link", 1);
        SUCCESS
    }
    fn cuLinkAddData_v2(
        link: *mut String, kind: u32, data: *const c_char, bytes: usize, _name: *const c_char,
        options_count: u32, _options: usize, _values: usize,
    ) may_fail INVALID_VALUE {
        let text = CStr::from_ptr(data);
        let whole = bytes == text.to_bytes_with_nul().len();
        if kind != PTX || !whole || options_count != 0 { return INVALID_VALUE }
        let link = &mut *link;
        link.push_str(text.to_str().unwrap_or(""));
        state().ready(0)
    }
    fn cuLinkAddFile_v2(
        link: *mut String, kind: u32, path: *const c_char, options_count: u32, _options: usize,
        _values: usize,
    ) may_fail INVALID_VALUE {
        let path = CStr::from_ptr(path).to_str().unwrap_or("");
        if kind != LIBRARY || options_count != 0 || !Path::new(path).is_file() {
            return INVALID_VALUE;
        }
        log(&format!("link {} {path}", kernels_in(&*link)));
        state().ready(0)
    }
    fn cuLinkComplete(link: *mut String, cubin: *mut *const c_char, bytes: *mut usize)
    may_fail OUT_OF_MEMORY {
        // The "cubin" is the text. It belongs to the link.
        let text = &mut *link;
        text.push('\0');
        (*cubin, *bytes) = (text.as_ptr().cast(), text.len());
        state().ready(0)
    }
    fn cuLinkDestroy(link: *mut String) gives_back {
        drop(Box::from_raw(link));
        count("link", -1);
        state().ready(0)
    }
    fn cuModuleLoadDataEx(
        module: *mut *const c_char, image: *const c_char, options_count: u32, options: *const u32,
        values: *const *mut c_void,
    ) may_fail OUT_OF_MEMORY {
        let first = state().ready(0);
        if first != SUCCESS { return first }
        let text = CStr::from_ptr(image).to_str().unwrap_or("");
        let names = kernels_in(text);
        log(&format!("load {names} {}", word_after(text, ".target")));
        // A module that launches kernels must be linked; every other module has one kernel.
        let is_linked = text.starts_with(LINKED);
        if is_linked != text.contains(".func") || (names.contains(',') && !is_linked) {
            return INVALID_VALUE;
        }
        if !text.contains("broken") {
            *module = CString::new(names).expect("a name has no NUL").into_raw();
            state().own(*module as usize);
            count("module", 1);
            return SUCCESS;
        }
        let options = slice::from_raw_parts(options, options_count as usize);
        let values = slice::from_raw_parts(values, options_count as usize);
        let value = |option| {
            let at = options.iter().position(|&it| it == option);
            values[at.expect("the logs are asked for")]
        };
        let said = c"ptxas application ptx input, line 1; fatal : Parsing error near 'broken'";
        let said = said.to_bytes_with_nul();
        // 5 and 6: the error log and its size.
        let room = value(6) as usize;
        value(5).cast::<u8>().copy_from(said.as_ptr(), said.len().min(room));
        218
    }
    fn cuModuleUnload(module: *const c_char) gives_back {
        log(&format!("unload {}", kernel(module)));
        let mut state = ended(None);
        if state.disown(module as usize) != SUCCESS { return state.mistake("a module") }
        count("module", -1);
        state.ready(0)
    }
    fn cuModuleGetFunction(
        function: *mut *const c_char, module: *const c_char, name: *const c_char,
    ) may_fail INVALID_VALUE {
        let name = CStr::from_ptr(name);
        let found = kernel(module).split(',').any(|kernel| kernel.as_bytes() == name.to_bytes());
        if !found { return 500 }
        *function = name.to_owned().into_raw();
        log(&format!("find {}", kernel(*function)));
        let mut state = state();
        state.own(*function as usize);
        state.ready(module as usize)
    }
    fn cuFuncGetAttribute(value: *mut i32, attribute: u32, function: *const c_char)
    may_fail INVALID_VALUE {
        *value = match attribute {
            0 | 1 => 1024,
            4 => 40,
            8 => 47 << 10,
            _ => 0,
        };
        state().ready(function as usize)
    }
    fn cuFuncSetAttribute(function: *const c_char, attribute: u32, value: i32)
    may_fail INVALID_VALUE {
        log(&format!("set {} {attribute}={value}", kernel(function)));
        state().ready(function as usize)
    }
    fn cuOccupancyMaxActiveBlocksPerMultiprocessor(
        blocks: *mut i32, function: *const c_char, _threads: i32, _shared: usize,
    ) may_fail INVALID_VALUE {
        *blocks = BLOCKS as i32;
        state().ready(function as usize)
    }
    fn cuOccupancyMaxActiveClusters(
        clusters: *mut i32, function: *const c_char, config: *const Config,
    ) may_fail INVALID_VALUE {
        log(&format!("clusters {} {}", kernel(function), (*config).describe()));
        *clusters = 3;
        state().ready(function as usize)
    }
    fn cuLaunchKernel(
        function: *const c_char, gx: u32, gy: u32, gz: u32, bx: u32, by: u32, bz: u32, shared: u32,
        stream: usize, arguments: *const *const c_void, extra: usize,
    ) may_fail LAUNCH_OUT_OF_RESOURCES {
        if extra != 0 { return INVALID_VALUE }
        let shape = Shape { grid: [gx, gy, gz], block: [bx, by, bz], shared, cluster: None };
        launch("plain", function, shape, "", stream, arguments)
    }
    fn cuLaunchKernelEx(
        config: *const Config, function: *const c_char, arguments: *const *const c_void,
        extra: usize,
    ) may_fail LAUNCH_OUT_OF_RESOURCES {
        if extra != 0 { return INVALID_VALUE }
        let config = &*config;
        if kernel(function).ends_with("too_large") { return 720 }
        launch("ex", function, config.shape(), &config.attributes_text(), config.stream, arguments)
    }
}

/// Launches a kernel, or captures the launch.
///
/// # Safety
///
/// `arguments` has the addresses of the kernel's arguments.
unsafe fn launch(
    how: &str,
    function: *const c_char,
    shape: Shape,
    attributes: &str,
    stream: usize,
    arguments: *const *const c_void,
) -> u32 {
    let now = state();
    for handle in [stream, function as usize] {
        if now.ready(handle) != SUCCESS {
            return now.ready(handle);
        }
    }
    let launches = launches_on(now.current());
    drop(now);
    match launches {
        Launches::Refused => return LAUNCH_OUT_OF_RESOURCES,
        Launches::Late => thread::sleep(LATE),
        Launches::Run | Launches::Endless => {}
    }
    let mut state = state();
    let name = kernel(function);
    log(&format!("{how} {name} {}{attributes}", shape_text(&shape)));
    // SAFETY: the caller upholds this function's contract.
    let step = Step::Launch(unsafe { Launch::new(name, shape, arguments) });
    if !state.captured(stream, &step) {
        state.run(stream, &step);
    }
    SUCCESS
}
