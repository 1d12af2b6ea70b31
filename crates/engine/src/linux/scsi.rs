//! `sg`: SCSI commands, made here and handed to the device past the block layer. SG_IO waits for its command; on a
//! character device (/dev/sg0) write(2) hands a command over and read(2) returns it.

use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::time::Duration;

use fsdyno_job::{DeviceCommands, DeviceWrite, EngineName};
use fsdyno_os::files::OpenFile;

use super::commands::{Disk, Done, Request, What};
use crate::setup::{EngineSetup, EngineSetupError};

const SG_IO: u32 = 0x2285;

/// How long a device may take for a command, ms.
const TIMEOUT_MS: u32 = 60_000;

const TO_DEVICE: i32 = -2;
const FROM_DEVICE: i32 = -3;
const NO_DATA: i32 = -1;

/// The kernel's `sg_io_hdr_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct Header {
    interface: i32,
    direction: i32,
    command_bytes: u8,
    sense_bytes_max: u8,
    parts: u16,
    data_bytes: u32,
    data: *mut u8,
    command: *const u8,
    sense: *mut u8,
    timeout_ms: u32,
    flags: u32,
    number: i32,
    user: usize,
    status: u8,
    masked_status: u8,
    message: u8,
    sense_bytes: u8,
    host_status: u16,
    driver_status: u16,
    left: i32,
    took_ms: u32,
    info: u32,
}

#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Header>() == 88);

/// What the kernel reads and writes for the command of one slot.
#[derive(Debug)]
struct CommandMemory {
    command: Command,
    sense: [u8; 32],
}

/// A command with its data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Command {
    bytes: [u8; 16],
    length: u8,
    direction: i32,
    data_bytes: u32,
    /// The list of an UNMAP, which is sent in place of the buffer.
    list: Option<[u8; 24]>,
}

/// SCSI disks of a worker.
#[derive(Debug)]
pub(crate) struct Scsi {
    options: DeviceCommands,
    polls: bool,
    disks: Box<[(RawFd, Disk)]>,
    places: Box<[CommandMemory]>,
    /// Results that need no reading.
    done: Vec<Done>,
    said: Option<String>,
}

// SAFETY: no pointer is kept between two calls but inside the kernel, which knows no threads of ours.
unsafe impl Send for Header {}

impl Scsi {
    pub(crate) fn new(setup: &EngineSetup<'_>) -> Result<Scsi, EngineSetupError> {
        let place = || CommandMemory { command: Command::default(), sense: [0; 32] };
        let mut scsi = Scsi {
            options: setup.options.commands,
            polls: setup.options.hipri,
            disks: Box::default(),
            places: (0..setup.depth).map(|_| place()).collect(),
            done: Vec::with_capacity(setup.depth as usize),
            said: None,
        };
        let disks = setup.files.iter().map(|file| Ok((raw(file), scsi.disk(raw(file))?)));
        scsi.disks = disks.collect::<Result<_, i32>>().map_err(|code| EngineSetupError::Refused {
            engine: EngineName::Sg,
            call: "READ CAPACITY",
            code,
            advice: "name a SCSI disk: /dev/sg0, or /dev/sda".to_owned(),
        })?;
        Ok(scsi)
    }

    /// Asks a device for its size.
    fn disk(&mut self, fd: RawFd) -> Result<Disk, i32> {
        const TRIES: u32 = 3;
        let mut answer = [0; 8];
        let command = Command {
            bytes: bytes(&[0x25]),
            length: 10,
            direction: FROM_DEVICE,
            data_bytes: answer.len() as u32,
            list: None,
        };
        // The first command after a reset is refused.
        let mut result = -i64::from(libc::EIO);
        for _ in 0..TRIES {
            result = self.carry_out(fd, 0, command, answer.as_mut_ptr());
            if result == answer.len() as i64 {
                let number =
                    |at: usize| u32::from_be_bytes([answer[at], answer[at + 1], answer[at + 2], answer[at + 3]]);
                return match number(4) {
                    0 => Err(libc::EIO),
                    block_bytes => Ok(Disk { block_bytes, namespace: 0, is_large: number(0) == u32::MAX }),
                };
            }
        }
        Err(if result < 0 { -result as i32 } else { libc::EIO })
    }

