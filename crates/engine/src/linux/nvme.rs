//! `io_uring_cmd`: NVMe commands through a ring, on the character device of a namespace (/dev/ng0n1).

mod protection;

use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::time::Duration;

use fsdyno_job::{DeviceCommands, DeviceWrite, EngineName, EngineOptions};
use fsdyno_os::linux::nvme::{Command, identify};
use io_uring::{IoUring, cqueue, opcode, squeue, types};

use super::commands::{Disk, Done, Request, What};
use super::uring;
use crate::buffers::Arena;
use crate::setup::{EngineSetup, EngineSetupError};
use protection::Metadata;

/// `_IOWR('N', 0x80, struct nvme_uring_cmd)`
const NVME_URING_CMD_IO: u32 = 0xC048_4E80;
/// The same with a list of buffers.
const NVME_URING_CMD_IO_VEC: u32 = 0xC048_4E81;

type Ring = IoUring<squeue::Entry128, cqueue::Entry32>;

/// What the kernel reads for the command of one slot.
#[derive(Clone, Copy)]
struct CommandMemory {
    /// The range of a trim.
    range: [u32; 4],
    vector: libc::iovec,
}

/// A namespace with its device.
#[derive(Clone, Copy, Debug)]
struct Namespace {
    fd: RawFd,
    disk: Disk,
    metadata: Metadata,
}

/// NVMe namespaces of a worker, and the ring.
pub(crate) struct Nvme {
    ring: Ring,
    options: DeviceCommands,
    disks: Box<[Namespace]>,
    /// The metadata of each slot, one after the other; empty where no command transfers any.
    metadata: Box<[u8]>,
    /// Files are named by their index.
    registered: bool,
    /// Buffers are named by their index.
    fixed: bool,
    vectored: bool,
    force_async: u32,
    until_async: u32,
    places: Box<[CommandMemory]>,
    said: Option<String>,
    refused: Vec<Done>,
}

impl std::fmt::Debug for Nvme {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Nvme").field("disks", &self.disks).finish_non_exhaustive()
    }
}

impl Nvme {
    pub(crate) fn new(setup: &EngineSetup<'_>, arena: &Arena) -> Result<Nvme, EngineSetupError> {
        let options: &EngineOptions = &setup.options;
        let refused = |call, code: i32, advice: &str| EngineSetupError::Refused {
            engine: EngineName::IoUringCmd,
            call,
            code,
            advice: advice.to_owned(),
        };
        let protection = options.commands.protection;
        let disk = |file: &fsdyno_os::files::OpenFile| {
            let fd = file.as_fd().as_raw_fd();
            let found = identify(file.as_fd());
            let found = found.map_err(|code| refused("identify", code, "name an NVMe namespace: /dev/ng0n1"))?;
            let metadata = Metadata { format: found.format, options: protection };
            let block_bytes = found.format.transferred_bytes(protection.by_device);
            let disk = Disk { block_bytes, namespace: found.number, is_large: true };
            match metadata.objection((arena.stride() as u64).div_ceil(block_bytes.into())) {
                None => Ok(Namespace { fd, disk, metadata }),
                Some(reason) => Err(refused("identify", libc::EOPNOTSUPP, &reason)),
            }
        };
        let disks = setup.files.iter().map(disk).collect::<Result<Box<[_]>, _>>()?;
        let ring: Ring = uring::plain_ring(setup.depth, options)?;
        let descriptors: Vec<RawFd> = disks.iter().map(|disk| disk.fd).collect();
        let transfers_metadata = disks.iter().any(|disk| disk.metadata.has_buffers());
        let metadata_bytes = if transfers_metadata { protection.metadata_bytes as usize } else { 0 };
        let code = |error: std::io::Error| error.raw_os_error().unwrap_or(libc::EIO);
        if options.registered_files {
            let registered = ring.submitter().register_files(&descriptors);
            registered.map_err(|error| refused("registerfiles", code(error), "leave registerfiles out"))?;
        }
        let vector = |index| libc::iovec { iov_base: arena.address(index).cast(), iov_len: arena.stride() };
        let places: Box<[CommandMemory]> =
            (0..arena.depth()).map(|index| CommandMemory { range: [0; 4], vector: vector(index) }).collect();
        if options.fixed_buffers {
            let vectors: Vec<libc::iovec> = places.iter().map(|place| place.vector).collect();
            // SAFETY: the buffers are the arena's, which outlives every request of this ring.
            let registered = unsafe { ring.submitter().register_buffers(&vectors) };
            registered.map_err(|error| refused("fixedbufs", code(error), "leave fixedbufs out"))?;
        }
        Ok(Nvme {
            ring,
            options: options.commands,
            disks,
            metadata: vec![0; metadata_bytes * arena.depth()].into(),
            registered: options.registered_files,
            fixed: options.fixed_buffers,
            vectored: options.nonvectored == Some(false),
            force_async: options.force_async,
            until_async: options.force_async,
            places,
            said: None,
            refused: Vec::with_capacity(setup.depth as usize),
        })
    }

