//! Looks at the server behind a mount: its TCP connect time, and the network interface towards it.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

use fsdyno_results::evidence::ServerIdentity;
use procfs::FromRead;
use procfs::net::{RouteEntries, RouteEntry};

use super::seen::seen;
use crate::linux::{Look, read_number, read_text};
use crate::server::{self, Endpoint};
use crate::{Fact, NotVisible};

/// Looks at a server. `transport`: the transport protocol, if the mount names it.
pub(super) fn identity(look: &Look, endpoint: &Endpoint, transport: Option<&str>) -> ServerIdentity {
    let address = server::resolve(endpoint);
    let interface = address.clone().and_then(|address| interface(look, address.ip()));
    ServerIdentity {
        address: match &address {
            Ok(address) => address.to_string(),
            Err(_) => format!("{}:{}", endpoint.host, endpoint.port),
        },
        connect_ns: seen(address.and_then(|address| connect_ns(address, transport))),
        link_bits_per_s: seen(interface.as_ref().map_err(NotVisible::clone).and_then(|name| link_speed(look, name))),
        interface: seen(interface),
    }
}

/// A server that other processes reach in a way that is not visible from here.
pub(super) fn not_reached_from_here(endpoint: &Endpoint, reason: &NotVisible) -> ServerIdentity {
    ServerIdentity {
        address: format!("{}:{}", endpoint.host, endpoint.port),
        connect_ns: seen(Err(reason)),
        interface: seen(Err(reason)),
        link_bits_per_s: seen(Err(reason)),
    }
}

fn link_speed(look: &Look, interface: &str) -> Fact<u64> {
    let file = look.sys.join("class/net").join(interface).join("speed");
    let driver = match read_number::<i64>(&file) {
        Ok(megabits) if megabits > 0 => Ok(megabits.unsigned_abs() * 1_000_000),
        Ok(unknown) => Err(format!("the driver reports {unknown}")),
        Err(_) => Err("the driver reports no speed".to_owned()),
    };
    server::link_speed(file.display(), driver)
}

fn connect_ns(address: SocketAddr, transport: Option<&str>) -> Fact<u64> {
    match transport.filter(|name| !name.starts_with("tcp")) {
        Some(other) => Err(NotVisible::new("connect", format!("the mount uses {other}, not TCP"))),
        None => server::connect_ns(address),
    }
}

/// The interface that packets to `remote` leave by.
fn interface(look: &Look, remote: IpAddr) -> Fact<String> {
    let local = local_address(remote).map_err(|error| NotVisible::new(format!("route to {remote}"), error))?;
    if local.is_loopback() || local == remote {
        return Ok("lo".to_owned());
    }
    match (local, remote) {
        (IpAddr::V6(local), _) => interface_with(look, local),
        (_, IpAddr::V4(remote)) => interface_towards(look, remote),
        (_, IpAddr::V6(_)) => Err(NotVisible::new(format!("route to {remote}"), "the local address is IPv4")),
    }
}

/// The source address that the kernel would use. It looks up the route; no packet is sent.
fn local_address(remote: IpAddr) -> std::io::Result<IpAddr> {
    let any: IpAddr = if remote.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let socket = UdpSocket::bind((any, 0))?;
    // Any port other than 0.
    socket.connect((remote, 9))?;
    Ok(socket.local_addr()?.ip())
}

/// `fd000000000000000000000000000002 04 40 00 80     eth0`
fn interface_with(look: &Look, local: Ipv6Addr) -> Fact<String> {
    let file = look.proc.join("net/if_inet6");
    let text = read_text(&file)?;
    let wanted = format!("{:032x}", u128::from(local));
    let line = text.lines().find(|line| line.starts_with(&wanted));
    let name = line.and_then(|line| line.split_whitespace().last());
    name.map(str::to_owned).ok_or_else(|| NotVisible::new(file.display(), format!("does not list {local}")))
}

