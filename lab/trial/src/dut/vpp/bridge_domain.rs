//! What `show bridge-domain` tells of a bridge.

use crate::scenario::{AGEING, FLOOD, LEARNING, UNKNOWN_UNICAST_FLOOD};

/// The switches of the one bridge domain, by the heads of the columns; heads of two words are of
/// one here.
pub(super) fn shown(told: &str) -> Option<Vec<(&'static str, bool)>> {
    let mut lines = told.lines().skip_while(|line| !line.contains("BD-ID"));
    let (heads, values) = (lines.next()?, lines.next()?);
    let column = |name: &str| {
        let at = heads.split_whitespace().position(|head| head == name)?;
        values.split_whitespace().nth(at)
    };
    let on = |name: &str| column(name).map(|value| value != "off");
    let ageing = on("Age(min)")?;
    Some(vec![
        (LEARNING, on("Learning")?),
        (AGEING, ageing),
        (UNKNOWN_UNICAST_FLOOD, column("UU-Flood").map(|it| it != "drop" && it != "off")?),
        (FLOOD, on("Flooding")?),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_switches_are_what_it_shows_of_its_bridge() {
        // As VPP 26.06 shows them.
        let heads = "  BD-ID   Index   BSN  Age(min)  Learning  U-Forwrd   UU-Flood   Flooding  ARP-Term  arp-ufwd Learn-co Learn-li   BVI-Intf \n";
        let on = |line: &str| {
            let told = shown(&format!("{heads}{line}\n")).unwrap();
            told.iter().map(|it| it.1).collect::<Vec<_>>()
        };
        let line = "    1       1      0      5        off        on        drop        on       off       off        0    16777216     N/A    ";
        assert_eq!(on(line), [false, true, false, true]);
        let line = "    2       2      0     off        on        on       flood        off       off       off        0    16777216     N/A    ";
        assert_eq!(on(line), [true, false, true, false]);
    }
}
