//! Whose packets ports receive.

use crate::core::Core;
use crate::interfaces::OpenPort;
use crate::part::Part;
use control::config::objects::port::PortName;
use control::config::objects::port_allow::Allow;
use fib::{Address, Prefix};
use nodes::filter::Ranges;
use nodes::filter::allow_input::{AllowInput, Allowed};
use nodes::tables::Interface;

/// See the module.
#[derive(Default)]
pub(crate) struct Allowing;

impl Part for Allowing {
    fn row(&self, core: &Core, _: &PortName, port: &OpenPort, row: &mut Interface) {
        let config = port.config.filters.allow.as_ref();
        row.set::<AllowInput>(config.map(|allow| allowed(allow, core)));
    }
}

fn allowed(config: &Allow, core: &Core) -> Allowed {
    Allowed {
        ip4: networks(&config.from),
        ip6: networks(&config.from),
        vrf: config.vrf.as_ref().map(|vrf| core.vrfs.of(Some(vrf))),
        non_ip: config.non_ip,
    }
}

/// Those of one family.
fn networks<A: Address>(configured: &[control::config::Prefix]) -> Ranges<A> {
    let network = |network: &control::config::Prefix| {
        Prefix::new(A::from_ip(network.address())?, network.length()).ok()
    };
    Ranges::of(configured.iter().filter_map(network))
}
