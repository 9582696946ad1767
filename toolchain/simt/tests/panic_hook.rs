//! Runs in a separate process, because the panic hook belongs to the whole process.

use simt::{Fault, LaunchConfig, Memory, launch};

#[test]
fn a_panic_is_a_fault_even_with_a_replaced_hook() {
    let mut memory = Memory::new(0);
    let config = LaunchConfig::new("test", 2, 40);
    launch(&mut memory, &config, &|| {}).expect("no fault");

    std::panic::set_hook(Box::new(|_| {}));
    let fault = launch(&mut memory, &config, &|| {
        simt::block_barrier();
        let thread = simt::position().linear_thread();
        assert!(thread != 35, "thread {thread} is odd");
        simt::block_barrier();
    });
    let _ = std::panic::take_hook();

    let fault = fault.expect_err("thread 35 panics");
    let Fault::Panicked { message, site, .. } = &fault else { panic!("{fault}") };
    assert_eq!(message, "thread 35 is odd");
    assert_eq!(site.thread.x, 35);
}
