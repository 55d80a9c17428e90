//! The fields of records: of IPFIX and NetFlow 9 by templates that tell them (RFC 7011 section 3.4,
//! RFC 3954 section 5.2). Both number them alike, but for times.
//!
//! ```text
//!  a field: its number, its octets, what of a flow it is
//! ```

use crate::cache::Ended;
use crate::flow::Hosts;
use crate::out::Out;

/// A field of a record.
pub(crate) struct Field {
    number: u16,
    octets: u16,
    write: fn(&Ended, u64, &mut Out),
}

/// Which fields there are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Style {
    /// IPFIX.
    Ipfix,
    /// IPFIX with the observation point.
    Observed,
    /// NetFlow 9.
    NetFlow,
}

impl Style {
    pub(crate) fn is_ipfix(self) -> bool {
        self != Self::NetFlow
    }
}

/// What a template is of.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Shape {
    V4,
    V6,
    Other,
}

impl Shape {
    pub(crate) const ALL: [Self; 3] = [Self::V4, Self::V6, Self::Other];

    pub(crate) fn of(ended: &Ended) -> Self {
        match ended.key.hosts {
            Hosts::V4(..) => Self::V4,
            Hosts::V6(..) => Self::V6,
            Hosts::Other(_) => Self::Other,
        }
    }

    /// Its template's number.
    pub(crate) fn id(self) -> u16 {
        256 + self as u16
    }

    /// What only it has, in two lists.
    fn own(self) -> (&'static [Field], &'static [Field]) {
        match self {
            Self::V4 => (V4, IP),
            Self::V6 => (V6, IP),
            Self::Other => (OTHER, &[]),
        }
    }

    pub(crate) fn fields(self, style: Style) -> impl Iterator<Item = &'static Field> {
        let times = if style.is_ipfix() { IPFIX } else { NETFLOW };
        let point = if style == Style::Observed { POINT } else { &[] };
        let (first, then) = self.own();
        first.iter().chain(then).chain(COMMON).chain(point).chain(times)
    }

    /// Octets of a record.
    pub(crate) fn octets(self, style: Style) -> usize {
        self.fields(style).map(|field| usize::from(field.octets)).sum()
    }

    /// Its template: number, count, fields.
    pub(crate) fn write_template(self, style: Style, out: &mut Out) {
        out.u16(self.id());
        out.u16(self.fields(style).count() as u16);
        for field in self.fields(style) {
            out.u16(field.number);
            out.u16(field.octets);
        }
    }

    /// A record; `began_ms` is when the exporter did, since 1970.
    pub(crate) fn write(self, ended: &Ended, began_ms: u64, style: Style, out: &mut Out) {
        self.fields(style).for_each(|field| (field.write)(ended, began_ms, out));
    }
}

const fn field(number: u16, octets: u16, write: fn(&Ended, u64, &mut Out)) -> Field {
    Field { number, octets, write }
}

const V4: &[Field] = &[
    field(8, 4, |it, _, out| {
        if let Hosts::V4(source, _) = it.key.hosts {
            out.bytes(&source.octets());
        }
    }),
    field(12, 4, |it, _, out| {
        if let Hosts::V4(_, destination) = it.key.hosts {
            out.bytes(&destination.octets());
        }
    }),
];

const V6: &[Field] = &[
    field(27, 16, |it, _, out| {
        if let Hosts::V6(source, _) = it.key.hosts {
            out.bytes(&source.octets());
        }
    }),
    field(28, 16, |it, _, out| {
        if let Hosts::V6(_, destination) = it.key.hosts {
            out.bytes(&destination.octets());
        }
    }),
];

/// Of both families.
const IP: &[Field] = &[
    field(4, 1, |it, _, out| out.u8(it.key.protocol)),
    field(5, 1, |it, _, out| out.u8(it.key.class)),
    field(7, 2, |it, _, out| out.u16(it.key.source_port)),
    field(11, 2, |it, _, out| out.u16(it.key.destination_port)),
    field(6, 1, |it, _, out| out.u8(it.flow.tcp_flags)),
];

/// Of what is not IP: stations and the ethertype.
const OTHER: &[Field] = &[
    field(56, 6, |it, _, out| out.bytes(&it.key.stations.0)),
    field(80, 6, |it, _, out| out.bytes(&it.key.stations.1)),
    field(256, 2, |it, _, out| {
        if let Hosts::Other(ethertype) = it.key.hosts {
            out.u16(ethertype);
        }
    }),
];

const COMMON: &[Field] = &[
    field(10, 4, |it, _, out| out.u32(it.key.place.input)),
    field(14, 4, |it, _, out| out.u32(it.key.place.output)),
    field(61, 1, |it, _, out| out.u8(it.key.place.is_sent.into())),
    field(58, 2, |it, _, out| out.u16(it.key.vlan)),
    field(1, 8, |it, _, out| out.u64(it.flow.bytes)),
    field(2, 8, |it, _, out| out.u64(it.flow.packets)),
];

/// Where a flow of a switch has it seen.
const POINT: &[Field] = &[field(138, 4, |it, _, out| out.u32(it.key.observed.1))];

/// Times since 1970, and why it is told.
const IPFIX: &[Field] = &[
    field(152, 8, |it, began_ms, out| out.u64(began_ms + it.flow.first_ms)),
    field(153, 8, |it, began_ms, out| out.u64(began_ms + it.flow.last_ms)),
    field(136, 1, |it, _, out| out.u8(it.end as u8)),
];

/// Times since the exporter began.
const NETFLOW: &[Field] = &[
    field(22, 4, |it, _, out| out.u32(it.flow.first_ms as u32)),
    field(21, 4, |it, _, out| out.u32(it.flow.last_ms as u32)),
];
