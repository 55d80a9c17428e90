//! The links of a scenario, where it says which: cards have addresses, and files no time.
//!
//! ```text
//! [link]
//! kind = "pci"
//! generator = ["0000:01:00.0", "0000:01:00.1"]    the lab's, first and second link
//! device = ["0000:02:00.0", "0000:02:00.1"]       the devices', at the other ends of the cables
//! gbps = 10                                        up to where searches go
//! ```
//! Without it links are what the command line says.

use lab_search::search::Manner;
use serde::{Deserialize, Serialize};
use toml::Spanned;

use super::Scenario;
use super::wrong::{Wrong, wrong};
use crate::link::LinkKind;

/// Speed of cards unless something else is said.
pub const USUAL_GBPS: f64 = 10.0;

/// Which links a scenario is measured over.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// Their kind.
    pub kind: Spanned<LinkKind>,
    /// PCI addresses of the lab's two cards.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub generator: Vec<Spanned<String>>,
    /// PCI addresses of the devices' two cards.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub device: Vec<Spanned<String>>,
    /// Speed of the cards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gbps: Option<Spanned<f64>>,
}

impl Link {
    /// Only a kind.
    fn of(kind: LinkKind) -> Self {
        Self {
            kind: Spanned::new(0..0, kind),
            generator: Vec::new(),
            device: Vec::new(),
            gbps: None,
        }
    }
}

impl Scenario {
    /// The kind of its links: what the command line says, or else the scenario, or veths. An error
    /// tells why the scenario cannot be measured over them.
    pub fn link_kind(&self, told: Option<LinkKind>) -> Result<LinkKind, String> {
        let own = self.link.as_ref().map(|link| *link.kind.get_ref());
        let kind = told.or(own).unwrap_or(LinkKind::Veth);
        if kind == LinkKind::Pci && own != Some(kind) {
            return Err("cards are named by a scenario's [link], with their PCI addresses".into());
        }
        match self.check_link_of(&Link::of(kind)) {
            Err(Wrong { reason, .. }) if told.is_some() && kind != LinkKind::Pci => Err(reason),
            _ => Ok(kind),
        }
    }

    pub(super) fn check_link(&self) -> Result<(), Wrong> {
        self.link.as_ref().map_or(Ok(()), |link| self.check_link_of(link))
    }

    fn check_link_of(&self, link: &Link) -> Result<(), Wrong> {
        let kind = *link.kind.get_ref();
        let search = self.measure.search;
        if kind == LinkKind::Pcap && search.manner != Manner::Checks {
            let search = search.name;
            let reason = format!(
                "files have no time: search = \"{search}\" goes over links that do, over pcap only \"functional\""
            );
            return wrong(&link.kind, reason);
        }
        let cards = || link.generator.iter().chain(&link.device);
        if kind != LinkKind::Pci {
            let reason = "addresses and speeds are those of cards: they go with kind = \"pci\"";
            if let Some(card) = cards().next() {
                return wrong(card, reason);
            }
            return link.gbps.as_ref().map_or(Ok(()), |gbps| wrong(gbps, reason));
        }
        for (name, list) in [("generator", &link.generator), ("device", &link.device)] {
            if list.len() != 2 {
                let reason = format!("{name} names {} cards, and there are two links", list.len());
                return match list.first() {
                    Some(first) => wrong(first, reason),
                    None => wrong(&link.kind, reason),
                };
            }
        }
        for (index, card) in cards().enumerate() {
            let address = card.get_ref();
            if !is_address(address) {
                return wrong(card, format!("{address:?} is no PCI address, as 0000:01:00.0 is"));
            }
            if cards().take(index).any(|other| other.get_ref().eq_ignore_ascii_case(address)) {
                return wrong(card, format!("{address} is named twice"));
            }
        }
        match &link.gbps {
            Some(gbps) if !(0.01..=1_000.0).contains(gbps.get_ref()) => {
                wrong(gbps, format!("{} Gbit/s (0.01 to 1000)", gbps.get_ref()))
            }
            _ => Ok(()),
        }
    }
}