    fn entry(&mut self, request: &Request) -> Option<squeue::Entry128> {
        let index = self.disks.iter().position(|disk| disk.fd == request.fd)?;
        let namespace = self.disks[index];
        let mut command = command(request, namespace, self.options)?;
        if command.data_bytes > 0 && request.what != What::Trim {
            self.add_metadata(&mut command, request, namespace);
        }
        let place = &mut self.places[request.slot];
        let transfers = command.data_bytes > 0 && request.what != What::Trim;
        let mut code = NVME_URING_CMD_IO;
        if request.what == What::Trim {
            let (block, count) = namespace.disk.blocks(request)?;
            place.range = [0, count, block as u32, (block >> 32) as u32];
            command.address = std::ptr::from_ref(&place.range).expose_provenance() as u64;
        } else if transfers && self.vectored {
            place.vector = libc::iovec { iov_base: request.address.cast(), iov_len: request.bytes as usize };
            command.address = std::ptr::from_ref(&place.vector).expose_provenance() as u64;
            (command.data_bytes, code) = (1, NVME_URING_CMD_IO_VEC);
        }
        let mut all = [0; 80];
        // SAFETY: the command is made of integers without gaps, and any byte is a valid value of the array.
        let bytes: [u8; 72] = unsafe { std::mem::transmute(command) };
        all[..72].copy_from_slice(&bytes);
        let buffer = (transfers && self.fixed).then_some(request.slot as u16);
        let entry = if self.registered {
            opcode::UringCmd80::new(types::Fixed(index as u32), code).cmd(all).buf_index(buffer).build()
        } else {
            opcode::UringCmd80::new(types::Fd(request.fd), code).cmd(all).buf_index(buffer).build()
        };
        let entry = entry.user_data(request.slot as u64);
        if self.force_async == 0 {
            return Some(entry);
        }
        self.until_async -= 1;
        if self.until_async > 0 {
            return Some(entry);
        }
        self.until_async = self.force_async;
        Some(entry.flags(squeue::Flags::ASYNC))
    }

    /// The metadata of a slot; empty: there is none.
    fn metadata_of(&self, slot: usize) -> std::ops::Range<usize> {
        let bytes = self.metadata.len() / self.places.len().max(1);
        slot * bytes..(slot + 1) * bytes
    }

    /// Names the metadata of a transfer, and makes that of a write.
    fn add_metadata(&mut self, command: &mut Command, request: &Request, namespace: Namespace) {
        let Some((block, count)) = namespace.disk.blocks(request) else { return };
        let range = self.metadata_of(request.slot);
        let length = if namespace.metadata.has_buffers() { count as usize * namespace.metadata.bytes() } else { 0 };
        let metadata = &mut self.metadata[range][..length];
        if request.what == What::Write {
            namespace.metadata.protect(block, data_of(*request), metadata);
        }
        if length > 0 {
            command.metadata = metadata.as_mut_ptr().expose_provenance() as u64;
            command.metadata_bytes = length as u32;
        }
    }

    /// What of the protection information of a read does not fit, in words.
    fn unfit(&mut self, request: &Request) -> Option<String> {
        let Namespace { disk, metadata, .. } = *self.disks.iter().find(|disk| disk.fd == request.fd)?;
        let (block, _) = disk.blocks(request).filter(|_| request.what == What::Read)?;
        let range = self.metadata_of(request.slot);
        metadata.check(block, data_of(*request), &mut self.metadata[range])
    }

