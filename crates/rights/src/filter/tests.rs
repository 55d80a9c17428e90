//! What somebody would try who got in: a filter of a thread is its own, so each test is one.

use super::calls::{number_of, usual_and};
use super::*;

/// Calls number `number` with arguments that do no harm; what the kernel says.
fn call(number: i64) -> io::Error {
    // SAFETY: of each of these null is refused by the kernel, if the filter does not.
    let outcome = unsafe { libc::syscall(number, 0, 0, 0, 0, 0) };
    assert_eq!(outcome, -1, "{}", name_of(number));
    io::Error::last_os_error()
}

fn in_a_thread_that_may(more: &'static [&'static str], work: impl FnOnce() + Send + 'static) {
    let thread = std::thread::spawn(move || {
        take_only(Of::Thread, &usual_and(more)).unwrap();
        work();
    });
    thread.join().unwrap();
}

#[test]
fn who_got_in_executes_traces_mounts_and_loads_nothing_and_each_attempt_is_counted() {
    in_a_thread_that_may(&[], || {
        let attempts = [
            "execve",
            "execveat",
            "ptrace",
            "mount",
            "umount2",
            "process_vm_readv",
            "process_vm_writev",
            "init_module",
            "finit_module",
            "bpf",
            "setns",
            "unshare",
            "chroot",
            "pivot_root",
            "keyctl",
            "kill",
            "userfaultfd",
            "iopl",
        ];
        for name in attempts {
            let number = number_of(name).unwrap();
            let count = || refused().iter().find(|(it, _)| *it == number).map_or(0, |it| it.1);
            let before = count();
            assert_eq!(call(number).raw_os_error(), Some(libc::EPERM), "{name}");
            assert!(count() > before, "{name} is not counted");
        }
        // A program is executed by none of the ways there are: a process that was made to has its
        // signals blocked, and is killed.
        let ended = std::process::Command::new("/bin/true").status();
        assert!(!ended.as_ref().is_ok_and(|status| status.success()), "{ended:?}");
    });
}

#[test]
fn what_a_router_does_all_the_time_is_done() {
    in_a_thread_that_may(&[], || {
        let path = std::env::temp_dir().join(format!("filter-{}", std::process::id()));
        std::fs::write(&path, b"x").unwrap();
        std::fs::rename(&path, path.with_extension("new")).unwrap();
        std::fs::remove_file(path.with_extension("new")).unwrap();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || listener.accept().unwrap());
        std::net::TcpStream::connect(address).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(1));
        assert!(vec![7_u8; 64 << 20].iter().all(|it| *it == 7));
    });
}

#[test]
fn a_kind_of_port_has_the_calls_that_it_says() {
    in_a_thread_that_may(&["setns"], || {
        // The kernel itself refuses: there is no such descriptor.
        assert_ne!(call(libc::SYS_setns).raw_os_error(), Some(libc::EPERM));
        assert_eq!(call(libc::SYS_bpf).raw_os_error(), Some(libc::EPERM));
    });
}

#[test]
fn calls_have_names() {
    assert_eq!(name_of(libc::SYS_execve), "execve");
    assert_eq!(name_of(libc::SYS_read), "read");
    assert_eq!(name_of(99_999), "number 99999");
    assert!(usual_and(&["bpf"]).len() == USUAL.len() + 1);
    // What is for somebody who got in alone is no usual call.
    for name in ["execve", "ptrace", "mount", "bpf", "setns", "kill", "unshare"] {
        assert!(!USUAL.contains(&number_of(name).unwrap()), "{name}");
    }
}
