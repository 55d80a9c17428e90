//! A barrier in all threads of this process at once, by one system call.

use std::sync::OnceLock;

/// Whether the kernel has it.
#[inline]
pub(crate) fn is_there() -> bool {
    static REGISTERED: OnceLock<bool> = OnceLock::new();
    *REGISTERED.get_or_init(|| call(libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED))
}

/// Has every thread pass a full barrier, where the kernel has it.
pub(crate) fn everywhere() {
    if is_there() {
        call(libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED);
    }
}

fn call(command: libc::c_int) -> bool {
    // SAFETY: touches no memory of ours.
    unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 }
}
