//! Commands to devices past the block layer, in a virtual machine, beside Debian's fio: the same lines leave the same
//! data on the disk.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::process::{Command, Output};

use serde_json::Value;
use testkit::stack::{inside, place};
use testkit::{text, word};

/// Bytes at the beginning of a disk, of which lines use the first half.
const LOOKED_AT: usize = 8 << 20;

/// A disk, and the character device that leads to it.
struct Disk {
    block: String,
    generic: String,
}

impl Disk {
    fn scsi() -> Disk {
        Disk { block: word(&place("LAB_SCSI")).to_owned(), generic: word(&place("LAB_SCSI_GENERIC")).to_owned() }
    }

    fn nvme() -> Disk {
        Disk { block: word(&place("LAB_NVME")).to_owned(), generic: "/dev/ng0n1".to_owned() }
    }

    fn run(program: &str, file: &str, line: &str) -> Output {
        let common =
            ["--name=j", "--verify_state_save=0", "--output-format=json", "--bs=64k", "--size=4m", "--randseed=7"];
        let mut command = Command::new(program);
        command.args(common).arg(format!("--filename={file}")).args(line.split_whitespace());
        command.output().expect("the program starts")
    }

    /// The beginning of the disk once the programs are done with it.
    fn content(&self) -> Vec<u8> {
        let ran = Command::new("blockdev").args(["--flushbufs", &self.block]).status().expect("blockdev is there");
        assert!(ran.success());
        let mut content = vec![0; LOOKED_AT];
        File::open(&self.block).and_then(|mut disk| disk.read_exact(&mut content)).expect("the disk can be read");
        content
    }

    fn fill(&self, byte: u8) {
        let disk = OpenOptions::new().write(true).open(&self.block);
        disk.and_then(|mut disk| disk.write_all(&vec![byte; LOOKED_AT])).expect("the disk can be written");
        drop(self.content());
    }

    /// Bytes read, written and trimmed by a line, and the content afterwards.
    fn after(&self, program: &str, file: &str, line: &str) -> (Vec<u64>, Vec<u8>) {
        self.fill(0x55);
        let ran = Disk::run(program, file, line);
        let job = json(&ran)["jobs"][0].clone();
        assert_eq!(job["error"], 0, "{line}: {}{}", text(&ran.stdout), text(&ran.stderr));
        let bytes = |direction: &str| job[direction]["io_bytes"].as_u64().expect("bytes");
        (["read", "write", "trim"].map(bytes).to_vec(), self.content())
    }

    /// Both programs do the same.
    #[track_caller]
    fn same(&self, file: &str, line: &str) {
        let (fio, own) = (self.after("fio", file, line), self.after(&testkit::program(), file, line));
        assert_eq!(own.0, fio.0, "{line}");
        let differs = own.1.iter().zip(&fio.1).position(|(own, fio)| own != fio);
        assert_eq!((differs, own.1.len()), (None, fio.1.len()), "{line}: first byte that differs");
    }
}

fn json(ran: &Output) -> Value {
    let said = text(&ran.stdout);
    let beginning = said.find('{').unwrap_or_else(|| panic!("{said}{}", text(&ran.stderr)));
    serde_json::Deserializer::from_str(&said[beginning..]).into_iter().next().unwrap().unwrap()
}

const FIXED: &str = "--buffer_pattern=0xabcd1234";

#[test]
fn scsi_commands_do_what_those_of_fio_do() {
    inside("commands::scsi_commands_do_what_those_of_fio_do", "devices", || {
        let disk = Disk::scsi();
        for file in [&disk.generic, &disk.block] {
            disk.same(file, &format!("--ioengine=sg --rw=write {FIXED}"));
            disk.same(file, "--ioengine=sg --rw=randread --norandommap");
            disk.same(file, "--ioengine=sg --rw=trim");
        }
    });
}

