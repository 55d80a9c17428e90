//! What kinds of ports call their devices and packets.

use crate::config::field::{Field, Refusal};
use crate::config::form::Form;

/// A card's place on the bus, as in `0000:03:00.0`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PciAddress(String);

/// A network device's name in the kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceName(String);

/// A packet in hexadecimal digits, blanks between them allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameHex(Vec<u8>);

impl PciAddress {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl DeviceName {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// As what no two ports can share.
    pub(super) fn claim(&self) -> String {
        format!("device {}", self.0)
    }
}

impl FrameHex {
    /// The packet.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl Field for PciAddress {
    const EXPECTED: &'static str = "a PCI address, as in \"0000:03:00.0\"";
    const FORM: Form = Form::Text("^[0-9a-fA-F]{4}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}[.][0-9a-fA-F]$");

    fn from_text(text: &str) -> Result<Self, Refusal> {
        let hex = |part: &str, digits| {
            part.len() == digits && part.bytes().all(|byte| byte.is_ascii_hexdigit())
        };
        let parts: Vec<&str> = text.split([':', '.']).collect();
        let valid = matches!(parts[..], [domain, bus, device, function]
            if hex(domain, 4) && hex(bus, 2) && hex(device, 2) && hex(function, 1));
        if valid && text.matches(':').count() == 2 {
            return Ok(Self(text.to_ascii_lowercase()));
        }
        let short = matches!(parts[..], [bus, device, function]
            if hex(bus, 2) && hex(device, 2) && hex(function, 1));
        Err(Refusal {
            message: None,
            suggestion: short.then(|| format!("write \"0000:{text}\" with its domain")),
        })
    }

    fn to_toml(&self) -> String {
        self.0.to_toml()
    }
}

impl Field for DeviceName {
    const EXPECTED: &'static str = "a device of the kernel: at most 15 characters, no blank or /";
    const FORM: Form = Form::Text(r"^[!-+\-.0-9;<>-~]{1,15}$");

    fn from_text(text: &str) -> Result<Self, Refusal> {
        let fits = (1..=15).contains(&text.len()) && text != "." && text != "..";
        // A comma would end the name in the driver's argument list.
        let plain = text.bytes().all(|byte| byte.is_ascii_graphic() && !b"/:,=".contains(&byte));
        if fits && plain { Ok(Self(text.to_owned())) } else { Err(Refusal::default()) }
    }

    fn to_toml(&self) -> String {
        self.0.to_toml()
    }
}

impl Field for FrameHex {
    const EXPECTED: &'static str = "a packet of 14 to 9216 bytes in hexadecimal digits";
    const FORM: Form = Form::Text(r"^[0-9a-fA-F\s]{28,}$");

    fn from_text(text: &str) -> Result<Self, Refusal> {
        let digits: Option<Vec<u32>> =
            text.chars().filter(|c| !c.is_whitespace()).map(|c| c.to_digit(16)).collect();
        let digits = digits.filter(|digits| digits.len() % 2 == 0).ok_or_else(Refusal::default)?;
        let bytes: Vec<u8> =
            digits.chunks_exact(2).map(|pair| (pair[0] * 16 + pair[1]) as u8).collect();
        if (14..=9216).contains(&bytes.len()) { Ok(Self(bytes)) } else { Err(Refusal::default()) }
    }

    fn to_toml(&self) -> String {
        let digits: String = self.0.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("\"{digits}\"")
    }
}
