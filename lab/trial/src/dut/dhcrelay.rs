//! ISC's DHCP relay beside a router that has no relay of its own, as Debian has it.

use crate::Error;
use crate::dut::device::{Device, Job};
use crate::load::leases;
use crate::place::{Place, has_program};

/// Relays between the kernel's devices at the two links, whose addresses are there.
pub(super) fn start(
    device: &dyn Device,
    job: &Job,
    place: &mut Place,
    [clients, servers]: [&str; 2],
) -> Result<(), Error> {
    if !has_program("dhcrelay") {
        return Err(device.refuse(job, "dhcrelay is not installed (package isc-dhcp-relay)"));
    }
    let server = leases::server();
    place.spawn(
        "dhcrelay",
        &format!("dhcrelay -4 -d --no-pid -id {clients} -iu {servers} {server}"),
    )?;
    // The last that it says before it waits for messages.
    place.wait_for_start("dhcrelay listens", |place| {
        place.log("dhcrelay").contains("Socket/fallback")
    })
}
