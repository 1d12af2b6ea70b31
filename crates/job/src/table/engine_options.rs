//! Rows: options that belong to engines.

use super::JobRow;
use super::build::*;
use crate::draft::Draft;
use crate::option::{Choice, OptionRow, Status, Status::*};
use crate::secret::Secret;
use crate::typed::{
    CpuioOptions, DeviceCommands, DeviceWrite, Donor, IoPriority, NetworkOptions, ObjectDialect, ObjectOptions,
    Program, Protection, Protocol, StatCall, Tls,
};
use crate::value::{self, Reading, Refusal};

const URINGS: &[&str] = &["io_uring", "io_uring_cmd"];
const COMMAND: &[&str] = &["io_uring_cmd"];
const ASYNCHRONOUS: &[&str] = &["io_uring", "io_uring_cmd", "libaio"];
const SIM: &[&str] = &["sim"];
const NET: &[&str] = &["net", "netsplice"];
const PEERS: &[&str] = &["net", "netsplice", "rdma", "libhdfs"];
const CPUIO: &[&str] = &["cpuio"];
const EXEC: &[&str] = &["exec"];
const HTTP: &[&str] = &["http"];
const E4DEFRAG: &[&str] = &["e4defrag"];

const ABSENT: Status = Rejected("this build has no such engine");

const STATS: &[Choice] = &[
    Choice::new("stat", "stat: follows links"),
    Choice::new("lstat", "lstat: looks at links themselves"),
    Choice::new("statx", "statx: follows links"),
];

const SCSI_WRITES: &[Choice] = &[
    Choice::new("write", "WRITE"),
    Choice::new("write_and_verify", "WRITE AND VERIFY"),
    Choice::new("verify", "The same, an older name").hidden(),
    Choice::new("write_same", "WRITE SAME: one block over all"),
    Choice::new("same", "The same, an older name").hidden(),
    Choice::new("write_same_ndob", "WRITE SAME without data: zeroes"),
    Choice::new("verify_bytchk_00", "VERIFY: the device reads, without data"),
    Choice::new("verify_bytchk_01", "VERIFY: the device compares with the data"),
    Choice::new("verify_bytchk_11", "VERIFY: the device compares each block with one"),
    Choice::new("write_stream", "WRITE STREAM, with stream_id"),
];

const NVME_WRITES: &[Choice] = &[
    Choice::new("write", "Write"),
    Choice::new("uncor", "Write Uncorrectable: reads of these blocks fail"),
    Choice::new("zeroes", "Write Zeroes"),
    Choice::new("verify", "Verify: the device reads"),
    Choice::new("zone_append", "Zone Append").status(Rejected(
        "new after fio 3.42, which sends such writes to the start of their zone (zonemode=zbd); the device chooses the \
             place, which nothing here could read back",
    )),
];

const NVME_CHECKS: &[Choice] = &[
    Choice::new("read", "Read"),
    Choice::new("compare", "Compare")
        .status(Rejected("verify compares what it has read itself: leave verify_mode out")),
];

const PROTECTION: Status = Partial("io_uring_cmd alone: for io_uring no device with metadata was there to prove it");
const PROTECTED: &[&str] = &["io_uring", "io_uring_cmd", "xnvme"];
const FUA_ENGINES: &[&str] = &["io_uring", "io_uring_cmd", "sg"];

const COMMANDS: &[Choice] = &[Choice::new("nvme", "NVMe commands")];

const CPU_MODES: &[Choice] =
    &[Choice::new("noop", "Waits busily"), Choice::new("qsort", "Sorts numbers: memory is used, too")];

const PROTOCOLS: &[Choice] = &[
    Choice::new("tcp", "TCP over IPv4"),
    Choice::new("tcpv6", "TCP over IPv6"),
    Choice::new("udp", "UDP over IPv4"),
    Choice::new("udpv6", "UDP over IPv6"),
    Choice::new("unix", "A UNIX socket"),
    Choice::new("vsock", "Sockets between guests and their host: hostname is a CID"),
];

