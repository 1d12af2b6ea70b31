//! A loop over io_uring that counts and times nothing: the floor for the engine `io_uring`. It reads blocks of 4 KiB at
//! random places, replaces each request as soon as its completion is known, and prints its CPU time per read, ns.
//!
//! Words: the file, the iodepth, the number of reads, and `direct` for direct I/O with registered files and buffers.
#![cfg_attr(target_os = "linux", expect(unsafe_code, reason = "the kernel writes into the buffers that entries name"))]
#![cfg_attr(target_os = "linux", expect(clippy::print_stdout, reason = "the figure is for the caller"))]

#[cfg(target_os = "linux")]
fn main() -> std::io::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [path, depth, reads, rest @ ..] = words.as_slice() else {
        return Err(std::io::Error::other("words: FILE IODEPTH READS [direct]"));
    };
    let number = |word: &String| word.parse::<u32>().map_err(std::io::Error::other);
    let cost_ns = linux::cost_ns(path, number(depth)?, number(reads)?, rest.iter().any(|word| word == "direct"))?;
    println!("{cost_ns:.1}");
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
mod linux {
    use std::io;
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::OpenOptionsExt;

    use io_uring::{IoUring, opcode, squeue, types};

    const BLOCK: usize = 4096;

    #[repr(C, align(4096))]
    #[derive(Clone)]
    struct Buffer([u8; BLOCK]);

    /// Reads, and returns the CPU time for each read, ns.
    pub(super) fn cost_ns(path: &str, depth: u32, reads: u32, direct: bool) -> io::Result<f64> {
        let flags = if direct { libc::O_DIRECT } else { 0 };
        let file = std::fs::OpenOptions::new().read(true).custom_flags(flags).open(path)?;
        let blocks = file.metadata()?.len() / BLOCK as u64;
        let mut buffers = vec![Buffer([0; BLOCK]); depth as usize];
        let mut builder = IoUring::builder();
        builder.setup_no_sqarray().setup_single_issuer().setup_defer_taskrun();
        let mut ring: IoUring = builder.build(depth)?;
        let (mut submitter, mut submission, mut completion) = ring.split();
        submitter.register_ring_fd()?;
        let vector = |buffer: &mut Buffer| libc::iovec { iov_base: buffer.0.as_mut_ptr().cast(), iov_len: BLOCK };
        if direct {
            submitter.register_files(&[file.as_raw_fd()])?;
            let vectors: Vec<libc::iovec> = buffers.iter_mut().map(vector).collect();
            // SAFETY: the buffers live until all reads are done.
            unsafe { submitter.register_buffers(&vectors)? };
        }
        let mut state: u64 = 0x9e37_79b9_7f4a_7c15;
        let mut entry = |slot: usize| -> squeue::Entry {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let (offset, address) = (state % blocks * BLOCK as u64, buffers[slot].0.as_mut_ptr());
            let (descriptor, length) = (types::Fd(if direct { 0 } else { file.as_raw_fd() }), BLOCK as u32);
            let entry = match direct {
                true => opcode::ReadFixed::new(descriptor, address, length, slot as u16)
                    .offset(offset)
                    .build()
                    .flags(squeue::Flags::FIXED_FILE),
                false => opcode::Read::new(descriptor, address, length).offset(offset).build(),
            };
            entry.user_data(slot as u64)
        };
        let begin_ns = cpu_ns();
        let (mut issued, mut done) = (0, 0);
        let mut free: Vec<usize> = (0..depth as usize).collect();
        while done < reads {
            while issued < reads
                && let Some(slot) = free.pop()
            {
                // SAFETY: the buffer of a slot is named by one entry at a time, and lives until all reads are done.
                unsafe { submission.push(&entry(slot)).map_err(io::Error::other)? };
                submission.sync();
                // SAFETY: the call has no argument; for the entry see above.
                unsafe { submitter.enter::<libc::sigset_t>(1, 0, 0, None)? };
                issued += 1;
            }
            completion.sync();
            if completion.is_empty() {
                // SAFETY: as above; nothing is submitted.
                unsafe { submitter.enter::<libc::sigset_t>(0, 1, 1, None)? };
                completion.sync();
            }
            for entry in &mut completion {
                if entry.result() != BLOCK as i32 {
                    return Err(io::Error::other(format!("a read returned {}", entry.result())));
                }
                free.push(entry.user_data() as usize);
                done += 1;
            }
        }
        Ok((cpu_ns() - begin_ns) / f64::from(reads))
    }

    fn cpu_ns() -> f64 {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
    }
}
