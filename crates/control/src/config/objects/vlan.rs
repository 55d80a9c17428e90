//! VLANs of ports: what no sub-interface can say alone, and the commands `vlan add` and `del`.

use std::collections::HashMap;

use wire::vlan::{MAX_VID, MIN_VID};

use super::port::{Port, Ports, check_exists};
use super::port_kind::PortKind;
use super::port_kind::vlan::{Vid, Vlan};
use super::port_name::PortName;
use super::{Command, Config};
use crate::config::declare::object;
use crate::config::field::Field;
use crate::config::listed::{add, row_mut};
use crate::config::order::{Flat, Order};
use crate::config::report::{Problem, Report};

/// Finds what is wrong with all sub-interfaces.
pub(super) fn check_all(ports: &Ports, report: &mut Report) {
    let mut used = HashMap::new();
    for (name, port) in ports.iter() {
        let PortKind::Vlan(vlan) = &port.kind else { continue };
        let field = |key: &str| format!("port.{name}.{key}");
        if !ports.contains(&vlan.parent) {
            // It may be called as its parent would be, and is not meant.
            let mut others = ports.clone();
            others.remove(name);
            check_exists(&field("parent"), &vlan.parent, &others, report);
        }
        if ports.get(&vlan.parent).is_some_and(|parent| !parent.kind.is_trunk()) {
            let message = format!("frames with tags do not come in by {}", vlan.parent);
            report.push(
                Problem::new(field("parent"), message).expected("a port with a device, or a bond"),
            );
        }
        let fits = match (vlan.vlan, vlan.inner) {
            (_, None) => true,
            (Vid::Exact(_), Some(inner)) => inner != Vid::Untagged,
            _ => false,
        };
        if !fits {
            let message = format!("{} has no second tag to look at", vlan.text());
            let expected = "an exact `vlan`, and as `inner` a VLAN or \"any\"";
            report.push(Problem::new(field("inner"), message).expected(expected));
        }
        if vlan.native && (vlan.vlan == Vid::Untagged || vlan.inner.is_some()) {
            let message =
                format!("{} has no one tag that frames without one could get", vlan.text());
            let problem = Problem::new(field("native"), message);
            report
                .push(problem.expected("`native` with an exact `vlan` or \"any\", and no `inner`"));
        }
        if !vlan.customers.is_empty() && vlan.vlan != Vid::Any {
            let message = format!("frames of {} do not keep their tags", vlan.text());
            let problem = Problem::new(field("customers"), message);
            report.push(problem.expected("`customers` with `vlan = \"any\"`"));
        }
        let is_one = |vid: &&u16| (MIN_VID..=MAX_VID).contains(*vid);
        if let Some(wrong) = vlan.customers.iter().find(|vid| !is_one(vid)) {
            let problem = Problem::new(field("customers"), format!("{wrong} is no VLAN"));
            report.push(problem.expected(format!("VLANs from {MIN_VID} to {MAX_VID}")));
        }
        let is_both = vlan.native && vlan.vlan != Vid::Untagged;
        let untagged = is_both.then_some((&vlan.parent, Vid::Untagged, None));
        for key in [Some((&vlan.parent, vlan.vlan, vlan.inner)), untagged].into_iter().flatten() {
            if let Some(other) = used.insert(key, name) {
                let of = Vlan { vlan: key.1, ..vlan.clone() };
                let message = format!("{} is {other} already", of.text());
                let problem = Problem::new(field("vlan"), message);
                report.push(problem.expected("each VLAN of a port once"));
            }
        }
    }
}

/// Makes a VLAN of a port a port of its own.
pub(super) const ADD: Command = Command::of::<Add>();
/// Removes it.
pub(super) const DEL: Command = Command::of::<Del>();

object! {
    /// Make a VLAN of a port a port of its own, as in: vlan add p1 100 makes p1.100
    struct Add {
        /// Which
        which: Flat<Vlan>,
    }
}

impl Order for Add {
    const NOUN: &'static str = "vlan";
    const VERB: &'static str = "add";
    const FIRST: usize = 2;

    fn run(self, config: &mut Config) -> Result<(), Problem> {
        let Flat(vlan) = self.which;
        add(&mut config.ports, name_of(&vlan)?, Port::new(PortKind::Vlan(vlan)))
    }
}

