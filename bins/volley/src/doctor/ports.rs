//! Whether the devices of ports are there, and whether the kernel leaves them to the router.

use std::fs::Metadata;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use control::config::Config;
use control::config::objects::port::Port;
use control::config::objects::port_kind::{Device, Pcap, Role};

use super::machine::Machine;
use super::{Finding, better, fine, wrong};

/// A device that is up (netdevice(7)).
const IFF_UP: u64 = 1;
/// One that leads to this machine alone.
const IFF_LOOPBACK: u64 = 8;
const CARDS: &str = "/sys/bus/pci/devices";

pub(super) fn check(machine: &Machine, config: &Config) -> Vec<Finding> {
    let of_port = |(name, port): (_, &Port)| {
        let name = format!("port {name}");
        match port.kind.device() {
            Some(Device::AfPacket(kind)) => device(machine, &name, kind.device.as_str(), port.mtu),
            Some(Device::AfXdp(kind)) => device(machine, &name, kind.device.as_str(), port.mtu),
            Some(Device::Pci(kind)) => card(machine, &name, kind.address.as_str()),
            Some(Device::Tap(kind)) => tap(machine, &name, kind.device.as_str()),
            Some(Device::Memif(kind)) => socket(machine, &name, &kind.socket),
            // The machine makes it, sooner or later.
            Some(Device::Vhost(kind)) if kind.role == Role::Client => Vec::new(),
            Some(Device::Vhost(kind)) => socket(machine, &name, &kind.socket),
            Some(Device::Pcap(kind)) => files(machine, &name, kind),
            // What others make, and ports on other ports.
            Some(Device::VirtioUser(_) | Device::Memory(_)) | None => Vec::new(),
        }
    };
    let found: Vec<Finding> = config.ports.iter().flat_map(of_port).collect();
    match found.is_empty() && config.ports.iter().next().is_none() {
        true => vec![better("ports: there are none", "volley port add --help tells how")],
        false => found,
    }
}

/// A device of the kernel, of which the router takes every frame.
fn device(machine: &Machine, port: &str, device: &str, mtu: u16) -> Vec<Finding> {
    let folder = format!("/sys/class/net/{device}");
    if !machine.has(&folder) {
        let there = machine.names("/sys/class/net").join(", ");
        return vec![wrong(
            format!("{port}: this network namespace has no device {device}"),
            format!("it has {there}: ip link"),
        )];
    }
    let mut found = Vec::new();
    let flags = machine.text(&format!("{folder}/flags")).unwrap_or_default();
    let flags = u64::from_str_radix(flags.trim_start_matches("0x"), 16).unwrap_or(0);
    if flags & IFF_UP == 0 {
        let mend = format!("ip link set {device} up");
        found.push(wrong(format!("{port}: {device} is down"), mend));
    } else if machine.number(&format!("{folder}/carrier")) == Some(0) {
        // Not `operstate`, which the kernel brings up to date once a second only.
        let mend = "plug in the cable, or bring its other end up";
        found.push(better(format!("{port}: {device} has no link"), mend));
    }
    let longest = machine.number(&format!("{folder}/mtu")).unwrap_or(u64::MAX);
    if longest < u64::from(mtu) {
        found.push(wrong(
            format!("{port}: its packets have up to {mtu} octets, {device} takes {longest}"),
            format!(
                "ip link set {device} mtu {mtu}, or mtu = {longest} in [{}]",
                port.replace(' ', ".")
            ),
        ));
    }
    if let Some(master) = machine.link(&format!("{folder}/master")) {
        let mend = format!("ip link set {device} nomaster");
        found.push(wrong(format!("{port}: the kernel has {device} in {master}"), mend));
    }
    if flags & IFF_LOOPBACK != 0 {
        found.push(better(
            format!(
                "{port}: {device} is the kernel's loopback: what is sent there is the kernel's own"
            ),
            "ip link add eth1 type veth peer name host1 makes two devices, one for each side",
        ));
    } else if is_addressed(machine, device) {
        found.push(better(
            format!("{port}: the kernel has an address on {device}, and answers there as well"),
            format!("ip addr flush dev {device}; a twin (twin = \"on\") is for the kernel"),
        ));
    }
    if found.is_empty() {
        found.push(fine(format!("{port}: {device} is up, and the kernel leaves it alone")));
    }
    found
}

/// Whether the kernel has an address of its own on a device: it then has routes to its networks, or
/// an IPv6 address beside that of the link.
fn is_addressed(machine: &Machine, device: &str) -> bool {
    let routes = machine.text("/proc/net/route").unwrap_or_default();
    let addresses = machine.text("/proc/net/if_inet6").unwrap_or_default();
    routes.lines().any(|line| line.split_whitespace().next() == Some(device))
        || addresses.lines().any(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            words.last() == Some(&device) && !words[0].starts_with("fe80")
        })
}

