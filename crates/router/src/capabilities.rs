//! What the kernel must let the router do: for what its file configures, and for what may come
//! while it runs.
//!
//! ```text
//!  at the start     ports, twins, files, namespaces of the file ─▶ kept; the rest is given up
//!  while it runs    a port that takes what was given up  ─▶ refused, and told why
//! ```

use crate::port_specs::spec_of;
use control::config::objects::port::Port;
use control::config::objects::process::KeptFor;
use control::config::{Change, Config};
use control::engine::ApplyError;
use dpdk::PortSpec;
use rights::Capability;
use rights::capabilities::given_up;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// What ports of any kind take, but cards; with that of twins in network namespaces.
const OF_ANY_PORT: [Capability; 5] = [
    Capability::NET_ADMIN,
    Capability::NET_RAW,
    Capability::IPC_LOCK,
    Capability::BPF,
    Capability::SYS_ADMIN,
];
/// What root takes for files of other users: to open, write and keep them theirs.
const OF_OTHERS: [Capability; 3] =
    [Capability::DAC_OVERRIDE, Capability::CHOWN, Capability::FOWNER];
/// What cards take, with or without an IOMMU.
const OF_CARDS: [Capability; 3] =
    [Capability::SYS_RAWIO, Capability::SYS_ADMIN, Capability::IPC_LOCK];
/// Ports below this are the system's.
const FIRST_FREE_PORT: u16 = 1024;

/// Those that a router of this configuration, read from this file, keeps.
pub fn capabilities(config: &Config, file: &Path) -> Vec<Capability> {
    let mut all: Vec<_> = config.process.keep.iter().map(|name| name.0).collect();
    if config.process.capabilities == KeptFor::Any {
        all.extend(OF_ANY_PORT);
    }
    config.ports.iter().for_each(|(_, port)| all.extend(of_port(port)));
    for evpn in config.bridges.iter().filter_map(|(_, bridge)| bridge.evpn.as_deref()) {
        all.push(Capability::NET_ADMIN);
        all.extend(evpn.netns.as_ref().map(|_| Capability::SYS_ADMIN));
    }
    for twin in config.vrfs.iter().filter_map(|(_, vrf)| vrf.twin.as_deref()) {
        all.push(Capability::NET_ADMIN);
        all.extend(twin.netns.as_ref().map(|_| Capability::SYS_ADMIN));
    }
    let listens = |port: u16| (1..FIRST_FREE_PORT).contains(&port);
    if let Some(fpm) = &config.fpm.0 {
        all.extend(fpm.netns.as_ref().map(|_| Capability::SYS_ADMIN));
        all.extend(listens(fpm.listen.port()).then_some(Capability::NET_BIND_SERVICE));
    }
    if let Some(tcp) = &config.api.tcp {
        all.extend(listens(tcp.listen.port()).then_some(Capability::NET_BIND_SERVICE));
    }
    let opened = Config::diff(&Config::default(), config);
    let mut opened = opened.iter().flat_map(Change::opens);
    if is_of_others(file) || opened.any(|opened| is_of_others(&opened)) {
        all.extend(OF_OTHERS);
    }
    all.sort_unstable();
    all.dedup();
    all
}

/// What ports of any kind call the kernel for beside what every router does, but cards; and twins
/// in network namespaces.
const CALLS_OF_ANY_PORT: [&str; 2] = ["bpf", "setns"];

/// The calls that the kernel takes from a router of this configuration; all, if none is named.
pub fn calls(config: &Config) -> Option<Vec<i64>> {
    if !config.process.filter {
        return None;
    }
    let mut more = Vec::new();
    if config.process.capabilities == KeptFor::Any {
        more.extend(CALLS_OF_ANY_PORT);
    }
    for (_, port) in config.ports.iter() {
        more.extend(spec_of(&port.kind).iter().flat_map(PortSpec::calls));
        let twin = port.twin.as_ref().and_then(|twin| twin.netns.as_ref());
        more.extend(twin.map(|_| "setns"));
    }
    let evpn = config.bridges.iter().filter_map(|(_, bridge)| bridge.evpn.as_ref()?.netns.as_ref());
    more.extend(evpn.map(|_| "setns"));
    let vrfs = config.vrfs.iter().filter_map(|(_, vrf)| vrf.twin.as_ref()?.netns.as_ref());
    more.extend(vrfs.map(|_| "setns"));
    let fpm = config.fpm.0.as_ref().and_then(|fpm| fpm.netns.as_ref());
    more.extend(fpm.map(|_| "setns"));
    Some(rights::filter::usual_and(&more))
}

/// Whether a file, or the folder that it is to be made in, belongs to another user.
fn is_of_others(path: &Path) -> bool {
    let owner = |path: &Path| fs::metadata(path).ok().map(|found| found.uid());
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let owners = [owner(path), owner(folder.unwrap_or(Path::new(".")))];
    owners.into_iter().flatten().any(|owner| owner != rights::own_user())
}