object! {
    /// Remove what `vlan add` made
    struct Del {
        /// Which
        which: Flat<Vlan>,
    }
}

impl Order for Del {
    const NOUN: &'static str = "vlan";
    const VERB: &'static str = "del";
    const FIRST: usize = 2;

    fn run(self, config: &mut Config) -> Result<(), Problem> {
        let name = name_of(&self.which.0)?;
        row_mut(&mut config.ports, &name)?;
        config.ports.remove(&name);
        Ok(())
    }
}

/// What a VLAN is called that nobody gave a name.
fn name_of(vlan: &Vlan) -> Result<PortName, Problem> {
    let tags = [Some(vlan.vlan), vlan.inner].into_iter().flatten();
    let tags: Vec<String> = tags.map(|vid| vid.to_toml().replace('"', "")).collect();
    let name = format!("{}.{}", vlan.parent, tags.join("."));
    PortName::from_text(&name).map_err(|refusal| {
        let problem = Problem::new(format!("port.{name}"), refusal.message.unwrap_or_default());
        problem.expected(PortName::EXPECTED)
    })
}

#[cfg(test)]
mod tests {
    use crate::config::{Host, Source, edit, parse};

    #[test]
    fn one_vlan_of_a_port_is_native_and_nobody_else_has_what_is_untagged() {
        let told = |vlans: &str| {
            let file = format!("[port]\np1 = {{ kind = \"memory\" }}\n{vlans}\n");
            match parse(&Source::new("test", file), &Host::any()) {
                Ok(_) => Vec::new(),
                Err(report) => report.findings().into_iter().map(|it| it.message).collect(),
            }
        };
        let of = |name: &str, more: &str| {
            format!("{name} = {{ kind = \"vlan\", parent = \"p1\", {more} }}\n")
        };
        let native = of("a", "vlan = 7, native = true");
        assert_eq!(told(&format!("{native}{}", of("b", "vlan = 8"))), [""; 0]);
        for (other, fault) in [
            ("vlan = 8, native = true", "VLAN untagged of p1 is a already"),
            ("vlan = \"untagged\"", "VLAN untagged of p1 is a already"),
            ("vlan = 7", "VLAN 7 of p1 is a already"),
        ] {
            assert_eq!(told(&format!("{native}{}", of("b", other))), [fault]);
        }
        for wrong in ["vlan = \"untagged\", native = true", "vlan = 7, inner = 8, native = true"] {
            let told: Vec<String> = told(&of("a", wrong));
            assert!(
                told[0].contains("has no one tag that frames without one could get"),
                "{told:?}"
            );
        }
    }

    #[test]
    fn who_keeps_all_tags_may_have_some_of_them_and_what_has_none() {
        let told = |more: &str| {
            let file = format!(
                "[port]\np1 = {{ kind = \"memory\" }}\na = {{ kind = \"vlan\", parent = \"p1\", {more} }}\n"
            );
            match parse(&Source::new("test", file), &Host::any()) {
                Ok(_) => String::new(),
                Err(report) => report.findings().remove(0).message,
            }
        };
        assert_eq!(told("vlan = \"any\", native = true, customers = [5, 4094]"), "");
        assert_eq!(told("vlan = \"any\", customers = [0]"), "0 is no VLAN");
        assert_eq!(told("vlan = \"any\", customers = [5, 4095]"), "4095 is no VLAN");
        assert_eq!(
            told("vlan = 9, customers = [5]"),
            "frames of VLAN 9 of p1 do not keep their tags"
        );
    }

    #[test]
    fn a_vlan_of_a_port_that_is_missing_is_not_offered_as_its_own_parent() {
        let file = Source::new("router.toml", "[port.lan]\nkind = \"memory\"\n");
        let config = parse(&file, &Host::any()).unwrap();
        let refused = |command: &str| {
            let command = Source::new("command", command);
            edit(&config, &command, &Host::any()).unwrap_err().to_string()
        };
        let told = refused("vlan add nope 5");
        assert!(told.contains("there is no port `nope`") && !told.contains("nope.5`?"), "{told}");
        assert!(told.contains("expected: one of lan\n"), "{told}");
        assert!(refused("vlan add lann 5").contains("did you mean `lan`?"));
    }
}
