//! The journal of systemd, by its native protocol: fields stay fields.
//!
//! ```text
//!  NAME=value\n   or, when the value has several lines:   NAME\n  length, u64 little endian  value\n
//! ```
//! <https://systemd.io/JOURNAL_NATIVE_PROTOCOL/>

use crate::{Event, Level};
use serde_json::Value;
use std::io;
use std::os::linux::fs::MetadataExt;
use std::os::unix::net::UnixDatagram;

/// Where it listens.
const SOCKET: &str = "/run/systemd/journal/socket";

/// True when stderr leads into the journal: systemd names device and inode of what it made.
pub(crate) fn has_our_stderr() -> bool {
    let Ok(stream) = std::env::var("JOURNAL_STREAM") else { return false };
    std::fs::metadata("/proc/self/fd/2")
        .is_ok_and(|it| stream == format!("{}:{}", it.st_dev(), it.st_ino()))
}

/// A way to it.
pub(crate) fn connect() -> io::Result<UnixDatagram> {
    let socket = UnixDatagram::unbound()?;
    socket.connect(SOCKET)?;
    Ok(socket)
}

/// An event as the journal takes it.
pub(crate) fn entry(event: &Event) -> Vec<u8> {
    let mut entry = Vec::with_capacity(256);
    put(&mut entry, "MESSAGE", &event.message);
    put(&mut entry, "PRIORITY", priority(event.level));
    put(&mut entry, "SYSLOG_IDENTIFIER", "volleyd");
    put(&mut entry, "VOLLEY_SOURCE", &event.source);
    put(&mut entry, "VOLLEY_EVENT", &event.number.to_string());
    for (name, value) in &event.fields {
        let name: String = name
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' })
            .collect();
        let name = format!("VOLLEY_{name}");
        match value {
            Value::String(text) => put(&mut entry, &name, text),
            other => put(&mut entry, &name, &other.to_string()),
        }
    }
    entry
}

/// As syslog has it (RFC 5424, 6.2.1).
fn priority(level: Level) -> &'static str {
    match level {
        Level::Error => "3",
        Level::Warn => "4",
        Level::Info => "6",
        Level::Debug | Level::Trace => "7",
    }
}

fn put(entry: &mut Vec<u8>, name: &str, value: &str) {
    entry.extend_from_slice(name.as_bytes());
    if value.contains('\n') {
        entry.push(b'\n');
        entry.extend_from_slice(&(value.len() as u64).to_le_bytes());
    } else {
        entry.push(b'=');
    }
    entry.extend_from_slice(value.as_bytes());
    entry.push(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_has_the_events_fields_and_values_of_several_lines_their_length() {
        let event = Event {
            number: 7,
            time: String::new(),
            level: Level::Warn,
            source: "router".into(),
            message: "a\nb".into(),
            fields: [("next-hop".to_owned(), Value::from("::1"))].into(),
        };
        let mut expected = b"MESSAGE\n".to_vec();
        expected.extend_from_slice(&3_u64.to_le_bytes());
        expected.extend_from_slice(
            b"a\nb\nPRIORITY=4\nSYSLOG_IDENTIFIER=volleyd\nVOLLEY_SOURCE=router\nVOLLEY_EVENT=7\n\
              VOLLEY_NEXT_HOP=::1\n",
        );
        assert_eq!(entry(&event), expected);
    }
}
