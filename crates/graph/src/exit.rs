//! Exits: the outcomes that a node can name for a packet, and where each leads.

/// An exit by number, as the engine's tables have it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ExitIndex(pub(crate) u8);

impl ExitIndex {
    /// The packet is the node's now: the engine forgets it (`PacketView::take`).
    pub const TAKEN: Self = Self(u8::MAX);
}

/// Where an exit leads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum To {
    /// To the node of this name, telling it a cause that both know (0 where there is none to tell).
    Node(&'static str, u16),
    /// To the node of this name, which tells the sender: the cause says what. Counted as a drop is,
    /// with this exit's name as the reason, for the packet goes no further.
    Answer(&'static str, u16),
    /// To the drop node, counted with this exit's name as the reason.
    Drop,
}

/// One exit as its node declares it.
#[derive(Clone, Copy, Debug)]
pub struct ExitSpec {
    /// Its name in the code; people see it as [`kebab`] writes it.
    pub name: &'static str,
    /// What it means, one sentence.
    pub about: &'static str,
    /// Where it leads.
    pub to: To,
    /// Of a drop or an answer: what whoever wants it otherwise can do.
    pub mend: &'static str,
}

/// The exits of one node; made by [`exits!`](crate::exits).
pub trait Exit: Copy + Into<ExitIndex> + Send + 'static {
    /// All of them, in the order of their numbers.
    const SPECS: &'static [ExitSpec];
}

/// The exits of a node that takes every packet it gets.
#[derive(Clone, Copy, Debug)]
pub enum NoExit {}

impl From<NoExit> for ExitIndex {
    fn from(never: NoExit) -> Self {
        match never {}
    }
}

impl Exit for NoExit {
    const SPECS: &'static [ExitSpec] = &[];
}

/// Declares a node's exits and where they lead. A drop, and an answer to the sender, say what can
/// be done about it, for `volley show errors`:
///
/// ```
/// graph::exits! {
///     /// What the node decides.
///     pub enum Exit {
///         /// Fit to be forwarded.
///         Forward => node "ip4-lookup",
///         /// RFC 1812 section 5.3.1: the time to live ran out.
///         Expired => answer "icmp4-error" "Nothing: traceroute asks so." cause 11,
///         /// RFC 1812 section 5.2.2: the header checksum is wrong.
///         BadChecksum => drop "Look at the error counters of the links on the way.",
///     }
/// }
/// ```
#[macro_export]
macro_rules! exits {
    (
        $(#[$meta:meta])*
        $vis:vis enum $name:ident {
            $($(#[doc = $about:literal])+ $exit:ident => $kind:ident $($to:literal)* $(cause $cause:expr)?,)+
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(u8)]
        $vis enum $name { $($(#[doc = $about])+ $exit,)+ }

        impl From<$name> for $crate::ExitIndex {
            #[inline(always)]
            fn from(exit: $name) -> Self {
                $crate::exit_index(exit as u8)
            }
        }

        impl $crate::Exit for $name {
            const SPECS: &'static [$crate::ExitSpec] = &[$($crate::ExitSpec {
                name: stringify!($exit),
                about: concat!($($about),+),
                to: $crate::exits!(@to $kind $($to)* $(, $cause)?),
                mend: $crate::exits!(@mend $kind $($to)*),
            },)+];
        }
    };
    (@to node $to:literal) => { $crate::To::Node($to, 0) };
    (@to node $to:literal, $cause:expr) => { $crate::To::Node($to, $cause) };
    (@to answer $to:literal $mend:literal, $cause:expr) => { $crate::To::Answer($to, $cause) };
    (@to drop $mend:literal) => { $crate::To::Drop };
    (@mend node $to:literal) => { "" };
    (@mend answer $to:literal $mend:literal) => { $mend };
    (@mend drop $mend:literal) => { $mend };
}

/// For [`exits!`](crate::exits) alone: the number of a declared exit.
#[doc(hidden)]
#[inline(always)]
pub const fn exit_index(number: u8) -> ExitIndex {
    ExitIndex(number)
}

/// `BadChecksum` as people read it: `bad-checksum`.
pub fn kebab(name: &str) -> String {
    let mut text = String::with_capacity(name.len() + 4);
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !text.is_empty() {
            text.push('-');
        }
        text.push(letter.to_ascii_lowercase());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    crate::exits! {
        /// Of a test.
        enum Sample {
            /// Goes on.
            Forward => node "next",
            /// Told why.
            TooOld => answer "error" "Be younger." cause 11,
            /// Told something.
            Odd => node "error" cause 12,
            /// Not wanted.
            BadChecksum => drop "Do without.",
        }
    }

    #[test]
    fn declared_exits_keep_their_order_names_and_targets() {
        let to: Vec<_> = Sample::SPECS.iter().map(|spec| spec.to).collect();
        assert_eq!(
            to,
            [To::Node("next", 0), To::Answer("error", 11), To::Node("error", 12), To::Drop]
        );
        assert_eq!(kebab(Sample::SPECS[Sample::BadChecksum as usize].name), "bad-checksum");
        assert_eq!(ExitIndex::from(Sample::TooOld), ExitIndex(1));
        assert_eq!(Sample::SPECS[0].about.trim(), "Goes on.");
        let mends: Vec<_> = Sample::SPECS.iter().map(|spec| spec.mend).collect();
        assert_eq!(mends, ["", "Be younger.", "", "Do without."]);
        assert_eq!(
            [Sample::Forward, Sample::Odd].map(ExitIndex::from),
            [ExitIndex(0), ExitIndex(2)]
        );
    }
}