/// Domain, bus, device and function: `0000:01:00.0`.
fn is_address(text: &str) -> bool {
    let hexadecimal = |text: &str, digits: usize| {
        text.len() == digits && text.chars().all(|c| c.is_ascii_hexdigit())
    };
    let parts = || {
        let (rest, function) = text.split_once('.')?;
        let mut parts = rest.split(':');
        let fits = hexadecimal(parts.next()?, 4)
            && hexadecimal(parts.next()?, 2)
            && hexadecimal(parts.next()?, 2)
            && parts.next().is_none();
        // A device has eight functions.
        Some(fits && function.len() == 1 && ("0"..="7").contains(&function))
    };
    parts().unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;

    const CARDS: &str = "name = 'x'\ntitle = 'X'\nabout = 'y'\n[[function]]\nkind = 'ip4'\n\
                         [link]\nkind = 'pci'\n\
                         generator = ['0000:01:00.0', '0000:01:00.1']\n\
                         device = ['0000:02:00.0', '0000:02:00.1']\n\
                         [measure]\nsearch = 'mlr'\n";

    fn fault(from: &str, to: &str) -> String {
        let text = CARDS.replacen(from, to, 1);
        match Scenario::parse(&text, "x.toml") {
            Err(Error::Scenario { line, column, reason, .. }) => {
                format!("{line}:{column} {reason}")
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn cards_that_cannot_be_meant_are_refused_where_they_are_named() {
        assert!(Scenario::parse(CARDS, "x").is_ok());
        let malformed = ["01:00.1", "0000:01:00.8", "0000:01:00", "0000:01:00.1,x=1", ""];
        for address in malformed {
            let told = fault("0000:01:00.1", address);
            assert!(told.starts_with("8:30 ") && told.contains("is no PCI address"), "{told}");
        }
        assert_eq!(fault("0000:02:00.1", "0000:01:00.0"), "9:27 0000:01:00.0 is named twice");
        assert_eq!(
            fault(", '0000:02:00.1'", ""),
            "9:11 device names 1 cards, and there are two links"
        );
        let none = fault("device = ['0000:02:00.0', '0000:02:00.1']\n", "");
        assert_eq!(none, "7:8 device names 0 cards, and there are two links");
        assert_eq!(
            fault("'pci'", "'veth'"),
            "8:14 addresses and speeds are those of cards: they go with kind = \"pci\""
        );
        assert!(fault("'pci'", "'pci'\ngbps = 0").starts_with("8:8 0 Gbit/s"));
        assert!(fault("'pci'", "'wifi'").starts_with("7:8 unknown variant `wifi`"));
    }

    #[test]
    fn files_are_for_searches_without_a_time() {
        let files = CARDS.replace("'pci'", "'pcap'").replace("generator = ['0000:01:00.0', '0000:01:00.1']\ndevice = ['0000:02:00.0', '0000:02:00.1']\n", "");
        let Err(error) = Scenario::parse(&files, "x") else { panic!() };
        let told = error.to_string();
        assert!(told.starts_with("x:7:8: ") && told.contains("search = \"mlr\""), "{told}");
        let functional = files.replace("'mlr'", "'functional'");
        let scenario = Scenario::parse(&functional, "x").unwrap();
        assert_eq!(scenario.link_kind(None), Ok(LinkKind::Pcap));
        assert_eq!(scenario.link_kind(Some(LinkKind::Memif)), Ok(LinkKind::Memif));
    }

    #[test]
    fn the_command_line_cannot_ask_for_links_that_a_scenario_does_not_go_over() {
        let cards = Scenario::parse(CARDS, "x").unwrap();
        assert_eq!(cards.link_kind(None), Ok(LinkKind::Pci));
        assert!(cards.link_kind(Some(LinkKind::Pcap)).unwrap_err().contains("\"mlr\""));
        let bare = CARDS.split("[link]").next().unwrap().to_owned() + "[measure]\nsearch = 'mlr'\n";
        let bare = Scenario::parse(&bare, "x").unwrap();
        assert_eq!(bare.link_kind(None), Ok(LinkKind::Veth));
        assert!(bare.link_kind(Some(LinkKind::Pci)).unwrap_err().contains("[link]"));
    }
}
