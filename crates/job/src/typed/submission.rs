//! How requests reach the kernel: engine, depth, memory, options of engines.

use super::{EngineName, IoPriority, ObjectOptions};
use crate::direction::{Direction, PerDirection};

/// How requests reach the kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Submission {
    /// The engine, by its canonical name.
    pub engine: EngineName,
    /// Largest number of requests in flight (1 and up), as written.
    pub depth: u32,
    /// Number of queued requests at which they are submitted (1 to depth).
    pub batch: u32,
    /// Least number of completions that a call waits for (0: poll).
    pub batch_complete_min: u32,
    /// Largest number of completions that a call takes.
    pub batch_complete_max: u32,
    /// Number in flight at which new requests are submitted again; `None`: at once.
    pub depth_low: Option<u32>,
    /// `io_submit_mode=offload`.
    pub offload: bool,
    /// A request that overlaps one in flight waits for it.
    pub serialize_overlap: bool,
    /// O_DIRECT.
    pub direct: bool,
    /// O_SYNC / O_DSYNC at open.
    pub sync_open: SyncOpen,
    /// Alignment of the buffers in bytes, a power of two; 0: the page (always so with direct I/O).
    pub memory_align: u32,
    /// The kind of memory of the buffers.
    pub memory: Memory,
    /// Bytes of a huge page (`hugepage-size`); 0: the system's default.
    pub huge_page_bytes: u64,
    /// Additional bytes that the worker locks in memory (`lockmem`).
    pub locked_bytes: u64,
    /// Options of the engine.
    pub engine_options: EngineOptions,
}

impl Default for Submission {
    fn default() -> Submission {
        Submission {
            engine: EngineName::DEFAULT,
            depth: 1,
            batch: 1,
            batch_complete_min: 1,
            batch_complete_max: 0,
            depth_low: None,
            offload: false,
            serialize_overlap: false,
            direct: false,
            sync_open: SyncOpen::None,
            memory_align: 0,
            memory: Memory::Anonymous,
            huge_page_bytes: 0,
            locked_bytes: 0,
            engine_options: EngineOptions::default(),
        }
    }
}

impl Submission {
    /// Whether separate threads make the calls of the engine, one for each request in flight.
    pub fn offloads(&self) -> bool {
        self.offload && cfg!(target_os = "linux") && self.engine.can_be_offloaded()
    }

    /// Whether the worker itself makes a call that returns when the request is done: one is in flight, whatever
    /// `iodepth` says.
    pub fn is_synchronous(&self) -> bool {
        self.engine.is_synchronous() && !self.offloads()
    }

    /// The same at the iodepth that was written.
    pub fn waits_for_each(&self) -> bool {
        self.engine.is_synchronous_at(self.depth) && !self.offloads()
    }
}

/// `sync=`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncOpen {
    /// Neither flag.
    None,
    /// O_SYNC.
    Sync,
    /// O_DSYNC.
    Dsync,
}

/// `mem=`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Memory {
    /// Anonymous pages (fio's malloc and mmap alike).
    Anonymous,
    /// Anonymous pages of a shared mapping (`mmapshared`).
    Shared,
    /// Anonymous huge pages (`mmaphuge`) of this size, bytes; 0: the system's default size.
    Huge(u64),
    /// A segment of System V shared memory (`shm`).
    Segment,
    /// A segment of huge pages (`shmhuge`) of this size, bytes.
    HugeSegment(u64),
    /// A file (`mmap:FILE`; `mmapshared:FILE` and `mmaphuge:FILE` are shared).
    File {
        /// The path of the file.
        path: String,
        /// What is written to the buffers reaches the file.
        shared: bool,
    },
}

impl Memory {
    /// `hugepage-size`, where huge pages are used.
    pub(crate) fn set_huge_page_bytes(&mut self, bytes: u64) {
        if let Memory::Huge(page_bytes) | Memory::HugeSegment(page_bytes) = self {
            *page_bytes = bytes;
        }
    }
}

