//! `ofproto/trace`: what a bridge's tables would do with a packet.

use control::view::{FlowTrace, FlowTraceFilter, Style, View, query};

use super::command::{Asked, Said};

/// What is asked for, as its words say it.
fn read(words: &[String]) -> Result<FlowTraceFilter, String> {
    let mut asked = FlowTraceFilter::default();
    let (mut args, mut states, mut generates) = (Vec::new(), Vec::new(), false);
    let mut rest = words.iter().map(String::as_str);
    while let Some(word) = rest.next() {
        match word {
            "-generate" | "--generate" => generates = true,
            "-names" | "--names" => asked.names = true,
            "--ct-next" | "--l7" | "--l7-len" => {
                let value =
                    rest.next().ok_or_else(|| format!("Missing argument for option {word}"))?;
                // What a generated packet would carry decides nothing.
                if word == "--ct-next" {
                    states.push(value);
                }
            }
            _ if word.starts_with('-') => return Err(format!("{word}: unknown option")),
            _ if args.len() == 3 => return Err("too many arguments".to_owned()),
            _ => args.push(word),
        }
    }
    if !states.is_empty() {
        asked.ct_next = Some(states.join(";"));
    }
    match args[..] {
        [flow] => return Err(format!("syntax error at {flow} (or the bridge name was omitted)")),
        [bridge, flow] => (asked.bridge, asked.flow) = (bridge.to_owned(), flow.to_owned()),
        [bridge, flow, packet] if !generates => {
            (asked.bridge, asked.flow) = (bridge.to_owned(), flow.to_owned());
            asked.packet = Some(packet.to_owned());
        }
        _ => return Err("Syntax error".to_owned()),
    }
    Ok(asked)
}

pub(super) fn trace(asked: &Asked<'_>) -> Said {
    let filter = read(asked.words).map_err(|why| format!("{why}\n"))?;
    if filter.flow.contains('(') {
        return Err("Cannot find the datapath\n".to_owned());
    }
    if !asked.known().bridges.contains_key(&filter.bridge) {
        return Err(format!("{}: unknown bridge\n", filter.bridge));
    }
    let trace: FlowTrace = asked.view(&format!("/v1/flow-trace{}", query(&filter)))?;
    Ok(FlowTrace::text(&trace, Style::new(false)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(words: &str) -> Result<FlowTraceFilter, String> {
        read(&words.split(' ').map(str::to_owned).collect::<Vec<_>>())
    }

    /// What Debian's ovs-vswitchd (3.1) says of each.
    #[test]
    fn wrong_words_are_answered_as_open_vswitch_does() {
        let cases = [
            ("br0", "syntax error at br0 (or the bridge name was omitted)"),
            ("br0 in_port=1 -foo", "-foo: unknown option"),
            ("br0 in_port=1 --ct-next=trk", "--ct-next=trk: unknown option"),
            ("br0 in_port=1 --ct-next", "Missing argument for option --ct-next"),
            ("br0 in_port=1 a b", "too many arguments"),
            ("br0 in_port=1 ab --generate", "Syntax error"),
        ];
        for (words, wanted) in cases {
            assert_eq!(said(words), Err(wanted.to_owned()), "{words}");
        }
    }

    #[test]
    fn options_stand_anywhere() {
        let asked =
            said("--names br0 in_port=p1,tcp --ct-next trk,est -generate --ct-next trk").unwrap();
        let wanted = FlowTraceFilter {
            bridge: "br0".into(),
            flow: "in_port=p1,tcp".into(),
            packet: None,
            ct_next: Some("trk,est;trk".into()),
            names: true,
        };
        assert_eq!(asked, wanted);
        assert_eq!(said("br0 in_port=1 0102").unwrap().packet.as_deref(), Some("0102"));
    }
}
