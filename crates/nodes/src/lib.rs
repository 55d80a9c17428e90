//! The packet-processing nodes, one file each. This page is their table of contents.
//!
//! A new node is one new file and one line below: CONTRIBUTING.md walks through an example.

pub mod plumbing;

/// Declares the node modules and lists their specs.
macro_rules! nodes {
    ($($file:ident::$node:ident,)+) => {
        $(pub mod $file;)+

        /// Every node of the router.
        pub const ALL: &[graph::NodeSpec<plumbing::Setup>] =
            &[$(graph::spec::<$file::$node>(),)+];

        #[cfg(test)]
        const FILES: &[&str] = &[$(stringify!($file),)+];
    };
}

nodes! {
    port_rx::PortRx,
    inject::Inject,
    ethernet_input::EthernetInput,
    interface_input::InterfaceInput,
    mirror_input::MirrorInput,
    allow_input::AllowInput,
    acl_input::AclInput,
    urpf_input::UrpfInput,
    policer_input::PolicerInput,
    redirect_input::RedirectInput,
    interface_enter::InterfaceEnter,
    vlan_input::VlanInput,
    l2_xconnect::L2Xconnect,
    l2_learn::L2Learn,
    l2_forward::L2Forward,
    l2_arp::L2Arp,
    l2_nd::L2Nd,
    l2_flood::L2Flood,
    arp_input::ArpInput,
    ip4_input::Ip4Input,
    ip4_options::Ip4Options,
    ip4_lookup::Ip4Lookup,
    ip4_rewrite::Ip4Rewrite,
    ip4_fragment::Ip4Fragment,
    ip4_local::Ip4Local,
    icmp4_input::Icmp4Input,
    icmp4_echo::Icmp4Echo,
    icmp4_error::Icmp4Error,
    udp4_local::Udp4Local,
    tcp4_reset::Tcp4Reset,
    ip6_input::Ip6Input,
    ip6_hop_by_hop::Ip6HopByHop,
    ip6_lookup::Ip6Lookup,
    ip6_link::Ip6Link,
    ip6_rewrite::Ip6Rewrite,
    ip6_local::Ip6Local,
    icmp6_input::Icmp6Input,
    icmp6_echo::Icmp6Echo,
    icmp6_error::Icmp6Error,
    nd_input::NdInput,
    mld_input::MldInput,
    udp6_local::Udp6Local,
    tcp6_reset::Tcp6Reset,
    ip_resolve::IpResolve,
    ip_reassemble::IpReassemble,
    twin_output::TwinOutput,
    interface_output::InterfaceOutput,
    acl_output::AclOutput,
    policer_output::PolicerOutput,
    mirror_output::MirrorOutput,
    interface_leave::InterfaceLeave,
    vlan_output::VlanOutput,
    tunnel_encap::TunnelEncap,
    tunnel_decap::TunnelDecap,
    shape::Shape,
    port_tx::PortTx,
    drop::Drop,
}

#[cfg(test)]
pub mod contributing;

#[cfg(test)]
mod tests {
    #[test]
    fn a_node_is_named_after_its_file() {
        for (file, spec) in super::FILES.iter().zip(super::ALL) {
            assert_eq!(spec.name, file.replace('_', "-"));
        }
    }

    #[test]
    fn the_nodes_make_a_graph() {
        let layout = graph::Layout::new(super::ALL).unwrap();
        assert_eq!(layout.nodes.len(), super::ALL.len());
    }
}
