//! A CUDA driver of one device that keeps memory on the host and a log of what it was asked.
//!
//! `mod.rs` compiles it to a shared library. Kernels are recognised by name: `…store`
//! writes its second argument where its first points, `…fault` breaks its stream, `…too_large`
//! never fits cooperatively. A stream that captures keeps the names of
//! its launches, and takes what cannot be captured as the end of that, as a driver does.
#![allow(non_snake_case)]

use std::{
    alloc::{Layout, alloc, dealloc},
    cell::Cell,
    collections::{HashMap, HashSet},
    env,
    ffi::{CStr, CString, c_char, c_void},
    fs::OpenOptions,
    io::Write,
    slice,
    sync::{
        LazyLock, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

const SUCCESS: u32 = 0;
const CONTEXT: usize = 0xc0;

static MEMORY: LazyLock<Mutex<HashMap<u64, Layout>>> = LazyLock::new(Mutex::default);
static BROKEN: LazyLock<Mutex<HashSet<usize>>> = LazyLock::new(Mutex::default);
/// The streams that capture, with what of: none, if it has been broken.
static CAPTURES: LazyLock<Mutex<HashMap<usize, Option<Vec<String>>>>> =
    LazyLock::new(Mutex::default);
/// What each graph, executable or not, holds.
static GRAPHS: LazyLock<Mutex<HashMap<usize, Vec<String>>>> = LazyLock::new(Mutex::default);
static HANDLES: AtomicUsize = AtomicUsize::new(0x1000);

thread_local! {
    static CURRENT: Cell<usize> = const { Cell::new(0) };
}

fn log(line: String) {
    let path = env::var("GRIDSYNC_FAKE_LOG").unwrap();
    let mut file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)
        .unwrap();
    file.write_all(format!("{line}\n").as_bytes()).unwrap();
}

/// What every call that needs a context, and a stream in order, answers first.
fn ready(stream: usize) -> u32 {
    if CURRENT.get() != CONTEXT {
        201
    } else if BROKEN.lock().unwrap().contains(&stream) {
        700
    } else {
        SUCCESS
    }
}

/// Keeps what a capturing stream was given; says whether it was one.
fn captured(stream: usize, what: &str) -> bool {
    let mut captures = CAPTURES.lock().unwrap();
    let Some(capture) = captures.get_mut(&stream) else {
        return false;
    };
    if let Some(steps) = capture {
        steps.push(what.into())
    }
    true
}

/// What a call that cannot be captured answers first, and what it does to a capture.
fn uncapturable(stream: usize) -> u32 {
    match CAPTURES.lock().unwrap().get_mut(&stream) {
        Some(capture) => {
            *capture = None;
            900
        }
        None => ready(stream),
    }
}

/// Breaks the stream if the launch is of a kernel that does.
fn run(stream: usize, name: &str) {
    if name.ends_with("fault") {
        BROKEN.lock().unwrap().insert(stream);
    }
}

fn kernel(handle: *const c_char) -> &'static str {
    // SAFETY: the handle of a function, and of its module, is the kernel's name, which this driver
    // gave out itself and leaves there for the life of the process.
    unsafe { CStr::from_ptr(handle) }.to_str().unwrap()
}

/// What stands in PTX behind the first `directive`.
fn word_after<'a>(ptx: &'a str, directive: &str) -> &'a str {
    let (_, rest) = ptx.split_once(directive).unwrap();
    rest.split(['(', '\n']).next().unwrap().trim()
}

macro_rules! answers {
    ($(fn $name:ident($($argument:ident: $type:ty),*) $body:block)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: $type),*) -> u32 {
            // SAFETY: the caller keeps the contract of the driver call of this name.
            #[allow(unused_unsafe)]
            unsafe { $body }
        }
    )*};
}