    /// Makes the command of a request in the place of its slot.
    fn prepare(&mut self, request: &Request) -> Result<(), i64> {
        let disk = self.disks.iter().find(|(fd, _)| *fd == request.fd).map(|(_, disk)| *disk);
        let command = disk.and_then(|disk| command(request, disk, self.options));
        let Some(command) = command else {
            self.said = Some("offset or length is no multiple of the device's blocks".to_owned());
            return Err(-i64::from(libc::EINVAL));
        };
        self.places[request.slot].command = command;
        Ok(())
    }

    /// Has the device carry a request out, and waits for it. Returns bytes or the negated errno.
    pub(crate) fn perform(&mut self, request: &Request) -> i64 {
        if let Err(refused) = self.prepare(request) {
            return refused;
        }
        let command = self.places[request.slot].command;
        let result = self.carry_out(request.fd, request.slot, command, request.address);
        if result < 0 { result } else { transferred(request, command, result) }
    }

    fn carry_out(&mut self, fd: RawFd, slot: usize, command: Command, data: *mut u8) -> i64 {
        self.places[slot].command = command;
        let mut header = self.header(slot, data);
        // SAFETY: the header names the place of the slot and a buffer of `data_bytes` bytes, all of which outlive the
        // call, as it waits for the command.
        if unsafe { libc::ioctl(fd, SG_IO as _, &raw mut header) } != 0 {
            return -i64::from(last_error());
        }
        self.outcome(&header)
    }

    fn header(&mut self, slot: usize, data: *mut u8) -> Header {
        const POLLED: u32 = 0x800;
        let CommandMemory { command, sense } = &mut self.places[slot];
        let data = command.list.as_mut().map_or(data, |list| list.as_mut_ptr());
        Header {
            interface: i32::from(b'S'),
            direction: command.direction,
            command_bytes: command.length,
            sense_bytes_max: sense.len() as u8,
            parts: 0,
            data_bytes: command.data_bytes,
            data: if command.data_bytes == 0 { std::ptr::null_mut() } else { data },
            command: command.bytes.as_ptr(),
            sense: sense.as_mut_ptr(),
            timeout_ms: TIMEOUT_MS,
            flags: if self.polls { POLLED } else { 0 },
            number: slot as i32,
            user: 0,
            status: 0,
            masked_status: 0,
            message: 0,
            sense_bytes: 0,
            host_status: 0,
            driver_status: 0,
            left: 0,
            took_ms: 0,
            info: 0,
        }
    }

    /// Bytes of the data of a command that is over, or the negated errno.
    fn outcome(&mut self, header: &Header) -> i64 {
        const FAILED: u32 = 1;
        let sense = &self.places[header.number as usize].sense[..usize::from(header.sense_bytes).min(32)];
        if header.info & FAILED != 0 && !is_recovered(sense) {
            self.said = Some(words(header.status, header.host_status, sense));
            return -i64::from(libc::EIO);
        }
        i64::from(header.data_bytes) - i64::from(header.left.max(0))
    }

    /// Hands requests over; returns how many the kernel took.
    pub(crate) fn submit(&mut self, requests: impl Iterator<Item = Request>) -> Result<usize, i32> {
        let mut taken = 0;
        for request in requests {
            let refused = self.prepare(&request).err();
            let code = match refused {
                Some(_) => 0,
                None => {
                    let header = self.header(request.slot, request.address);
                    // SAFETY: the kernel copies the header and what it names but the buffer and the sense data. The
                    // slot is given away, so that its buffer and its place stay until `wait` has read the answer.
                    let written = unsafe { libc::write(request.fd, (&raw const header).cast(), size_of::<Header>()) };
                    if written < 0 { last_error() } else { 0 }
                }
            };
            match (refused, code) {
                (Some(result), _) => self.done.push(Done { slot: request.slot, result }),
                (None, 0) => {}
                // The driver has no room for more commands until one is over.
                (None, libc::EDOM | libc::EAGAIN) if taken > 0 => return Ok(taken),
                (None, libc::EDOM | libc::EAGAIN) => return Err(libc::EAGAIN),
                (None, code) => self.done.push(Done { slot: request.slot, result: -i64::from(code) }),
            }
            taken += 1;
        }
        Ok(taken)
    }