    /// Hands requests over; returns how many were taken.
    pub(crate) fn submit(&mut self, requests: impl Iterator<Item = Request>) -> Result<usize, i32> {
        let (mut taken, mut staged) = (0, false);
        for request in requests {
            match self.entry(&request) {
                Some(entry) => {
                    // SAFETY: the slot is given away, so that its buffer and its place stay until it is reaped.
                    if unsafe { self.ring.submission().push(&entry) }.is_err() {
                        break;
                    }
                    staged = true;
                }
                None => {
                    self.said = Some("offset or length is no multiple of the device's blocks".to_owned());
                    self.refused.push(Done { slot: request.slot, result: -i64::from(libc::EINVAL) });
                }
            }
            taken += 1;
        }
        if staged {
            self.enter(0, None)?;
        }
        Ok(taken)
    }

    /// Hands over what is in the queue, and waits for `min` completions. False: the time is over, or a signal came.
    fn enter(&self, min: usize, timeout: Option<Duration>) -> Result<bool, i32> {
        let entered = match timeout {
            Some(timeout) if min > 0 => {
                let time = types::Timespec::from(timeout);
                self.ring.submitter().submit_with_args(min, &types::SubmitArgs::new().timespec(&time))
            }
            _ => self.ring.submit_and_wait(min),
        };
        match entered.map_err(|error| error.raw_os_error().unwrap_or(libc::EIO)) {
            // What was not taken stays in the queue, and the next call hands it over.
            Ok(_) | Err(libc::EAGAIN | libc::EBUSY) => Ok(true),
            Err(libc::ETIME | libc::EINTR) => Ok(false),
            Err(code) => Err(code),
        }
    }

    /// As `Scsi::wait`.
    pub(crate) fn wait(
        &mut self,
        (min, max): (usize, usize),
        timeout: Option<Duration>,
        asked: impl Fn(usize) -> Request,
        mut take: impl FnMut(Done),
    ) -> Result<(), i32> {
        let mut count = self.refused.len().min(max);
        self.refused.drain(..count).for_each(&mut take);
        // Nothing else hands over what the kernel left in the queue, or polls a device.
        let mut goes_on = self.enter(0, None)?;
        loop {
            while count < max {
                let Some(entry) = self.ring.completion().next() else { break };
                let (slot, status) = (entry.user_data() as usize, entry.result());
                take(Done { slot, result: self.outcome(&asked(slot), status) });
                count += 1;
            }
            if count >= min.min(max) || !goes_on {
                return Ok(());
            }
            goes_on = self.enter(min - count, timeout)?;
        }
    }

    fn outcome(&mut self, request: &Request, status: i32) -> i64 {
        match status {
            0 if request.what == What::Sync => 0,
            0 => match self.unfit(request) {
                None => request.bytes as i64,
                unfit => {
                    self.said = unfit;
                    -i64::from(libc::EILSEQ)
                }
            },
            // The kernel has refused it.
            ..0 => i64::from(status),
            status => {
                self.said = Some(words(status));
                -i64::from(libc::EIO)
            }
        }
    }

    pub(crate) fn abandon(&mut self) {
        std::mem::forget(std::mem::take(&mut self.places));
        std::mem::forget(std::mem::take(&mut self.metadata));
    }

    pub(crate) fn said(&self) -> Option<String> {
        self.said.clone()
    }
}

/// The buffer of a request that the kernel does not hold.
fn data_of<'a>(request: Request) -> &'a mut [u8] {
    // SAFETY: the buffer of the request's slot has these bytes, and the caller, who has the slot, uses it before the kernel
    // gets it or after it came back, and keeps it for no longer.
    unsafe { std::slice::from_raw_parts_mut(request.address, request.bytes as usize) }
}

