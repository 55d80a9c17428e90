//! What happens to a port's link.
//!
//! ```text
//!            ┌──── Up ────▶ up ──┐
//!   (start) ─┴▶ down ◀── Down ───┤
//!                 ▲             Gone   the device was deleted: the port is dead
//!                 │              ▼
//!                 └─ reopen ◀─ gone ── Returned: a device of that name is there again
//! ```

use crate::link::Link;
use crate::{Error, Port};

/// What happened to a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkEvent {
    /// Packets can pass from now on.
    Up,
    /// They cannot.
    Down,
    /// The device was deleted. Close the port, or keep it: it is silent.
    Gone,
    /// The device is there again: close the port and open it anew.
    Returned,
}

/// Watches one port's link: look from time to time.
#[derive(Debug, Default)]
pub struct LinkWatch {
    last: Link,
}

impl LinkWatch {
    /// What happened since the last look; to begin with the link counts as down.
    pub fn look(&mut self, port: &Port) -> Result<Option<LinkEvent>, Error> {
        Ok(self.see(port.link()?))
    }

    fn see(&mut self, now: Link) -> Option<LinkEvent> {
        let before = core::mem::replace(&mut self.last, now);
        match () {
            _ if now.returned && !before.returned => Some(LinkEvent::Returned),
            _ if now.gone && !before.gone => Some(LinkEvent::Gone),
            _ if now.up && !before.up => Some(LinkEvent::Up),
            _ if !now.up && before.up => Some(LinkEvent::Down),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_change_is_told_once() {
        let mut watch = LinkWatch::default();
        let up = Link { up: true, ..Link::default() };
        let gone = Link { gone: true, ..Link::default() };
        let returned = Link { returned: true, ..gone };
        assert_eq!(watch.see(Link::default()), None);
        assert_eq!(watch.see(up), Some(LinkEvent::Up));
        assert_eq!(watch.see(up), None);
        assert_eq!(watch.see(Link::default()), Some(LinkEvent::Down));
        watch.see(up);
        assert_eq!(watch.see(gone), Some(LinkEvent::Gone));
        assert_eq!(watch.see(gone), None);
        assert_eq!(watch.see(returned), Some(LinkEvent::Returned));
        assert_eq!(watch.see(returned), None);
    }

    #[test]
    fn a_device_replaced_between_two_looks_is_told_too() {
        let mut watch = LinkWatch::default();
        watch.see(Link { up: true, ..Link::default() });
        let replaced = Link { gone: true, returned: true, ..Link::default() };
        assert_eq!(watch.see(replaced), Some(LinkEvent::Returned));
    }
}
