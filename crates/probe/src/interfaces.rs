//! Adds up the bytes of a machine's network interfaces.

use fsdyno_results::ReadWrite;
use fsdyno_stats::sort;

/// Reason if no interface has moved any bytes.
pub(crate) const NOTHING_CARRIED: &str = "no interface moved any bytes";

/// Names of the counted interfaces, and the sum of their received and sent bytes. `towards`: the interfaces that the
/// traffic must take; empty: not known, so that every interface with traffic counts. `None`: there is none.
pub(crate) fn summed(
    interfaces: impl Iterator<Item = (String, ReadWrite<u64>)>,
    towards: &[String],
) -> Option<(String, ReadWrite<u64>)> {
    let (mut names, mut sum) = (Vec::new(), ReadWrite::default());
    for (name, bytes) in interfaces {
        if towards.contains(&name) || towards.is_empty() && bytes.sum() > 0 {
            names.push(name);
            sum = sum.plus(bytes);
        }
    }
    sort::by(&mut names, Ord::cmp);
    match &names[..] {
        [] => None,
        [name] => Some((format!("interface {name}"), sum)),
        _ => Some((format!("interfaces {}", names.join(", ")), sum)),
    }
}

/// An interface on the way to a server.
#[cfg(any(windows, test))]
pub(crate) struct RouteInterface {
    pub(crate) index: u32,
    pub(crate) name: String,
    /// Whether it is hardware, and not made by software.
    pub(crate) hardware: bool,
    pub(crate) up: bool,
}

/// The interface that all traffic with a server takes. `index` is the number of the one that packets leave by. SMB
/// uses all cards towards the server (multichannel), and interfaces made by software may use any card.
#[cfg(any(windows, test))]
pub(crate) fn only_way(ways: impl Iterator<Item = RouteInterface>, index: u32) -> Result<String, String> {
    let (towards, others): (Vec<RouteInterface>, Vec<RouteInterface>) =
        ways.filter(|way| way.index == index || way.hardware && way.up).partition(|way| way.index == index);
    match (towards.into_iter().next(), others.first()) {
        (None, _) => Err("packets to the server stay in this machine".to_owned()),
        (Some(way), _) if !way.hardware => Err(format!("{} is made by software, and stands on others", way.name)),
        (Some(way), Some(other)) => Err(format!("SMB may use both {} and {}", way.name, other.name)),
        (Some(way), None) => Ok(way.name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn way(index: u32, name: &str, hardware: bool, up: bool) -> RouteInterface {
        RouteInterface { index, name: name.to_owned(), hardware, up }
    }

    #[test]
    fn one_card_that_is_up_is_the_only_way() {
        let ways = || {
            let unplugged = way(3, "Wi-Fi", true, false);
            [way(7, "Ethernet", true, true), unplugged, way(9, "vEthernet (Default Switch)", false, true)].into_iter()
        };
        assert_eq!(only_way(ways(), 7), Ok("Ethernet".to_owned()));
        assert!(only_way(ways(), 9).unwrap_err().contains("software"), "it may use the card");
        assert!(only_way(ways(), 1).unwrap_err().contains("stay"), "the loopback is not listed");
        let second = ways().chain([way(8, "Ethernet 2", true, true)]);
        assert_eq!(only_way(second, 7), Err("SMB may use both Ethernet and Ethernet 2".to_owned()));
    }
}