#[test]
fn kinds_of_scsi_writes_do_what_those_of_fio_do() {
    inside("commands::kinds_of_scsi_writes_do_what_those_of_fio_do", "devices", || {
        let disk = Disk::scsi();
        let generic = &disk.generic;
        disk.same(generic, &format!("--ioengine=sg --rw=write --iodepth=8 --fsync=16 {FIXED}"));
        disk.same(generic, "--ioengine=sg --rw=randread --iodepth=8 --readfua=1");
        for mode in ["write_same", "write_same_ndob"] {
            disk.same(generic, &format!("--ioengine=sg --rw=write --sg_write_mode={mode} {FIXED} --writefua=0"));
        }
        disk.same(generic, &format!("--ioengine=sg --rw=write --sg_write_mode=verify_bytchk_00 {FIXED}"));
        disk.same(generic, "--ioengine=sg --rw=write --sg_write_mode=verify_bytchk_11 --buffer_pattern=0x55");
        // The emulated disk refuses these commands of every program, and finds what differs.
        for refused in ["write_and_verify", "write_stream --stream_id=3", "verify_bytchk_11"] {
            let refused = format!("--ioengine=sg --rw=write {FIXED} --sg_write_mode={refused}");
            let errors = ["fio", &testkit::program()]
                .map(|program| json(&Disk::run(program, generic, &refused))["jobs"][0]["error"].clone());
            assert_eq!(errors, [5, 5], "{refused}");
        }
        // At this depth fio 3.33 ends with EDOM, because the driver takes sixteen commands at a time.
        let own = testkit::program();
        let checked = Disk::run(&own, generic, "--ioengine=sg --rw=randwrite --verify=crc32c --iodepth=32");
        assert!(checked.status.success(), "{}{}", text(&checked.stdout), text(&checked.stderr));
        let synced = Disk::run(&own, generic, "--ioengine=sg --rw=write --end_fsync=1");
        assert!(!synced.status.success() && text(&synced.stderr).contains("--fsync=N"), "{}", text(&synced.stderr));
    });
}

/// An error has the words of the device.
#[test]
fn what_a_device_says_stands_in_the_record() {
    inside("commands::what_a_device_says_stands_in_the_record", "devices", || {
        let (disk, own) = (Disk::scsi(), testkit::program());
        disk.fill(0x55);
        for depth in [1, 4] {
            let compared =
                format!("--ioengine=sg --rw=write --sg_write_mode=verify_bytchk_01 {FIXED} --iodepth={depth}");
            let ran = Disk::run(&own, &disk.generic, &compared);
            let said = text(&ran.stdout) + &text(&ran.stderr);
            assert!(said.contains("miscompare"), "{said}");
            assert_eq!(json(&ran)["jobs"][0]["error"], 5, "{said}");
        }
        let same = "--ioengine=sg --rw=write --sg_write_mode=verify_bytchk_01 --buffer_pattern=0x55";
        assert!(Disk::run(&own, &disk.generic, same).status.success());
        // The namespace has zones, which are written in order. The emulated device cannot mark blocks.
        for (line, words) in [
            ("--rw=write --offset=64k", "not at the write pointer of the zone"),
            ("--rw=write --write_mode=uncor", "does not know the command"),
        ] {
            let ran = Disk::run(&own, "/dev/ng0n2", &format!("--ioengine=io_uring_cmd {line}"));
            let said = text(&ran.stdout) + &text(&ran.stderr);
            assert!(said.contains(words) && !ran.status.success(), "{said}");
        }
    });
}

#[test]
fn nvme_commands_do_what_those_of_fio_do() {
    inside("commands::nvme_commands_do_what_those_of_fio_do", "devices", || {
        let (disk, own) = (Disk::nvme(), testkit::program());
        let generic = &disk.generic;
        let engine = "--ioengine=io_uring_cmd --cmd_type=nvme";
        disk.same(generic, &format!("{engine} --rw=write {FIXED}"));
        disk.same(generic, &format!("{engine} --rw=randwrite --iodepth=8 {FIXED}"));
        disk.same(generic, &format!("{engine} --rw=randread --iodepth=8 --norandommap --fixedbufs --registerfiles"));
        // What fio 3.33 has not.
        for (line, byte) in [
            ("--rw=write --write_mode=zeroes", 0),
            ("--rw=write --write_mode=zeroes --deallocate=1", 0),
            ("--rw=write --write_mode=verify", 0x55),
        ] {
            let (bytes, content) = disk.after(&own, generic, &format!("{engine} {line}"));
            assert_eq!((bytes, content[0], content[(4 << 20) - 1]), (vec![0, 4 << 20, 0], byte, byte), "{line}");
            assert_eq!(content[4 << 20], 0x55, "{line}");
        }
        let (bytes, _) = disk.after(&own, generic, &format!("{engine} --rw=trim --iodepth=4"));
        assert_eq!(bytes, [0, 0, 4 << 20]);
        for more in ["--nonvectored=0", "--sqthread_poll --fsync=8", "--force_async=2", "--iodepth=1"] {
            let line = format!("{engine} --rw=randwrite --verify=crc32c --iodepth=4 {more}");
            let ran = Disk::run(&own, generic, &line);
            assert!(ran.status.success(), "{line}: {}{}", text(&ran.stdout), text(&ran.stderr));
        }
    });
}

