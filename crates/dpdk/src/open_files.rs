//! How many files a process may have open: drivers do not say that this is what they lacked.

use std::{fs, io};

/// A device opens up to this many: fewer left than that may be why it did not.
const ONE_DEVICE: u64 = 8;

/// Says so if a device may have lacked file descriptors.
pub(crate) fn few_left() -> Option<String> {
    let most = most()?;
    match fs::read_dir("/proc/self/fd") {
        // One of those is the folder's own.
        Ok(open) => told((open.count() as u64).saturating_sub(1), most),
        Err(error) if error.raw_os_error() == Some(libc::EMFILE) => told(most, most),
        Err(_) => None,
    }
}

fn told(open: u64, most: u64) -> Option<String> {
    (open + ONE_DEVICE > most)
        .then(|| format!("{open} of at most {most} file descriptors are open (ulimit -n)"))
}

fn most() -> Option<u64> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is ours, and of the type that is written.
    let code = unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) };
    if code != 0 {
        tracing::debug!(error = %io::Error::last_os_error(), "the limit of open files is not known");
    }
    (code == 0).then_some(limit.rlim_cur)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_near_its_limit_is_told() {
        assert_eq!(told(56, 64), None);
        let told = told(57, 64).expect("seven are left");
        assert_eq!(told, "57 of at most 64 file descriptors are open (ulimit -n)");
        assert!(few_left().is_none(), "this test has few open");
    }
}