/// Options that belong to one engine. Unused ones keep their defaults.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EngineOptions {
    /// io_uring, pvsync2: poll for completions (`hipri`).
    pub hipri: bool,
    /// pvsync2: share of polled I/O in percent; `None`: all.
    pub hipri_percentage: Option<u32>,
    /// io_uring: registered buffers.
    pub fixed_buffers: bool,
    /// io_uring: registered files.
    pub registered_files: bool,
    /// io_uring: a kernel thread polls the submission queue.
    pub sqthread_poll: bool,
    /// io_uring: that thread's processor.
    pub sqthread_poll_cpu: Option<u32>,
    /// io_uring: plain read/write opcodes (true, fio's default) or vectored ones.
    pub nonvectored: Option<bool>,
    /// io_uring: IOSQE_ASYNC on every N-th request; 0: never.
    pub force_async: u32,
    /// libaio, io_uring, pvsync2: RWF_NOWAIT.
    pub nowait: bool,
    /// libaio: read completions from the shared ring.
    pub userspace_reap: bool,
    /// libaio: requests take a list of buffers.
    pub vectored: bool,
    /// libaio, io_uring, pvsync2: writes with RWF_ATOMIC.
    pub atomic: bool,
    /// libaio, io_uring: requests of another priority than the job's (`cmdprio_percentage` and its companions).
    pub priority_shares: PerDirection<Vec<PriorityShare>>,
    /// io_uring, pvsync2: RWF_DONTCACHE.
    pub uncached: bool,
    /// mmap: ask for huge pages (`thp`).
    pub huge_pages: bool,
    /// filestat, dirstat: the call.
    pub stat: StatCall,
    /// sim: the device that is played.
    pub sim: SimDevice,
    /// cpuio: what is computed.
    pub burn: CpuioOptions,
    /// exec: what is run.
    pub program: Program,
    /// e4defrag: which file gives its blocks.
    pub donor: Donor,
    /// First byte that the job uses of its files, and the end of the longest one. The worker sets it for e4defrag and
    /// page_fault.
    pub used_range: (u64, u64),
    /// net: where the peer is.
    pub network: NetworkOptions,
    /// http: where the objects are.
    pub object: ObjectOptions,
    /// Trims reset the zones of zoned devices (`zonemode=zbd`).
    pub resets_zones: bool,
    /// sg, io_uring_cmd: which commands are sent.
    pub commands: DeviceCommands,
}

/// The options of `sg` and `io_uring_cmd`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceCommands {
    /// The command that a write becomes.
    pub write: DeviceWrite,
    /// Reads go to the medium (`readfua`).
    pub read_fua: bool,
    /// Writes go to the medium (`writefua`).
    pub write_fua: bool,
    /// Writes of zeroes free the space (`deallocate`).
    pub deallocates: bool,
    /// The stream of SCSI writes (`stream_id`); 0: none.
    pub stream: u16,
    /// Metadata of NVMe blocks.
    pub protection: Protection,
}

/// The metadata of NVMe blocks, with their protection information.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Protection {
    /// Bytes for the metadata of each request (`md_per_io_size`).
    pub metadata_bytes: u32,
    /// The device makes and checks the protection information (`pi_act`).
    pub by_device: bool,
    /// What is checked (`pi_chk`): the sum of [`GUARD`](Protection::GUARD), [`TAG`](Protection::TAG) and
    /// [`BLOCK`](Protection::BLOCK).
    pub checks: u8,
    /// The application tag (`apptag`).
    pub tag: u16,
    /// The bits of it that are compared (`apptag_mask`).
    pub tag_mask: u16,
}

impl Protection {
    /// The checksum of the data.
    pub const GUARD: u8 = 4;
    /// The application tag.
    pub const TAG: u8 = 2;
    /// The number of the block.
    pub const BLOCK: u8 = 1;
}

impl Default for Protection {
    fn default() -> Protection {
        Protection { metadata_bytes: 0, by_device: true, checks: 0, tag: 0x1234, tag_mask: u16::MAX }
    }
}

/// `sg_write_mode=` and `write_mode=`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DeviceWrite {
    /// Data are written.
    #[default]
    Plain,
    /// Data are written, and the device reads them again.
    AndVerify,
    /// Nothing is written: the device reads the blocks, and compares them as its BYTCHK says (0: with nothing).
    Verify(u8),
    /// One block is written over all.
    Same,
    /// The device writes zeroes, without data.
    Zeroes,
    /// Data are written to a stream.
    Stream,
    /// Blocks are marked as unreadable.
    Uncorrectable,
}

/// The options of `e4defrag`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Donor {
    /// Name of the file; empty: not given. The worker puts the job's directory before it.
    pub name: String,
    /// Each request allocates blocks in the donor, and gives them up at its end. Otherwise all are allocated when the
    /// job begins.
    pub in_place: bool,
}

/// The options of `net`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NetworkOptions {
    /// Name or address of the peer, path of a UNIX socket, or the group that a receiver joins.
    pub host: Option<String>,
    /// The port; 0: not given.
    pub port: u16,
    /// The protocol.
    pub protocol: Protocol,
    /// TCP_NODELAY.
    pub no_delay: bool,
    /// Wait for a peer that connects (`listen`).
    pub waits: bool,
    /// Each request is answered by the same number of bytes (`pingpong`).
    pub answers: bool,
    /// Address of the interface for multicast; empty: the system's choice.
    pub interface: String,
    /// Hops of multicast datagrams; `None`: 1.
    pub hops: Option<u32>,
    /// Size of the socket's buffers; 0: the system's choice.
    pub window_bytes: u32,
    /// Largest segment of TCP; 0: the system's choice.
    pub segment_bytes: u32,
    /// The job sends.
    pub sends: bool,
}

