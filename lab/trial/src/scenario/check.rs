//! What a scenario must satisfy beyond its grammar, each fault at its place in the file.

use lab_record::axes::frame_bytes::RANGE as FRAME_BYTES;
use lab_record::axes::{Endpoint, Entries, FrameBytes, LoadPercent, Scheduler};
use lab_search::search::Manner;
use lab_traffic::arrivals::{Gaps, Imix};

use super::wrong::{Wrong, wrong};
use super::{Ethertype, Function, FunctionKind, Scenario};
use toml::Spanned;

/// The smallest frame with the headers of UDP over IPv6, a signature and a checksum.
const SMALLEST_IP6: u64 = 84;

impl Scenario {
    pub(super) fn check(&self) -> Result<(), Wrong> {
        let name = self.name.get_ref();
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if name.is_empty() || !name.chars().all(plain) {
            return wrong(&self.name, format!("name {name:?} is not of a-z, 0-9 and -"));
        }
        if self.functions.is_empty() {
            return wrong(&self.name, "a scenario needs at least one [[function]]");
        }
        self.check_link()?;
        self.check_functions()?;
        self.check_traffic()?;
        self.sweep.check()?;
        self.check_room()?;
        self.check_streams()?;
        self.check_loads()?;
        self.check_overhead()?;
        self.measure.check()
    }

    /// Streams find their own load and make frames of their own sizes; endpoints are theirs alone.
    fn check_streams(&self) -> Result<(), Wrong> {
        let (traffic, sweep, measure) = (&self.traffic, &self.sweep, &self.measure);
        if measure.manner() != Manner::Streams {
            let wired = self.functions.iter().find(|it| it.get_ref().wire_mbps.is_some());
            if let Some(place) = wired {
                return wrong(place, "wire_mbps goes with search = \"stream\", and with it only");
            }
            let reason = "endpoints go with search = \"stream\", and with it only";
            return sweep
                .words::<Endpoint>()
                .first()
                .map_or(Ok(()), |endpoint| wrong(endpoint, reason));
        }
        if let Some(genome) = &traffic.imix {
            return wrong(genome, "streams make frames of their own sizes: no mix goes with them");
        }
        if let Some(axis) = sweep.numbers::<FrameBytes>() {
            return wrong(axis, "streams make frames of their own sizes");
        }
        if let Some(axis) = sweep.numbers::<LoadPercent>() {
            return wrong(axis, "streams find their own load");
        }
        if !measure.latency_at_percent.is_empty() || measure.telemetry {
            let reason = "neither latency_at_percent nor telemetry goes with search = \"stream\"";
            return wrong(&self.name, reason);
        }
        Ok(())
    }

    /// Loads are shares of a throughput that the search finds first and then measures at.
    fn check_loads(&self) -> Result<(), Wrong> {
        let shares = self.measure.search == &lab_search::search::latency::KIND;
        let reason = "load_percent goes with search = \"latency\", which finds the throughput first; \
                      latency_at_percent with those that find a rate";
        let axis = self.sweep.numbers::<LoadPercent>().filter(|_| !shares);
        axis.map_or(Ok(()), |axis| wrong(axis, reason))
    }

