//! All parts of the router: its features, one file each, in the order in which they are called.

use crate::core::Core;
use crate::part::{Hears, Makes, Part, Work};
use control::config::objects::port::{Port, PortName};
use control::config::{Change, Delta};
use control::engine::ApplyError;
use nodes::tables::Punt;

/// Makes changes of ports, which all parts follow.
pub(crate) type ChangePort =
    fn(&mut Parts, &mut Core, &Delta<PortName, Port>) -> Result<(), ApplyError>;

macro_rules! parts {
    (
        elsewhere: [$($fixed:ident)*],
        $( $part:ident: $kind:ident, makes: [$($change:ident)*], hears: [$($punt:ident)*], )+
    ) => {
        $( pub(crate) mod $part; )+

        /// Every part, by its type.
        #[derive(Default)]
        pub(crate) struct Parts { $( pub(crate) $part: $part::$kind, )+ }

        impl Parts {
            const COUNT: usize = [$( stringify!($part) ),+].len();

            /// Every part, in order.
            pub(crate) fn all(&self) -> [&dyn Part; Self::COUNT] {
                [$( &self.$part ),+]
            }

            /// Every part, in order, to be changed.
            pub(crate) fn all_mut(&mut self) -> [&mut dyn Part; Self::COUNT] {
                [$( &mut self.$part ),+]
            }

            /// What of a change takes long, if anything does.
            pub(crate) fn prepare<'a>(
                &self,
                core: &Core,
                change: &'a Change,
            ) -> Option<Work<'a, Self>> {
                match change {
                    Change::Ports(_) => None,
                    $( Change::$fixed(_) => None, )*
                    $( $( Change::$change(change) => {
                        let work = self.$part.prepare(core, &**change)?;
                        Some(Box::new(move || {
                            let take_in = work();
                            Box::new(move |parts: &mut Self| take_in(&mut parts.$part))
                        }))
                    } )* )+
                }
            }

            /// Has the part whose it is make one change of the configuration.
            pub(crate) fn make(
                &mut self,
                core: &mut Core,
                change: &Change,
                port: ChangePort,
            ) -> Result<(), ApplyError> {
                match change {
                    Change::Ports(delta) => port(self, core, delta),
                    $( Change::$fixed(_) => Ok(()), )*
                    $( $( Change::$change(change) => self.$part.make(core, &**change), )* )+
                }
            }

            /// Tells the part whose it is what a worker said.
            pub(crate) fn hear(&mut self, core: &mut Core, punt: Punt) {
                match punt {
                    $( $( Punt::$punt(punt) => self.$part.hear(core, punt), )* )+
                }
            }
        }
    };
}

parts! {
    // Workers and memory are made once, at the start; API, page and log are the control side's.
    elsewhere: [Workers Memory Api Files Process State Log Web],
    // What a port stands on.
    vlans: Vlans, makes: [], hears: [],
    tunnels: Tunnels, makes: [], hears: [],
    bonds: Bonds, makes: [], hears: [Lacp],
    // What is opened beside it, and closed after all else.
    twins: Twinning, makes: [Twins], hears: [],
    qos: Shaping, makes: [], hears: [],
    rx_modes: RxModes, makes: [], hears: [],
    // Where its frames go.
    xconnects: Xconnects, makes: [Xconnects], hears: [],
    bridges: Bridges, makes: [Bridges Stations], hears: [Moved Binding GroupsSaid FlowTold Bpdu],
    remotes: Remotes, makes: [], hears: [RemoteHeard],
    vrfs: Vrfs, makes: [Vrfs], hears: [],
    // Addresses and what they bring: routes come last, of addresses that are known to be ours.
    unnumbered: Unnumbered, makes: [], hears: [],
    proxy_arp: ProxyArps, makes: [], hears: [],
    proxy_nd: ProxyNds, makes: [], hears: [],
    directed_broadcasts: Broadcasting, makes: [], hears: [],
    dad: DuplicateDetection, makes: [], hears: [Nd],
    advertising: Advertising, makes: [], hears: [RouterWanted],
    mld: Mld, makes: [], hears: [ListenersWanted],
    addresses: Addresses, makes: [], hears: [],
    neighbors: StaticNeighbors, makes: [Arp Neighbors], hears: [Arp Unresolved],
    routes: StaticRoutes, makes: [Routes], hears: [],
    fpm: Feed, makes: [Fpm], hears: [],
    flows: FlowFields, makes: [Flows], hears: [],
    next_hops: NextHopCounting, makes: [NextHops], hears: [],
    lisp: Lisp, makes: [Lisp LispServers LispSites LispEids LispMaps], hears: [EidWanted LispSaid],
    // Features that take a turn at frames.
    acls: AccessLists, makes: [Acls], hears: [],
    urpf: SourceChecks, makes: [], hears: [],
    allow: Allowing, makes: [], hears: [],
    policers: Policers, makes: [Policers], hears: [],
    nat: Translating, makes: [Connections Nats], hears: [],
    mirrors: Mirroring, makes: [Mirrors], hears: [],
    exports: Exporting, makes: [Exports], hears: [],
    whole_frames: WholeFrames, makes: [], hears: [],
    redirects: Redirecting, makes: [], hears: [BetterWay BetterWay6],
    // What is for ourselves.
    icmp: IcmpRates, makes: [Icmp], hears: [],
    ip4: Ip4Rules, makes: [Ip4], hears: [],
    reassembly: Reassembling, makes: [], hears: [Piece],
    pings: Pings, makes: [], hears: [Echo],
    // What is looked at.
    tunnel_mtu: TunnelMtu, makes: [], hears: [],
    observing: Observing, makes: [], hears: [],
    // What others have made of a turn is written down.
    keeping: Keeping, makes: [], hears: [],
    heartbeats: Heartbeats, makes: [], hears: [],
    refused_calls: RefusedCalls, makes: [], hears: [],
}