    /// Waits until at least `min` commands are over or the time has passed, and hands them to `take`, at most `max`.
    /// `asked`: the request of a slot.
    pub(crate) fn wait(
        &mut self,
        (min, max): (usize, usize),
        timeout: Option<Duration>,
        asked: impl Fn(usize) -> Request,
        mut take: impl FnMut(Done),
    ) -> Result<(), i32> {
        let mut count = self.done.len().min(max);
        self.done.drain(..count).for_each(&mut take);
        let watched = |(fd, _): &(RawFd, Disk)| libc::pollfd { fd: *fd, events: libc::POLLIN, revents: 0 };
        let mut polled: Vec<libc::pollfd> = self.disks.iter().map(watched).collect();
        while count < max {
            let wait_ms = match timeout {
                _ if count >= min => 0,
                Some(timeout) => i32::try_from(timeout.as_millis()).unwrap_or(i32::MAX).max(1),
                None => -1,
            };
            // SAFETY: the list holds this number of entries.
            let ready = unsafe { libc::poll(polled.as_mut_ptr(), polled.len() as _, wait_ms) };
            match ready {
                0 => break,
                1.. => {}
                _ if count > 0 => break,
                _ => return Err(last_error()),
            }
            for fd in polled.iter().filter(|file| file.revents != 0).map(|file| file.fd) {
                if count < max {
                    let result = self.take_answer(fd, &asked)?;
                    take(result);
                    count += 1;
                }
            }
        }
        Ok(())
    }

    fn take_answer(&mut self, fd: RawFd, asked: &impl Fn(usize) -> Request) -> Result<Done, i32> {
        let mut header = self.header(0, std::ptr::null_mut());
        // SAFETY: the kernel writes the header, and the data and sense of the command that is over into the buffer and
        // the place of its slot, which nobody else touches.
        let read = unsafe { libc::read(fd, (&raw mut header).cast(), size_of::<Header>()) };
        if read < 0 {
            return Err(last_error());
        }
        let slot = header.number as usize;
        let (result, command) = (self.outcome(&header), self.places[slot].command);
        Ok(Done { slot, result: if result < 0 { result } else { transferred(&asked(slot), command, result) } })
    }

    /// Leaves the places of commands that never came back to the end of the process.
    pub(crate) fn abandon(&mut self) {
        std::mem::forget(std::mem::take(&mut self.places));
    }

    pub(crate) fn said(&self) -> Option<String> {
        self.said.clone()
    }
}

fn raw(file: &OpenFile) -> RawFd {
    let fd: BorrowedFd<'_> = std::os::fd::AsFd::as_fd(file);
    fd.as_raw_fd()
}

fn last_error() -> i32 {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO)
}

fn bytes(beginning: &[u8]) -> [u8; 16] {
    let mut all = [0; 16];
    all[..beginning.len()].copy_from_slice(beginning);
    all
}

/// The bytes that count for a request whose command moved `moved` bytes of data.
fn transferred(request: &Request, command: Command, moved: i64) -> i64 {
    match request.what {
        What::Sync => 0,
        // A command without its own data for each block is done whole.
        _ if u64::from(command.data_bytes) != request.bytes => request.bytes as i64,
        _ => moved,
    }
}

