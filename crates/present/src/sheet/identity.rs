//! Makes the section on what each storage is, as far as it is visible from this machine.

use fsdyno_results::RunRecord;
use fsdyno_results::evidence::{
    BlockDevice, DirectIo, FuseIdentity, NfsIdentity, RecordedFact, ServerIdentity, Storage, StorageClass,
};
use maud::{Markup, html};

use super::outline::{Outline, badge};
use crate::quantity::{bytes, counted, duration, megabytes_per_s, number, shortened};
use crate::summary::Grid;

/// A line of a card: a label, and either the fact or why it is not visible.
enum CardLine {
    Known(&'static str, String),
    NotVisible(&'static str, String),
    /// The layers below the data, drawn as a tree.
    Tree(String),
}

pub(super) fn section(grid: &Grid<'_>, place: &Outline) -> Markup {
    let storages = storages(grid);
    let machine = machine(grid);
    if storages.is_empty() && machine.is_empty() {
        return html! {};
    }
    let deeper = place.deeper();
    place.section(
        "storage",
        "Storage and machine",
        html! {
            div.cards.single[storages.len() == 1] {
                @for (index, (name, storage)) in storages.iter().enumerate() {
                    div.card {
                        (deeper.heading(&format!("storage-{}", index + 1), html! {
                            span class=(format!("swatch {}", super::chart::colour(index))) aria-hidden="true" {}
                            (shortened(name, 120))
                            @if index == 0 && storages.len() > 1 { " " small { "baseline" } }
                        }))
                        @if **storage == Storage::default() { p.missing { "The storage was not inspected." } } @else { (card(storage)) }
                    }
                }
                div.card {
                    (deeper.heading("machine", html! { "Machine" }))
                    (list(&machine))
                    @if machine.is_empty() { p.missing { "The machine was not recorded." } }
                }
            }
        },
    )
}

fn machine(grid: &Grid<'_>) -> Vec<CardLine> {
    let (host, name) = (&grid.study.host, &grid.study.host_name);
    let clock = host.clock.as_ref().map(|clock| {
        let drift = clock.drift_ppm.map(|drift| format!(", drifts by {} ppm", number(drift))).unwrap_or_default();
        format!("{}, {} ns a reading{drift}", clock.source, number(clock.cost_ns))
    });
    [
        ("Name", name.clone()),
        ("Kernel", host.kernel.clone()),
        ("CPUs", host.cpus.map(|cpus| cpus.to_string())),
        ("Memory", host.memory_bytes.map(bytes)),
        ("Clock", clock),
    ]
    .into_iter()
    .filter_map(|(name, text)| Some(CardLine::Known(name, text?)))
    .collect()
}

/// The targets' storages; for a fio command line, those that its run examined.
fn storages<'a>(grid: &'a Grid<'_>) -> Vec<(String, &'a Storage)> {
    let nothing = Storage::default();
    let of_targets = || {
        let targets = grid.study.targets.iter().zip(&grid.targets);
        targets.map(|(target, name)| (name.clone(), &target.storage)).collect::<Vec<_>>()
    };
    if grid.study.targets.iter().any(|target| target.storage != nothing) {
        return of_targets();
    }
    let of_runs = grid.study.rows.iter().filter_map(|row| row.run.as_ref()).flat_map(RunRecord::storages);
    let mut found: Vec<(String, &Storage)> = Vec::new();
    for storage in of_runs {
        let name =
            storage.mount.value().map_or(storage.asked_path.clone(), |mount| mount.mount_point.display().to_string());
        if !found.iter().any(|(_, known)| *known == storage) {
            found.push((name, storage));
        }
    }
    if found.is_empty() { of_targets() } else { found }
}

fn card(storage: &Storage) -> Markup {
    html! {
        (list(&facts(storage)))
        @for remark in &storage.remarks { p.remark { (badge(fsdyno_results::Trust::Caution)) " " (remark) } }
    }
}

fn list(facts: &[CardLine]) -> Markup {
    html! {
        @if !facts.is_empty() { dl.card-facts {
            @for fact in facts {
                @match fact {
                    CardLine::Known(name, text) => div { dt { (name) } dd { (text) } },
                    CardLine::Tree(lines) => div { dt { "Layers" } dd.tree { (lines) } },
                    CardLine::NotVisible(name, reason) => div { dt { (name) } dd.muted { "not visible: " (reason) } },
                }
            }
        } }
    }
}

fn facts(storage: &Storage) -> Vec<CardLine> {
    let mut facts = vec![CardLine::Known("Kind", class_words(storage.class).to_owned())];
    match &storage.mount {
        RecordedFact::Value(mount) => {
            facts.push(CardLine::Known("Filesystem", mount.fstype.clone()));
            facts.push(CardLine::Known("Mounted", format!("{} at {}", mount.source, mount.mount_point.display())));
            if !mount.options.is_empty() {
                facts.push(CardLine::Known("Options", mount.options.join(", ")));
            }
        }
        RecordedFact::NotVisible(reason) => facts.push(CardLine::NotVisible("Mounted", reason.clone())),
    }
    if let Some(path) = storage.resolved_path.value() {
        facts.push(CardLine::Known("Path", path.clone()));
    }
    facts.push(seen("Space", &storage.space, |space| {
        format!("{} free of {}", bytes(space.available_bytes), bytes(space.total_bytes))
    }));
    facts.push(seen("Direct I/O", &storage.direct_io, |direct| match direct {
        DirectIo::Refused => "not supported".to_owned(),
        DirectIo::Aligned { memory_bytes, offset_bytes } => {
            format!(
                "aligned to {} in memory, {} in the file",
                bytes((*memory_bytes).into()),
                bytes((*offset_bytes).into())
            )
        }
    }));
    facts.push(match &storage.devices {
        RecordedFact::NotVisible(reason) => CardLine::NotVisible("Device", reason.clone()),
        RecordedFact::Value(devices) if devices.is_empty() => {
            CardLine::Known("Device", "none on this machine".to_owned())
        }
        RecordedFact::Value(devices) => {
            CardLine::Known("Device", devices.iter().map(device).collect::<Vec<_>>().join("; "))
        }
    });
    if !storage.layers.is_empty() {
        let lines: Vec<String> =
            crate::inspect::tree(&storage.layers).into_iter().map(|(branch, layer)| branch + &layer).collect();
        facts.push(CardLine::Tree(lines.join("\n")));
    }
    facts.extend(storage.compression.clone().map(|option| CardLine::Known("Compression", option)));
    facts.extend(storage.nfs.as_ref().map(|nfs| CardLine::Known("NFS", self::nfs(nfs))));
    facts.extend(storage.fuse.iter().flat_map(fuse));
    facts.extend(storage.server.iter().flat_map(server));
    facts.extend(limits(storage));
    facts
}

fn class_words(class: StorageClass) -> &'static str {
    match class {
        StorageClass::Memory => "memory",
        StorageClass::Block => "block devices of this machine",
        StorageClass::Network => "a server on the network",
        StorageClass::Fuse => "a daemon on this machine (FUSE)",
        StorageClass::HostShare => "a directory of the machine that hosts this one",
        StorageClass::Kernel => "a kernel filesystem, not storage",
        StorageClass::Device => "a block device itself",
        StorageClass::Unknown => "not visible",
    }
}

