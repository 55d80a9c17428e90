//! `[vrf.NAME] twin`: the kernel has a VRF of the same name, which twins of the VRF's ports are in,
//! and mailboxes of EVPN whose routes it has. Routing daemons know the VRF by it.
//!
//! ```toml
//! twin = { table = 1001 }                 # in the router's own network namespace
//! twin = { table = 1001, netns = "frr" }  # in another one
//! ```

use super::Config;
use super::fpm::MAIN_TABLE;
use super::netns::NetnsName;
use super::port_name::PortName;
use super::vrf::{VrfName, Vrfs};
use crate::config::declare::{as_field, object};
use crate::config::report::{Problem, Report};

/// Tables that the kernel has for itself: those of no VRF, `default`, `main` and `local`.
const KERNELS: [u32; 4] = [0, 253, MAIN_TABLE, 255];

object! {
    /// Which table of the kernel's it has, where it is, and what it is called
    pub struct VrfTwin {
        /// The number of the kernel's table
        pub table: u32 as "1001",
        /// Its network namespace; the router's own when left out
        pub netns: Option<NetnsName> as "frr" = None,
        /// Its name there; the VRF's when left out
        pub name: Option<PortName> as "red" = None,
    }
}
as_field!(VrfTwin table);

impl VrfTwin {
    /// What the twin of a VRF is called.
    pub fn name_for<'a>(&'a self, vrf: &'a VrfName) -> &'a str {
        self.name.as_ref().map_or(vrf.as_str(), PortName::as_str)
    }

    /// Finds what is wrong with that of this VRF.
    pub(super) fn check(&self, name: &VrfName, vrfs: &Vrfs, config: &Config, report: &mut Report) {
        let field = format!("vrf.{name}.twin.table");
        if KERNELS.contains(&self.table) {
            let message = format!("table {} is the kernel's own", self.table);
            report.push(Problem::new(&field, message).expected("a table that no other VRF has"));
        }
        let others = vrfs.iter().filter(|(other, _)| *other != name);
        let others = others.filter_map(|(other, vrf)| Some((other, vrf.twin.as_deref()?)));
        let told = config.fpm.0.iter().filter(|fpm| fpm.netns == self.netns);
        let told = told.flat_map(|fpm| &fpm.vrfs).filter(|it| it.table == self.table);
        let told = told.map(|it| &it.vrf).filter(|other| *other != name);
        let same = others.filter(|(_, twin)| twin.netns == self.netns && twin.table == self.table);
        if let Some(other) = same.map(|(other, _)| other).chain(told).next() {
            let message = format!("table {} is VRF {other}'s there", self.table);
            report.push(Problem::new(&field, message).expected("a table that no other VRF has"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::tests::read;
    use crate::config::{Host, Source, edit, render};

    fn twin(config: &Config) -> Option<VrfTwin> {
        config.vrfs.iter().next().unwrap().1.twin.as_deref().cloned()
    }

    #[test]
    fn it_is_said_by_its_table_alone_or_with_more() {
        let mut config = read("[vrf.red]\ntwin = { table = 1001 }\n").unwrap();
        assert_eq!(twin(&config), Some(VrfTwin::new(1001)));
        assert!(render(&config).contains("twin = { table = 1001 }"), "{}", render(&config));
        let mut set = |command: &str| {
            config = edit(&config, &Source::new("test", command), &Host::any()).unwrap();
            (twin(&config), render(&config))
        };
        let (elsewhere, text) = set("vrf set red twin 1002 netns frr name blood");
        let elsewhere = elsewhere.unwrap();
        let name = config_name();
        assert_eq!((elsewhere.table, elsewhere.netns.as_deref()), (1002, Some("frr")));
        assert_eq!((elsewhere.name_for(&name), VrfTwin::new(1).name_for(&name)), ("blood", "red"));
        assert!(
            text.contains("twin = { table = 1002, netns = \"frr\", name = \"blood\" }"),
            "{text}"
        );
        assert_eq!(set("vrf set red twin off").0, None);
        assert!(set("vrf add blue twin 7").1.contains("twin = { table = 7 }"));
    }

    fn config_name() -> VrfName {
        crate::config::field::Field::from_text("red").unwrap()
    }

    #[test]
    fn a_table_that_is_the_kernels_or_another_vrfs_is_refused() {
        let wrong = |text: &str| read(text).unwrap_err();
        for table in KERNELS {
            let said = wrong(&format!("[vrf.red]\ntwin = {{ table = {table} }}\n"));
            assert!(said.contains(&format!("table {table} is the kernel's own")), "{said}");
        }
        let same = wrong("[vrf.red]\ntwin = { table = 7 }\n[vrf.blue]\ntwin = { table = 7 }\n");
        assert!(same.contains("table 7 is VRF blue's there"), "{same}");
        let told =
            wrong("[vrf.red]\ntwin = { table = 7 }\n[vrf.blue]\n[fpm]\nvrfs = [\"blue=7\"]\n");
        assert!(told.contains("table 7 is VRF blue's there"), "{told}");
        let apart =
            "[vrf.red]\ntwin = { table = 7 }\n[vrf.blue]\ntwin = { table = 7, netns = \"frr\" }\n";
        read(apart).unwrap();
        read("[vrf.red]\ntwin = { table = 7 }\n[fpm]\nvrfs = [\"red=7\"]\n").unwrap();
        assert!(wrong("[vrf.red]\ntwin = 1001\n").contains("twin"));
    }
}
