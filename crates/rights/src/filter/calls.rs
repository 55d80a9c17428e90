//! Calls that routers make, whatever their ports are: of threads, memory, files, sockets and time.
//! What a kind of port takes beside them it says itself.

macro_rules! calls {
    ($( $name:ident: $number:ident, )+) => {
        /// Those of every router.
        pub const USUAL: &[i64] = &[$( libc::$number ),+];

        /// What a call of these is called.
        fn usual_name(number: i64) -> Option<&'static str> {
            match number {
                $( libc::$number => Some(stringify!($name)), )+
                _ => None,
            }
        }
    };
}

calls! {
    read: SYS_read, write: SYS_write, open: SYS_open, close: SYS_close, stat: SYS_stat,
    fstat: SYS_fstat, lstat: SYS_lstat, poll: SYS_poll, lseek: SYS_lseek, mmap: SYS_mmap,
    mprotect: SYS_mprotect, munmap: SYS_munmap, brk: SYS_brk, rt_sigaction: SYS_rt_sigaction,
    rt_sigprocmask: SYS_rt_sigprocmask, rt_sigreturn: SYS_rt_sigreturn, ioctl: SYS_ioctl,
    pread64: SYS_pread64, pwrite64: SYS_pwrite64, readv: SYS_readv, writev: SYS_writev,
    access: SYS_access, pipe: SYS_pipe, select: SYS_select, sched_yield: SYS_sched_yield,
    mremap: SYS_mremap, msync: SYS_msync, mincore: SYS_mincore, madvise: SYS_madvise,
    dup: SYS_dup, dup2: SYS_dup2, nanosleep: SYS_nanosleep, getpid: SYS_getpid,
    sendfile: SYS_sendfile, socket: SYS_socket, connect: SYS_connect, accept: SYS_accept,
    sendto: SYS_sendto, recvfrom: SYS_recvfrom, sendmsg: SYS_sendmsg, recvmsg: SYS_recvmsg,
    shutdown: SYS_shutdown, bind: SYS_bind, listen: SYS_listen, getsockname: SYS_getsockname,
    getpeername: SYS_getpeername, socketpair: SYS_socketpair, setsockopt: SYS_setsockopt,
    getsockopt: SYS_getsockopt, clone: SYS_clone, exit: SYS_exit, wait4: SYS_wait4,
    uname: SYS_uname, fcntl: SYS_fcntl, flock: SYS_flock, fsync: SYS_fsync,
    fdatasync: SYS_fdatasync, ftruncate: SYS_ftruncate, getcwd: SYS_getcwd, rename: SYS_rename,
    mkdir: SYS_mkdir, rmdir: SYS_rmdir, unlink: SYS_unlink, readlink: SYS_readlink,
    chmod: SYS_chmod, fchmod: SYS_fchmod, chown: SYS_chown, fchown: SYS_fchown,
    umask: SYS_umask, gettimeofday: SYS_gettimeofday, getrlimit: SYS_getrlimit,
    getrusage: SYS_getrusage, sysinfo: SYS_sysinfo, times: SYS_times, getuid: SYS_getuid,
    getgid: SYS_getgid, geteuid: SYS_geteuid, getegid: SYS_getegid, getppid: SYS_getppid,
    getgroups: SYS_getgroups, getresuid: SYS_getresuid, getresgid: SYS_getresgid,
    capget: SYS_capget, rt_sigpending: SYS_rt_sigpending, rt_sigtimedwait: SYS_rt_sigtimedwait,
    sigaltstack: SYS_sigaltstack, statfs: SYS_statfs, fstatfs: SYS_fstatfs,
    getpriority: SYS_getpriority, setpriority: SYS_setpriority,
    sched_setparam: SYS_sched_setparam, sched_getparam: SYS_sched_getparam,
    sched_setscheduler: SYS_sched_setscheduler, sched_getscheduler: SYS_sched_getscheduler,
    sched_get_priority_max: SYS_sched_get_priority_max,
    sched_get_priority_min: SYS_sched_get_priority_min, mlock: SYS_mlock, munlock: SYS_munlock,
    mlockall: SYS_mlockall, munlockall: SYS_munlockall, prctl: SYS_prctl,
    arch_prctl: SYS_arch_prctl, gettid: SYS_gettid, futex: SYS_futex,
    sched_setaffinity: SYS_sched_setaffinity, sched_getaffinity: SYS_sched_getaffinity,
    epoll_create: SYS_epoll_create, getdents64: SYS_getdents64,
    set_tid_address: SYS_set_tid_address, restart_syscall: SYS_restart_syscall,
    timer_create: SYS_timer_create, timer_settime: SYS_timer_settime,
    timer_gettime: SYS_timer_gettime, timer_delete: SYS_timer_delete,
    clock_gettime: SYS_clock_gettime, clock_getres: SYS_clock_getres,
    clock_nanosleep: SYS_clock_nanosleep, exit_group: SYS_exit_group,
    epoll_wait: SYS_epoll_wait, epoll_ctl: SYS_epoll_ctl, tgkill: SYS_tgkill, mbind: SYS_mbind,
    set_mempolicy: SYS_set_mempolicy, get_mempolicy: SYS_get_mempolicy,
    move_pages: SYS_move_pages, inotify_init1: SYS_inotify_init1,
    inotify_add_watch: SYS_inotify_add_watch, inotify_rm_watch: SYS_inotify_rm_watch,
    openat: SYS_openat, mkdirat: SYS_mkdirat, fchownat: SYS_fchownat,
    newfstatat: SYS_newfstatat, unlinkat: SYS_unlinkat, renameat: SYS_renameat,
    readlinkat: SYS_readlinkat, fchmodat: SYS_fchmodat, faccessat: SYS_faccessat,
    pselect6: SYS_pselect6, ppoll: SYS_ppoll, set_robust_list: SYS_set_robust_list,
    get_robust_list: SYS_get_robust_list, epoll_pwait: SYS_epoll_pwait,
    utimensat: SYS_utimensat, signalfd4: SYS_signalfd4, timerfd_create: SYS_timerfd_create,
    timerfd_settime: SYS_timerfd_settime, timerfd_gettime: SYS_timerfd_gettime,
    fallocate: SYS_fallocate, accept4: SYS_accept4, eventfd: SYS_eventfd,
    eventfd2: SYS_eventfd2, epoll_create1: SYS_epoll_create1, dup3: SYS_dup3, pipe2: SYS_pipe2,
    preadv: SYS_preadv, pwritev: SYS_pwritev, recvmmsg: SYS_recvmmsg, prlimit64: SYS_prlimit64,
    sendmmsg: SYS_sendmmsg, getcpu: SYS_getcpu, sched_setattr: SYS_sched_setattr,
    sched_getattr: SYS_sched_getattr, renameat2: SYS_renameat2, getrandom: SYS_getrandom,
    memfd_create: SYS_memfd_create, membarrier: SYS_membarrier, mlock2: SYS_mlock2,
    io_setup: SYS_io_setup, io_submit: SYS_io_submit, io_getevents: SYS_io_getevents,
    io_destroy: SYS_io_destroy, preadv2: SYS_preadv2, pwritev2: SYS_pwritev2, statx: SYS_statx, rseq: SYS_rseq,
    clone3: SYS_clone3, close_range: SYS_close_range, openat2: SYS_openat2,
    faccessat2: SYS_faccessat2, epoll_pwait2: SYS_epoll_pwait2,
}