fn seen<T>(name: &'static str, fact: &RecordedFact<T>, words: impl FnOnce(&T) -> String) -> CardLine {
    match fact {
        RecordedFact::Value(value) => CardLine::Known(name, words(value)),
        RecordedFact::NotVisible(reason) => CardLine::NotVisible(name, reason.clone()),
    }
}

fn device(device: &BlockDevice) -> String {
    let words: Vec<String> = [
        device.model.clone(),
        device.size_bytes.map(bytes),
        device.rotational.map(|platters| if platters { "rotational" } else { "not rotational" }.to_owned()),
        device.scheduler.as_ref().map(|name| format!("scheduler {name}")),
        device.queue_requests.map(|count| format!("queue {count}")),
        device.write_cache.clone(),
    ]
    .into_iter()
    .flatten()
    .collect();
    let below: Vec<String> = device.slaves.iter().map(self::device).collect();
    let below = if below.is_empty() { String::new() } else { format!(" over {}", below.join(" and ")) };
    if words.is_empty() {
        format!("{}{below}", device.name)
    } else {
        format!("{} ({}){below}", device.name, words.join(", "))
    }
}

fn nfs(nfs: &NfsIdentity) -> String {
    let words: Vec<String> = [
        nfs.version.as_ref().map(|version| format!("version {version}")),
        nfs.rsize_bytes.map(|size| format!("rsize {}", bytes(size))),
        nfs.wsize_bytes.map(|size| format!("wsize {}", bytes(size))),
        nfs.nconnect.map(|count| counted(u64::from(count), "connection")),
        nfs.transport.clone(),
        nfs.hard.map(|hard| if hard { "hard" } else { "soft: ends with an error" }.to_owned()),
        nfs.synchronous.map(|sync| if sync { "sync" } else { "async" }.to_owned()),
        nfs.attribute_cache_s.map(|[file_min, file_max, dir_min, dir_max]| {
            format!("attributes cached {file_min}–{file_max} s, of directories {dir_min}–{dir_max} s")
        }),
    ]
    .into_iter()
    .flatten()
    .collect();
    words.join(", ")
}

fn fuse(fuse: &FuseIdentity) -> Vec<CardLine> {
    let cache = fuse.cache.clone().unwrap_or_else(|| "none named".to_owned());
    let mut facts = vec![
        CardLine::Known("Daemon", fuse.kind.clone().unwrap_or_else(|| "unknown".to_owned())),
        seen("Its command", &fuse.command_line, |words| words.join(" ")),
        CardLine::Known("Its local cache", cache),
    ];
    facts.extend(fuse.url.clone().map(|url| CardLine::Known("Data from", url)));
    facts
}

fn server(server: &ServerIdentity) -> Vec<CardLine> {
    vec![
        CardLine::Known("Server", server.address.clone()),
        seen("TCP connect", &server.connect_ns, |ns| duration(*ns as f64)),
        seen("Interface", &server.interface, String::clone),
        seen("Link", &server.link_bits_per_s, |bits| {
            format!("{} Gbit/s, at most {}", number(*bits as f64 / 1e9), megabytes_per_s(*bits as f64 / 8.0))
        }),
    ]
}

fn limits(storage: &Storage) -> Vec<CardLine> {
    let mut facts = Vec::new();
    if let RecordedFact::Value(Some(limit)) = &storage.cgroup.memory_bytes {
        facts.push(CardLine::Known("Memory limit", bytes(*limit)));
    }
    if let RecordedFact::Value(Some(cpus)) = &storage.cgroup.cpus {
        facts.push(CardLine::Known("CPU limit", format!("{} CPUs", number(*cpus))));
    }
    if let Some(limits) = storage.cgroup.io.value().filter(|limits| !limits.is_empty()) {
        facts.push(CardLine::Known("I/O limit", limits.join("; ")));
    }
    facts
}
