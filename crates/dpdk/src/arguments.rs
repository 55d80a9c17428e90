//! What DPDK is told of a device: `iface=eth0,qpairs=2`.
//!
//! DPDK splits arguments at `,` and `=` and knows no escape, so a value with such a character is
//! refused instead of being understood as something else.

use crate::Error;
use std::fmt::{self, Display};
use std::path::Path;

/// Characters that mean something in DPDK's arguments.
const SPECIAL: &[char] = &[',', '=', '"', '\'', '[', ']', '(', ')', '\\'];

/// Most bytes of a Linux device name.
const DEVICE_NAME_BYTES: usize = 15;

/// Most bytes of a Unix socket's path.
const SOCKET_PATH_BYTES: usize = 107;

/// `key=value` pairs whose values were looked at.
#[derive(Debug, Default)]
pub(crate) struct Arguments(String);

impl Arguments {
    /// Adds a value of ours.
    pub(crate) fn with(mut self, key: &str, value: impl Display) -> Self {
        if !self.0.is_empty() {
            self.0.push(',');
        }
        self.0.push_str(&format!("{key}={value}"));
        self
    }

    /// The name of a Linux device.
    pub(crate) fn device(self, key: &str, name: &str) -> Result<Self, Error> {
        check_device(name)?;
        Ok(self.with(key, name))
    }

    /// The path of a file.
    pub(crate) fn path(self, key: &str, path: &Path) -> Result<Self, Error> {
        let text = path
            .to_str()
            .ok_or_else(|| refuse("path", &path.to_string_lossy(), "it is not valid UTF-8"))?;
        check_text("path", text)?;
        Ok(self.with(key, text))
    }

    /// The path of a Unix socket.
    pub(crate) fn socket(self, key: &str, path: &Path) -> Result<Self, Error> {
        if path.as_os_str().len() > SOCKET_PATH_BYTES {
            return Err(refuse(
                "path",
                &path.to_string_lossy(),
                "a socket's path has at most 107 bytes",
            ));
        }
        self.path(key, path)
    }
}

/// The name of a Linux device.
pub(crate) fn check_device(name: &str) -> Result<(), Error> {
    check_text("device", name)?;
    if name.len() > DEVICE_NAME_BYTES || name.contains(['/', ' ', ':']) || name.starts_with('.') {
        return Err(refuse("device", name, "Linux has no devices of such a name"));
    }
    Ok(())
}

fn check_text(what: &'static str, text: &str) -> Result<(), Error> {
    if text.is_empty() {
        return Err(refuse(what, text, "it is empty"));
    }
    match text.chars().find(|&c| c.is_control() || SPECIAL.contains(&c)) {
        None => Ok(()),
        Some(c) => Err(refuse(what, text, &format!("{c:?} has a meaning of its own there"))),
    }
}

pub(crate) fn check_range(
    what: &'static str,
    value: u32,
    least: u32,
    most: u32,
) -> Result<(), Error> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(refuse(what, &value.to_string(), &format!("{least} to {most} are allowed")))
}

/// What cannot be said to DPDK, and why.
pub(crate) fn refuse(what: &'static str, value: &str, reason: &str) -> Error {
    Error::Argument { what, value: value.to_owned(), reason: reason.to_owned() }
}

/// As DPDK takes them.
impl Display for Arguments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