/// Others that are told by name: what kinds of ports take, and what is refused to whom it matters.
const OTHERS: [(&str, i64); 22] = [
    ("bpf", libc::SYS_bpf),
    ("setns", libc::SYS_setns),
    ("iopl", libc::SYS_iopl),
    ("ioperm", libc::SYS_ioperm),
    ("unshare", libc::SYS_unshare),
    ("execve", libc::SYS_execve),
    ("execveat", libc::SYS_execveat),
    ("fork", libc::SYS_fork),
    ("vfork", libc::SYS_vfork),
    ("kill", libc::SYS_kill),
    ("ptrace", libc::SYS_ptrace),
    ("process_vm_readv", libc::SYS_process_vm_readv),
    ("process_vm_writev", libc::SYS_process_vm_writev),
    ("mount", libc::SYS_mount),
    ("umount2", libc::SYS_umount2),
    ("pivot_root", libc::SYS_pivot_root),
    ("chroot", libc::SYS_chroot),
    ("init_module", libc::SYS_init_module),
    ("finit_module", libc::SYS_finit_module),
    ("reboot", libc::SYS_reboot),
    ("keyctl", libc::SYS_keyctl),
    ("userfaultfd", libc::SYS_userfaultfd),
];

/// What a call is called, as far as it is known.
pub fn name_of(number: i64) -> String {
    let other = || OTHERS.iter().find(|(_, known)| *known == number).map(|(name, _)| *name);
    usual_name(number).or_else(other).map_or_else(|| format!("number {number}"), str::to_owned)
}

/// The number of a call that not every router makes.
pub(crate) fn number_of(name: &str) -> Option<i64> {
    OTHERS.iter().find(|(known, _)| *known == name).map(|(_, number)| *number)
}

/// The usual calls, and these.
pub fn usual_and(names: &[&str]) -> Vec<i64> {
    let mut all: Vec<i64> = USUAL.to_vec();
    all.extend(names.iter().filter_map(|name| number_of(name)));
    all.sort_unstable();
    all.dedup();
    all
}
