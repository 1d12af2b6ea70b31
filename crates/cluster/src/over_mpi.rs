//! Messages between ranks through MPI.

use mpi::Threading;
use mpi::datatype::Equivalence;
use mpi::environment::Universe;
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;

use crate::Transport;

/// All ranks that the launcher has started.
pub struct OverMpi {
    world: SimpleCommunicator,
    /// Ends MPI when it is dropped.
    _universe: Universe,
}

impl OverMpi {
    /// Waits until all ranks have started. `None`: this process has done so before.
    pub fn begin() -> Option<OverMpi> {
        let (universe, _) = mpi::initialize_with_threading(Threading::Funneled)?;
        Some(OverMpi { world: universe.world(), _universe: universe })
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
