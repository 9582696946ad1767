//! Makes the fake driver fail.

use super::{DRIVER, library};
use std::ffi::{CStr, CString, c_char, c_void};
use std::mem::transmute;
use std::sync::LazyLock;

/// The fake driver's own controls.
pub(crate) struct Controls {
    fail: unsafe extern "C" fn(u64, bool),
    forget: unsafe extern "C" fn(),
    end: unsafe extern "C" fn(),
    devices: unsafe extern "C" fn(u32),
    apart: unsafe extern "C" fn(u32, u32),
    launches: unsafe extern "C" fn(u32, u32),
    hold_copies: unsafe extern "C" fn(u32),
    without_pools: unsafe extern "C" fn(),
    failed: unsafe extern "C" fn(*mut u8, usize) -> usize,
    live: unsafe extern "C" fn(*mut u8, usize) -> usize,
}

/// Behavior of launches on a device, with the number that the fake driver uses.
#[derive(Clone, Copy)]
pub(crate) enum Launches {
    /// They run.
    Run = 0,
    /// They start and never end.
    Endless = 1,
    /// They are refused.
    Refused = 2,
    /// They run, and the call that launches them takes 20 ms.
    Late = 3,
}

impl Controls {
    /// The controls of the library that [`DRIVER`] names.
    pub(crate) fn new() -> Self {
        LazyLock::force(&DRIVER);
        let path = library().into_os_string().into_encoded_bytes();
        let path = CString::new(path).expect("a path has no NUL");
        // SAFETY: the library has been loaded before, and is never unloaded.
        let library = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW) };
        assert!(!library.is_null(), "{path:?} should be there to load");
        let symbol = |name: &'static CStr| -> *mut c_void {
            // SAFETY: the library is loaded, and the name ends in NUL.
            let found = unsafe { libc::dlsym(library, name.as_ptr().cast::<c_char>()) };
            assert!(!found.is_null(), "{name:?} should be in the fake driver");
            found
        };
        type Text = unsafe extern "C" fn(*mut u8, usize) -> usize;
        // SAFETY: the fake driver has functions of these types by these names.
        unsafe {
            Self {
                fail: transmute::<*mut c_void, unsafe extern "C" fn(u64, bool)>(symbol(
                    c"gridsync_fake_fail",
                )),
                forget: transmute::<*mut c_void, unsafe extern "C" fn()>(symbol(
                    c"gridsync_fake_forget",
                )),
                end: transmute::<*mut c_void, unsafe extern "C" fn()>(symbol(c"gridsync_fake_end")),
                devices: transmute::<*mut c_void, unsafe extern "C" fn(u32)>(symbol(
                    c"gridsync_fake_devices",
                )),
                apart: transmute::<*mut c_void, unsafe extern "C" fn(u32, u32)>(symbol(
                    c"gridsync_fake_apart",
                )),
                launches: transmute::<*mut c_void, unsafe extern "C" fn(u32, u32)>(symbol(
                    c"gridsync_fake_launches",
                )),
                hold_copies: transmute::<*mut c_void, unsafe extern "C" fn(u32)>(symbol(
                    c"gridsync_fake_hold_copies",
                )),
                without_pools: transmute::<*mut c_void, unsafe extern "C" fn()>(symbol(
                    c"gridsync_fake_without_pools",
                )),
                failed: transmute::<*mut c_void, Text>(symbol(c"gridsync_fake_failed")),
                live: transmute::<*mut c_void, Text>(symbol(c"gridsync_fake_live")),
            }
        }
    }

    /// Creates a machine with this many devices.
    pub(crate) fn devices(&self, count: u32) {
        // SAFETY: the function accepts any number.
        unsafe { (self.devices)(count) };
    }

    /// Removes the access of `from` to the memory of `to`.
    pub(crate) fn apart(&self, from: u32, to: u32) {
        // SAFETY: the function accepts any numbers.
        unsafe { (self.apart)(from, to) };
    }

    /// Sets the behavior of launches on `device`.
    pub(crate) fn launches(&self, device: u32, launches: Launches) {
        // SAFETY: the function accepts any numbers.
        unsafe { (self.launches)(device, launches as u32) };
    }

    /// Delays copies between the host and `device` until [`end`](Self::end).
    pub(crate) fn hold_copies(&self, device: u32) {
        // SAFETY: the function accepts any number.
        unsafe { (self.hold_copies)(device) };
    }

    /// Removes the memory pools of all devices, until the next [`devices`](Self::devices).
    pub(crate) fn without_pools(&self) {
        // SAFETY: the function has no arguments.
        unsafe { (self.without_pools)() };
    }

    /// Makes call number `at` fail.
    pub(crate) fn fail(&self, at: u64, sticky: bool) {
        // SAFETY: the function accepts any numbers.
        unsafe { (self.fail)(at, sticky) };
    }

    /// Makes the driver forget everything that has not been released.
    pub(crate) fn forget(&self) {
        // SAFETY: the function has no arguments.
        unsafe { (self.forget)() };
    }

    /// Ends the endless launches and runs the work behind them.
    pub(crate) fn end(&self) {
        // SAFETY: the function has no arguments.
        unsafe { (self.end)() };
    }

    fn text(read: unsafe extern "C" fn(*mut u8, usize) -> usize) -> String {
        let mut text = [0; 256];
        // SAFETY: the length is that of the buffer.
        let len = unsafe { read(text.as_mut_ptr(), text.len()) };
        String::from_utf8_lossy(&text[..len]).into_owned()
    }

    /// The call that failed, or `None` if it was not reached.
    pub(crate) fn failed(&self) -> Option<String> {
        Some(Self::text(self.failed)).filter(|name| !name.is_empty())
    }

    /// Everything that has not been released.
    pub(crate) fn live(&self) -> String {
        Self::text(self.live)
    }
}
