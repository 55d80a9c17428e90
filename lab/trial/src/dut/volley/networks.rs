//! Containers' networks on Volley, by `volley docker-plugin`.
//!
//! ```text
//! function   docker network create -d volley        then
//! bridge     one, -o bridge=lan                     the bridge has what the job says of it beforehand
//! ip4, ip6   one at each side, -o gateway=router    the router has an address in each
//! else       none: the lab lays wires
//! ```

use std::os::unix::net::UnixStream;
use std::path::Path;

use super::configuration::{BRIDGE, USUAL_MTU, without_ports};
use super::{Volley, refuse_what_cannot_be, settings, socket};
use crate::Error;
use crate::dut::device::{Device, Job, NetworkDriver};
use crate::link::LinkKind;
use crate::place::Place;
use crate::scenario::FunctionKind;

/// Whether the plugin's networks do a job. Its ports are kernel devices, taken by packet sockets.
pub(super) fn does(job: &Job) -> bool {
    let function =
        matches!(job.function.kind, FunctionKind::Bridge | FunctionKind::Ip4 | FunctionKind::Ip6);
    // Of a table, all entries lead to a port that is not there yet.
    function && job.link == LinkKind::Veth && job.entries <= 1
}

impl NetworkDriver for Volley {
    fn driver(&self) -> &'static str {
        "volley"
    }

    fn serve(&mut self, job: &Job, listen: &Path, place: &mut Place) -> Result<(), Error> {
        refuse_what_cannot_be(self, job)?;
        let client = self.command_line().display().to_string();
        if place.quietly(&format!("{client} docker-plugin --help")).is_err() {
            return Err(self.refuse(job, &format!("there is no plugin for Docker: {client}")));
        }
        let router = self.run(&without_ports(job, place.cores()), place)?;
        let state = place.folder().join("docker.json");
        place.spawn(
            "docker-plugin",
            &format!(
                "{client} --socket {} docker-plugin --listen {} --state {}",
                router.display(),
                listen.display(),
                state.display()
            ),
        )?;
        place.wait_for_start("the plugin listens", |_| UnixStream::connect(listen).is_ok())
    }

    fn options(&self, job: &Job) -> Vec<String> {
        let mut options = match job.function.kind {
            FunctionKind::Bridge => vec![format!("bridge={BRIDGE}")],
            _ => vec!["gateway=router".to_owned()],
        };
        options.extend((job.mtu > USUAL_MTU).then(|| format!("mtu={}", job.mtu)));
        options
    }

    fn joined(&mut self, job: &Job, ports: &[String; 2], place: &mut Place) -> Result<(), Error> {
        let client =
            format!("{} --socket {}", self.command_line().display(), socket(place).display());
        for command in settings::of_ports(job, ports) {
            place.run(&format!("{client} {command}"))?;
        }
        self.confirm_switches(job, place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dut::testing::{job, over_cards};

    #[test]
    fn bridges_and_routers_over_veth_are_networks_and_nothing_else_is() {
        for (kind, options) in
            [(FunctionKind::Bridge, "bridge=lan"), (FunctionKind::Ip6, "gateway=router")]
        {
            let plain = job(kind, 1);
            assert!(does(&plain));
            let volley = Volley::in_folder("/nowhere");
            assert_eq!(volley.options(&plain), [options]);
            let large = Job { mtu: 9_000, ..plain };
            assert_eq!(volley.options(&large), [options, "mtu=9000"]);
        }
        assert!(!does(&job(FunctionKind::CrossConnect, 1)));
        assert!(!does(&job(FunctionKind::Ip4, 8)));
        assert!(!does(&over_cards(job(FunctionKind::Ip4, 1))));
    }
}
