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
    ethernet_input::EthernetInput,
    l2_xconnect::L2Xconnect,
    ip4_input::Ip4Input,
    ip4_lookup::Ip4Lookup,
    ip4_rewrite::Ip4Rewrite,
    interface_output::InterfaceOutput,
    port_tx::PortTx,
    drop::Drop,
}

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
