//! `[fpm]`: FRR's zebra brings its routes by FPM (`zebra -M dplane_fpm_nl`). Not there: nobody
//! listens.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use super::netns::NetnsName;
use super::vrf::VrfName;
use super::{Command, Config, Object};
use crate::config::declare::{Declared, object};
use crate::config::field::{Field, Refusal};
use crate::config::form::Form;
use crate::config::host::Host;
use crate::config::info::Info;
use crate::config::listed::check_exists;
use crate::config::prefix::Prefix;
use crate::config::read::TableReader;
use crate::config::report::{Problem, Report};
use crate::config::row::Row;
use crate::config::rows::Section;
use crate::config::toml_text::quoted;
use crate::config::write::Fields;

/// Where zebra looks for us unless told otherwise.
const LISTEN: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 2620);
/// How long routes stay that nobody tells again.
const HOLD: Duration = Duration::from_secs(60);
/// As good as those of BGP from another autonomous system.
const PREFERENCE: u8 = 20;
/// As whom zebra runs, and who may do everything here anyway.
const USERS: [&str; 2] = ["frr", "root"];
/// The kernel's main table, which stands for the default VRF.
pub const MAIN_TABLE: u32 = 254;

/// A VRF and the number of the kernel's table that zebra knows it by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VrfTable {
    /// The VRF as the configuration names it.
    pub vrf: VrfName,
    /// The number of the kernel's table for it.
    pub table: u32,
}

impl Field for VrfTable {
    const EXPECTED: &'static str = "a VRF and the number of its table, as in \"red=1001\"";
    const FORM: Form = Form::Text("^[A-Za-z][A-Za-z0-9._-]{0,14}=[0-9]+$");

    fn from_text(text: &str) -> Result<Self, Refusal> {
        let wrong =
            || Refusal { message: Some(format!("`{text}` is not VRF=TABLE")), suggestion: None };
        let (vrf, table) = text.split_once('=').ok_or_else(wrong)?;
        let table = table.parse().ok().filter(|table| *table != 0).ok_or_else(wrong)?;
        Ok(Self { vrf: VrfName::from_text(vrf)?, table })
    }

    fn to_toml(&self) -> String {
        quoted(&format!("{}={}", self.vrf, self.table))
    }
}

object! {
    /// How zebra is listened to
    pub struct Listen {
        /// Where it connects to
        pub listen: SocketAddr = LISTEN,
        /// Its network namespace; the router's own when left out
        pub netns: Option<NetnsName> as "frr" = None,
        /// How long routes stay that are not told again after a session ended, or another began
        pub hold: Duration = HOLD,
        /// How its routes compare with others for the same network; lower is better
        pub preference: u8 [2..=255] = PREFERENCE,
        /// Users of this machine whose processes may connect, by name or number
        pub users: Vec<String> as "frr" = USERS.map(str::to_owned).to_vec(),
        /// Networks of other machines that may, if any
        pub from: Vec<Prefix> as "192.0.2.0/24" = Vec::new(),
        /// VRFs beside the default one that it knows, and its tables
        pub vrfs: Vec<VrfTable> as "red=1001" = Vec::new(),
    }
}

/// Whether zebra is listened to, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fpm(pub Option<Listen>);

impl Declared for Fpm {
    const ABOUT: &'static str = "FRR's zebra brings its routes; nobody listens when left out";

    fn read(table: &mut TableReader<'_>) -> Option<Self> {
        Listen::read(table).map(|listen| Self(Some(listen)))
    }

    fn write(&self, fields: Fields) -> Fields {
        self.0.iter().fold(fields, |fields, listen| listen.write(fields))
    }

    fn describe(out: &mut Vec<Info>) {
        Listen::describe(out);
    }

    fn paths(&self, out: &mut Vec<PathBuf>) {
        self.0.iter().for_each(|listen| listen.paths(out));
    }
}

impl Row for Fpm {
    const KIND: &'static str = "fpm";
}

impl Section for Fpm {
    fn is_said(&self) -> bool {
        self.0.is_some()
    }
}

impl Object for Fpm {
    const MORE: &'static [Command] = &[Command::with(
        ("fpm", "del"),
        "Stop listening to zebra",
        Vec::new,
        Vec::new,
        |config, _| {
            config.fpm = Self(None);
            Ok(())
        },
    )];

    fn check(&self, config: &Config, _: &Host, report: &mut Report) {
        let Some(fpm) = &self.0 else { return };
        for (index, named) in fpm.vrfs.iter().enumerate() {
            let field = format!("fpm.vrfs[{index}]");
            let twice = |other: &&VrfTable| other.vrf == named.vrf || other.table == named.table;
            if named.table == MAIN_TABLE || fpm.vrfs[..index].iter().any(|it| twice(&it)) {
                let message =
                    format!("{} and table {} have another already", named.vrf, named.table);
                report.push(Problem::new(&field, message).expected("each VRF and table once"));
            }
            check_exists(&field, &named.vrf, &config.vrfs, report);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::render;
    use crate::config::tests::read;

    #[test]
    fn nobody_listens_unless_asked_to() {
        assert_eq!(read("").unwrap().fpm, Fpm(None));
        let usual = read("[fpm]\n").unwrap().fpm.0.unwrap();
        assert_eq!((usual.listen.to_string().as_str(), usual.preference), ("127.0.0.1:2620", 20));
        assert_eq!((usual.users, usual.from), (USERS.map(str::to_owned).to_vec(), Vec::new()));
    }

    #[test]
    fn what_is_written_reads_back() {
        let text = "[vrf.red]\n[fpm]\nlisten = \"[::1]:99\"\nnetns = \"frr\"\nhold = \"5s\"\npreference = 9\nvrfs = [\"red=1001\"]\n";
        let config = read(text).unwrap();
        assert_eq!(read(&render(&config)).unwrap(), config);
        let of = |users: &str| read(&format!("[fpm]\nusers = {users}\n")).unwrap();
        assert_eq!(of("[]").fpm.0.unwrap().users, Vec::<String>::new());
        assert_eq!(
            render(&of("[\"frr\", \"root\"]")),
            render(&of("[\"frr\", \"root\"]\nfrom = []"))
        );
        for users in ["[]", "[\"bird\"]", "[\"frr\", \"root\"]"] {
            assert_eq!(read(&render(&of(users))).unwrap(), of(users));
        }
    }

    #[test]
    fn tables_are_named_once_and_vrfs_are_there() {
        let with = |vrfs: &str| read(&format!("[vrf.red]\n[fpm]\nvrfs = [{vrfs}]\n"));
        assert!(with("\"red=1\", \"red=2\"").unwrap_err().contains("have another already"));
        assert!(with("\"red=254\"").unwrap_err().contains("have another already"));
        assert!(with("\"rad=7\"").unwrap_err().contains("did you mean `red`?"));
        assert!(with("\"red\"").unwrap_err().contains("is not VRF=TABLE"));
    }
}
