//! Rules of the engines that do no I/O to a storage (`cpuio`, `exec`, `net`, `page_fault`), and of `e4defrag`.

use super::Rules;
use crate::access::Access;
use crate::diagnostic::{Origin, WarningCode};
use crate::typed::{Amount, EngineName, Job, Protocol};

/// Sets the bursts and pauses of `cpuio` and checks the program of `exec`. Their requests are reads of no bytes,
/// whatever the job says.
pub(super) fn finish(job: &mut Job, rules: &mut Rules<'_>) {
    let engine = job.submission.engine;
    if engine.has_a_peer() {
        finish_network(job, rules);
    }
    if engine.reaches_objects() {
        finish_objects(job, rules);
    }
    match engine {
        EngineName::E4defrag if job.submission.engine_options.donor.name.is_empty() => {
            rules.refuse("ioengine", "'donorname' options required", "add --donorname=NAME");
        }
        EngineName::PageFault => finish_page_fault(job, rules),
        _ => {}
    }
    if !engine.computes() {
        return;
    }
    let options = &job.submission.engine_options;
    if engine == EngineName::Exec && options.program.name.is_empty() {
        rules.refuse(
            "ioengine",
            "fio: exec: no program is defined, it is mandatory to define one",
            "add --program=NAME",
        );
    }
    if engine == EngineName::Cpuio {
        let load = u64::from(options.burn.load_percent);
        if load == 0 {
            rules.refuse("ioengine", "fio: cpu thread needs rate (cpuload=)", "add --cpuload=50");
            return;
        }
        job.pacing.think_ns = u64::from(options.burn.burst_us) * 1000 * (100 - load) / load;
        job.pacing.think_spin_ns = 0;
        job.pacing.think_blocks = 1;
        job.pacing.think_on_issue = false;
    }
    job.pattern.access = Access::READ;
    job.files.size = Some(Amount::Bytes(job.pattern.block_size.read.max()));
    job.submission.depth = 1;
}

/// Refuses what memory without files does not have.
fn finish_page_fault(job: &Job, rules: &mut Rules<'_>) {
    let files = &job.files;
    if files.count > 1 || files.names.len() > 1 {
        let text = "fio: page_fault ioengine does not support multiple files";
        rules.refuse("nrfiles", text, "use numjobs: each job has its own memory");
    } else if files.offset != Amount::Bytes(0) {
        rules.refuse("offset", "fio: page_fault engine does not support start_offset", "leave offset out");
    }
}

/// Checks the names of objects, and refuses what an object server does not do.
fn finish_objects(job: &mut Job, rules: &mut Rules<'_>) {
    let (files, durability) = (&job.files, &job.durability);
    let syncs = durability.fsync_every > 0 || durability.fdatasync_every > 0 || durability.sync_file_range.is_some();
    let relative = files.names.iter().find(|name| !name.starts_with('/'));
    if !files.directories.is_empty() {
        rules.refuse("directory", "fio: directory is none of a server", "use the whole name: --filename=/BUCKET/NAME");
    } else if files.names.is_empty() {
        rules.refuse("ioengine", "fio: ioengine=http needs filename", "add --filename=/BUCKET/NAME");
    } else if let Some(name) = relative {
        let text = format!("fio: filename={name} does not begin with /");
        rules.refuse("filename", text, "use the path on the server: --filename=/BUCKET/NAME");
    } else if syncs {
        let text = "WARNING: Only DDIR_READ/DDIR_WRITE/DDIR_TRIM are supported!";
        rules.refuse("fsync", text, "leave syncs out: a write is answered when the server has it");
    }
    let visible = |row: &crate::raw::Assignment| row.row.secret && matches!(row.origin, Origin::Word { .. });
    let Some(name) = rules.assignments.iter().find(|written| visible(written)).map(|written| written.row.name) else {
        return;
    };
    let text = format!(
        "{name}: words of a command line are visible to all users of this machine: write ${{VARIABLE}} in a job file, or \
         use AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
    );
    rules.warn(WarningCode::VisibleSecret, name, text);
}

/// Checks the addresses and the protocol of `net`, and decides which side sends.
fn finish_network(job: &mut Job, rules: &mut Rules<'_>) {
    let access = job.pattern.access;
    let network = &mut job.submission.engine_options.network;
    network.sends = access.writes;
    let (protocol, is_group) = (network.protocol, network.host.as_deref().is_some_and(is_multicast));
    let (text, help) = if access.random || access.trims {
        ("fio: network IO can't be random", "use rw=read or rw=write")
    } else if protocol.is_datagram() && access.reads && access.writes {
        ("fio: datagram network connections must be read OR write", "use rw=read or rw=write")
    } else if network.waits && !protocol.connects() {
        ("fio: listen only valid for TCP proto IO", "leave listen out: receivers of udp and unix wait anyway")
    } else if protocol == Protocol::Unix && network.port > 0 {
        ("fio: network IO port not valid with unix socket", "leave port out")
    } else if protocol != Protocol::Unix && network.port == 0 {
        ("fio: network IO requires port for tcp or udp", "add --port=8765")
    } else if network.host.is_none() && (protocol == Protocol::Unix || !network.listens()) {
        ("fio: connect with no host to connect to.", "add --hostname=NAME, or listen for a receiver")
    } else if network.host.is_some() && protocol != Protocol::Unix && network.listens() && !is_group {
        ("fio: hostname not valid for non-multicast inbound network IO", "leave hostname out")
    } else if protocol == Protocol::Vsock && network.host.as_deref().is_some_and(|host| host.parse::<u32>().is_err()) {
        ("fio: hostname of a vsock peer is no CID", "use its number: 2 is the host of a guest, 1 this machine")
    } else {
        // Reports of `net` are in bits, as in fio.
        if job.reporting.unit_base == 0 && job.submission.engine == EngineName::Net {
            job.reporting.unit_base = 1;
        }
        return;
    };
    rules.refuse("ioengine", text, help);
}

/// Whether the host is 224.0.0.0 to 239.255.255.255.
fn is_multicast(host: &str) -> bool {
    host.split('.').count() == 4
        && host.split('.').next().and_then(|part| part.parse().ok()).is_some_and(|n: u8| n >> 4 == 14)
}