/// The command of a request; `None`: it is not made of whole blocks.
fn command(request: &Request, disk: Disk, options: DeviceCommands) -> Option<Command> {
    if request.what == What::Sync {
        return Some(Command { bytes: bytes(&[0x35]), length: 10, direction: NO_DATA, ..Command::default() });
    }
    let (block, count) = disk.blocks(request)?;
    let whole = u32::try_from(request.bytes).ok()?;
    if request.what == What::Trim {
        let mut list = [0; 24];
        (list[1], list[3]) = (22, 16);
        list[8..16].copy_from_slice(&block.to_be_bytes());
        list[16..20].copy_from_slice(&count.to_be_bytes());
        let length_of_list = list.len() as u8;
        let command = bytes(&[0x42, 0, 0, 0, 0, 0, 0, 0, length_of_list]);
        return Some(Command { bytes: command, length: 10, direction: TO_DEVICE, data_bytes: 24, list: Some(list) });
    }
    let one = disk.block_bytes;
    // The codes with 10 and with 16 bytes, the options in the second byte, and the bytes of data.
    let (short, long, option, data) = match (request.what, options.write) {
        (What::Read, _) => (0x28, 0x88, u8::from(options.read_fua) << 3, whole),
        (_, DeviceWrite::AndVerify) => (0x2e, 0x8e, 0, whole),
        (_, DeviceWrite::Verify(0)) => (0x2f, 0x8f, 0, 0),
        (_, DeviceWrite::Verify(kind @ 1..=2)) => (0x2f, 0x8f, kind << 1, whole),
        (_, DeviceWrite::Verify(kind)) => (0x2f, 0x8f, kind << 1, one),
        (_, DeviceWrite::Same) => (0x41, 0x93, 0, one),
        (_, DeviceWrite::Zeroes) => (0x93, 0x93, 1, 0),
        (_, DeviceWrite::Stream) => (0x9a, 0x9a, u8::from(options.write_fua) << 3, whole),
        _ => (0x2a, 0x8a, u8::from(options.write_fua) << 3, whole),
    };
    let mut bytes = bytes(&[short, option]);
    let is_long = short == long || disk.is_large || count > u16::MAX.into() || block > u32::MAX.into();
    if is_long {
        bytes[0] = long;
        bytes[2..10].copy_from_slice(&block.to_be_bytes());
        bytes[10..14].copy_from_slice(&count.to_be_bytes());
        if long == 0x9a {
            bytes[10..12].copy_from_slice(&options.stream.to_be_bytes());
            bytes[12..14].copy_from_slice(&u16::try_from(count).ok()?.to_be_bytes());
        }
    } else {
        bytes[2..6].copy_from_slice(&(block as u32).to_be_bytes());
        bytes[7..9].copy_from_slice(&(count as u16).to_be_bytes());
    }
    let direction = match (request.what, data) {
        (What::Read, _) => FROM_DEVICE,
        (_, 0) => NO_DATA,
        _ => TO_DEVICE,
    };
    Some(Command { bytes, length: if is_long { 16 } else { 10 }, direction, data_bytes: data, list: None })
}

/// Sense key, additional sense code and its qualifier.
fn codes(sense: &[u8]) -> Option<(u8, u8, u8)> {
    let descriptors = matches!(sense.first()? & 0x7f, 0x72 | 0x73);
    let at = if descriptors { [1, 2, 3] } else { [2, 12, 13] };
    let byte = |at: usize| sense.get(at).copied().unwrap_or(0);
    Some((sense.get(at[0])? & 0xf, byte(at[1]), byte(at[2])))
}

/// Whether the command was carried out all the same.
fn is_recovered(sense: &[u8]) -> bool {
    matches!(codes(sense), Some((0 | 1, ..)))
}

/// What the device says about a command that failed.
fn words(status: u8, host_status: u16, sense: &[u8]) -> String {
    const KEYS: [&str; 16] = [
        "no sense",
        "recovered error",
        "not ready",
        "medium error",
        "hardware error",
        "illegal request",
        "unit attention",
        "data protect",
        "blank check",
        "vendor specific",
        "copy aborted",
        "aborted command",
        "reserved",
        "volume overflow",
        "miscompare",
        "completed",
    ];
    let Some((key, code, qualifier)) = codes(sense) else {
        return format!("SCSI status {status:#04x}, host status {host_status:#06x}, no sense data");
    };
    let meaning = match code {
        0x04 => ", logical unit not ready",
        0x0c => ", write error",
        0x10 => ", protection information does not fit",
        0x11 => ", unrecovered read error",
        0x1d => ", the data differ from what is stored",
        0x20 => ", the device does not know the command",
        0x21 => ", block address out of range",
        0x24 => ", invalid field in the command",
        0x26 => ", invalid field in the data of the command",
        0x27 => ", write protected",
        _ => "",
    };
    format!("{}{meaning} (sense {key:x}/{code:02x}/{qualifier:02x})", KEYS[usize::from(key)])
}