/// A card that the router has for itself.
fn card(machine: &Machine, port: &str, address: &str) -> Vec<Finding> {
    let folder = format!("{CARDS}/{address}");
    if !machine.has(&folder) {
        let found = format!("{port}: there is no card at {address}");
        return vec![wrong(found, "lspci -D lists them")];
    }
    let bind = format!(
        "modprobe vfio-pci; echo vfio-pci >{folder}/driver_override; \
         echo {address} >{folder}/driver/unbind; echo {address} >/sys/bus/pci/drivers_probe"
    );
    let mut found = Vec::new();
    match machine.link(&format!("{folder}/driver")).as_deref() {
        Some("vfio-pci") => {}
        Some(driver) => {
            found.push(wrong(format!("{port}: the kernel's driver {driver} has {address}"), bind));
        }
        None => found.push(wrong(format!("{port}: no driver has {address}"), bind)),
    }
    if !machine.has(&format!("{folder}/iommu_group")) {
        found.push(wrong(
            format!("{port}: no IOMMU keeps {address} to the router's memory"),
            "switch it on in the firmware, boot with intel_iommu=on (or amd_iommu=on)",
        ));
    }
    if found.is_empty() {
        found.push(fine(format!("{port}: {address} is the router's, by vfio-pci and an IOMMU")));
    }
    found
}

fn tap(machine: &Machine, port: &str, device: &str) -> Vec<Finding> {
    let folder = format!("/sys/class/net/{device}");
    if machine.has(&folder) && !machine.has(&format!("{folder}/tun_flags")) {
        return vec![wrong(
            format!("{port}: there is a device {device}, and it is no TAP interface"),
            format!("another name for `device` in [{}]", port.replace(' ', ".")),
        )];
    }
    vec![match machine.has("/dev/net/tun") {
        true => fine(format!("{port}: the kernel makes TAP interfaces")),
        false => wrong(format!("{port}: there is no /dev/net/tun"), "modprobe tun"),
    }]
}

/// A socket whose folder must be there, and nothing else in its place.
fn socket(machine: &Machine, port: &str, path: &Path) -> Vec<Finding> {
    let path = path.display().to_string();
    let folder = folder_of(&path);
    let is_other = |it: &Metadata| !it.file_type().is_socket();
    vec![if machine.about(folder).is_none() {
        wrong(format!("{port}: there is no folder {folder}"), format!("mkdir -p {folder}"))
    } else if machine.about(&path).as_ref().is_some_and(is_other) {
        let mend = format!("another path for `socket` in [{}]", port.replace(' ', "."));
        wrong(format!("{port}: {path} is there, and is no socket"), mend)
    } else {
        fine(format!("{port}: {folder} is there for {path}"))
    }]
}

/// Files that are read, and written.
fn files(machine: &Machine, port: &str, kind: &Pcap) -> Vec<Finding> {
    let [rx, tx] = [&kind.rx, &kind.tx].map(|it| it.as_ref().map(|it| it.display().to_string()));
    let mut found = Vec::new();
    if let Some(rx) = rx.filter(|rx| !machine.about(rx).is_some_and(|it| it.is_file())) {
        let mend = format!("`rx` in [{}]", port.replace(' ', "."));
        found.push(wrong(format!("{port}: there is no file {rx}"), mend));
    }
    if let Some(tx) = tx.filter(|tx| machine.about(folder_of(tx)).is_none()) {
        let folder = folder_of(&tx);
        let mend = format!("mkdir -p {folder}");
        found.push(wrong(format!("{port}: there is no folder {folder}"), mend));
    }
    if found.is_empty() {
        found.push(fine(format!("{port}: its files are there")));
    }
    found
}

/// The folder of a path: where one is not said, this one.
fn folder_of(path: &str) -> &str {
    match path.rsplit_once('/') {
        Some(("", _)) => "/",
        Some((folder, _)) => folder,
        None => ".",
    }
}

#[cfg(test)]
mod tests {
    use super::super::State;
    use super::super::testing::{Pretended, config, told};
    use super::*;

    #[test]
    fn a_device_that_is_missing_down_short_taken_or_addressed_is_told() {
        let pretended = Pretended::new("devices");
        let config = config("[port.lan]\nkind = \"af_packet\"\ndevice = \"eth1\"\nmtu = 1500\n");
        let look = || check(&pretended.machine, &config);
        pretended.says("/sys/class/net/lo/flags", "0x9");
        let missing = look();
        assert_eq!(
            told(&missing),
            [(State::Wrong, "port lan: this network namespace has no device eth1")]
        );
        assert_eq!(missing[0].mend.as_deref(), Some("it has lo: ip link"));
        pretended.says("/sys/class/net/eth1/flags", "0x1002");
        pretended.says("/sys/class/net/eth1/mtu", "1400");
        pretended.leads("/sys/class/net/eth1/master", "../br0");
        pretended.says("/proc/net/route", "Iface\tDestination\neth10\t0002000A\neth1\t0001000A");
        assert_eq!(
            told(&look()),
            [
                (State::Wrong, "port lan: eth1 is down"),
                (State::Wrong, "port lan: its packets have up to 1500 octets, eth1 takes 1400"),
                (State::Wrong, "port lan: the kernel has eth1 in br0"),
                (
                    State::Better,
                    "port lan: the kernel has an address on eth1, and answers there as well"
                ),
            ]
        );
        std::fs::remove_file(pretended.machine.path("/sys/class/net/eth1/master")).unwrap();
        pretended.says("/sys/class/net/eth1/flags", "0x1003");
        pretended.says("/sys/class/net/eth1/mtu", "1500");
        // A route by another device, and the link's own address.
        pretended.says("/proc/net/route", "Iface\tDestination\neth10\t0002000A");
        pretended.says("/proc/net/if_inet6", "fe800000000000000000000000000001 03 40 20 80 eth1");
        pretended.says("/sys/class/net/eth1/carrier", "0");
        assert_eq!(told(&look()), [(State::Better, "port lan: eth1 has no link")]);
        pretended.says("/sys/class/net/eth1/carrier", "1");
        assert_eq!(
            told(&look()),
            [(State::Fine, "port lan: eth1 is up, and the kernel leaves it alone")]
        );
    }