    /// Whether the headers of IPv6 have room in every frame, where there are any.
    fn check_room(&self) -> Result<(), Wrong> {
        let routed = self.functions.iter().find(|it| it.get_ref().kind == FunctionKind::Ip6);
        let streams = self.measure.manner() == Manner::Streams;
        if streams || routed.is_none() && !self.traffic.ethertype.contains(&Ethertype::Udp6) {
            return Ok(());
        }
        let small = |bytes: u64| {
            (bytes < SMALLEST_IP6)
                .then(|| format!("frames of {bytes} octets: IPv6 needs {SMALLEST_IP6} or more"))
        };
        let least = |sizes: &[u16]| sizes.iter().min().and_then(|&bytes| small(bytes.into()));
        if let Some(axis) = self.sweep.numbers::<FrameBytes>() {
            let least = axis.get_ref().values().first().copied().and_then(small);
            return least.map_or(Ok(()), |reason| wrong(axis, reason));
        }
        if let Some(genome) = &self.traffic.imix {
            let mix = Imix::parse(genome.get_ref(), 1_518).ok();
            let least = mix.and_then(|mix| least(mix.sequence()));
            return least.map_or(Ok(()), |reason| wrong(genome, reason));
        }
        let frame_bytes = &self.traffic.frame_bytes;
        match (small((*frame_bytes.get_ref()).into()), routed) {
            (None, _) => Ok(()),
            // Where it is not said how large they are.
            (Some(reason), Some(function)) if frame_bytes.span().is_empty() => {
                wrong(function, format!("{reason}: set traffic.frame_bytes"))
            }
            (Some(reason), _) => wrong(frame_bytes, reason),
        }
    }

    /// Whether frames can still be sent with the tag or the tunnel's headers that a function adds.
    fn check_overhead(&self) -> Result<(), Wrong> {
        let swept = self
            .sweep
            .numbers::<FrameBytes>()
            .and_then(|axis| axis.get_ref().values().last().copied());
        let largest = swept.unwrap_or(0).max((*self.traffic.frame_bytes.get_ref()).into());
        for function in &self.functions {
            let overhead = u64::from(function.get_ref().kind.overhead_bytes());
            if overhead > 0 && largest + overhead > *FRAME_BYTES.end() {
                let name = function.get_ref().name();
                let reason = format!(
                    "frames of {largest} octets and {overhead} more for {name} are above 9018"
                );
                return wrong(function, reason);
            }
        }
        Ok(())
    }

    fn check_functions(&self) -> Result<(), Wrong> {
        for (index, place) in self.functions.iter().enumerate() {
            let function = place.get_ref();
            let kind = function.kind.name();
            if let Some(field) = function.misplaced() {
                return wrong(place, format!("a {kind} has no {field}"));
            }
            let known = |it: &Ethertype| *it != Ethertype::Unknown;
            if function.kind.is_routed() && !self.traffic.ethertype.iter().any(known) {
                let reason = format!("{kind} does not forward frames of an unknown ethertype");
                return wrong(place, reason);
            }
            let earlier = &self.functions[..index];
            if earlier.iter().any(|other| other.get_ref().name() == function.name()) {
                let name = function.name();
                return wrong(
                    place,
                    format!("two functions are called {name:?}: give them labels"),
                );
            }
            let bare = |it: &Function| Function { label: None, ..it.clone() };
            let same = |it: &&Spanned<Function>| bare(it.get_ref()) == bare(function);
            if let Some(other) = earlier.iter().find(same) {
                let (name, other) = (function.name(), other.get_ref().name());
                let reason = format!("{name:?} is {other:?} under another label: nothing differs");
                return wrong(place, reason);
            }
            if self.sweep.numbers::<Entries>().is_some() && !function.kind.has_table() {
                return wrong(place, format!("sweep.entries needs a table, a {kind} has none"));
            }
            if !self.sweep.words::<Scheduler>().is_empty() && function.bottleneck_mbps.is_none() {
                let reason = "schedulers need a bottleneck_mbps: without one nothing ever queues";
                return wrong(place, reason);
            }
        }
        Ok(())
    }