#[cfg(test)]
mod tests {
    use super::*;

    const DISK: Disk = Disk { block_bytes: 512, namespace: 0, is_large: false };

    fn made(what: What, offset: u64, bytes: u64, write: DeviceWrite) -> Option<Command> {
        let request = Request { slot: 0, fd: 0, what, address: std::ptr::null_mut(), offset, bytes };
        let options = DeviceCommands { write, read_fua: true, stream: 0x102, ..DeviceCommands::default() };
        command(&request, DISK, options)
    }

    #[test]
    fn commands_name_blocks_and_their_number() {
        let read = made(What::Read, 4096, 8192, DeviceWrite::Plain).unwrap();
        assert_eq!(read.bytes[..10], [0x28, 8, 0, 0, 0, 8, 0, 0, 16, 0]);
        assert_eq!((read.length, read.direction, read.data_bytes), (10, FROM_DEVICE, 8192));
        let far = made(What::Write, 512 << 32, 512, DeviceWrite::Plain).unwrap();
        assert_eq!(far.bytes, [0x8a, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0]);
        assert_eq!((far.length, far.direction), (16, TO_DEVICE));
        assert_eq!(made(What::Write, 100, 512, DeviceWrite::Plain), None);
        assert_eq!(made(What::Write, 512, 100, DeviceWrite::Plain), None);
    }

    #[test]
    fn kinds_of_writes_send_what_they_need() {
        let sent = |write| {
            let made = made(What::Write, 1024, 2048, write).unwrap();
            (made.bytes[0], made.bytes[1], made.data_bytes, made.direction)
        };
        assert_eq!(sent(DeviceWrite::AndVerify), (0x2e, 0, 2048, TO_DEVICE));
        assert_eq!(sent(DeviceWrite::Same), (0x41, 0, 512, TO_DEVICE));
        assert_eq!(sent(DeviceWrite::Zeroes), (0x93, 1, 0, NO_DATA));
        assert_eq!(sent(DeviceWrite::Verify(0)), (0x2f, 0, 0, NO_DATA));
        assert_eq!(sent(DeviceWrite::Verify(1)), (0x2f, 2, 2048, TO_DEVICE));
        assert_eq!(sent(DeviceWrite::Verify(3)), (0x2f, 6, 512, TO_DEVICE));
        let stream = made(What::Write, 1024, 2048, DeviceWrite::Stream).unwrap();
        assert_eq!(stream.bytes[8..14], [0, 2, 1, 2, 0, 4]);
    }

    #[test]
    fn a_trim_is_a_list_of_one_range() {
        let trim = made(What::Trim, 4096, 1 << 20, DeviceWrite::Plain).unwrap();
        let list = trim.list.unwrap();
        assert_eq!((trim.bytes[0], trim.bytes[8], list[1], list[3]), (0x42, 24, 22, 16));
        assert_eq!((list[15], &list[16..20]), (8, &[0, 0, 8, 0][..]));
    }

    #[test]
    fn sense_data_are_said_in_words() {
        let mut fixed = [0; 18];
        (fixed[0], fixed[2], fixed[12]) = (0x70, 3, 0x11);
        assert_eq!(words(2, 0, &fixed), "medium error, unrecovered read error (sense 3/11/00)");
        let descriptors = [0x72, 5, 0x21, 0];
        assert_eq!(words(2, 0, &descriptors), "illegal request, block address out of range (sense 5/21/00)");
        assert!(words(8, 1, &[]).contains("host status 0x0001"));
        assert!(is_recovered(&[0x72, 1, 0, 0]) && !is_recovered(&descriptors) && !is_recovered(&[]));
    }
}