/// The command of a request; `None`: it is not made of whole blocks.
fn command(request: &Request, namespace: Namespace, options: DeviceCommands) -> Option<Command> {
    const FUA: u32 = 1 << 30;
    const DEALLOCATE: u32 = 1 << 25;
    let Namespace { disk, metadata, .. } = namespace;
    let made = |code| Command { code, namespace: disk.namespace, ..Command::default() };
    if request.what == What::Sync {
        return Some(made(0));
    }
    let (block, count) = disk.blocks(request)?;
    if request.what == What::Trim {
        return Some(Command { data_bytes: 16, words_10_15: [0, 4, 0, 0, 0, 0], ..made(9) });
    }
    let fua = |on| if on { FUA } else { 0 };
    let (code, flags, has_data) = match (request.what, options.write) {
        (What::Read, _) => (2, fua(options.read_fua), true),
        (_, DeviceWrite::Uncorrectable) => (4, 0, false),
        (_, DeviceWrite::Zeroes) => {
            (8, if options.deallocates { DEALLOCATE } else { 0 } | fua(options.write_fua), false)
        }
        (_, DeviceWrite::Verify(_)) => (12, fua(options.write_fua), false),
        _ => (1, fua(options.write_fua), true),
    };
    let last = count.checked_sub(1).filter(|last| *last <= u16::MAX.into())?;
    let mut command = made(code);
    let [upper, first, tag] = metadata.tags(block);
    command.words_2_3[1] = upper;
    command.words_10_15 = [block as u32, (block >> 32) as u32, last | flags | metadata.flags(), 0, first, tag];
    if has_data {
        command.address = request.address.expose_provenance() as u64;
        command.data_bytes = u32::try_from(request.bytes).ok()?;
    }
    Some(command)
}

/// What the status of a command says.
fn words(status: i32) -> String {
    let (kind, code) = (status >> 8 & 7, status & 0xff);
    let meaning = match (kind, code) {
        (0, 0x01) => "the device does not know the command",
        (0, 0x02) => "invalid field in the command",
        (0, 0x04) => "data transfer error",
        (0, 0x06) => "internal error of the device",
        (0, 0x20) => "the namespace is write protected",
        (0, 0x80) => "block address out of range",
        (0, 0x81) => "the namespace has no room",
        (1, 0xb8) => "the zone has no room for it",
        (1, 0xb9) => "the zone is full",
        (1, 0xbc) => "it is not at the write pointer of the zone",
        (1, 0xbd) => "too many zones are active",
        (1, 0xbe) => "too many zones are open",
        (2, 0x80) => "write fault",
        (2, 0x81) => "unrecovered read error",
        (1, 0x81) => "invalid protection information",
        (2, 0x82) => "the guard does not fit the data",
        (2, 0x83) => "the application tag is another one",
        (2, 0x84) => "the reference tag is not the block's",
        (2, 0x85) => "the data differ from what is stored",
        (2, 0x87) => "the block was never written",
        _ => "error of the device",
    };
    format!("{meaning} (NVMe status {kind:x}/{code:02x})")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(what: What, offset: u64, bytes: u64, write: DeviceWrite) -> Option<(u8, u32, [u32; 3])> {
        let request = Request { slot: 0, fd: 0, what, address: std::ptr::null_mut(), offset, bytes };
        let options = DeviceCommands { write, write_fua: true, deallocates: true, ..DeviceCommands::default() };
        let disk = Disk { block_bytes: 512, namespace: 7, is_large: true };
        let made = command(&request, Namespace { fd: 0, disk, metadata: Metadata::default() }, options)?;
        assert_eq!(made.namespace, 7);
        Some((made.code, made.data_bytes, [made.words_10_15[0], made.words_10_15[1], made.words_10_15[2]]))
    }

    #[test]
    fn commands_name_blocks_and_their_number_less_one() {
        assert_eq!(made(What::Read, 512 << 33, 4096, DeviceWrite::Plain), Some((2, 4096, [0, 2, 7])));
        assert_eq!(made(What::Write, 1024, 512, DeviceWrite::Plain), Some((1, 512, [2, 0, 1 << 30])));
        assert_eq!(
            made(What::Write, 1024, 512, DeviceWrite::Zeroes),
            Some((8, 0, [2, 0, 3 << 25 & !(1 << 26) | 1 << 30]))
        );
        assert_eq!(made(What::Write, 1024, 512, DeviceWrite::Uncorrectable), Some((4, 0, [2, 0, 0])));
        assert_eq!(made(What::Trim, 1024, 1 << 30, DeviceWrite::Plain), Some((9, 16, [0, 4, 0])));
        assert_eq!(made(What::Sync, 0, 0, DeviceWrite::Plain), Some((0, 0, [0, 0, 0])));
        assert_eq!(made(What::Read, 1, 512, DeviceWrite::Plain), None);
        assert_eq!(made(What::Read, 0, 512 << 17, DeviceWrite::Plain), None, "more blocks than a command names");
    }

    #[test]
    fn a_status_is_said_in_words() {
        assert_eq!(words(0x281), "unrecovered read error (NVMe status 2/81)");
        assert_eq!(words(0x4002), "invalid field in the command (NVMe status 0/02)");
    }
}
