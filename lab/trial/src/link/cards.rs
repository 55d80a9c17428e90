//! Network cards as links: whose they are, and whether they can be had.
//!
//! ```text
//!  lab                         device
//!  generator[0] ════ cable ════ device[0]       first link
//!  generator[1] ════ cable ════ device[1]       second link
//! ```
//! A card that the kernel's own driver has is not taken from it: whoever wants it measured binds it
//! to `vfio-pci` first. Cards of drivers that share theirs with the kernel (mlx4, mlx5, mana) stay
//! where they are.

use std::path::Path;

use crate::Error;
use crate::scenario::{Link, USUAL_GBPS};

/// Where the kernel tells of cards.
pub const CARDS: &str = "/sys/bus/pci/devices";
/// Drivers that leave a card to DPDK.
const LENDING: [&str; 6] =
    ["vfio-pci", "uio_pci_generic", "igb_uio", "mlx4_core", "mlx5_core", "mana"];
/// Octets of a frame on a wire beside its own: preamble and gap.
const BETWEEN_BYTES: f64 = 20.0;

/// The cards of both ends of both links.
#[derive(Debug, Clone, PartialEq)]
pub struct Cards {
    /// The lab's.
    pub generator: [String; 2],
    /// The devices'.
    pub device: [String; 2],
    /// Their speed.
    pub gbps: f64,
}

impl Cards {
    /// Those of a scenario; none where its links are of another kind.
    pub fn of(link: &Link) -> Option<Self> {
        let pair = |list: &[toml::Spanned<String>]| match list {
            [first, second] => Some([first, second].map(|card| card.get_ref().to_lowercase())),
            _ => None,
        };
        Some(Self {
            generator: pair(&link.generator)?,
            device: pair(&link.device)?,
            gbps: link.gbps.as_ref().map_or(USUAL_GBPS, |gbps| *gbps.get_ref()),
        })
    }

    /// Frames a second that fill a wire. There is no more to ask for, so it stands for what the lab
    /// can do: with cards the lab cannot be tested without the device in between.
    pub fn line_rate_pps(&self, frame_bytes: u16) -> f64 {
        self.gbps * 1e9 / 8.0 / (f64::from(frame_bytes) + BETWEEN_BYTES)
    }

    /// An error where one of them is not there or is the kernel's.
    pub fn check(&self, cards: &Path) -> Result<(), Error> {
        self.generator.iter().chain(&self.device).try_for_each(|address| check(cards, address))
    }
}

fn check(cards: &Path, address: &str) -> Result<(), Error> {
    let refuse = |reason: String| Err(Error::Port { port: format!("pci {address}"), reason });
    let card = cards.join(address);
    if !card.exists() {
        return refuse("there is no such card in this host".into());
    }
    let driver = std::fs::read_link(card.join("driver")).ok();
    let driver =
        driver.as_ref().and_then(|path| path.file_name()).map(|name| name.to_string_lossy());
    match driver {
        Some(driver) if LENDING.contains(&&*driver) => Ok(()),
        Some(driver) => {
            refuse(format!("the kernel's driver {driver} has it: bind it to vfio-pci first"))
        }
        None => refuse("no driver has it: bind it to vfio-pci first".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cards(device: [&str; 2]) -> Cards {
        let own = |pair: [&str; 2]| pair.map(str::to_owned);
        Cards { generator: own(["0000:01:00.0", "0000:01:00.1"]), device: own(device), gbps: 10.0 }
    }

    #[test]
    fn a_card_is_there_and_not_the_kernels() {
        let folder = std::env::temp_dir().join(format!("volley-cards-{}", std::process::id()));
        let card = |address: &str, driver: Option<&str>| {
            let card = folder.join(address);
            std::fs::create_dir_all(&card).unwrap();
            if let Some(driver) = driver {
                let link = Path::new("../../../bus/pci/drivers").join(driver);
                std::os::unix::fs::symlink(link, card.join("driver")).unwrap();
            }
        };
        card("0000:01:00.0", Some("vfio-pci"));
        card("0000:01:00.1", Some("mlx5_core"));
        card("0000:02:00.0", Some("vfio-pci"));
        card("0000:02:00.1", Some("e1000e"));
        card("0000:02:00.2", None);
        card("0000:02:00.3", Some("vfio-pci"));
        let told = |second: &str| match cards(["0000:02:00.0", second]).check(&folder) {
            Ok(()) => "well".to_owned(),
            Err(error) => error.to_string(),
        };
        let all = ["0000:02:00.3", "0000:02:00.1", "0000:02:00.2", "0000:09:00.0"].map(told);
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(
            all,
            [
                "well",
                "port pci 0000:02:00.1: the kernel's driver e1000e has it: bind it to vfio-pci first",
                "port pci 0000:02:00.2: no driver has it: bind it to vfio-pci first",
                "port pci 0000:09:00.0: there is no such card in this host",
            ]
        );
    }

    #[test]
    fn a_wire_is_full_at_its_line_rate() {
        let pps = cards(["a", "b"]).line_rate_pps(64);
        assert!((pps - 14_880_952.0).abs() < 1.0, "{pps}");
    }
}