fn of_port(port: &Port) -> Vec<Capability> {
    let mut all = Vec::new();
    if let Some(spec) = spec_of(&port.kind) {
        all.extend(of_spec(&spec));
        // To switch it on, and to change its MTU and what it receives.
        all.extend(spec.has_linux_device().then_some(Capability::NET_ADMIN));
        if spec.is_card() {
            all.extend(OF_CARDS);
        }
    }
    if let Some(twin) = &port.twin {
        all.push(Capability::NET_ADMIN);
        all.extend(twin.netns.as_ref().map(|_| Capability::SYS_ADMIN));
    }
    all
}

fn of_spec(spec: &PortSpec) -> impl Iterator<Item = Capability> {
    spec.capabilities().filter_map(Capability::named)
}

/// Refuses a port that takes what was given up.
pub(crate) fn check(spec: &PortSpec) -> Result<(), String> {
    let lacking: Vec<_> = of_spec(spec).filter(|it| given_up().contains(it)).collect();
    match lacking[..] {
        [] => Ok(()),
        _ => Err(format!("the router gave {} up when it started", listed(&lacking))),
    }
}

/// Tells of what was given up where that may be the reason.
pub(crate) fn explained(error: ApplyError) -> ApplyError {
    const SIGNS: [&str; 3] = ["not permitted", "ermission denied", "gave "];
    let may_be = SIGNS.iter().any(|sign| error.message.contains(sign));
    if given_up().is_empty() || !may_be || error.suggestion.is_some() {
        return error;
    }
    let cure = "`[process]` in the router's file says which capabilities it keeps: change it there and start it anew";
    ApplyError { suggestion: Some(cure.to_owned()), ..error }
}

/// As in `CAP_NET_RAW, CAP_BPF`.
fn listed(all: &[Capability]) -> String {
    let names = all.iter().map(|it| format!("CAP_{}", it.name().to_uppercase()));
    names.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use control::config::{Host, Source, parse};

    fn of(text: &str) -> String {
        let config = parse(&Source::new("test", text), &Host::any()).unwrap();
        // A file of ours.
        let file = Path::new("/proc/self/status");
        capabilities(&config, file).iter().map(|it| it.name()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn the_calls_that_are_taken_follow_the_configuration() {
        let of = |text: &str| {
            let config = parse(&Source::new("test", text), &Host::any()).unwrap();
            calls(&config).map(|calls| calls.len() - rights::filter::USUAL.len())
        };
        let only = "[process]\ncapabilities = \"configured\"\n";
        assert_eq!((of(""), of(only)), (Some(2), Some(0)));
        let with = |rest: &str| of(&format!("{only}{rest}"));
        assert_eq!(with("[port.a]\nkind = \"af_xdp\"\ndevice = \"t0\"\n"), Some(1));
        assert_eq!(with("[port.a]\nkind = \"memory\"\ntwin = { netns = \"frr\" }\n"), Some(1));
        assert_eq!(with("[port.a]\nkind = \"pci\"\naddress = \"0000:00:05.0\"\n"), Some(2));
        assert_eq!(with("[fpm]\nnetns = \"frr\"\n"), Some(1));
        assert_eq!(of("[process]\nfilter = false\n"), None);
    }

    #[test]
    fn what_is_kept_follows_the_configuration() {
        assert_eq!(of(""), "net_admin net_raw ipc_lock sys_admin bpf");
        let only = "[process]\ncapabilities = \"configured\"\n";
        let with = |rest: &str| of(&format!("{only}{rest}"));
        assert_eq!(with(""), "");
        assert_eq!(with("[port.a]\nkind = \"memory\"\n"), "");
        assert_eq!(with("[port.a]\nkind = \"tap\"\ndevice = \"t0\"\n"), "net_admin");
        let packet = "[port.a]\nkind = \"af_packet\"\ndevice = \"t0\"\n";
        assert_eq!(with(packet), "net_admin net_raw");
        assert_eq!(
            with(&format!("{packet}twin = {{ netns = \"frr\" }}\n")),
            "net_admin net_raw sys_admin"
        );
        assert_eq!(with("[port.a]\nkind = \"memory\"\ntwin = true\n"), "net_admin");
        let card = "[port.a]\nkind = \"pci\"\naddress = \"0000:00:05.0\"\n";
        assert_eq!(with(card), "ipc_lock sys_rawio sys_admin");
        assert_eq!(
            with("[fpm]\nnetns = \"frr\"\nlisten = \"127.0.0.1:179\"\n"),
            "net_bind_service sys_admin"
        );
        // Another user's file is not opened by being root alone.
        let with_a_capture =
            |path: &str| with(&format!("[port.a]\nkind = \"pcap\"\ntx = \"{path}\"\n"));
        assert_eq!(with_a_capture("/proc/self/x"), "");
        let folder = std::env::temp_dir().join(format!("volley-of-others-{}", std::process::id()));
        fs::create_dir(&folder).unwrap();
        match std::os::unix::fs::chown(&folder, Some(65534), None) {
            Ok(()) => {
                let told = with_a_capture(&folder.join("x").display().to_string());
                assert_eq!(told, "chown dac_override fowner");
            }
            Err(error) => eprintln!("SKIPPED: files of others take root: {error}"),
        }
        fs::remove_dir(&folder).unwrap();
        assert_eq!(of(&format!("{only}keep = [\"dac_override\"]\n")), "dac_override");
    }
}