/// A disk in use is guarded on every way to it, and what is no disk is refused.
#[test]
fn guards_stand_on_every_way_to_a_disk() {
    inside("commands::guards_stand_on_every_way_to_a_disk", "devices", || {
        let own = testkit::program();
        for (disk, engine) in [(Disk::scsi(), "sg"), (Disk::nvme(), "io_uring_cmd")] {
            let line = format!("--ioengine={engine} --rw=write");
            let made = Command::new("mkfs.ext4").args(["-q", "-F", &disk.block]).status().expect("mkfs.ext4 is there");
            assert!(made.success());
            let ran = Disk::run(&own, &disk.generic, &line);
            assert!(!ran.status.success() && text(&ran.stderr).contains("refusing to write"), "{}", text(&ran.stderr));
            let inspected = Command::new(&own).args(["inspect", &disk.generic]).output().unwrap();
            let name = std::fs::canonicalize(&disk.block).unwrap();
            let name = name.file_name().unwrap().to_str().unwrap().to_owned();
            let said = text(&inspected.stdout);
            assert!(said.contains(&name) && said.contains("64") && said.contains("512"), "{said}");
            disk.fill(0);
            let ran = Disk::run(&own, &disk.generic, &line);
            assert!(ran.status.success(), "{}", text(&ran.stderr));
        }
        for (engine, file) in [("sg", "/dev/null"), ("io_uring_cmd", "/dev/null"), ("io_uring_cmd", "/dev/nvme0n1")] {
            let ran = Disk::run(&own, file, &format!("--ioengine={engine} --rw=read"));
            assert!(!ran.status.success() && text(&ran.stderr).contains(&format!("ioengine {engine} only works")));
        }
    });
}

/// A line for a namespace with metadata, by this program: whether it succeeded, and what it said. Blocks of the emulated
/// disk that were never written have information that does not fit, so that nobody can read whether it is in use.
fn protected(file: &str, line: &str) -> (bool, String) {
    let common = "--ioengine=io_uring_cmd --allow_mounted_write=1 --pi_chk=GUARD,REFTAG,APPTAG";
    let ran = Disk::run(&testkit::program(), file, &format!("{common} {line}"));
    (ran.status.success(), text(&ran.stdout) + &text(&ran.stderr))
}

#[track_caller]
fn succeeds(file: &str, line: &str) {
    let (succeeded, said) = protected(file, line);
    assert!(succeeded, "{file} {line}: {said}");
}

#[track_caller]
fn fails(file: &str, line: &str, words: &str) {
    let (succeeded, said) = protected(file, line);
    assert!(!succeeded && said.contains(words), "{file} {line}: {said}");
}

/// Protection information that the device makes, and that of the program, fit each other; what differs is found.
#[test]
fn protection_information_is_made_and_checked() {
    inside("commands::protection_information_is_made_and_checked", "devices", || {
        // The last one has guards of 64 bits, which take all of its metadata.
        for (file, by_device) in [("/dev/ng0n3", 0), ("/dev/ng0n4", 2048), ("/dev/ng0n7", 0)] {
            let device = format!("--md_per_io_size={by_device}");
            let program = "--pi_act=0 --md_per_io_size=2048";
            succeeds(file, &format!("--rw=write {program} --iodepth=4"));
            succeeds(file, &format!("--rw=read {program} --iodepth=4"));
            succeeds(file, &format!("--rw=read {device}"));
            succeeds(file, &format!("--rw=write {device} --verify=crc32c"));
            succeeds(file, &format!("--rw=randread {program}"));
            // Each finds another tag than the one that was written: the device, and the program that is told to mask.
            fails(file, &format!("--rw=read {device} --apptag=0x4321"), "application tag");
            fails(file, &format!("--rw=read {program} --apptag=0x4321"), "application tag");
            succeeds(file, &format!("--rw=read {program} --apptag=0x4321 --pi_chk=GUARD,REFTAG"));
            succeeds(file, &format!("--rw=read {program} --apptag=0x1200 --apptag_mask=0xff00"));
            fails(file, "--rw=read --pi_act=0 --md_per_io_size=64", "md_per_io_size=");
        }
    });
}

