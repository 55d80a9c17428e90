//! What a policer says of a packet, and what a packet says of itself.

/// How well a packet keeps to what was agreed; the better, the smaller.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Colour {
    /// It does.
    #[default]
    Green = 0,
    /// It is above the committed rate and burst, and within what is borne with.
    Yellow = 1,
    /// It is above all that was agreed.
    Red = 2,
}

impl Colour {
    /// All of them, each at its own number.
    pub const ALL: [Self; 3] = [Self::Green, Self::Yellow, Self::Red];

    /// What another policer made of a packet with this DSCP: the drop precedence of assured
    /// forwarding (RFC 2597 section 6). Any other packet is green.
    ///
    /// ```text
    ///  │ class 1 to 4 (3) │ precedence 1 to 3 (2) │ 0 │
    /// ```
    #[inline]
    pub fn of_dscp(dscp: u8) -> Self {
        match (dscp >> 3, dscp & 7) {
            (1..=4, 4) => Self::Yellow,
            (1..=4, 6) => Self::Red,
            _ => Self::Green,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assured_forwarding_has_colours_and_all_else_is_green() {
        let colours = |dscps: [u8; 4]| dscps.map(Colour::of_dscp);
        assert_eq!(colours([10, 18, 26, 34]), [Colour::Green; 4]);
        assert_eq!(colours([12, 20, 28, 36]), [Colour::Yellow; 4]);
        assert_eq!(colours([14, 22, 30, 38]), [Colour::Red; 4]);
        assert_eq!(colours([0, 46, 44, 4]), [Colour::Green; 4]);
    }
}
