//! Sends messages between ranks through MPI.

use fsdyno_os::clock::{Clock, RealClock};
use mpi::Threading;
use mpi::datatype::Equivalence;
use mpi::environment::Universe;
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;

use crate::Transport;

/// Interval at which is checked whether all ranks have ended, ns.
const LOOK_NS: u64 = 1_000_000;

/// The connection to all ranks that the launcher has started.
pub struct OverMpi {
    world: SimpleCommunicator,
    /// Finalises MPI when it is dropped.
    _universe: Universe,
}

impl OverMpi {
    /// Waits until all ranks have started. `None`: MPI was initialised before in this process.
    pub fn begin() -> Option<OverMpi> {
        let (universe, _) = mpi::initialize_with_threading(Threading::Funneled)?;
        Some(OverMpi { world: universe.world(), _universe: universe })
    }
}

/// The MPI library's own name, such as `Open MPI` or `MPICH`.
pub fn library() -> String {
    name_in(&mpi::environment::library_version().unwrap_or_default())
}

/// The name without version and suffix: `Open MPI v4.1.4, package: ...`, `MPICH Version:\t4.0.2\n...`.
fn name_in(described: &str) -> String {
    let is_version = |word: &&str| *word == "Version:" || word.contains(|letter: char| letter.is_ascii_digit());
    let words: Vec<&str> = described.split_whitespace().take_while(|word| !is_version(word)).take(4).collect();
    words.join(" ")
}

/// MPI may be finalised only when all sent messages were received, including those that nobody waits for.
impl Drop for OverMpi {
    fn drop(&mut self) {
        let clock = RealClock::shared();
        let mut all_have_sent = self.world.immediate_barrier();
        loop {
            while self.receive().is_some() {}
            match all_have_sent.test() {
                Ok(_) => break,
                Err(not_yet) => all_have_sent = not_yet,
            }
            clock.sleep_until_ns(clock.now_ns() + LOOK_NS);
        }
        while self.receive().is_some() {}
    }
}

impl Transport for OverMpi {
    fn rank(&self) -> usize {
        self.world.rank() as usize
    }

    fn ranks(&self) -> usize {
        self.world.size() as usize
    }

    fn send(&mut self, to: usize, bytes: &[u8]) {
        self.world.process_at_rank(to as i32).send(bytes);
    }

    fn receive(&mut self) -> Option<(usize, Vec<u8>)> {
        let (message, status) = self.world.any_process().immediate_matched_probe()?;
        let mut bytes = vec![0; status.count(u8::equivalent_datatype()) as usize];
        message.matched_receive_into(&mut bytes[..]);
        Some((status.source_rank() as usize, bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_is_named_without_its_version() {
        assert_eq!(name_in("Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4"), "Open MPI");
        assert_eq!(name_in("MPICH Version:\t4.0.2\nMPICH Release date:\tThu Apr  7 2022"), "MPICH");
        assert_eq!(name_in("Intel(R) MPI Library 2021.8 for Linux* OS"), "Intel(R) MPI Library");
        assert_eq!(name_in(""), "");
    }
}
