//! A job as Volley's configuration.

use std::fmt::Write as _;

use super::settings;
use crate::scenario::FunctionKind;
use crate::trial::device::Job;
use crate::trial::frames;
use crate::trial::link::{DEVICE_MACS, DeviceEnd, LAB_MACS, LinkKind};

/// The configuration of a job; none if it cannot be said.
pub(super) fn configuration(job: &Job, cores: &str) -> Option<String> {
    let mut text = settings::workers(job, cores);
    if job.entries > 1_000_000 {
        let _ = writeln!(text, "[memory]\nroutes = {}", job.entries * 2);
    }
    let six = job.function.kind == FunctionKind::Ip6;
    let routed = six || job.function.kind == FunctionKind::Ip4;
    for (side, (name, end)) in ["left", "right"].into_iter().zip(&job.ends).enumerate() {
        let _ = writeln!(text, "[port.{name}]");
        let _ = match end {
            DeviceEnd::Kernel(device) => {
                let kind = if job.link == LinkKind::VethXdp { "af_xdp" } else { "af_packet" };
                writeln!(text, "kind = \"{kind}\"\ndevice = \"{device}\"")
            }
            DeviceEnd::Memif(socket) => {
                writeln!(
                    text,
                    "kind = \"memif\"\nrole = \"server\"\nsocket = \"{}\"",
                    socket.display()
                )
            }
            DeviceEnd::Vhost(socket) => {
                writeln!(text, "kind = \"vhost\"\nsocket = \"{}\"", socket.display())
            }
        };
        text += &settings::queues(job);
        if !matches!(end, DeviceEnd::Kernel(_)) && routed {
            let _ = writeln!(text, "mac = \"{}\"", DEVICE_MACS[side]);
        }
        if routed {
            let length = if six { 64 } else { 24 };
            let _ =
                writeln!(text, "addresses = [\"{}/{length}\"]", frames::device_address(six, side));
        }
    }
    match job.function.kind {
        FunctionKind::CrossConnect => text += "[[xconnect]]\nports = [\"left\", \"right\"]\n",
        FunctionKind::Ip4 | FunctionKind::Ip6 => {
            for (side, name) in ["left", "right"].into_iter().enumerate() {
                let (address, mac) = (frames::lab_address(six, side), LAB_MACS[side]);
                let _ = writeln!(
                    text,
                    "[[neighbor]]\naddress = \"{address}\"\nport = \"{name}\"\nmac = \"{mac}\""
                );
            }
            for route in frames::routes(six, job.entries) {
                let frames::Route { prefix, via } = route;
                let _ = writeln!(text, "[[route]]\nprefix = \"{prefix}\"\nvia = \"{via}\"");
            }
        }
        FunctionKind::Bridge => {
            text += "[bridge.lan]\nports = [\"left\", \"right\"]\n";
            let switches = [
                ("learn", job.function.learning),
                ("flood_unknown", job.function.unknown_unicast_flood),
                ("flood_groups", job.function.flood),
            ];
            for (name, on) in switches.into_iter().filter_map(|(name, on)| Some((name, on?))) {
                let _ = writeln!(text, "{name} = {on}");
            }
            if job.entries > 1 {
                for mac in frames::macs(job.entries) {
                    let _ = writeln!(
                        text,
                        "[[mac]]\nbridge = \"lan\"\naddress = \"{mac}\"\nport = \"right\""
                    );
                }
            }
        }
        _ => return None,
    }
    Some(text)
}
