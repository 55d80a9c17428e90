//! An adapter as the list has it: its name, how its device is made, what it reads.

use lab_record::Counters;

use crate::dut::device::Device;

/// Makes the device whose programs are in a folder.
pub type OfFolder = fn(&str) -> Box<dyn Device>;

/// A kind of device that can be measured.
pub struct Adapter {
    /// Its name on the command line and in results.
    pub name: &'static str,
    /// One, as it is installed here.
    pub device: fn() -> Box<dyn Device>,
    /// One whose programs are in a folder, where there can be several builds: `NAME=FOLDER`.
    pub of_folder: Option<OfFolder>,
    /// Whether it is measured unless others are named.
    pub usual: bool,
    /// What it reads out of a text, whichever was written for it: for fuzzing.
    pub read: Option<fn(&str) -> Option<Counters>>,
    /// How its programs are got where they are not, in a line.
    pub get: &'static str,
}

impl Adapter {
    /// One that has to be named, and how its programs are got.
    pub const fn new(
        name: &'static str,
        device: fn() -> Box<dyn Device>,
        get: &'static str,
    ) -> Self {
        Self { name, device, of_folder: None, usual: false, read: None, get }
    }
}
