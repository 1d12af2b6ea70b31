//! Finds the network interface towards a server.

use std::io::Error;
use std::net::IpAddr;

use fsdyno_os::machine::{self, Interface};
use fsdyno_results::evidence::ServerIdentity;

use crate::interfaces::{RouteInterface, only_way};
use crate::server::{self, Endpoint};
use crate::{Fact, NotVisible};

/// The place for reasons: where Windows was asked.
pub(super) const PLACE: &str = "network interfaces";

/// Looks at a server.
pub(super) fn server(endpoint: &Endpoint, is_here: bool) -> ServerIdentity {
    let address = server::resolve(endpoint);
    let way = match is_here {
        true => Err(NotVisible::new(PLACE, "the server is this machine")),
        false => address.clone().and_then(|address| way(address.ip())),
    };
    let speed = |(name, bits_per_s): (String, Option<u64>)| {
        server::link_speed(name, bits_per_s.ok_or_else(|| "the driver reports no speed".to_owned()))
    };
    ServerIdentity {
        address: match &address {
            Ok(address) => address.to_string(),
            Err(_) => format!("{}:{}", endpoint.host, endpoint.port),
        },
        connect_ns: address.and_then(server::connect_ns).into(),
        link_bits_per_s: way.clone().and_then(speed).into(),
        interface: way.map(|(name, _)| name).into(),
    }
}

/// The interface that all traffic with an address takes, and its speed.
fn way(remote: IpAddr) -> Fact<(String, Option<u64>)> {
    let hidden = |code| NotVisible::new(PLACE, Error::from_raw_os_error(code));
    let index = machine::interface_towards(remote).map_err(hidden)?;
    let all = machine::interfaces().map_err(hidden)?;
    let bits_per_s = all.iter().find(|interface| interface.index == index).and_then(|interface| interface.bits_per_s);
    let ways =
        all.into_iter().map(|Interface { index, name, hardware, up, .. }| RouteInterface { index, name, hardware, up });
    let name = only_way(ways, index).map_err(|reason| NotVisible::new(PLACE, reason))?;
    Ok((name, bits_per_s))
}