const ENCRYPTIONS: &[Choice] = &[
    Choice::new("off", "None"),
    Choice::new("on", "TLS; the server's certificate is checked"),
    Choice::new("insecure", "TLS without a check of the certificate"),
];

const DIALECTS: &[Choice] = &[
    Choice::new("webdav", "Plain requests, with a name and a password"),
    Choice::new("swift", "With a token, and checksums of written data"),
    Choice::new("s3", "Requests are signed"),
];

const OBJECT_MODES: &[Choice] = &[
    Choice::new("block", "Each block is an object: FILENAME_OFFSET_LENGTH"),
    Choice::new("range", "Each file is an object, of which parts are read"),
];

fn objects(draft: &mut Draft) -> &mut ObjectOptions {
    &mut draft.job.submission.engine_options.object
}

/// A text that becomes a part of a line of a request.
fn line(text: &str) -> Result<String, Refusal> {
    let fits = text.chars().all(|c| !c.is_control());
    fits.then(|| text.to_owned()).ok_or_else(|| Refusal::new("it has a line end or another control character"))
}

/// `pi_chk`: the parts of protection information.
fn checks(text: &str) -> Result<u8, Refusal> {
    text.split(',').map(str::trim).filter(|word| !word.is_empty()).try_fold(0, |checks, word| {
        let check = match word {
            "GUARD" => Protection::GUARD,
            "REFTAG" => Protection::BLOCK,
            "APPTAG" => Protection::TAG,
            _ => return Err(Refusal::new(format!("unknown part {word}")).advise("the parts are GUARD, REFTAG, APPTAG")),
        };
        Ok(checks | check)
    })
}

fn secret(text: &str, into: &mut Secret) -> Result<(), Refusal> {
    *into = Secret::new(line(text)?);
    Ok(())
}

fn commands(draft: &mut Draft) -> &mut DeviceCommands {
    &mut draft.job.submission.engine_options.commands
}

fn network(draft: &mut Draft) -> &mut NetworkOptions {
    &mut draft.job.submission.engine_options.network
}

fn burn(draft: &mut Draft) -> &mut CpuioOptions {
    &mut draft.job.submission.engine_options.burn
}

fn donor(draft: &mut Draft) -> &mut Donor {
    &mut draft.job.submission.engine_options.donor
}

fn program(draft: &mut Draft) -> &mut Program {
    &mut draft.job.submission.engine_options.program
}

/// `cmdprio_bssplit=size/percent[/class/level[/hint]]:...[,the same for writes]`.
fn set_priority_split(draft: &mut Draft, text: &str) -> Result<(), Refusal> {
    let kb_base = draft.job.reporting.kb_base;
    let lists = value::per_direction(text, |list| list.split(':').map(|item| priority_share(item, kb_base)).collect())?;
    draft.written.command_priority.split = lists.map(Option::<Vec<_>>::unwrap_or_default);
    Ok(())
}

fn priority_share(item: &str, kb_base: u32) -> Result<(u64, u32, Option<IoPriority>), Refusal> {
    let form = || Refusal::new(format!("{item} is no share")).advise("write size/percent, or size/percent/class/level");
    let parts: Vec<&str> = item.split('/').map(str::trim).collect();
    let number = |at: usize, max: u16| match parts.get(at) {
        None => Ok(0),
        Some(text) => text.parse::<u16>().ok().filter(|number| *number <= max).ok_or_else(form),
    };
    let bytes = value::size(parts[0], &mut Reading::new(kb_base))?;
    let bytes = Some(bytes).filter(|bytes| *bytes > 0).ok_or_else(form)?;
    let (percent, class, level, hint) = (number(1, 100)?, number(2, 3)?, number(3, 7)?, number(4, 1023)?);
    if !matches!(parts.len(), 2 | 4 | 5) {
        return Err(form());
    }
    let priority = IoPriority { class: class as u8, level: level as u8, hint };
    Ok((bytes, percent.into(), (parts.len() > 2).then_some(priority)))
}