impl NetworkOptions {
    /// Whether this side must be there before its peer.
    pub fn listens(&self) -> bool {
        self.waits || !self.sends && !self.protocol.connects()
    }

    /// The path of the UNIX socket, if the protocol has one.
    pub fn path(&self) -> Option<&str> {
        self.host.as_deref().filter(|_| self.protocol == Protocol::Unix)
    }
}

/// `protocol=`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Protocol {
    /// TCP over IPv4.
    #[default]
    Tcp,
    /// TCP over IPv6.
    TcpV6,
    /// UDP over IPv4.
    Udp,
    /// UDP over IPv6.
    UdpV6,
    /// A stream between processes.
    Unix,
    /// A stream between a guest and its host.
    Vsock,
}

impl Protocol {
    /// Whether it is a byte stream over IP.
    pub fn is_tcp(self) -> bool {
        matches!(self, Protocol::Tcp | Protocol::TcpV6)
    }

    /// Whether a receiver may connect to its sender, so that `listen` says which side waits.
    pub fn connects(self) -> bool {
        self.is_tcp() || self == Protocol::Vsock
    }

    /// Whether each request is a message, which may get lost.
    pub fn is_datagram(self) -> bool {
        matches!(self, Protocol::Udp | Protocol::UdpV6)
    }

    /// Whether it is over IPv6.
    pub fn is_v6(self) -> bool {
        matches!(self, Protocol::TcpV6 | Protocol::UdpV6)
    }
}

/// The options of `cpuio`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CpuioOptions {
    /// Share of the time in which the engine computes, percent (1 to 100); 0: not given.
    pub load_percent: u8,
    /// Length of one burst, us.
    pub burst_us: u32,
    /// Bursts sort numbers instead of spinning.
    pub sorts: bool,
    /// The job ends with the last job that does I/O.
    pub until_io_done: bool,
}

impl Default for CpuioOptions {
    fn default() -> CpuioOptions {
        CpuioOptions { load_percent: 0, burst_us: 50_000, sorts: false, until_io_done: false }
    }
}

/// The options of `exec`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// Name or path of the program; empty: not given.
    pub name: String,
    /// Arguments, separated by blanks.
    pub arguments: String,
    /// Time between SIGTERM and SIGKILL, s.
    pub grace_s: u32,
    /// Output of the program goes into `JOB.stdout` and `JOB.stderr`.
    pub redirects: bool,
    /// Stem of these two names; the worker sets it.
    pub output: Option<String>,
}

impl Default for Program {
    fn default() -> Program {
        Program { name: String::new(), arguments: String::new(), grace_s: 1, redirects: true, output: None }
    }
}

impl EngineOptions {
    /// Whether some requests have a priority of their own.
    pub fn has_priorities(&self) -> bool {
        Direction::ALL.into_iter().any(|direction| !self.priority_shares[direction].is_empty())
    }
}

/// A share of the requests, of one size or of any, with an I/O priority of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PriorityShare {
    /// Only requests of this size, bytes; `None`: of any size.
    pub block_bytes: Option<u64>,
    /// Share, percent (1 to 100).
    pub percent: u32,
    /// Priority of these requests.
    pub priority: IoPriority,
}

/// `stat_type=`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StatCall {
    /// stat.
    #[default]
    Stat,
    /// lstat.
    Lstat,
    /// statx.
    Statx,
}

/// The virtual device of the `sim` engine. All times are virtual nanoseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct SimDevice {
    /// Service time of each request (`sim_service`), ns.
    pub service_ns: u64,
    /// Requests served at once (`sim_channels`), 1 and up.
    pub channels: u32,
    /// Requests that the queue holds before it is full (`sim_queue`); 0: no limit.
    pub queue: u32,
    /// The script of faults (`sim_faults`), in order of the I/O number.
    pub faults: Vec<SimFault>,
}

impl Default for SimDevice {
    fn default() -> Self {
        SimDevice { service_ns: 100_000, channels: 1, queue: 0, faults: Vec::new() }
    }
}

/// One scripted event of the virtual device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SimFault {
    /// The number of the request, counted from 1 in order of submission.
    pub number: u64,
    /// What happens to it.
    pub kind: SimFaultKind,
}

/// Kinds of scripted events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SimFaultKind {
    /// Fails with this errno.
    Error(i32),
    /// Transfers only this number of bytes.
    Short(u32),
    /// Additional time of the request, ns.
    Stall(u64),
    /// Transfers nothing: end of file.
    EndOfFile,
}
