//! Shows what a storage is, for people and for programs.

use fsdyno_results::Host;
use fsdyno_results::evidence::{
    BlockDevice, CgroupIdentity, DirectIo, FuseIdentity, Layer, Mount, NfsIdentity, RecordedFact, ServerIdentity,
    Space, Storage, StorageClass,
};
use fsdyno_text::quantity;
use serde_json::json;

use crate::page::Page;

/// Column in which values begin.
const LABEL_COLUMNS: usize = 17;

/// The page for people, `columns` wide.
pub fn text(storage: &Storage, host: &Host, columns: usize) -> String {
    let Storage { devices, nfs, fuse, server, cgroup, remarks, .. } = storage;
    let mut page = Page::new(headline(storage), LABEL_COLUMNS, columns);
    if !remarks.is_empty() {
        page.gap();
        remarks.iter().for_each(|remark| page.paragraph("  - ", remark));
    }
    about_place(&mut page, storage);
    if let Some(nfs) = nfs {
        about_nfs(&mut page, nfs);
    }
    if let Some(fuse) = fuse {
        about_fuse(&mut page, fuse);
    }
    if let Some(server) = server {
        about_server(&mut page, server);
    }
    match devices {
        RecordedFact::Value(devices) => about_devices(&mut page, devices, None),
        unseen => {
            page.heading("Devices");
            page.line("devices", &shown(unseen, |_| String::new()));
        }
    }
    let has_devices = devices.value().is_none_or(|devices| !devices.is_empty());
    about_limits(&mut page, cgroup, has_devices);
    about_machine(&mut page, host);
    page.into_text()
}

/// The document for programs.
pub fn json(storage: &Storage, host: &Host, version: &str) -> String {
    crate::document(headline(storage), json!({"version": version, "storage": storage, "host": host}))
}

/// A value, or the reason why it is not visible.
fn shown<T>(seen: &RecordedFact<T>, text: impl FnOnce(&T) -> String) -> String {
    match seen {
        RecordedFact::Value(value) => text(value),
        RecordedFact::NotVisible(reason) => format!("not visible ({})", reason.trim_start_matches("not visible: ")),
    }
}

fn headline(storage: &Storage) -> String {
    let asked = &storage.asked_path;
    match (storage.class, storage.mount.value()) {
        (StorageClass::Device, _) => format!("{asked}: a block device"),
        // Filesystems without a source have "none" or their own name there.
        (_, Some(mount)) if mount.source == "none" || mount.fstype.ends_with(&mount.source) => {
            format!("{asked}: {}", mount.fstype)
        }
        (_, Some(mount)) => format!("{asked}: {} on {}", mount.fstype, mount.source),
        (_, None) => asked.clone(),
    }
}

fn kind(class: StorageClass) -> &'static str {
    match class {
        StorageClass::Memory => "memory",
        StorageClass::Block => "filesystem on block devices of this machine",
        StorageClass::Network => "filesystem of a server on the network",
        StorageClass::Fuse => "filesystem of a daemon on this machine (FUSE)",
        StorageClass::HostShare => "directory of the machine that hosts this one",
        StorageClass::Kernel => "kernel filesystem",
        StorageClass::Device => "block device",
        StorageClass::Unknown => "not visible (no known kind)",
    }
}

fn about_place(page: &mut Page, storage: &Storage) {
    let Storage { asked_path, resolved_path, mount, class, space, direct_io, layers, compression, .. } = storage;
    page.heading("Place");
    if resolved_path.value() != Some(asked_path) {
        page.line("path", &shown(resolved_path, String::clone));
    }
    page.line("kind", kind(*class));
    match mount {
        RecordedFact::Value(Mount { mount_point, source, fstype, options, id: _, device: _, root: _ }) => {
            page.line("filesystem", fstype);
            page.line("from", source);
            page.line("mounted at", &mount_point.display().to_string());
            // The blank lets lines break between options.
            page.line("options", &options.join(", "));
        }
        RecordedFact::NotVisible(_) if *class == StorageClass::Device => {}
        unseen => page.line("mounted at", &shown(unseen, |mount| mount.mount_point.display().to_string())),
    }
    for (index, (branch, layer)) in tree(layers).iter().enumerate() {
        page.branch(if index == 0 { "layers" } else { "" }, branch, layer);
    }
    if let Some(says) = compression {
        page.line("compression", says);
    }
    if *class == StorageClass::Kernel {
        return;
    }
    if *class != StorageClass::Device {
        page.line("space", &shown(space, space_text));
    }
    page.line("direct I/O", &shown(direct_io, direct_io_text));
}

