//! `volley extcap`: the router's ports, and what it drops, among Wireshark's interfaces.
//!
//! ```text
//!  Wireshark ─▶ volley-extcap --extcap-interfaces ─▶ one line each: what is dropped, every port
//!            ─▶ --capture --extcap-interface volley:p1 --fifo PIPE ─▶ capture live into the pipe
//! ```
//! What it is asked with is Wireshark's extcap(4).

use std::path::PathBuf;

use clap::Args;
use control::view::{Port, View};

use crate::error::CliError;
use crate::live::{self, Live};
use crate::session::Session;

/// What an interface's name begins with.
const OURS: &str = "volley:";
/// The interface that has what is dropped; no port is called so.
const DROPPED: &str = "volley:-dropped";

/// Bytes kept of each packet: all that any has.
const MOST_SNAP: u32 = 16_384;

/// What Wireshark asks.
#[derive(Clone, Debug, Args)]
pub(crate) struct Extcap {
    /// List the interfaces
    #[arg(long)]
    extcap_interfaces: bool,
    /// List the kinds of packets of an interface
    #[arg(long)]
    extcap_dlts: bool,
    /// List what can be chosen of an interface
    #[arg(long)]
    extcap_config: bool,
    /// Capture
    #[arg(long)]
    capture: bool,
    /// The interface
    #[arg(long, value_name = "NAME")]
    extcap_interface: Option<String>,
    /// Wireshark's version
    #[arg(long, value_name = "VERSION", num_args = 0..=1)]
    extcap_version: Option<String>,
    /// A filter; it is left to Wireshark
    #[arg(long, value_name = "FILTER")]
    extcap_capture_filter: Option<String>,
    /// The pipe
    #[arg(long, value_name = "PIPE")]
    fifo: Option<PathBuf>,
}

/// Answers, or captures.
pub(crate) fn run(session: &Session, args: &Extcap) -> Result<(), CliError> {
    let output = session.output;
    if args.extcap_interfaces {
        // A router that does not answer has no ports; Wireshark shows others then.
        let ports: Vec<Port> = session.client.view(Port::PATH).unwrap_or_default();
        return output.text(&interfaces(&ports));
    }
    let wrong = |what: &str| CliError::Usage(format!("error: {what}\n"));
    let name = args.extcap_interface.as_deref();
    let name = name.ok_or_else(|| wrong("--extcap-interface NAME is missing"))?;
    let port = port_of(name).ok_or_else(|| wrong(&format!("`{name}` is no interface of ours")))?;
    if args.extcap_dlts {
        return output.text("dlt {number=1}{name=EN10MB}{display=Ethernet}\n");
    }
    if args.extcap_config {
        // Nothing.
        return Ok(());
    }
    let write = args.fifo.clone().filter(|_| args.capture);
    let write = write.ok_or_else(|| wrong("--capture takes --fifo PIPE as well"))?;
    let node = port.is_some().then(|| "port-rx".to_owned());
    live::run(session, &Live { node, exit: None, port, snap: Some(MOST_SNAP), count: None, write })
}

/// The port of an interface; none of the one with what is dropped.
fn port_of(name: &str) -> Option<Option<String>> {
    match name {
        DROPPED => Some(None),
        name => name.strip_prefix(OURS).map(|port| Some(port.to_owned())),
    }
}

fn interfaces(ports: &[Port]) -> String {
    let mut text = format!(
        "extcap {{version={}}}{{display=Volley}}\n\
         interface {{value={DROPPED}}}{{display=Volley: what is dropped, and why}}\n",
        env!("CARGO_PKG_VERSION")
    );
    for Port { name, kind, .. } in ports {
        let line = format!(
            "interface {{value={OURS}{name}}}{{display=Volley: {name} ({kind}), received}}\n"
        );
        text.push_str(&line);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interface_is_a_port_or_what_is_dropped() {
        assert_eq!(port_of("volley:p1"), Some(Some("p1".to_owned())));
        assert_eq!(port_of(DROPPED), Some(None));
        assert_eq!(port_of("eth0"), None);
        assert!(interfaces(&[]).contains("{value=volley:-dropped}"));
    }
}