/// The interface of the most exact route in the main table.
fn interface_towards(look: &Look, remote: Ipv4Addr) -> Fact<String> {
    let file = look.proc.join("net/route");
    let RouteEntries(routes) =
        RouteEntries::from_file(&file).map_err(|error| NotVisible::new(file.display(), error))?;
    let leads = |route: &&RouteEntry| remote.to_bits() & route.mask.to_bits() == route.destination.to_bits();
    let best = routes.iter().filter(leads).max_by_key(|route| (route.mask, std::cmp::Reverse(route.metrics)));
    best.map(|route| route.iface.clone())
        .ok_or_else(|| NotVisible::new(file.display(), format!("no route to {remote} in the main table")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::block::fixture;
    use fsdyno_results::evidence::RecordedFact;
    use std::fs;
    use std::net::TcpListener;

    const ROUTES: &str = "\
Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT
eth0\t00000000\t010200C0\t0003\t0\t0\t100\t00000000\t0\t0\t0
wlan0\t00000000\t010200C0\t0003\t0\t0\t600\t00000000\t0\t0\t0
eth1\t0000000A\t00000000\t0001\t0\t0\t0\t000000FF\t0\t0\t0
eth2\t0001000A\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0
";

    #[test]
    fn the_most_exact_route_leads() {
        let tree = fixture::tree();
        fs::create_dir_all(tree.look.proc.join("net")).unwrap();
        assert!(interface_towards(&tree.look, Ipv4Addr::new(10, 0, 1, 5)).is_err(), "no table");
        fs::write(tree.look.proc.join("net/route"), ROUTES).unwrap();
        let towards = |address| interface_towards(&tree.look, address).unwrap();
        assert_eq!(towards(Ipv4Addr::new(10, 0, 1, 5)), "eth2");
        assert_eq!(towards(Ipv4Addr::new(10, 9, 1, 5)), "eth1");
        assert_eq!(towards(Ipv4Addr::new(192, 0, 2, 5)), "eth0", "the lower metric");
    }

    #[test]
    fn an_interface_is_found_by_its_address() {
        let tree = fixture::tree();
        fs::create_dir_all(tree.look.proc.join("net")).unwrap();
        let text = "00000000000000000000000000000001 01 80 10 80       lo\nfd000000000000000000000000000002 04 40 00 80     eth0\n";
        fs::write(tree.look.proc.join("net/if_inet6"), text).unwrap();
        assert_eq!(interface_with(&tree.look, "fd00::2".parse().unwrap()), Ok("eth0".to_owned()));
        assert!(interface_with(&tree.look, "fd00::3".parse().unwrap()).is_err());
    }

    #[test]
    fn a_speed_of_minus_one_is_no_speed() {
        let tree = fixture::tree();
        let directory = tree.look.sys.join("class/net/eth0");
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join("speed"), "10000\n").unwrap();
        assert_eq!(link_speed(&tree.look, "eth0"), Ok(10_000_000_000));
        fs::write(directory.join("speed"), "-1\n").unwrap();
        assert!(link_speed(&tree.look, "eth0").unwrap_err().reason.contains("-1"));
        assert!(link_speed(&tree.look, "lo").is_err());
    }

    #[test]
    fn a_server_of_this_machine() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let endpoint = Endpoint { host: "127.0.0.1".into(), port };
        let server = identity(&Look::new(), &endpoint, Some("tcp"));
        assert_eq!(server.address, format!("127.0.0.1:{port}"));
        assert!(server.connect_ns.value().is_some_and(|ns| *ns > 0), "{server:?}");
        assert_eq!(server.interface, RecordedFact::Value("lo".to_owned()));
        assert!(server.link_bits_per_s.reason().is_some(), "loopback has no speed");

        let over_rdma = identity(&Look::new(), &endpoint, Some("rdma"));
        assert!(over_rdma.connect_ns.reason().is_some_and(|reason| reason.contains("rdma")));
        drop(listener);
        let gone = identity(&Look::new(), &endpoint, None);
        assert!(gone.connect_ns.reason().is_some_and(|reason| reason.contains("refused")), "{gone:?}");
    }

    #[test]
    fn a_name_that_does_not_resolve() {
        let endpoint = Endpoint { host: "no such host".into(), port: 2049 };
        let server = identity(&Look::new(), &endpoint, None);
        assert_eq!(server.address, "no such host:2049");
        assert!(server.connect_ns.reason().is_some() && server.interface.reason().is_some());
    }
}
