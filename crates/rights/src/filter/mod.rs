//! Which calls the kernel takes from this process: seccomp(2).
//!
//! ```text
//!  call ─▶ kernel: on the list? ── yes ─▶ done                    (remembered by number: costs next to nothing)
//!                       └── no ──▶ SIGSYS in the thread that called ─▶ counted by number, EPERM
//! ```
//! A call that is refused fails as one without rights does, and is counted: whoever runs the router
//! tells of it. So a list that lacks something costs what was to be done, not the router; and
//! somebody who got into it executes, traces, mounts and loads nothing.
//!
//! `unsafe`: the two questions to the kernel that no safe function asks, and the handler of their
//! signal, which writes one counter and one register.
#![allow(unsafe_code)]

mod calls;

pub use calls::{USUAL, name_of, usual_and};

use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// Numbers of calls that are told apart; none is higher.
const NUMBERS: usize = 512;

/// Calls that were refused, by number.
static REFUSED: [AtomicU64; NUMBERS] = [const { AtomicU64::new(0) }; NUMBERS];
/// How many calls the filter of this process takes.
static TAKES: OnceLock<usize> = OnceLock::new();

/// What of the data of a call the program looks at: linux/seccomp.h.
const NUMBER_AT: u32 = 0;
const ARCHITECTURE_AT: u32 = 4;
/// This architecture: linux/audit.h.
const X86_64: u32 = 0xc000_003e;

/// Of which threads calls are filtered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// All there are, and those to come.
    Process,
    /// This one, and those that it makes.
    Thread,
}

/// From now on, for ever, the kernel refuses all calls but these.
pub fn take_only(of: Of, calls: &[i64]) -> io::Result<()> {
    if !cfg!(target_arch = "x86_64") {
        return Err(io::Error::other("no list of calls for this architecture"));
    }
    rustix::thread::set_no_new_privs(true)?;
    hear_refusals()?;
    let program = program(calls);
    let told = libc::sock_fprog { len: program.len() as u16, filter: program.as_ptr().cast_mut() };
    let flags = if of == Of::Process { libc::SECCOMP_FILTER_FLAG_TSYNC } else { 0 };
    // SAFETY: the kernel copies the program, which is there, and writes nothing.
    let outcome = unsafe {
        libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const told)
    };
    match outcome {
        0 => {
            if of == Of::Process {
                TAKES.get_or_init(|| calls.len());
            }
            Ok(())
        }
        -1 => Err(io::Error::last_os_error()),
        thread => Err(io::Error::other(format!("thread {thread} has a filter of its own"))),
    }
}

/// How many calls the kernel takes from this process, if it refuses others.
pub fn takes() -> Option<usize> {
    TAKES.get().copied()
}

/// Calls that were refused so far, by number, and how often.
pub fn refused() -> Vec<(i64, u64)> {
    let counts = REFUSED.iter().map(|count| count.load(Ordering::Relaxed));
    (0..).zip(counts).filter(|(_, count)| *count != 0).collect()
}

/// The filter as the kernel's machine runs it.
fn program(calls: &[i64]) -> Vec<libc::sock_filter> {
    let load = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
    let equal = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
    let answer = libc::BPF_RET | libc::BPF_K;
    let step = |code: u32, jt, jf, k| libc::sock_filter { code: code as u16, jt, jf, k };
    let mut program = vec![
        step(load, 0, 0, ARCHITECTURE_AT),
        step(equal, 1, 0, X86_64),
        step(answer, 0, 0, libc::SECCOMP_RET_KILL_PROCESS),
        step(load, 0, 0, NUMBER_AT),
    ];
    for call in calls {
        program.push(step(equal, 0, 1, *call as u32));
        program.push(step(answer, 0, 0, libc::SECCOMP_RET_ALLOW));
    }
    program.push(step(answer, 0, 0, libc::SECCOMP_RET_TRAP));
    program
}

/// Has refusals counted, and answered.
fn hear_refusals() -> io::Result<()> {
    let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) = on_refusal;
    // SAFETY: all zero is a good value of it; what counts is written below.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = handler as usize;
    action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
    // SAFETY: the handler does what handlers may: see there.
    let outcome = unsafe { libc::sigaction(libc::SIGSYS, &raw const action, std::ptr::null_mut()) };
    if outcome == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// A call of this thread was refused: it is counted, and fails.
extern "C" fn on_refusal(_: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: of SIGSYS the kernel gives both; the number of the call stands behind its address
    // (siginfo_t of x86_64), and the register is what the call answers. Nothing is allocated, no
    // lock taken.
    unsafe {
        // Another process may have sent it: then there was no call.
        if (*info).si_code != SYS_SECCOMP {
            return;
        }
        let number = info.cast::<u8>().add(NUMBER_IN_INFO).cast::<i32>().read_unaligned();
        if let Some(count) = usize::try_from(number).ok().and_then(|number| REFUSED.get(number)) {
            count.fetch_add(1, Ordering::Relaxed);
        }
        answer(context);
    }
}

/// Who sent a SIGSYS: the filter. asm-generic/siginfo.h.
const SYS_SECCOMP: libc::c_int = 1;
/// Where the number of the call stands.
const NUMBER_IN_INFO: usize = 24;

/// # Safety
///
/// It is what a handler of signals was given.
#[cfg(target_arch = "x86_64")]
unsafe fn answer(context: *mut libc::c_void) {
    let context = context.cast::<libc::ucontext_t>();
    // SAFETY: as whoever calls says.
    unsafe {
        (*context).uc_mcontext.gregs[libc::REG_RAX as usize] = -i64::from(libc::EPERM);
    }
}

/// # Safety
///
/// None: there is no filter.
#[cfg(not(target_arch = "x86_64"))]
unsafe fn answer(_: *mut libc::c_void) {}

#[cfg(test)]
mod tests;
