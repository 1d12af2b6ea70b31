//! Tracks which children send signs of life. A machine without power or network leaves its connections open, which MPI
//! notices only after a quarter of an hour. Until then the other ranks wait, and the first rank names the silent one.

use std::time::Duration;

/// A sign is sent this number of times within the limit.
const SIGNS: u64 = 5;

/// The state of a rank that reports to this one.
#[derive(Debug)]
pub(super) struct Heartbeat {
    limit_ns: u64,
    signed_ns: u64,
    children: Vec<Child>,
}

#[derive(Debug)]
struct Child {
    rank: usize,
    /// The machine's name; `None`: it has not sent Hello.
    host: Option<String>,
    /// When it last sent something, ns; `None`: it is not waited for yet.
    heard_ns: Option<u64>,
    is_named: bool,
}

impl Heartbeat {
    /// `limit`: a child that is silent for longer is named.
    pub(super) fn new(children: impl Iterator<Item = usize>, limit: Duration) -> Heartbeat {
        let limit_ns = limit.as_nanos() as u64;
        let child = |rank| Child { rank, host: None, heard_ns: None, is_named: false };
        Heartbeat { limit_ns, signed_ns: 0, children: children.map(child).collect() }
    }

    /// Whether a sign for the parent is due now.
    pub(super) fn is_due(&mut self, now_ns: u64) -> bool {
        let due = now_ns >= self.signed_ns + self.limit_ns / SIGNS;
        if due {
            self.signed_ns = now_ns;
        }
        due
    }

    /// Sets the machine's name of a child.
    pub(super) fn runs_on(&mut self, rank: usize, host: &str) {
        if let Some(child) = self.children.iter_mut().find(|child| child.rank == rank) {
            child.host = Some(host.to_owned());
        }
    }

    /// A rank has sent something. Returns a sentence if it was named as silent before.
    pub(super) fn heard(&mut self, rank: usize, now_ns: u64) -> Option<String> {
        let child = self.children.iter_mut().find(|child| child.rank == rank)?;
        child.heard_ns = Some(now_ns);
        std::mem::take(&mut child.is_named).then(|| format!("{} speaks again", child.name()))
    }

    /// A sentence for each child that has become silent; called when all received messages were handled.
    pub(super) fn silent(&mut self, now_ns: u64) -> Vec<String> {
        let mut sentences = Vec::new();
        for child in &mut self.children {
            let silent_ns = now_ns.saturating_sub(*child.heard_ns.get_or_insert(now_ns));
            if silent_ns > self.limit_ns && !child.is_named {
                child.is_named = true;
                let seconds = silent_ns / 1_000_000_000;
                sentences.push(format!(
                    "{} has said nothing for {seconds} s, and the other ranks wait: look whether its machine and network \
                     are up; Ctrl-C ends all ranks and keeps what they have",
                    child.name()
                ));
            }
        }
        sentences
    }
}

impl Child {
    fn name(&self) -> String {
        match &self.host {
            Some(host) => format!("rank {} on {host}", self.rank),
            None => format!("rank {}", self.rank),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    #[test]
    fn a_silent_rank_is_named_once_and_again_when_it_speaks() {
        let mut heartbeat = Heartbeat::new([1, 2].into_iter(), Duration::from_secs(10));
        assert_eq!(heartbeat.silent(100 * S), [""; 0], "the wait begins here");
        heartbeat.runs_on(2, "node2");
        assert_eq!(heartbeat.heard(2, 101 * S), None);
        assert!(heartbeat.silent(110 * S).is_empty(), "10 s are not over");
        let named = heartbeat.silent(111 * S);
        assert!(named.len() == 1 && named[0].starts_with("rank 1 has said nothing for 11 s"), "{named:?}");
        let named = heartbeat.silent(112 * S);
        assert!(named.len() == 1 && named[0].starts_with("rank 2 on node2 has said nothing for 11 s"), "{named:?}");
        assert!(heartbeat.silent(200 * S).is_empty(), "once");
        assert_eq!(heartbeat.heard(2, 201 * S).as_deref(), Some("rank 2 on node2 speaks again"));
        assert_eq!(heartbeat.heard(7, 201 * S), None, "none of its children");
    }

    #[test]
    fn signs_are_more_frequent_than_the_limit() {
        let mut heartbeat = Heartbeat::new([].into_iter(), Duration::from_secs(10));
        let due = (100..120).filter(|second| heartbeat.is_due(second * S)).count();
        assert_eq!(due, 10, "each 2 s");
    }
}
