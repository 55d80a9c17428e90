//! Where frames of up to 64 KiB are too coarse for what is done to them.

use crate::filter::policer_input::PolicerInput;
use crate::filter::policer_output::PolicerOutput;
use crate::interface::ForCopies;
use crate::interface::export_input::ExportInput;
use crate::interface::export_output::ExportOutput;
use crate::interface::mirror_input::MirrorInput;
use crate::interface::mirror_output::MirrorOutput;
use crate::nat::Nat64Input;
use crate::port::Shaped;
use crate::tables::Interface;

impl Interface {
    /// Whether what it does is about each packet of a flow: it holds them to a rate, lets them wait
    /// for their turn, copies them for somebody who looks, or counts them for collectors. Then
    /// large frames are cut as they come, wherever that is. So with flows.
    pub fn needs_single_packets(&self) -> bool {
        let polices = self.setting::<PolicerInput>().is_some_and(|it| it.policer.is_some())
            || self.setting::<PolicerOutput>().is_some_and(|it| it.policer.is_some());
        let copies = self.setting::<MirrorInput>().is_some()
            || self.setting::<MirrorOutput>().is_some()
            || self.has::<ForCopies>();
        // Who tells collectors of packets counts them.
        let tells =
            self.setting::<ExportInput>().is_some() || self.setting::<ExportOutput>().is_some();
        // Of another family, it is cut otherwise.
        let crosses = self.setting::<Nat64Input>().is_some();
        // Flows count packets, and write ports whose checksums a large frame does not have yet.
        self.has::<Shaped>() || polices || copies || tells || crosses || self.is_in_flows()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::{Mark, Policed};
    use crate::interface::{ExportTo, MirrorTo};
    use crate::tables::{BridgeId, BridgePort, Mode};

    #[test]
    fn rates_queues_and_copies_are_of_single_packets_and_marks_are_not() {
        let needs = |change: &dyn Fn(&mut Interface)| {
            let mut row = Interface::new("p0", 0);
            change(&mut row);
            row.needs_single_packets()
        };
        let marks = || Some(Policed { policer: None, mark: Mark::default() });
        assert!(!needs(&|_| {}));
        assert!(!needs(&|row| row.set::<PolicerInput>(marks())));
        assert!(needs(&|row| row.put(Some(Shaped))));
        assert!(needs(&|row| row.set::<MirrorInput>(Some(MirrorTo(1)))));
        assert!(needs(&|row| row.set::<MirrorOutput>(Some(MirrorTo(1)))));
        assert!(needs(&|row| row.put(Some(ForCopies))));
        assert!(needs(&|row| row.set::<ExportInput>(Some(ExportTo(Vec::new())))));
        assert!(needs(&|row| row.set::<ExportOutput>(Some(ExportTo(Vec::new())))));
        let port = BridgePort::new(BridgeId(1));
        assert!(!needs(&|row| row.mode = Mode::Bridged(port)));
        let flows = port.with_flows(1);
        assert!(needs(&|row| row.mode = Mode::Bridged(flows)));
    }
}