    fn check_traffic(&self) -> Result<(), Wrong> {
        let traffic = &self.traffic;
        let bytes = u64::from(*traffic.frame_bytes.get_ref());
        if !FRAME_BYTES.contains(&bytes) {
            let (low, high) = (FRAME_BYTES.start(), FRAME_BYTES.end());
            return wrong(
                &traffic.frame_bytes,
                format!("frame of {bytes} octets ({low} to {high})"),
            );
        }
        if let Some(genome) = &traffic.imix {
            if let Err(error) = Imix::parse(genome.get_ref(), 1_518) {
                return wrong(genome, error.to_string());
            }
            if self.sweep.numbers::<FrameBytes>().is_some() {
                return wrong(genome, "imix and sweep.frame_bytes exclude each other");
            }
        }
        if *traffic.flows.get_ref() == 0 {
            return wrong(&traffic.flows, "at least one flow");
        }
        if let Err(error) = Gaps::new(traffic.arrivals.clone(), 1e6, 1) {
            return wrong(&self.name, format!("traffic.arrivals: {error}"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;

    const PLAIN: &str = "name = 'x'\ntitle = 'X'\nabout = 'y'\n[[function]]\nkind = 'ip4'\n\
                         [traffic]\nframe_bytes = 64\n[sweep]\nentries = [1, 2]\n\
                         [measure]\nsearch = 'mlr'\nloss_ratios = [0.0]\n";

    fn fault(from: &str, to: &str) -> String {
        let text = PLAIN.replace(from, to);
        match Scenario::parse(&text, "x.toml") {
            Err(Error::Scenario { line, column, reason, .. }) => {
                format!("{line}:{column} {}", reason.lines().next().unwrap_or_default())
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_plain_scenario_is_accepted() {
        assert!(Scenario::parse(PLAIN, "x.toml").is_ok());
    }

    #[test]
    fn faults_are_told_at_their_line_and_column() {
        assert_eq!(
            fault("name = 'x'", "name = 'X y'"),
            "1:8 name \"X y\" is not of a-z, 0-9 and -"
        );
        assert_eq!(fault("= 64", "= 9"), "7:15 frame of 9 octets (64 to 9018)");
        assert_eq!(fault("[1, 2]", "[2, 1]"), "9:11 the values must rise");
        assert!(fault("[0.0]", "[1.5]").starts_with("12:15 search goal: loss_ratio = 1.5"));
        assert!(fault("'ip4'", "'ip5'").starts_with("5:8 unknown variant `ip5`"));
        assert!(fault("frame_bytes", "frame_byte").starts_with("7:1 unknown field `frame_byte`"));
        assert!(fault("title = 'X'", "title = X").starts_with("2:9 "));
    }

    #[test]
    fn frames_have_room_for_the_headers_of_ip6() {
        assert_eq!(fault("'ip4'", "'ip6'"), "7:15 frames of 64 octets: IPv6 needs 84 or more");
        let unsaid = fault("'ip4'\n[traffic]\nframe_bytes = 64", "'ip6'");
        assert!(
            unsaid.starts_with("4:1 frames of 64") && unsaid.contains("set traffic"),
            "{unsaid}"
        );
        let swept = fault(
            "'ip4'\n[traffic]\nframe_bytes = 64\n[sweep]",
            "'ip6'\n[sweep]\nframe_bytes = [80, 90]",
        );
        assert!(swept.starts_with("7:15 frames of 80 octets"), "{swept}");
        let mixed = fault("frame_bytes = 64", "ethertype = ['udp6']\nimix = '7a4d'");
        assert!(mixed.starts_with("8:8 frames of 64 octets"), "{mixed}");
        let enough = PLAIN.replace("'ip4'", "'ip6'").replace("= 64", "= 84");
        assert!(Scenario::parse(&enough, "x.toml").is_ok());
    }

    #[test]
    fn things_that_do_not_go_together_are_refused() {
        assert!(fault("'ip4'", "'ip4'\nlearning = true").contains("a ip4 has no learning"));
        assert!(fault("'ip4'", "'cross-connect'").contains("needs a table"));
        let schedulers = fault("entries = [1, 2]", "scheduler = ['fifo']");
        assert!(schedulers.contains("bottleneck_mbps"), "{schedulers}");
        assert!(fault("'mlr'", "'reconfigure'").contains("change_entries"));
        assert!(fault("'mlr'", "'mlr'\nmost_entries = 9").contains("largest-table"));
        let beyond = fault("'mlr'", "'largest-table'\nmost_entries = 16777217");
        assert!(beyond.contains("16777217 entries (1 to 16777216)"), "{beyond}");
        let large =
            fault("'ip4'\n[traffic]\nframe_bytes = 64", "'gre'\n[traffic]\nframe_bytes = 9000");
        assert!(large.contains("9000 octets and 24 more for gre"), "{large}");
        assert!(fault("entries = [1, 2]", "endpoint = ['cloud']").contains("\"cloud\" is none of"));
    }

    #[test]
    fn a_label_that_changes_nothing_is_refused() {
        let twice = "'ip4'\n[[function]]\nkind = 'ip4'\nlabel = 'other'";
        assert_eq!(
            fault("'ip4'", twice),
            "6:1 \"other\" is \"ip4\" under another label: nothing differs"
        );
        let differs = PLAIN.replace("'ip4'", &format!("{twice}\nentries = 3"));
        assert!(Scenario::parse(&differs, "x.toml").is_ok());
    }

    #[test]
    fn a_load_is_a_share_of_a_throughput_that_is_found_first() {
        let shares = fault("entries = [1, 2]", "load_percent = [10]");
        assert!(shares.contains("load_percent goes with search = \"latency\""), "{shares}");
        let latency = PLAIN.replace("entries = [1, 2]", "load_percent = [10]");
        assert!(Scenario::parse(&latency.replace("'mlr'", "'latency'"), "x").is_ok());
    }

    #[test]
    fn streams_have_endpoints_but_no_frames_and_no_load() {
        let endpoint = fault("entries = [1, 2]", "endpoint = ['vm']");
        assert_eq!(endpoint, "9:13 endpoints go with search = \"stream\", and with it only");
        let streams = PLAIN.replace("'mlr'", "'stream'");
        assert!(
            Scenario::parse(&streams.replace("entries = [1, 2]", "endpoint = ['vm']"), "x").is_ok()
        );
        let wired = "kind = 'ip4'\nwire_mbps = 100";
        assert!(Scenario::parse(&streams.replace("kind = 'ip4'", wired), "x").is_ok());
        let told = fault("kind = 'ip4'", wired);
        assert!(
            told.ends_with("wire_mbps goes with search = \"stream\", and with it only"),
            "{told}"
        );
        // Their frames are large enough for IPv6.
        assert!(Scenario::parse(&streams.replace("'ip4'", "'ip6'"), "x").is_ok());
        for (from, to, told) in [
            ("entries", "frame_bytes", "x:9:15: streams make frames"),
            ("entries", "load_percent", "x:9:16: streams find"),
            ("frame_bytes = 64", "imix = '7a'", "x:7:8: streams make frames"),
            ("loss_ratios = [0.0]", "telemetry = true", "x:1:8: neither"),
        ] {
            let error =
                Scenario::parse(&streams.replace(from, to).replace("[1, 2]", "[64, 84]"), "x");
            let error = error.unwrap_err().to_string();
            assert!(error.starts_with(told), "{error}");
        }
    }

    #[test]
    fn repetitions_go_with_searches_that_repeat() {
        let of = |search: &str| {
            let text = format!(
                "name = 'x'\ntitle = 'X'\nabout = 'y'\n[[function]]\nkind = 'ip4'\n\
                 [measure]\nsearch = '{search}'\nrepetitions = 3\n"
            );
            Scenario::parse(&text, "x").map_err(|error| error.to_string())
        };
        for search in ["max-rate", "latency", "back-to-back", "recovery", "reset"] {
            let scenario = of(search).unwrap();
            assert_eq!(scenario.measure.terms(1.0, 0.0).repeated(9), 3, "{search}");
        }
        for search in ["mlr", "throughput", "loss-scan", "functional"] {
            let told = of(search).unwrap_err();
            assert!(
                told.starts_with(&format!("x:8:15: search = \"{search}\" repeats nothing")),
                "{told}"
            );
        }
    }
}
