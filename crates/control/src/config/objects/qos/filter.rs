//! The fields of a filter: declared once, read, written and explained from that.

use sched::{ClassId, Filter, Prefix};

use super::units::{PortRange, Protocol};
use crate::config::info::Info;
use crate::config::read::TableReader;
use crate::config::write::Fields;

macro_rules! filter_fields {
    ($( #[doc = $about:literal] $field:ident: $type:ty as $example:literal, )+) => {
        /// Reads one.
        pub(super) fn read(table: &mut TableReader<'_>) -> Option<Filter> {
            let class: Option<ClassId> = table.required("class");
            let filter = Filter {
                $( $field: table.optional::<$type>(stringify!($field)).map(Into::into), )+
                ..Filter::to(class.unwrap_or(ClassId::NONE))
            };
            class.map(|_| filter)
        }

        /// Writes one.
        pub(super) fn write(filter: &Filter) -> Fields {
            let fields = Fields::new().with("class", &filter.class);
            $( let fields = fields.maybe(stringify!($field), &filter.$field.clone().map(<$type>::from)); )+
            fields
        }

        /// What is known of the fields behind the class.
        pub(super) fn infos() -> Vec<Info> {
            vec![$(
                Info::new(stringify!($field), &[$about], $example)
                    .taking::<$type>(|words, _| Err(words.unexpected(&[]))),
            )+]
        }
    };
}

filter_fields! {
    /// Code point of differentiated services, from 0 to 63
    dscp: u8 as "46",
    /// Priority, from 0 to 15: what Linux makes of the type of service
    priority: u8 as "6",
    /// Priority of the VLAN tag, from 0 to 7
    vlan_pcp: u8 as "5",
    /// Where it comes from
    source: Prefix as "10.0.0.0/8",
    /// Where it goes
    destination: Prefix as "192.0.2.0/24",
    /// The IP protocol
    protocol: Protocol as "udp",
    /// The port that it comes from, or a range
    source_port: PortRange as "443",
    /// The port that it goes to, or a range
    destination_port: PortRange as "5060-5062",
    /// The bridge that it was forwarded in
    bridge: String as "lan",
    /// The VRF that it was routed in
    vrf: String as "red",
    /// The queue that flows of a bridge chose for it
    queue: u32 as "2",
    /// What this filter takes leaves with this code point
    set_dscp: u8 as "46",
    /// The flow's hash modulo this is `hash_value`
    hash_modulus: u32 as "4",
    /// See `hash_modulus`
    hash_value: u32 as "1",
}
