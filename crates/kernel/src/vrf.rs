//! A VRF of the kernel's that stands for one of ours: twins of its ports are in it, and routing
//! daemons know it by its table.
//!
//! ```text
//!  VRF red ── table 1001 ◀── zebra's routes     twin p1 ─┐
//!                                               twin p2 ─┴ link `red`
//! ```
//! It stays if we end without a word, and is taken up again as it is: daemons do not notice.

use crate::rtnetlink::Conversation;
use crate::{KernelError, Namespace};
use netlink::{Kind, Messages, bridge, link, vrf};
use rustix::io::Errno;

/// What is noted about a VRF of ours: it goes when it is not wanted any more.
const OURS: &str = "a VRF of volley's";

/// What a VRF of the kernel's is to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VrfOptions {
    /// Where it is.
    pub namespace: Namespace,
    /// Its name.
    pub name: String,
    /// Its table.
    pub table: u32,
}

/// See the module. Dropped, it goes, if we made it.
pub struct VrfLink {
    conversation: Conversation,
    index: u32,
    is_ours: bool,
}

impl VrfLink {
    /// Makes one; one of this name and table that is there is taken as it is.
    pub fn make(options: &VrfOptions) -> Result<Self, KernelError> {
        options.namespace.run(|| Self::make_here(&options.name, options.table))?
    }

    fn make_here(name: &str, table: u32) -> Result<Self, KernelError> {
        let mut conversation = Conversation::open().map_err(KernelError::Thread)?;
        let taken = || KernelError::Taken(name.to_owned());
        let refused = |what: &str, why| KernelError::Refused {
            what: what.to_owned(),
            name: name.to_owned(),
            why,
        };
        let (index, is_ours) = match there(&mut conversation, name) {
            Some(found) if found.table == Some(table) => (found.index, found.is_ours),
            // One of ours that was left behind with another table.
            Some(found) if found.table.is_some() && found.is_ours => {
                let gone = conversation.ask(bridge::remove(found.index));
                gone.map_err(|why| refused("remove what was left", why))?;
                (add(&mut conversation, name, table)?, true)
            }
            Some(_) => return Err(taken()),
            None => (add(&mut conversation, name, table)?, true),
        };
        // Whatever fails from here on, dropping it removes what was made.
        let mut made = Self { conversation, index, is_ours };
        if is_ours {
            let noted = made.conversation.ask(bridge::note(index, OURS));
            noted.map_err(|why| refused("note whose it is", why))?;
        }
        let up = made.conversation.ask(bridge::set_up(index));
        up.map_err(|why| refused("set the state", why))?;
        Ok(made)
    }

    /// The kernel's number of it.
    pub fn index(&self) -> u32 {
        self.index
    }

    /// Whether it is there still: nobody removed it.
    pub fn is_there(&mut self) -> bool {
        self.conversation.ask(bridge::get(self.index)).is_ok()
    }
}

impl Drop for VrfLink {
    fn drop(&mut self) {
        if self.is_ours {
            // One that is gone already is what was wanted.
            let _gone = self.conversation.ask(bridge::remove(self.index));
        }
    }
}

fn add(conversation: &mut Conversation, name: &str, table: u32) -> Result<u32, KernelError> {
    let made = conversation.ask(vrf::add(name, table));
    let index = made.and_then(|_| conversation.index_of(name));
    index.map_err(|why| match Errno::from_io_error(&why) {
        Some(Errno::EXIST) => KernelError::Taken(name.to_owned()),
        _ => KernelError::Refused { what: "make a VRF".into(), name: name.to_owned(), why },
    })
}

/// A link of the name that we want.
struct There {
    index: u32,
    /// None: it is no VRF.
    table: Option<u32>,
    is_ours: bool,
}

fn there(conversation: &mut Conversation, name: &str) -> Option<There> {
    let answers = conversation.ask(link::get(name)).ok()?;
    let told = Messages::new(&answers).filter_map(Result::ok);
    told.filter(|message| message.kind == Kind::NEW_LINK).find_map(|message| {
        let is_ours = bridge::noted_of(&message).ok()? == Some(OURS);
        let table = vrf::table_of(&message).ok()?;
        Some(There { index: link::index_of(&message).ok()?, table, is_ours })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    fn ip(words: &str) -> bool {
        Command::new("ip").args(words.split(' ')).output().is_ok_and(|it| it.status.success())
    }

    #[test]
    fn it_is_made_taken_up_as_it_is_and_never_takes_what_is_anothers() {
        let space = format!("vly-{}-vrf", std::process::id());
        // Where none may be made there is nothing to try.
        if !ip(&format!("netns add {space}")) {
            return;
        }
        let outcome = std::panic::catch_unwind(|| {
            // A kernel without VRFs says so.
            let namespace = Namespace::new(Some(&space));
            let options = VrfOptions { namespace, name: "red".into(), table: 1001 };
            if !ip(&format!("-n {space} link add probe type vrf table 7")) {
                let refused = VrfLink::make(&options).map(|_| ()).unwrap_err().to_string();
                assert!(refused.contains("make a VRF of `red`"), "{refused}");
                return;
            }
            let mut red = VrfLink::make(&options).unwrap();
            let is_there = || ip(&format!("-n {space} link show red"));
            assert!(red.is_there() && is_there());
            let index = red.index();
            // We end without a word, and begin anew.
            red.is_ours = false;
            drop(red);
            let red = VrfLink::make(&options).unwrap();
            assert_eq!((red.index(), red.is_ours), (index, true));
            // With another table it is another one.
            let other = VrfOptions { table: 1002, ..options.clone() };
            std::mem::forget(red);
            let mut other = VrfLink::make(&other).unwrap();
            assert_ne!(other.index(), index);
            assert!(ip(&format!("-n {space} link del red")) && !other.is_there());
            drop(other);
            // Somebody else's is used, and stays.
            assert!(ip(&format!("-n {space} link add red type vrf table 1001")));
            let theirs = VrfLink::make(&options).unwrap();
            assert!(!theirs.is_ours);
            drop(theirs);
            assert!(is_there());
            let wrong = VrfOptions { table: 1002, ..options.clone() };
            assert!(matches!(VrfLink::make(&wrong), Err(KernelError::Taken(_))));
            assert!(ip(&format!("-n {space} link del red")));
            assert!(ip(&format!("-n {space} link add red type dummy")));
            assert!(matches!(VrfLink::make(&options), Err(KernelError::Taken(_))));
            assert!(is_there());
        });
        assert!(ip(&format!("netns del {space}")));
        outcome.unwrap();
    }
}