/// The layers from top to bottom: the branch that leads to each, and its description.
pub fn tree(layers: &[Layer]) -> Vec<(String, String)> {
    let mut lines = Vec::new();
    layers.iter().for_each(|layer| grow(layer, ["", ""], &mut lines));
    lines
}

/// Adds a layer and those below it. `before`: the branch in front of the layer, and in front of those below.
fn grow(layer: &Layer, before: [&str; 2], lines: &mut Vec<(String, String)>) {
    let aside = if layer.holds_other_data { " (other files)" } else { "" };
    lines.push((before[0].to_owned(), format!("{layer}{aside}")));
    for (index, below) in layer.below.iter().enumerate() {
        let [branch, rest] = if index + 1 == layer.below.len() { ["└ ", "  "] } else { ["├ ", "│ "] };
        let before = [format!("{}{branch}", before[1]), format!("{}{rest}", before[1])];
        grow(below, [&before[0], &before[1]], lines);
    }
}

fn space_text(space: &Space) -> String {
    format!("{} available of {}", quantity::bytes(space.available_bytes), quantity::bytes(space.total_bytes))
}

fn direct_io_text(direct_io: &DirectIo) -> String {
    match direct_io {
        DirectIo::Refused => "refused".to_owned(),
        DirectIo::Aligned { memory_bytes, offset_bytes } => {
            format!("buffers aligned to {memory_bytes} B, offsets and lengths to {offset_bytes} B")
        }
    }
}

/// A value that its source may leave out; then the text says so.
fn or_unknown(text: Option<String>, source: &str) -> String {
    text.unwrap_or_else(|| format!("not visible ({source} does not report it)"))
}

fn about_nfs(page: &mut Page, nfs: &NfsIdentity) {
    let NfsIdentity {
        version,
        rsize_bytes,
        wsize_bytes,
        nconnect,
        transport,
        hard,
        synchronous,
        attribute_cache_s,
        root,
    } = nfs;
    let source = "mountinfo";
    page.heading("NFS");
    page.line("version", &or_unknown(version.clone(), source));
    page.line("transport", &or_unknown(transport.clone(), source));
    page.line("connections", &or_unknown(nconnect.map(|count| count.to_string()), source));
    let sizes = rsize_bytes.zip(*wsize_bytes);
    let sizes = sizes.map(|(read, write)| format!("{}, {}", quantity::bytes(read), quantity::bytes(write)));
    page.line("rsize, wsize", &or_unknown(sizes, source));
    let hard = hard.map(|hard| if hard { "hard: retried for ever" } else { "soft: ends with an error" });
    page.line("no answer", &or_unknown(hard.map(str::to_owned), source));
    let writes = synchronous
        .map(|sync| if sync { "sync: each waits for the server" } else { "collected and sent later (async)" });
    page.line("writes", &or_unknown(writes.map(str::to_owned), source));
    let times = attribute_cache_s.map(|[file_min, file_max, directory_min, directory_max]| {
        format!("cached {file_min}-{file_max} s, of directories {directory_min}-{directory_max} s")
    });
    page.line("attributes", &or_unknown(times, source));
    let root = root.map(|root| format!("inode {} of the server", root.inode));
    page.line("root", &or_unknown(root, "statx"));
}

fn about_fuse(page: &mut Page, fuse: &FuseIdentity) {
    let FuseIdentity { kind, daemon_pid, command_line, url, cache } = fuse;
    page.heading("FUSE");
    let name = kind.as_deref().unwrap_or("no name");
    page.line("daemon", &format!("{name}, process {}", shown(daemon_pid, u32::to_string)));
    // The reason why the process is not visible applies to its command line, too.
    let Some(words) = command_line.value() else { return };
    page.line("command", &words.join(" "));
    page.line("data from", url.as_deref().unwrap_or("the command line has no target"));
    page.line("local cache", cache.as_deref().unwrap_or("the command line has none"));
}

fn about_server(page: &mut Page, server: &ServerIdentity) {
    let ServerIdentity { address, connect_ns, interface, link_bits_per_s } = server;
    page.heading("Server");
    page.line("address", address);
    page.line("TCP connect", &shown(connect_ns, connect_text));
    page.line("interface", &shown(interface, String::clone));
    // The reason why the interface is not visible applies to its speed, too.
    if interface.value().is_some() {
        page.line("link speed", &shown(link_bits_per_s, |bits| link_speed(*bits)));
    }
}