    #[test]
    fn a_loopback_is_the_kernels_and_its_address_stays() {
        let pretended = Pretended::new("loopback");
        let config = config("[port.a]\nkind = \"af_packet\"\ndevice = \"lo\"\n");
        pretended.says("/sys/class/net/lo/flags", "0x9");
        pretended.says("/proc/net/if_inet6", "00000000000000000000000000000001 01 80 10 80 lo");
        let found = check(&pretended.machine, &config);
        let told = format!("{found:?}");
        assert!(found.len() == 1 && told.contains("the kernel's loopback"), "{told}");
        assert!(!told.contains("flush"), "{told}");
    }

    #[test]
    fn what_stands_where_a_tap_a_socket_or_a_file_is_to_be_is_told() {
        let pretended = Pretended::new("places");
        let look = |text: &str| check(&pretended.machine, &config(text));
        let tap = "[port.t]\nkind = \"tap\"\ndevice = \"eth1\"\n";
        pretended.says("/dev/net/tun", "");
        assert_eq!(told(&look(tap)), [(State::Fine, "port t: the kernel makes TAP interfaces")]);
        pretended.says("/sys/class/net/eth1/flags", "0x1003");
        let taken = (State::Wrong, "port t: there is a device eth1, and it is no TAP interface");
        assert_eq!(told(&look(tap)), [taken]);
        // One that stayed when its program ended.
        pretended.says("/sys/class/net/eth1/tun_flags", "0x1002");
        assert_eq!(told(&look(tap)), [(State::Fine, "port t: the kernel makes TAP interfaces")]);

        let guest = "[port.g]\nkind = \"vhost\"\nsocket = \"/run/v/g.sock\"\n";
        assert_eq!(told(&look(guest)), [(State::Wrong, "port g: there is no folder /run/v")]);
        pretended.says("/run/v/g.sock", "a file");
        let taken = (State::Wrong, "port g: /run/v/g.sock is there, and is no socket");
        assert_eq!(told(&look(guest)), [taken]);
        let path = pretended.machine.path("/run/v/g.sock");
        std::fs::remove_file(&path).unwrap();
        let _listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
        let free = (State::Fine, "port g: /run/v is there for /run/v/g.sock");
        assert_eq!(told(&look(guest)), [free]);
        // What the machine makes may come later, in a folder that comes later.
        let client = guest.replace("/run/v/", "/run/w/") + "role = \"client\"\n";
        assert!(look(&client).is_empty());

        let pcap = "[port.p]\nkind = \"pcap\"\nrx = \"/run/in.pcap\"\ntx = \"/none/out.pcap\"\n";
        assert_eq!(
            told(&look(pcap)),
            [
                (State::Wrong, "port p: there is no file /run/in.pcap"),
                (State::Wrong, "port p: there is no folder /none"),
            ]
        );
        pretended.says("/run/in.pcap", "");
        pretended.says("/none/other", "");
        assert_eq!(told(&look(pcap)), [(State::Fine, "port p: its files are there")]);
    }

    #[test]
    fn a_card_must_be_vfios_and_behind_an_iommu() {
        let pretended = Pretended::new("cards");
        let config = config("[port.wan]\nkind = \"pci\"\naddress = \"0000:03:00.0\"\n");
        let look = || check(&pretended.machine, &config);
        assert_eq!(told(&look()), [(State::Wrong, "port wan: there is no card at 0000:03:00.0")]);
        pretended.leads("/sys/bus/pci/devices/0000:03:00.0/driver", "../../drivers/e1000e");
        assert_eq!(
            told(&look()),
            [
                (State::Wrong, "port wan: the kernel's driver e1000e has 0000:03:00.0"),
                (State::Wrong, "port wan: no IOMMU keeps 0000:03:00.0 to the router's memory"),
            ]
        );
        let driver = pretended.machine.path("/sys/bus/pci/devices/0000:03:00.0/driver");
        std::fs::remove_file(driver).unwrap();
        pretended.leads("/sys/bus/pci/devices/0000:03:00.0/driver", "../../drivers/vfio-pci");
        pretended.says("/sys/bus/pci/devices/0000:03:00.0/iommu_group/type", "DMA");
        assert_eq!(
            told(&look()),
            [(State::Fine, "port wan: 0000:03:00.0 is the router's, by vfio-pci and an IOMMU")]
        );
    }
}