/// Where metadata stands within the blocks, requests are made of blocks with their metadata.
#[test]
fn metadata_within_blocks_is_transferred_with_them() {
    inside("commands::metadata_within_blocks_is_transferred_with_them", "devices", || {
        let sixteen = |block: u32| format!("--bs={} --size={}", 16 * block, 64 * 16 * block);
        // The device takes protection information away, or leaves it to the program.
        let (file, blocks) = ("/dev/ng0n5", sixteen(520));
        succeeds(file, "--rw=write --verify=crc32c");
        succeeds(file, &format!("--rw=read --pi_act=0 {blocks}"));
        succeeds(file, &format!("--rw=randwrite --pi_act=0 {blocks} --iodepth=4 --apptag=0x77"));
        succeeds(file, "--rw=read --size=512k --apptag=0x77");
        fails(file, "--rw=read --size=512k --apptag=0x78", "application tag");
        fails(file, "--rw=read --pi_act=0", "no multiple of the device's blocks");
        fails(file, &format!("--rw=write --pi_act=0 {blocks} --verify=crc32c"), "within its blocks");
        // Nothing but the program's data.
        succeeds("/dev/ng0n6", &format!("--rw=randwrite {} --verify=crc32c --iodepth=4", sixteen(576)));
        // Guards of 64 bits, made by either of them and checked by the other one.
        let (file, blocks) = ("/dev/ng0n8", sixteen(544));
        for (writer, reader) in [(0, 1), (1, 0)] {
            succeeds(file, &format!("--rw=write --pi_act={writer} {blocks}"));
            succeeds(file, &format!("--rw=read --pi_act={reader} {blocks}"));
            fails(file, &format!("--rw=read --pi_act={reader} {blocks} --apptag=1"), "application tag");
        }
        // All of the namespace can be addressed.
        let whole = protected("/dev/ng0n6", "--rw=read --bs=9216 --size=100% --output-format=json");
        let bytes = whole.1.find('{').map(|at| serde_json::Deserializer::from_str(&whole.1[at..]).into_iter::<Value>());
        let bytes = bytes.and_then(|mut values| values.next()?.ok()?["jobs"][0]["read"]["io_bytes"].as_u64());
        let blocks = (64 << 20) / 576;
        assert_eq!((whole.0, bytes), (true, Some(blocks / 16 * 16 * 576)), "{}", whole.1);
    });
}

/// Counters of devices are missing where jobs send commands, and nowhere else.
#[test]
fn the_ledger_says_which_jobs_no_counter_has() {
    inside("commands::the_ledger_says_which_jobs_no_counter_has", "devices", || {
        let (disk, own) = (Disk::scsi(), testkit::program());
        let record = "/mnt/local/record.json";
        let other = format!("--rw=write --name=k --ioengine=psync --direct=1 --rw=write --filename={}", disk.block);
        // The devices' counters of the samples in each stage: seen or not.
        let devices = |line: &str| -> Vec<(u64, Value)> {
            let ran = Disk::run(&own, &disk.generic, &format!("--ioengine=sg --record={record} {line}"));
            assert!(ran.status.success(), "{}", text(&ran.stderr));
            let record: Value = serde_json::from_slice(&std::fs::read(record).expect("a record")).expect("JSON");
            let samples = record["nodes"][0]["ledger"]["samples"].as_array().expect("samples").clone();
            let stage = |sample: &Value| sample["stage"].as_u64().expect("a stage");
            samples.iter().map(|sample| (stage(sample), sample["devices"].clone())).collect()
        };
        let said = |devices: &Value| devices.to_string().contains("job j (sg) sends commands");
        let apart = devices(&other.replace("--name=k", "--name=k --stonewall --bs=64k --size=4m"));
        assert!(apart.iter().all(|(stage, devices)| said(devices) == (*stage == 0)), "{apart:?}");
        let beside = devices(&other.replace("--name=k", "--name=k --bs=64k --size=4m --offset=8m"));
        assert!(beside.iter().all(|(_, devices)| said(devices) && devices.to_string().contains("--stonewall")));
    });
}
