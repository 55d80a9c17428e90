//! Checks of sources (RFC 3704), as ports ask for them.

use crate::core::Core;
use crate::interfaces::OpenPort;
use crate::part::Part;
use control::config::objects::port::PortName;
use control::config::objects::port_filters;
use nodes::filter::urpf_input::{Reverse, Urpf, UrpfInput};
use nodes::tables::Interface;

/// See the module.
#[derive(Default)]
pub(crate) struct SourceChecks;

impl Part for SourceChecks {
    fn row(&self, _: &Core, _: &PortName, port: &OpenPort, row: &mut Interface) {
        row.set::<UrpfInput>(port.config.filters.urpf.map(check));
    }
}

fn check(config: port_filters::Urpf) -> Urpf {
    let reverse = |configured: port_filters::Reverse| match configured {
        port_filters::Reverse::Loose => Reverse::Loose,
        port_filters::Reverse::Strict => Reverse::Strict,
    };
    let port_filters::Urpf { ip4, ip6, allow_default } = config;
    Urpf { ip4: ip4.map(reverse), ip6: ip6.map(reverse), allow_default }
}
