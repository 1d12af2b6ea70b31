//! Lets a worker go on after its time, up to what the other ranks have done.

use fsdyno_drive::{Ended, Loop};
use fsdyno_job::Direction;

use crate::conduct::Shared;

/// Runs the loop. One that wears out goes on after its time until it has done as many requests as the rank that has done
/// most.
pub(super) fn run_to_end(shared: &Shared, work: &mut dyn Loop<'_>) -> Ended {
    let ended = work.run();
    let other_ranks = shared.control.other_ranks().filter(|_| shared.wears_out);
    let (Some(other_ranks), Ended::TimeUp | Ended::Finished) = (other_ranks, &ended) else { return ended };
    let recorder = &work.parts().recorder;
    let done = Direction::ALL.into_iter().map(|direction| recorder.completed(direction)).sum();
    let more = other_ranks.wear_out(done).saturating_sub(done);
    if more == 0 {
        return ended;
    }
    let now_ns = work.now_ns();
    work.parts().phase.lift_limit(now_ns);
    work.go_on(more);
    work.run()
}