fn connect_text(ns: &u64) -> String {
    format!("{} (one round trip, with both kernels' work)", quantity::latency(*ns as f64))
}

/// `10 Gbit/s`.
fn link_speed(bits_per_s: u64) -> String {
    let megabits = bits_per_s / 1_000_000;
    if megabits >= 1000 { format!("{} Gbit/s", megabits as f64 / 1000.0) } else { format!("{megabits} Mbit/s") }
}

/// The devices in one line each; devices that differ only in their name share one.
fn about_devices(page: &mut Page, devices: &[BlockDevice], above: Option<&str>) {
    let mut listed: Vec<&str> = Vec::new();
    for device in devices {
        if listed.contains(&device.name.as_str()) {
            continue;
        }
        let nameless = |device: &BlockDevice| BlockDevice { name: String::new(), ..device.clone() };
        let alike = devices.iter().filter(|other| nameless(other) == nameless(device));
        let names: Vec<&str> = alike.map(|other| other.name.as_str()).collect();
        let word = if names.len() == 1 { "Device" } else { "Devices" };
        let part = device.partition.as_ref().map(|part| format!(", partition {part}")).unwrap_or_default();
        let below = above.map(|above| format!(", below {above}")).unwrap_or_default();
        page.heading(format!("{word} {}{part}{below}", names.join(", ")));
        about_device(page, device);
        listed.extend(names);
        about_devices(page, &device.slaves, Some(&device.name));
    }
}

fn about_device(page: &mut Page, device: &BlockDevice) {
    let BlockDevice {
        name: _,
        partition,
        model,
        size_bytes,
        rotational,
        scheduler,
        queue_requests,
        max_request_bytes,
        logical_block_bytes,
        physical_block_bytes,
        write_cache,
        slaves: _,
    } = device;
    if let Some(model) = model {
        page.line("model", model);
    }
    let sysfs = "/sys";
    let size = size_bytes.map(quantity::bytes);
    page.line(if partition.is_some() { "partition size" } else { "size" }, &or_unknown(size, sysfs));
    let turning =
        rotational.map(|turns| if turns { "yes, reported by the driver" } else { "no, reported by the driver" });
    page.line("rotational", &or_unknown(turning.map(str::to_owned), sysfs));
    page.line("scheduler", &or_unknown(scheduler.clone(), sysfs));
    let queue = queue_requests.map(|requests| match max_request_bytes {
        Some(bytes) => format!("{requests} requests of at most {}", quantity::bytes(*bytes)),
        None => format!("{requests} requests"),
    });
    page.line("queue", &or_unknown(queue, sysfs));
    let blocks = logical_block_bytes.map(|logical| match physical_block_bytes {
        Some(physical) => format!("{logical} B logical, {physical} B physical"),
        None => format!("{logical} B logical"),
    });
    page.line("block", &or_unknown(blocks, sysfs));
    page.line("write cache", &or_unknown(write_cache.clone(), sysfs));
}

fn about_limits(page: &mut Page, cgroup: &CgroupIdentity, has_devices: bool) {
    let CgroupIdentity { memory_bytes, cpus, io } = cgroup;
    let no_limit = || "no limit".to_owned();
    page.heading("Limits of the control groups");
    page.line("memory", &shown(memory_bytes, |limit| limit.map_or_else(no_limit, quantity::bytes)));
    page.line(
        "CPUs",
        &shown(cpus, |limit| limit.map_or_else(no_limit, |cpus| format!("{} CPUs", quantity::number(cpus)))),
    );
    if !has_devices {
        return;
    }
    match io.value() {
        Some(limits) if !limits.is_empty() => limits.iter().for_each(|limit| page.line("I/O", limit)),
        _ => page.line("I/O", &shown(io, |_| no_limit())),
    }
}

fn about_machine(page: &mut Page, host: &Host) {
    let Host { kernel, cpus, memory_bytes, clock: _ } = host;
    page.heading("Machine");
    page.line("kernel", &or_unknown(kernel.clone(), "uname"));
    page.line("CPUs", &or_unknown(cpus.map(|count| count.to_string()), "/sys"));
    page.line("memory", &or_unknown(memory_bytes.map(quantity::bytes), "sysinfo"));
}

#[cfg(test)]
mod tests;
