//! From a class's name to the child that its packets go to.
//!
//! ```text
//!   1:10 ─▶ own major: by_minor[0x10] ─▶ child          20:3 ─▶ another's major: below, (20:, child it stands under)
//! ```
//!
//! One load for a class of the discipline itself; space 4 bytes times the largest minor.

use crate::ClassId;

const NONE: u32 = u32::MAX;

#[derive(Default)]
pub(crate) struct ClassMap {
    major: u16,
    by_minor: Vec<u32>,
    below: Vec<(u16, u32)>,
}

impl ClassMap {
    pub(crate) fn new(major: u16) -> Self {
        Self { major, by_minor: Vec::new(), below: Vec::new() }
    }

    pub(crate) fn major(&self) -> u16 {
        self.major
    }

    /// Packets of class `major:minor` go to `child`.
    pub(crate) fn add(&mut self, minor: u16, child: u32) {
        let minor = usize::from(minor);
        if self.by_minor.len() <= minor {
            self.by_minor.resize(minor + 1, NONE);
        }
        self.by_minor[minor] = child;
    }

    /// Packets of the classes of a discipline that stands under `child` go to `child`.
    pub(crate) fn add_below(&mut self, major: u16, child: u32) {
        self.below.push((major, child));
    }

    #[inline]
    pub(crate) fn find(&self, class: ClassId) -> Option<u32> {
        if class.major() == self.major {
            let child = *self.by_minor.get(usize::from(class.minor()))?;
            return (child != NONE).then_some(child);
        }
        self.below.iter().find(|(major, _)| *major == class.major()).map(|&(_, child)| child)
    }
}
