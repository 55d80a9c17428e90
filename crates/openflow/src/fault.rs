//! What can be wrong with a message, with the type and code that each version has for it.

use crate::version::Version;
use crate::{NICIRA, bytes::Put};

/// How a version tells of a fault.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Number {
    /// A type and a code of the standard.
    Standard(u16, u16),
    /// A type and a code, or a code alone from 1.2 on, of Open vSwitch's own.
    Nicira(u16, u16),
    /// A type and a code of Open vSwitch's own in all versions.
    Old(u16, u16),
}

macro_rules! faults {
    ($($name:ident $text:literal: $old:ident($ot:literal, $oc:literal), $new:ident($nt:literal, $nc:literal);)+) => {
        /// A fault of a message, or of what it asks for.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, thiserror::Error)]
        pub enum Fault { $( #[doc = $text] #[error($text)] $name, )+ }

        impl Fault {
            /// Every fault there is.
            pub const ALL: &'static [Self] = &[$(Self::$name,)+];

            /// Its type and code: those of OpenFlow 1.0, and those of all later versions here.
            pub fn number(self, version: Version) -> Number {
                match self { $(
                    Self::$name if version == Version::V10 => Number::$old($ot, $oc),
                    Self::$name => Number::$new($nt, $nc),
                )+ }
            }
        }
    };
}

faults! {
    HelloIncompatible "no version in common": Standard(0, 0), Standard(0, 0);
    BadVersion "a message of another version": Standard(1, 0), Standard(1, 0);
    BadType "an unknown type of message": Standard(1, 1), Standard(1, 1);
    BadStat "an unknown type of multipart request": Standard(1, 2), Standard(1, 2);
    BadVendor "an unknown experimenter": Standard(1, 3), Standard(1, 3);
    BadSubtype "an unknown message of an experimenter": Standard(1, 4), Standard(1, 4);
    NotPermitted "not permitted": Standard(1, 5), Standard(1, 5);
    BadLength "a message of the wrong length": Standard(1, 6), Standard(1, 6);
    BufferUnknown "a buffer that does not exist": Standard(1, 8), Standard(1, 8);
    BadTableId "a table that does not exist": Nicira(1, 512), Standard(1, 9);
    IsSlave "a controller that may only listen": Standard(1, 5), Standard(1, 10);
    BadPort "a port that does not exist": Nicira(1, 514), Standard(1, 11);
    BadPacket "a packet that is none": Standard(1, 6), Standard(1, 12);
    BufferOverflow "too many parts of one request": Standard(1, 6), Standard(1, 13);
    MustBeZero "a field that must be zero is not": Nicira(1, 515), Nicira(1, 4);
    BadActionType "an unknown action": Standard(2, 0), Standard(2, 0);
    BadActionLength "an action of the wrong length": Standard(2, 1), Standard(2, 1);
    BadActionVendor "an action of an unknown experimenter": Standard(2, 2), Standard(2, 2);
    BadActionSubtype "an unknown action of an experimenter": Standard(2, 3), Standard(2, 3);
    BadOutPort "a port that nothing can be sent to": Standard(2, 4), Standard(2, 4);
    BadArgument "an argument that the action does not take": Standard(2, 5), Standard(2, 5);
    TooManyActions "more actions than there may be": Standard(2, 7), Standard(2, 7);
    BadQueue "a queue that does not exist": Standard(2, 8), Standard(2, 8);
    BadOutGroup "a group that does not exist": Standard(2, 9), Standard(2, 9);
    MatchInconsistent "an action for packets that the match does not have": Nicira(1, 522), Standard(2, 10);
    UnsupportedOrder "actions in an order that cannot be": Standard(2, 7), Standard(2, 11);
    BadTag "a tag of an unknown kind": Standard(2, 5), Standard(2, 12);
    BadSetType "a field that cannot be set": Nicira(1, 523), Standard(2, 13);
    BadSetLength "bits that the field does not have": Nicira(1, 524), Standard(2, 14);
    BadSetArgument "a value that the field does not take": Nicira(1, 525), Standard(2, 15);
    ActionMustBeZero "an argument that must be zero is not": Nicira(2, 256), Nicira(2, 11);
    BadConjunction "a conjunction that is none": Nicira(2, 526), Nicira(2, 15);
    UnknownInstruction "an unknown instruction": Nicira(2, 257), Standard(3, 0);
    UnsupportedInstruction "an instruction that is not supported": Nicira(2, 257), Standard(3, 1);
    BadInstructionTable "a table that cannot be gone to": Nicira(1, 512), Standard(3, 2);
    BadInstructionLength "an instruction of the wrong length": Standard(2, 1), Standard(3, 7);
    DuplicateInstruction "an instruction that is there twice": Standard(2, 0), Standard(3, 9);
    BadMatchType "an unknown kind of match": Nicira(1, 257), Standard(4, 0);
    BadMatchLength "a match of the wrong length": Nicira(1, 256), Standard(4, 1);
    BadWildcards "wildcards that cannot be": Nicira(1, 262), Standard(4, 5);
    BadField "an unknown field": Nicira(1, 257), Standard(4, 6);
    BadValue "a value that the field cannot have": Nicira(1, 258), Standard(4, 7);
    BadMask "a mask that the field cannot have": Nicira(1, 259), Standard(4, 8);
    BadPrerequisite "a field without what it stands on": Nicira(1, 260), Standard(4, 9);
    DuplicateField "a field that is there twice": Nicira(1, 261), Standard(4, 10);
    TableFull "no room for another flow": Standard(3, 0), Standard(5, 1);
    BadFlowTable "a flow for a table that does not exist": Nicira(3, 257), Standard(5, 2);
    Overlap "a flow that overlaps with another": Standard(3, 1), Standard(5, 3);
    BadCommand "an unknown command": Standard(3, 4), Standard(5, 6);
    BadFlags "unknown flags of a flow": Nicira(3, 258), Standard(5, 7);
    GroupExists "a group that is there": Standard(2, 0), Standard(6, 0);
    InvalidGroup "a group of a number that cannot be": Standard(2, 0), Standard(6, 1);
    OutOfGroups "no room for another group": Standard(2, 0), Standard(6, 3);
    OutOfBuckets "more buckets than there may be": Standard(2, 0), Standard(6, 4);
    GroupLoop "a group that leads to itself": Standard(2, 0), Standard(6, 7);
    UnknownGroup "a group that is not there": Standard(2, 0), Standard(6, 8);
    BadGroupType "an unknown type of group": Standard(2, 0), Standard(6, 10);
    BadGroupCommand "an unknown command for groups": Standard(2, 0), Standard(6, 11);
    BadBucket "a bucket that cannot be": Standard(2, 0), Standard(6, 12);
    BadWatch "a port or group that cannot be watched": Standard(2, 0), Standard(6, 13);
    UnknownBucket "a bucket that is not there": Standard(2, 0), Standard(6, 15);
    BucketExists "a bucket that is there": Standard(2, 0), Standard(6, 16);
    PortModBadPort "a change of a port that does not exist": Standard(4, 0), Standard(7, 0);
    PortModBadAddress "a change of a port with another address": Standard(4, 1), Standard(7, 1);
    PortModBadConfig "a change that the port does not take": Standard(4, 0), Standard(7, 2);
    TableModBadTable "a change of a table that does not exist": Nicira(1, 512), Standard(8, 0);
    TableModBadConfig "a change that the table does not take": Standard(1, 1), Standard(8, 1);
    BadQueuePort "queues of a port that does not exist": Standard(5, 0), Standard(9, 0);
    UnknownQueue "a queue that is not there": Standard(5, 1), Standard(9, 1);
    BadConfigFlags "settings that the switch does not take": Standard(1, 6), Standard(10, 0);
    StaleRole "a role of an older generation": Standard(1, 6), Standard(11, 0);
    BadRole "an unknown role": Nicira(1, 513), Standard(11, 2);
    MeterExists "a meter that is there": Standard(1, 1), Standard(12, 1);
    InvalidMeter "a meter of a number that cannot be": Standard(1, 1), Standard(12, 2);
    UnknownMeter "a meter that is not there": Standard(1, 1), Standard(12, 3);
    BadMeterCommand "an unknown command for meters": Standard(1, 1), Standard(12, 4);
    BadMeterFlags "flags that a meter does not take": Standard(1, 1), Standard(12, 5);
    BadRate "a rate that a meter does not take": Standard(1, 1), Standard(12, 6);
    BadBand "a band of an unknown kind": Standard(1, 1), Standard(12, 8);
    OutOfMeters "no room for another meter": Standard(1, 1), Standard(12, 10);
    OutOfBands "more bands than there may be": Standard(1, 1), Standard(12, 11);
    BadPropertyLength "a property of the wrong length": Standard(1, 6), Standard(14, 0);
    BadPropertyType "an unknown property": Standard(1, 1), Standard(14, 1);
    BadPropertyValue "a property that cannot be so": Standard(1, 1), Standard(14, 2);
    MonitorExists "a monitor that is there": Old(1, 517), Old(1, 517);
    MonitorBadFlags "flags that a monitor does not take": Old(1, 518), Old(1, 518);
    MonitorUnknown "a monitor that is not there": Old(1, 519), Old(1, 519);
    BundleUnknown "something unknown about a bundle": Standard(1, 1), Standard(17, 0);
    BundleBadId "a bundle that is not there": Standard(1, 1), Standard(17, 2);
    BundleExists "a bundle that is there": Standard(1, 1), Standard(17, 3);
    BundleClosed "a bundle that is closed": Standard(1, 1), Standard(17, 4);
    OutOfBundles "no room for another bundle": Standard(1, 1), Standard(17, 5);
    BundleBadType "an unknown command for bundles": Standard(1, 1), Standard(17, 6);
    BundleBadFlags "flags that a bundle does not take": Standard(1, 1), Standard(17, 7);
    BundleBadMessage "a message of the wrong length in a bundle": Standard(1, 1), Standard(17, 8);
    BundleBadXid "a message of another number in a bundle": Standard(1, 1), Standard(17, 9);
    BundleUnsupported "a message that no bundle takes": Standard(1, 1), Standard(17, 10);
    BundleTooMany "more messages than a bundle takes": Standard(1, 1), Standard(17, 12);
}

impl Fault {
    /// The body of an error message about `request`, of which it quotes the first 64 bytes.
    pub(crate) fn body(self, version: Version, request: &[u8]) -> Vec<u8> {
        let mut body = Vec::new();
        match self.number(version) {
            Number::Standard(kind, code) => {
                body.u16(kind);
                body.u16(code);
            }
            Number::Nicira(kind, code) | Number::Old(kind, code)
                if version == Version::V10 || matches!(self.number(version), Number::Old(..)) =>
            {
                // NXET_VENDOR, NXVC_VENDOR_ERROR, and the pair behind the vendor's number.
                body.u16(0xb0c2);
                body.u16(0);
                body.u32(NICIRA);
                body.u16(kind);
                body.u16(code);
            }
            Number::Nicira(_, code) | Number::Old(_, code) => {
                body.u16(u16::MAX);
                body.u16(code);
                body.u32(NICIRA);
            }
        }
        body.extend(&request[..request.len().min(64)]);
        body
    }
}
