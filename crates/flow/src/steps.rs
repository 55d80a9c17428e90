//! What tables came to: what is done to a packet, in order, and who counts it.

use crate::flow::Counters;
use crate::key::Key;
use crate::rewrite::Rewrite;
use crate::track::{Frozen, Track};
use crate::tunnel::InTunnel;
use openflow::action::Sample;
use openflow::message::FlowMod;
use openflow::{Field, Match, PortNumber};
use std::sync::Arc;

/// One thing that is done to a packet.
#[derive(Clone, PartialEq, Debug)]
pub enum Step {
    /// A copy of it leaves by a port.
    Output(PortNumber),
    /// A copy of it goes where an ordinary bridge would have it.
    Normal,
    /// Bits of a field become these.
    Set(Field, u128, u128),
    /// A tag of this kind and content in front.
    PushVlan(u16, u16),
    /// The first tag away.
    PopVlan,
    /// The number and the other end that what leaves next has in tunnels that let flows say them.
    Tunnel(InTunnel),
    /// A label behind so many tags.
    PushMpls {
        /// The frame's type then.
        kind: u16,
        /// With class, the bit of the last one and time to live.
        label: u32,
        /// Tags in front of it.
        tags: u8,
    },
    /// The first label away.
    PopMpls {
        /// The frame's type then.
        kind: u16,
        /// Tags in front of it.
        tags: u8,
    },
    /// The queue of what leaves next.
    Queue(Option<u32>),
    /// Through a meter of this number: what is too much ends here.
    Meter(u32),
    /// Somebody is told.
    Tell(Arc<Told>),
    /// Some are noted for collectors.
    Sample(Sample),
    /// The packet passes connection tracking.
    Track(Arc<Track>),
    /// A copy of it begins again, in a table or with what was left to do, as what it is by now and
    /// with what tracking said of it. The number is who remembers's.
    Recirculate(u32, Arc<Frozen>),
    /// A copy does what follows, until the end of that; it goes on so many steps behind this one.
    Fork(usize),
    /// Here what a copy does ends.
    End,
}

/// What the control side is told.
#[derive(Clone, PartialEq, Debug)]
pub enum Told {
    /// Controllers get the packet.
    Packet {
        /// Bytes of it, at most.
        max_len: u16,
        /// Which controller.
        controller: u16,
        /// Why.
        reason: u8,
        /// The table of the flow that says so.
        table: u8,
        /// Its cookie.
        cookie: u64,
        /// What is known beside the packet.
        metadata: Match,
    },
    /// A flow was learned, if there are less than so many of its cookie (0: however many).
    Learned(FlowMod, u32),
    /// A connection ends.
    Ended {
        /// Table, priority and match of the flow that it came by.
        flow: (u8, u16, Match),
        /// The idle timeout of that is this at most; 0: as it was.
        idle: u16,
        /// The same of its hard timeout.
        hard: u16,
    },
}

/// See the module. What each packet needs stands first: by the same line of cache as the counter of
/// those who hold it.
#[derive(Debug)]
#[repr(C)]
pub struct Verdict {
    /// What is done, where that has this form.
    pub rewrite: Option<Rewrite>,
    /// What is done.
    pub steps: Box<[Step]>,
    /// Who counts its packets.
    pub counters: Box<[Arc<Counters>]>,
    /// The bits of a packet that decided.
    pub mask: Key,
    /// Some action could not be done: what came before it was.
    pub is_cut: bool,
}

/// What becomes of a packet, as far as it is said in a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Does {
    /// It leaves by a port, and that is all.
    Sends(PortNumber),
    /// Nothing is done with it.
    Nothing,
    /// Its verdict says what.
    More,
}

impl Verdict {
    /// The port, where all that is done is to send by one.
    pub fn sole_output(&self) -> Option<PortNumber> {
        match *self.steps {
            [Step::Output(port)] => Some(port),
            _ => None,
        }
    }
}
