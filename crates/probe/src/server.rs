//! A server behind a network: its address, the time of a TCP connect, and the link speed that the user has set.

use std::fmt::Display;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use fsdyno_results::evidence::ServerIdentity;

use crate::{Fact, NotVisible};

/// Number of connects, of which the shortest is shown: enough that a lost packet or a busy processor does not matter,
/// few enough not to disturb.
const CONNECTS: usize = 5;

/// A server that does not answer within this time is not measured.
const CONNECT_TIMEOUT: Duration = Duration::from_millis(700);

/// The environment variable for the speed of links that do not report it, Mbit/s.
const LINK_SPEED_VARIABLE: &str = "FSDYNO_LINK_MBIT";

/// The resolver may try for half a minute, which is longer than a user wants to wait.
const NAME_TIMEOUT: Duration = Duration::from_secs(2);

/// Stack of the thread that looks up a name, bytes: resolvers of the C library keep whole messages there.
const STACK_BYTES: usize = 1 << 20;

/// Host and port of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Endpoint {
    /// Name or address; that of IPv6 without brackets.
    pub(crate) host: String,
    pub(crate) port: u16,
}

/// The address of a server; a name is looked up.
pub(crate) fn resolve(endpoint: &Endpoint) -> Fact<SocketAddr> {
    let Endpoint { host, port } = endpoint.clone();
    let place = format!("name {host}");
    let (sender, receiver) = mpsc::channel();
    let look_up = move || {
        let found = (host.as_str(), port).to_socket_addrs().map(|mut addresses| addresses.next());
        // If this fails, the caller no longer waits.
        let _ = sender.send(found);
    };
    if let Err(error) = fsdyno_os::thread::begin("resolver", STACK_BYTES, look_up) {
        return Err(NotVisible::new(place, format!("no thread can be started to look it up: {error}")));
    }
    match receiver.recv_timeout(NAME_TIMEOUT) {
        Ok(Ok(Some(address))) => Ok(address),
        Ok(Ok(None)) => Err(NotVisible::new(place, "has no address")),
        Ok(Err(error)) => Err(NotVisible::new(place, error)),
        Err(_) => Err(NotVisible::new(place, format!("no response within {} s", NAME_TIMEOUT.as_secs()))),
    }
}

/// Shortest time of some TCP connects; the longer ones contain waiting.
pub(crate) fn connect_ns(address: SocketAddr) -> Fact<u64> {
    let mut shortest = u64::MAX;
    for _ in 0..CONNECTS {
        let took_ns = one_connect_ns(address).map_err(|error| NotVisible::new(format!("connect {address}"), error))?;
        shortest = shortest.min(took_ns);
    }
    Ok(shortest)
}

#[expect(clippy::disallowed_methods, reason = "a round trip of a network, once per look; no I/O is timed with it")]
fn one_connect_ns(address: SocketAddr) -> std::io::Result<u64> {
    let begin = Instant::now();
    let stream = TcpStream::connect_timeout(&address, CONNECT_TIMEOUT)?;
    let elapsed = begin.elapsed();
    drop(stream);
    Ok(u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX))
}

/// Bits per second of a link: what the user has set, otherwise what the driver reports. Most virtual interfaces do
/// not know their speed, and some, such as those of containers, report the same speed whatever is below them.
pub(crate) fn link_speed(place: impl Display, driver: Result<u64, String>) -> Fact<u64> {
    let unknown = |reason| NotVisible::new(place, format!("{reason}; set {LINK_SPEED_VARIABLE}=1000 (Mbit/s)"));
    configured_link_speed().unwrap_or_else(|| driver.map_err(unknown))
}

/// A remark that the speed was set by the user.
pub(crate) fn remark(server: &ServerIdentity) -> Option<String> {
    let configured = configured_link_speed()?.ok()?;
    let interface = server.interface.value()?;
    (server.link_bits_per_s.value() == Some(&configured))
        .then(|| format!("speed of {interface} taken from {LINK_SPEED_VARIABLE}"))
}

/// The speed that the user has set; `None`: not set.
fn configured_link_speed() -> Option<Fact<u64>> {
    parse_link_speed(&std::env::var(LINK_SPEED_VARIABLE).ok()?)
}

fn parse_link_speed(text: &str) -> Option<Fact<u64>> {
    let megabits = text.trim().parse::<u64>().ok().filter(|megabits| (1..=100_000_000).contains(megabits));
    let speed = megabits.map(|megabits| megabits * 1_000_000);
    Some(speed.ok_or_else(|| NotVisible::new(LINK_SPEED_VARIABLE, format!("`{text}` is not a number of Mbit/s"))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_users_word_is_a_number_of_megabits() {
        assert_eq!(parse_link_speed(" 1000\n"), Some(Ok(1_000_000_000)));
        assert!(parse_link_speed("1g").unwrap().unwrap_err().reason.contains("`1g`"));
        assert!(parse_link_speed("0").unwrap().is_err());
    }
}