answers! {
    fn cuInit(_flags: u32) { SUCCESS }
    fn cuDriverGetVersion(version: *mut i32) { *version = 13_000; SUCCESS }
    fn cuDeviceGetCount(count: *mut i32) { *count = 1; SUCCESS }
    fn cuDeviceGet(device: *mut i32, ordinal: i32) { *device = ordinal; SUCCESS }
    fn cuDeviceTotalMem_v2(bytes: *mut usize, _device: i32) { *bytes = 1 << 30; SUCCESS }
    fn cuDeviceGetName(name: *mut c_char, len: i32, _device: i32) {
        let text = c"Fake GPU".to_bytes_with_nul();
        assert!(text.len() <= len as usize);
        name.cast::<u8>().copy_from(text.as_ptr(), text.len());
        SUCCESS
    }
    fn cuDeviceGetAttribute(value: *mut i32, attribute: u32, _device: i32) {
        *value = match attribute {
            1 => 1024,
            8 => 48 << 10,
            10 => 32,
            16 => 4,
            36 => 1_000_000,
            37 => 4096,
            75 => 9,
            95 | 120 => 1,
            97 => 64 << 10,
            // As an old driver answers what it does not know.
            111 => return 1,
            _ => 0,
        };
        SUCCESS
    }
    fn cuDevicePrimaryCtxRetain(context: *mut usize, _device: i32) { *context = CONTEXT; SUCCESS }
    fn cuDevicePrimaryCtxRelease_v2(_device: i32) { SUCCESS }
    fn cuCtxSetCurrent(context: usize) { CURRENT.set(context); SUCCESS }

    fn cuMemAlloc_v2(address: *mut u64, bytes: usize) {
        if ready(0) != SUCCESS { return ready(0) }
        if bytes > 1 << 30 { return 2 }
        let layout = Layout::from_size_align(bytes, 256).unwrap();
        *address = alloc(layout) as u64;
        MEMORY.lock().unwrap().insert(*address, layout);
        SUCCESS
    }
    fn cuMemFree_v2(address: u64) {
        if ready(0) != SUCCESS { return ready(0) }
        let Some(layout) = MEMORY.lock().unwrap().remove(&address) else { return 1 };
        dealloc(address as *mut u8, layout);
        SUCCESS
    }
    fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize) {
        *free = 1000;
        *total = 1 << 30;
        ready(0)
    }
    fn cuMemcpyHtoDAsync_v2(to: u64, from: *const u8, bytes: usize, stream: usize) {
        if uncapturable(stream) == SUCCESS { (to as *mut u8).copy_from(from, bytes) }
        ready(stream)
    }
    fn cuMemcpyDtoHAsync_v2(to: *mut u8, from: u64, bytes: usize, stream: usize) {
        if uncapturable(stream) == SUCCESS { to.copy_from(from as *const u8, bytes) }
        ready(stream)
    }
    fn cuMemsetD8Async(at: u64, value: u8, bytes: usize, stream: usize) {
        if captured(stream, "zero") { return SUCCESS }
        if ready(stream) == SUCCESS { (at as *mut u8).write_bytes(value, bytes) }
        ready(stream)
    }

    fn cuStreamCreateWithPriority(stream: *mut usize, _flags: u32, _priority: i32) {
        *stream = HANDLES.fetch_add(1, Ordering::Relaxed);
        ready(0)
    }
    fn cuStreamDestroy_v2(_stream: usize) { ready(0) }
    fn cuStreamSynchronize(stream: usize) { uncapturable(stream) }
    fn cuStreamBeginCapture_v2(stream: usize, mode: u32) {
        if ready(stream) != SUCCESS { return ready(stream) }
        assert_eq!(mode, 2);
        assert!(CAPTURES.lock().unwrap().insert(stream, Some(Vec::new())).is_none());
        SUCCESS
    }
    fn cuStreamEndCapture(stream: usize, graph: *mut usize) {
        *graph = 0;
        match CAPTURES.lock().unwrap().remove(&stream) {
            None => 401,
            Some(None) => 901,
            Some(Some(steps)) => {
                *graph = HANDLES.fetch_add(1, Ordering::Relaxed);
                GRAPHS.lock().unwrap().insert(*graph, steps);
                SUCCESS
            }
        }
    }
    fn cuGraphInstantiateWithFlags(exec: *mut usize, graph: usize, flags: u64) {
        assert_eq!(flags, 0);
        let mut graphs = GRAPHS.lock().unwrap();
        let steps = graphs[&graph].clone();
        *exec = HANDLES.fetch_add(1, Ordering::Relaxed);
        graphs.insert(*exec, steps);
        ready(0)
    }
    fn cuGraphUpload(exec: usize, stream: usize) {
        assert!(GRAPHS.lock().unwrap().contains_key(&exec));
        uncapturable(stream)
    }
    fn cuGraphLaunch(exec: usize, stream: usize) {
        if ready(stream) != SUCCESS { return ready(stream) }
        for step in &GRAPHS.lock().unwrap()[&exec] {
            log(format!("replay {step}"));
            run(stream, step);
        }
        SUCCESS
    }
    fn cuGraphDestroy(graph: usize) {
        if GRAPHS.lock().unwrap().remove(&graph).is_none() { return 1 }
        ready(0)
    }
    fn cuGraphExecDestroy(exec: usize) {
        let Some(steps) = GRAPHS.lock().unwrap().remove(&exec) else { return 1 };
        for step in steps { log(format!("destroy {step}")) }
        ready(0)
    }
    fn cuEventCreate(event: *mut usize, _flags: u32) {
        *event = HANDLES.fetch_add(1, Ordering::Relaxed);
        ready(0)
    }
    fn cuEventDestroy_v2(_event: usize) { ready(0) }
    fn cuEventRecord(_event: usize, stream: usize) { ready(stream) }
    fn cuEventElapsedTime(milliseconds: *mut f32, _start: usize, _stop: usize) {
        *milliseconds = 1.5;
        ready(0)
    }

    fn cuModuleLoadDataEx(
        module: *mut *const c_char, image: *const c_char, count: u32, options: *const u32,
        values: *const *mut c_void
    ) {
        if ready(0) != SUCCESS { return ready(0) }
        let text = CStr::from_ptr(image).to_str().unwrap();
        let name = word_after(text, ".entry");
        log(format!("load {name} {}", word_after(text, ".target")));
        assert_eq!(text.matches(".entry").count(), 1, "{text}");
        *module = CString::new(name).unwrap().into_raw();
        if !text.contains("broken") { return SUCCESS }
        let options = slice::from_raw_parts(options, count as usize);
        let values = slice::from_raw_parts(values, count as usize);
        let value = |option| values[options.iter().position(|&it| it == option).unwrap()];
        let said = c"ptxas application ptx input, line 1; fatal : Parsing error near 'broken'";
        let said = said.to_bytes_with_nul();
        // 5 and 6: the error log and its size.
        assert!(value(6) as usize >= said.len());
        value(5).cast::<u8>().copy_from(said.as_ptr(), said.len());
        218
    }
    fn cuModuleUnload(module: *const c_char) { log(format!("unload {}", kernel(module))); ready(0) }
    fn cuModuleGetFunction(
        function: *mut *const c_char, module: *const c_char, name: *const c_char
    ) {
        if CStr::from_ptr(name) != CStr::from_ptr(module) { return 500 }
        log(format!("find {}", kernel(module)));
        *function = module;
        ready(0)
    }
    fn cuFuncGetAttribute(value: *mut i32, attribute: u32, _function: *const c_char) {
        *value = match attribute {
            0 => 1024,
            1 => 1024,
            4 => 40,
            8 => 47 << 10,
            _ => 0,
        };
        ready(0)
    }
    fn cuFuncSetAttribute(function: *const c_char, attribute: u32, value: i32) {
        log(format!("set {} {attribute}={value}", kernel(function)));
        ready(0)
    }
    fn cuOccupancyMaxActiveBlocksPerMultiprocessor(
        blocks: *mut i32, _function: *const c_char, _threads: i32, _shared: usize
    ) {
        *blocks = 2;
        ready(0)
    }
    fn cuOccupancyMaxActiveClusters(
        clusters: *mut i32, function: *const c_char, config: *const Config
    ) {
        log(format!("clusters {} {}", kernel(function), (*config).describe()));
        *clusters = 3;
        ready(0)
    }
    fn cuLaunchKernel(
        function: *const c_char, gx: u32, gy: u32, gz: u32, bx: u32, by: u32, bz: u32, shared: u32,
        stream: usize, arguments: *const *const c_void, extra: usize
    ) {
        if ready(stream) != SUCCESS { return ready(stream) }
        assert_eq!(extra, 0);
        let name = kernel(function);
        log(format!("plain {name} {gx},{gy},{gz} {bx},{by},{bz} {shared}"));
        if captured(stream, name) { return SUCCESS }
        if name.ends_with("store") {
            let address = (*arguments).cast::<u64>().read();
            let value = (*arguments.add(1)).cast::<u32>().read();
            (address as *mut u32).write(value);
        }
        run(stream, name);
        SUCCESS
    }
    fn cuLaunchKernelEx(
        config: *const Config, function: *const c_char, _arguments: *const *const c_void,
        extra: usize
    ) {
        if ready((*config).stream) != SUCCESS { return ready((*config).stream) }
        assert_eq!(extra, 0);
        log(format!("ex {} {}", kernel(function), (*config).describe()));
        if captured((*config).stream, kernel(function)) { return SUCCESS }
        if kernel(function).ends_with("too_large") { 720 } else { SUCCESS }
    }
}

/// `CUlaunchConfig` of cuda.h, written down a second time.
#[repr(C)]
pub struct Config {
    grid_x: u32,
    grid_y: u32,
    grid_z: u32,
    block_x: u32,
    block_y: u32,
    block_z: u32,
    shared: u32,
    stream: usize,
    attributes: *const [u32; 18],
    count: u32,
}

impl Config {
    fn describe(&self) -> String {
        let mut text = format!(
            "{},{},{} {},{},{} {}",
            self.grid_x,
            self.grid_y,
            self.grid_z,
            self.block_x,
            self.block_y,
            self.block_z,
            self.shared
        );
        // An attribute is 72 bytes: the id, four bytes of nothing, the value.
        for i in 0..self.count as usize {
            // SAFETY: the caller says that there are `count` attributes.
            let words = unsafe { *self.attributes.add(i) };
            match words[0] {
                2 => text += &format!(" cooperative={}", words[2]),
                4 => text += &format!(" cluster={},{},{}", words[2], words[3], words[4]),
                6 => text += &format!(" programmatic={}", words[2]),
                other => text += &format!(" unknown={other}"),
            }
        }
        text
    }
}