/// An option of an engine that this build does not have.
const fn absent(name: &'static str, engines: &'static [&'static str], help: &'static str) -> OptionRow<Draft> {
    option(name, text(ignore_text)).tier(4).engines(engines).help(help).status(ABSENT)
}

#[rustfmt::skip]
pub(super) const ROWS: &[JobRow] = &[
    option("hipri", flag(|d, on| d.job.submission.engine_options.hipri = on))
        .engines(&["io_uring", "io_uring_cmd", "pvsync2", "sg", "xnvme"]).help("Poll for completions"),
    option("hipri_percentage", integer(0, 100, |d, n| {
        d.job.submission.engine_options.hipri_percentage = Some(count(n)).filter(|n| *n < 100);
    })).tier(3).engines(&["pvsync2"]).default("100").help("Percent of I/Os that poll"),
    option("fixedbufs", flag(|d, on| d.job.submission.engine_options.fixed_buffers = on))
        .engines(URINGS).help("Register the buffers once"),
    option("registerfiles", flag(|d, on| d.job.submission.engine_options.registered_files = on))
        .engines(URINGS).help("Register the files once"),
    option("sqthread_poll", flag(|d, on| d.job.submission.engine_options.sqthread_poll = on))
        .engines(&["io_uring", "io_uring_cmd", "xnvme"]).help("A kernel thread takes submissions"),
    option("sqthread_poll_cpu", integer(0, COUNT_MAX, |d, n| {
        d.job.submission.engine_options.sqthread_poll_cpu = Some(count(n));
    })).engines(URINGS).help("Processor of that thread"),
    option("nonvectored", integer(-1, 1, |d, n| {
        d.job.submission.engine_options.nonvectored = (n >= 0).then_some(n == 1);
    })).tier(3).engines(URINGS).default("-1").help("Plain read and write instead of readv and writev"),
    option("force_async", integer(0, COUNT_MAX, |d, n| d.job.submission.engine_options.force_async = count(n)))
        .tier(3).engines(URINGS).default("0").help("Hand every N-th request to a kernel worker"),
    option("uncached", integer(0, 1, |d, n| d.job.submission.engine_options.uncached = n == 1))
        .tier(3).engines(&["io_uring", "io_uring_cmd", "pvsync2"]).default("0").help("Drop pages after buffered I/O"),
    option("nowait", boolean(|d, on| d.job.submission.engine_options.nowait = on))
        .tier(3).engines(&["io_uring", "io_uring_cmd", "libaio", "pvsync2"])
        .default("0").help("Fail with EAGAIN instead of waiting"),
    option("userspace_reap", flag(|d, on| d.job.submission.engine_options.userspace_reap = on))
        .tier(3).engines(&["libaio"]).help("Read completions from the ring without a system call"),
    option("libaio_vectored", boolean(|d, on| d.job.submission.engine_options.vectored = on))
        .tier(3).engines(&["libaio"]).default("0").help("Use requests with a list of buffers; the list has one buffer"),
    option("cmdprio_percentage", numbers(0, 100, |d, list| d.written.command_priority.percent = list))
        .tier(3).engines(ASYNCHRONOUS).help("Percent of reads and of writes with their own priority"),
    option("cmdprio_class", numbers(0, 3, |d, list| d.written.command_priority.class = list))
        .tier(3).engines(ASYNCHRONOUS).help("Class of these I/Os; 1 (real time) by default"),
    option("cmdprio", numbers(0, 7, |d, list| d.written.command_priority.level = list))
        .tier(3).engines(ASYNCHRONOUS).help("Level of those"),
    option("cmdprio_hint", numbers(0, 1023, |d, list| d.written.command_priority.hint = list))
        .tier(4).engines(ASYNCHRONOUS).help("Hint of those"),
    option("cmdprio_bssplit", text(set_priority_split))
        .tier(3).engines(ASYNCHRONOUS).help("The same by block size: size/percent/class/level/hint, separated by colons"),
    option("cmd_type", word(COMMANDS, ignore_word))
        .tier(4).engines(URINGS).default("nvme").help("Commands of io_uring_cmd"),
    option("thp", integer(0, COUNT_MAX, |d, n| d.job.submission.engine_options.huge_pages = n != 0))
        .tier(3).engines(&["mmap"]).default("0").help("Ask for huge pages for the mapping"),
    option("stat_type", word(STATS, |d, word| {
        d.job.submission.engine_options.stat = match word.choice.word {
            "lstat" => StatCall::Lstat,
            "statx" => StatCall::Statx,
            _ => StatCall::Stat,
        };
        Ok(())
    })).tier(3).engines(&["filestat", "dirstat"]).default("stat").help("Which stat call"),
    option("cpuload", integer(0, COUNT_MAX, |d, n| burn(d).load_percent = n.min(100) as u8))
        .tier(4).engines(CPUIO).help("Percent of the time in which the CPU is busy"),
    option("cpuchunks", integer(1, COUNT_MAX, |d, n| burn(d).burst_us = n as u32))
        .tier(4).engines(CPUIO).default("50000").help("Microseconds of one burst"),
    option("cpumode", word(CPU_MODES, |d, word| {
        burn(d).sorts = word.choice.word == "qsort";
        Ok(())
    })).tier(4).engines(CPUIO).default("noop").help("What bursts do"),
    option("exit_on_io_done", boolean(|d, on| burn(d).until_io_done = on))
        .tier(4).engines(CPUIO).default("0").help("End with the last job that does I/O"),
    option("program", text(|d, text| {
        program(d).name = text.to_owned();
        Ok(())
    })).tier(4).engines(EXEC).help("Program to run, by its name in PATH or by its path"),
    option("arguments", text(|d, text| {
        program(d).arguments = text.to_owned();
        Ok(())
    })).tier(4).engines(EXEC).help("Arguments of the program, separated by blanks; %r is the runtime in seconds, %n the job's name"),
    option("grace_time", integer(0, COUNT_MAX, |d, n| program(d).grace_s = n as u32))
        .tier(4).engines(EXEC).default("1").help("Seconds between SIGTERM and SIGKILL when the job ends first"),
    option("std_redirect", boolean(|d, on| program(d).redirects = on))
        .tier(4).engines(EXEC).default("1").help("Write its output into JOB.stdout and JOB.stderr"),
    option("donorname", text(|d, text| {
        donor(d).name = text.to_owned();
        Ok(())
    })).tier(4).engines(E4DEFRAG).help("File in the job's directory that gives its blocks and gets the old ones; its data is lost"),
    option("inplace", integer(0, 1, |d, n| donor(d).in_place = n == 1))
        .tier(4).engines(E4DEFRAG).default("0").help("1: the donor gets and gives up its blocks within each request"),
    option("hostname", text(|d, text| {
        network(d).host = Some(text.to_owned());
        Ok(())
    })).tier(4).engines(PEERS).help("Peer to send to, CID of vsock, path of a UNIX socket, or multicast group to receive from"),
    option("port", integer(1, 65_535, |d, n| network(d).port = n as u16))
        .tier(4).engines(PEERS).help("Port of TCP, UDP or vsock; each further clone has the next one"),
    option("protocol", word(PROTOCOLS, |d, word| {
        network(d).protocol = match word.choice.word {
            "tcpv6" => Protocol::TcpV6,
            "udp" => Protocol::Udp,
            "udpv6" => Protocol::UdpV6,
            "unix" => Protocol::Unix,
            "vsock" => Protocol::Vsock,
            _ => Protocol::Tcp,
        };
        Ok(())
    })).tier(4).aliases(&["proto"]).engines(NET).default("tcp").help("Protocol between the peers"),
    option("nodelay", boolean(|d, on| network(d).no_delay = on))
        .tier(4).engines(NET).default("0").help("TCP_NODELAY: small parts are sent at once"),
    option("listen", flag(|d, on| network(d).waits = on))
        .tier(4).engines(NET).help("Wait for the peer that connects by TCP or vsock"),
    option("pingpong", flag(|d, on| network(d).answers = on))
        .tier(4).engines(NET).help("Answer each request with the same number of bytes"),
    option("interface", text(|d, text| {
        network(d).interface = text.to_owned();
        Ok(())
    })).tier(4).engines(NET).help("Address of the interface for multicast"),
    option("ttl", integer(0, 255, |d, n| network(d).hops = (n != 1).then_some(n as u32)))
        .tier(4).engines(NET).default("1").help("Hops of multicast datagrams"),
    option("window_size", integer(0, COUNT_MAX, |d, n| network(d).window_bytes = n as u32))
        .tier(4).engines(NET).default("0").help("Bytes of the socket's buffers; 0: the system's choice"),
    option("mss", integer(0, COUNT_MAX, |d, n| network(d).segment_bytes = n as u32))
        .tier(4).engines(NET).default("0").help("Largest segment of TCP; 0: the system's choice"),
    option("http_host", text(|d, text| {
        objects(d).host = line(text)?;
        Ok(())
    })).tier(4).engines(HTTP).default("localhost").help("Name or address of the server, with its port"),
    option("https", word(ENCRYPTIONS, |d, word| {
        objects(d).tls = match word.choice.word {
            "on" => Tls::Checked,
            "insecure" => Tls::Unchecked,
            _ => Tls::Off,
        };
        Ok(())
    })).tier(4).engines(HTTP).default("off").help("Encrypted connections"),
    option("http_mode", word(DIALECTS, |d, word| {
        objects(d).dialect = match word.choice.word {
            "s3" => ObjectDialect::S3,
            "swift" => ObjectDialect::Swift,
            _ => ObjectDialect::WebDav,
        };
        Ok(())
    })).tier(4).engines(HTTP).default("webdav").help("Protocol of the server"),
    option("http_object_mode", word(OBJECT_MODES, |d, word| {
        objects(d).ranges = word.choice.word == "range";
        Ok(())
    })).tier(4).engines(HTTP).default("block").help("What an object is"),
    option("http_user", text(|d, text| {
        objects(d).user = line(text)?;
        Ok(())
    })).tier(4).engines(HTTP).help("User"),
    option("http_pass", text(|d, text| secret(text, &mut objects(d).password)))
        .tier(4).engines(HTTP).help("Password").secret(),
    option("http_s3_region", text(|d, text| {
        objects(d).region = line(text)?;
        Ok(())
    })).tier(4).engines(HTTP).default("us-east-1").help("Region of S3"),
    option("http_s3_keyid", text(|d, text| {
        objects(d).key_id = line(text)?;
        Ok(())
    })).tier(4).engines(HTTP).help("Public part of the S3 key; by default that of AWS_ACCESS_KEY_ID"),
    option("http_s3_key", text(|d, text| secret(text, &mut objects(d).key)))
        .tier(4).engines(HTTP).help("Secret part of the S3 key; by default that of AWS_SECRET_ACCESS_KEY").secret(),
    option("http_s3_security_token", text(|d, text| secret(text, &mut objects(d).session_token)))
        .tier(4).engines(HTTP).help("Token of a session of S3").secret(),
    option("http_s3_sse_customer_key", text(|d, text| secret(text, &mut objects(d).customer_key)))
        .tier(4).engines(HTTP).help("Key of 32 bytes that the server encrypts objects with").secret(),
    option("http_s3_sse_customer_algorithm", text(|d, text| {
        objects(d).customer_algorithm = line(text)?;
        Ok(())
    })).tier(4).engines(HTTP).default("AES256").help("Algorithm of that key"),
    option("http_s3_storage_class", text(|d, text| {
        objects(d).storage_class = line(text)?;
        Ok(())
    })).tier(4).engines(HTTP).default("STANDARD").help("Storage class of written objects"),
    option("http_swift_auth_token", text(|d, text| secret(text, &mut objects(d).swift_token)))
        .tier(4).engines(HTTP).help("Token of Swift").secret(),
    option("http_verbose", integer(0, 2, ignore))
        .tier(4).engines(HTTP).default("0").help("How much is printed about requests")
        .status(Partial("the record has the results of the requests; nothing is printed about each of them")),
    option("no_completion_thread", boolean(ignore))
        .tier(3).engines(&["windowsaio"]).default("0").help("Take completions in the worker")
        .status(Partial("the worker always takes them, in builds for Windows")),
    option("write_mode", word(NVME_WRITES, |d, word| {
        commands(d).write = match word.choice.word {
            "uncor" => DeviceWrite::Uncorrectable,
            "zeroes" => DeviceWrite::Zeroes,
            "verify" => DeviceWrite::Verify(0),
            _ => DeviceWrite::Plain,
        };
        Ok(())
    })).tier(4).engines(COMMAND).default("write").help("Command that a write becomes")
        .status(Partial("one command for all writes: no shares (write/60:zeroes/40), which are new after fio 3.42")),
    option("verify_mode", word(NVME_CHECKS, ignore_word))
        .tier(4).engines(COMMAND).default("read").help("Command that reads back for verify"),
    option("deallocate", boolean(|d, on| commands(d).deallocates = on))
        .tier(4).engines(COMMAND).default("0").help("Writes of zeroes free the space"),
    option("readfua", boolean(|d, on| commands(d).read_fua = on))
        .tier(4).engines(FUA_ENGINES).default("0").help("Reads go to the medium (FUA); io_uring ignores it"),
    option("writefua", boolean(|d, on| commands(d).write_fua = on))
        .tier(4).engines(FUA_ENGINES).default("0").help("Writes go to the medium (FUA); io_uring ignores it"),
    option("sg_write_mode", word(SCSI_WRITES, |d, word| {
        commands(d).write = match word.choice.word {
            "write_and_verify" | "verify" => DeviceWrite::AndVerify,
            "write_same" | "same" => DeviceWrite::Same,
            "write_same_ndob" => DeviceWrite::Zeroes,
            "verify_bytchk_00" => DeviceWrite::Verify(0),
            "verify_bytchk_01" => DeviceWrite::Verify(1),
            "verify_bytchk_11" => DeviceWrite::Verify(3),
            "write_stream" => DeviceWrite::Stream,
            _ => DeviceWrite::Plain,
        };
        Ok(())
    })).tier(4).engines(&["sg"]).default("write").help("Command that a write becomes"),
    option("stream_id", integer(0, 65535, |d, n| commands(d).stream = n as u16))
        .tier(4).engines(&["sg"]).default("0").help("Stream of sg_write_mode=write_stream")
        .status(Partial("the number of an open stream: no stream is opened for 0")),
    option("md_per_io_size", integer(0, COUNT_MAX, |d, n| commands(d).protection.metadata_bytes = count(n)))
        .tier(4).engines(PROTECTED).default("0").help("Metadata bytes of each I/O").status(PROTECTION),
    option("pi_act", boolean(|d, on| commands(d).protection.by_device = on))
        .tier(4).engines(PROTECTED).default("1").help("Protection information is made by the device").status(PROTECTION),
    option("pi_chk", text(|d, text| {
        commands(d).protection.checks = checks(text)?;
        Ok(())
    })).tier(4).engines(PROTECTED).help("Which protection information is checked: GUARD, REFTAG, APPTAG, with commas between").status(PROTECTION),
    option("apptag", integer(0, 0xffff, |d, n| commands(d).protection.tag = n as u16))
        .tier(4).engines(PROTECTED).default("0x1234").help("Application tag").status(PROTECTION),
    option("apptag_mask", integer(0, 0xffff, |d, n| commands(d).protection.tag_mask = n as u16))
        .tier(4).engines(PROTECTED).default("0xffff").help("Mask of the application tag").status(PROTECTION),
    // Options that fio does not have.
    option("sim_service", microseconds(|d, ns| d.job.submission.engine_options.sim.service_ns = ns))
        .engines(SIM).default("100us").help("Time that the virtual device takes for each request"),
    option("sim_channels", integer(1, COUNT_MAX, |d, n| d.job.submission.engine_options.sim.channels = count(n)))
        .engines(SIM).default("1").help("Requests that the virtual device serves at once"),
    option("sim_queue", integer(0, COUNT_MAX, |d, n| d.job.submission.engine_options.sim.queue = count(n)))
        .engines(SIM).default("0").help("Requests that fit into the virtual device; 0: no limit"),
    option("sim_faults", text(|d, text| {
        d.job.submission.engine_options.sim.faults = value::sim_faults(text)?;
        Ok(())
    })).engines(SIM).help("Faults: error:EIO@3,short:512@5,stall:1s@7,eof@9"),
    // Engines that this build does not have.
    option("verb", text(ignore_text))
        .tier(4).aliases(&["proto"]).engines(&["rdma"]).help("RDMA operation").status(ABSENT),
    absent("bindname", &["rdma"], "Local name to bind"),
    absent("serverip", &["librpma_apm", "librpma_gpspm"], "Server address"),
    absent("direct_write_to_pmem", &["librpma_apm", "librpma_gpspm"], "The server's memory is persistent"),
    absent("busy_wait_polling", &["librpma_gpspm"], "Poll without sleeping"),
    absent("volume", &["gfapi", "gfapi_async"], "Gluster volume"),
    absent("brick", &["gfapi", "gfapi_async"], "Gluster brick"),
    absent("single-instance", &["gfapi", "gfapi_async"], "One instance for all jobs"),
    absent("skip_bad", &["mtd"], "Leave bad blocks out"),
    absent("uri", &["nbd"], "Address of the device"),
    absent("nfs_url", &["nfs"], "Address of the export"),
    absent("clustername", &["rbd", "rados"], "Ceph cluster"),
    absent("rbdname", &["rbd"], "Ceph image"),
    absent("clientname", &["rbd", "rados"], "Ceph client"),
    absent("pool", &["rbd", "rados", "dfs"], "Pool"),
    absent("busy_poll", &["rbd", "rados"], "Poll without sleeping"),
    absent("conf", &["rados"], "Ceph configuration file"),
    absent("touch_objects", &["rados"], "Make the objects first"),
    absent("cont", &["dfs"], "DAOS container"),
    absent("chunk_size", &["dfs", "libhdfs"], "Bytes of a chunk"),
    absent("object_class", &["dfs"], "DAOS object class"),
    absent("namenode", &["libhdfs"], "Hadoop name node"),
    absent("hdfsdirectory", &["libhdfs"], "Hadoop directory"),
    absent("single_instance", &["libhdfs"], "One instance for all jobs"),
    absent("hdfs_use_direct", &["libhdfs"], "Direct reads"),
    absent("gpu_dev_ids", &["libcufile"], "GPUs"),
    absent("cuda_io", &["libcufile"], "How the GPU's memory is reached"),
    absent("xnvme_async", &["xnvme"], "Asynchronous interface"),
    absent("xnvme_sync", &["xnvme"], "Synchronous interface"),
    absent("xnvme_admin", &["xnvme"], "Administrative interface"),
    absent("xnvme_dev_nsid", &["xnvme"], "Namespace"),
    absent("xnvme_dev_subnqn", &["xnvme"], "Subsystem"),
    absent("xnvme_mem", &["xnvme"], "Memory of the buffers"),
    absent("xnvme_iovec", &["xnvme"], "Vectored requests"),
    absent("libblkio_driver", &["libblkio"], "Driver"),
    absent("libblkio_path", &["libblkio"], "Path of the device"),
    absent("libblkio_pre_connect_props", &["libblkio"], "Properties before connecting"),
    absent("libblkio_num_entries", &["libblkio"], "Entries of the queue"),
    absent("libblkio_queue_size", &["libblkio"], "Bytes of the queue"),
    absent("libblkio_pre_start_props", &["libblkio"], "Properties before starting"),
    absent("libblkio_vectored", &["libblkio"], "Vectored requests"),
    absent("libblkio_write_zeroes_on_trim", &["libblkio"], "Write zeroes instead of trims"),
    absent("libblkio_wait_mode", &["libblkio"], "How completions are awaited"),
    absent("libblkio_force_enable_completion_eventfd", &["libblkio"], "Always signal completions"),
];
