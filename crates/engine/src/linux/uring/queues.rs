//! A ring with its two queues, which stay open: positions of the kernel are read when they are needed, and not once for
//! each request.

use std::mem::ManuallyDrop;

use io_uring::cqueue::CompletionQueue;
use io_uring::squeue::SubmissionQueue;
use io_uring::{IoUring, Submitter};

/// The queues of a ring, and its calls.
pub(super) struct Queues {
    pub(super) submitter: Submitter<'static>,
    pub(super) submission: ManuallyDrop<SubmissionQueue<'static>>,
    pub(super) completion: ManuallyDrop<CompletionQueue<'static>>,
    /// Whether calls name the ring by a registered number, so that the kernel need not look its descriptor up
    /// (Linux 5.18).
    pub(super) registered: bool,
    ring: *mut IoUring,
}

impl Queues {
    pub(super) fn new(ring: IoUring) -> Queues {
        let ring = Box::into_raw(Box::new(ring));
        // SAFETY: the pointer is that of a box, which only `drop` frees, after everything that borrows from it.
        let (mut submitter, submission, completion) = unsafe { (*ring).split() };
        let registered = submitter.register_ring_fd().is_ok();
        let (submission, completion) = (ManuallyDrop::new(submission), ManuallyDrop::new(completion));
        Queues { submitter, submission, completion, registered, ring }
    }
}

impl Drop for Queues {
    fn drop(&mut self) {
        if self.registered {
            // The thread would keep the ring open until it ends. If the kernel refuses, that is what happens.
            let _ = self.submitter.unregister_ring_fd();
        }
        // SAFETY: both queues are dropped here alone and used no more. The box is that of `new`, and nothing borrows from
        // it any more.
        unsafe {
            ManuallyDrop::drop(&mut self.submission);
            ManuallyDrop::drop(&mut self.completion);
            drop(Box::from_raw(self.ring));
        }
    }
}
