//! Actions: what is done to packets of a flow. Each is one file: its bytes in every version, and
//! what it does.
//!
//! ```text
//!  type 2 │ length 2 │ …                        of the standard
//!  0xffff │ length 2 │ who 4 │ subtype 2 │ …    of an experimenter
//! ```
//! Instructions of later versions are actions here as well, in the order in which they take place:
//! that is how 1.0 sees them.

mod instruction;
mod list;

pub use instruction::{decode_program, encode_program};
pub use list::{Program, decode_list, encode_list};

use crate::bytes::{Put, Reader, Writer};
use crate::fault::Fault;
use crate::machine::Machine;
use crate::version::Version;
use crate::{NICIRA, ONF};

/// What an action is called on the wire.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Code {
    /// By 1.0.
    Old(u16),
    /// By later versions.
    New(u16),
    /// By Open vSwitch, in all of them.
    Nicira(u16),
}

impl Code {
    /// Whether a version has it: what the standard took in has no name of Open vSwitch's since, and
    /// this one was not there before.
    fn is_of(self, version: Version) -> bool {
        match self {
            Self::Nicira(4 | 18 | 23..=26 | 30 | 31 | 40) => version == Version::V10,
            Self::Nicira(6 | 7 | 33) => version < Version::V15,
            _ => true,
        }
    }

    fn unknown(self) -> Fault {
        match self {
            Self::Nicira(_) => Fault::BadActionSubtype,
            _ => Fault::BadActionType,
        }
    }
}

/// What every action has.
pub(crate) trait Kind: Sized {
    /// What it is called.
    const CODES: &'static [Code];
    /// Reads what is behind the header.
    fn decode(code: Code, body: &mut Reader<'_>, version: Version) -> Result<Self, Fault>;
    /// Writes it whole, as far as the version has it.
    fn encode(&self, version: Version, out: &mut Writer);
    /// Does it.
    fn run(&self, machine: &mut dyn Machine);
    /// What is wrong with it by itself.
    fn check(&self) -> Result<(), Fault> {
        Ok(())
    }
}

macro_rules! actions {
    ($($file:ident::$name:ident,)+) => {
        actions!(@modules [] $($file)+);
        $(pub use $file::$name;)+

        /// An action.
        #[derive(Clone, PartialEq, Eq, Hash, Debug)]
        pub enum Action { $( #[doc = stringify!($name)] $name($name), )+ }

        $(impl From<$name> for Action {
            fn from(it: $name) -> Self { Self::$name(it) }
        })+

        impl Action {
            /// Reads what is behind an action's header.
            fn decode_body(code: Code, body: &mut Reader<'_>, version: Version) -> Result<Self, Fault> {
                if !code.is_of(version) {
                    return Err(code.unknown());
                }
                $( if $name::CODES.contains(&code) {
                    let it = $name::decode(code, body, version)?;
                    it.check()?;
                    return Ok(Self::$name(it));
                } )+
                Err(code.unknown())
            }

            /// Writes it as a version has it; nothing if it has not.
            pub fn encode(&self, version: Version, out: &mut Writer) {
                match self { $( Self::$name(it) => it.encode(version, out), )+ }
            }

            /// Does it.
            pub fn run(&self, machine: &mut dyn Machine) {
                match self { $( Self::$name(it) => it.run(machine), )+ }
            }
        }
    };
    (@modules [$($had:ident)*]) => {};
    (@modules [$($had:ident)*] $file:ident $($rest:ident)*) => {
        actions!(@one [$($had)*] $file);
        actions!(@modules [$($had)* $file] $($rest)*);
    };
    (@one [$($had:ident)*] $file:ident) => { pub mod $file; };
}

actions! {
    output::Output,
    output_reg::OutputReg,
    controller::Controller,
    enqueue::Enqueue,
    set_queue::SetQueue,
    group::Group,
    set_field::SetField,
    move_field::MoveField,
    set_vlan::SetVlan,
    set_transport::SetTransport,
    push_vlan::PushVlan,
    pop_vlan::PopVlan,
    mpls::Mpls,
    dec_ttl::DecTtl,
    set_tunnel::SetTunnel,
    resubmit::Resubmit,
    learn::Learn,
    conjunction::Conjunction,
    ct::Ct,
    ct_clear::CtClear,
    translate::Translate,
    note::Note,
    sample::Sample,
    stack::Stack,
    exit::Exit,
    clone_actions::CloneActions,
    fin_timeout::FinTimeout,
    meter::Meter,
    clear_actions::ClearActions,
    write_actions::WriteActions,
    write_metadata::WriteMetadata,
    goto_table::GotoTable,
}

impl Action {
    /// Reads one; nothing where nothing is left.
    pub(crate) fn decode(reader: &mut Reader<'_>, version: Version) -> Result<Option<Self>, Fault> {
        if reader.is_empty() {
            return Ok(None);
        }
        let mut head = reader.or(Fault::BadActionLength);
        let (kind, length) = (head.u16()?, usize::from(head.u16()?));
        if length < 8 || length % 8 != 0 {
            return Err(Fault::BadActionLength);
        }
        let mut body = reader.or(Fault::BadActionLength).part(length)?;
        reader.skip(length)?;
        body.skip(4)?;
        let code = match kind {
            u16::MAX => {
                let vendor = body.u32()?;
                if length < 16 && vendor != ONF {
                    return Err(Fault::BadActionLength);
                }
                let subtype = body.u16()?;
                match vendor {
                    NICIRA => Code::Nicira(subtype),
                    // Copying fields has that number of the foundation in 1.3 and 1.4.
                    ONF if subtype == 3200 => Code::New(28),
                    ONF => return Err(Fault::BadActionSubtype),
                    _ => return Err(Fault::BadActionVendor),
                }
            }
            kind if version == Version::V10 => Code::Old(kind),
            kind => Code::New(kind),
        };
        if kind == u16::MAX && matches!(code, Code::New(_)) {
            body.skip(2)?;
            return Self::decode_body(Code::New(28), &mut body, version).map(Some);
        }
        Self::decode_body(code, &mut body, version).map(Some)
    }
}

/// Writes an action of the standard.
pub(crate) fn standard(kind: u16, out: &mut Writer, body: impl FnOnce(&mut Writer)) {
    let start = out.len();
    out.u16(kind);
    out.u16(0);
    body(out);
    out.pad8(start);
    out.set_length(start, 2);
}

/// Writes an action of Open vSwitch's.
pub(crate) fn nicira(subtype: u16, out: &mut Writer, body: impl FnOnce(&mut Writer)) {
    standard(u16::MAX, out, |out| {
        out.u32(NICIRA);
        out.u16(subtype);
        body(out);
    });
}

#[cfg(test)]
mod tests;
