//! Interfaces by DPDK's names.

use super::*;

#[test]
fn devices_and_sockets_are_ports_and_what_cannot_be_is_told() {
    let with = |kind: &str, key: &str, value: &str| json!({ "type": kind, "options": ["map", [[key, value]]] });
    let all = rows(&[
        ("d1", json!({}), with("dpdk", "dpdk-devargs", "0000:03:00.0")),
        ("d2", json!({}), with("dpdk", "dpdk-devargs", "net_null0")),
        ("vm1", json!({}), json!({ "type": "dpdkvhostuser", "mtu_request": 9000 })),
        ("vm2", json!({}), with("dpdkvhostuserclient", "vhost-server-path", "/run/vm2")),
        ("vm3", json!({}), json!({ "type": "dpdkvhostuserclient" })),
    ]);
    let wanted = asked(&all);
    let ports = wanted.ports.iter().map(|(name, it)| (name.as_str(), it.add.as_str()));
    assert_eq!(
        ports.collect::<Vec<_>>(),
        [
            ("d1", "pci address 0000:03:00.0"),
            ("vm1", "vhost socket /run/ovs/vm1 mtu 9000"),
            ("vm2", "vhost socket /run/vm2 role client"),
        ]
    );
    assert!(wanted.faults["i-d2"].contains("`net_null0` is no device that is done here"));
    assert_eq!(wanted.faults["i-vm3"], "'vm3' is missing 'options:vhost-server-path'");
}
