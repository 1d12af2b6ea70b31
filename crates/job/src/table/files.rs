//! Rows: which files a job uses, how large they are, how they are made.

use super::JobRow;
use super::build::*;
use super::skew;
use crate::draft::Draft;
use crate::option::{Choice, Kind, Offer::*, Status::*};
use crate::typed::{Fadvise, Fallocate, FileService, LockFile};
use crate::value::{self, Refusal, Word};

/// The format of file names, unless `filename_format` sets another one.
const DEFAULT_FORMAT: &str = "$jobname.$jobnum.$filenum";

const SERVICES: &[Choice] = &[
    Choice::new("random", "A uniform draw").tail("I/Os before the next draw"),
    Choice::new("zipf", "A zipf draw; finished files start over").tail("theta[:centre]"),
    Choice::new("pareto", "A pareto draw").tail("h[:centre]"),
    Choice::new("normal", "A normal draw").tail("deviation in percent[:centre]"),
    Choice::new("gauss", "Alias of normal").tail("deviation in percent[:centre]"),
    Choice::new("roundrobin", "Each file in turn").tail("I/Os before the next file"),
    Choice::new("sequential", "Finish one file, then the next").tail("I/Os, without effect"),
];

const FALLOCATE: &[Choice] = &[
    Choice::new("none", "Reserve nothing"),
    Choice::new("native", "fallocate(2), which sets the size"),
    Choice::new("posix", "posix_fallocate(3)"),
    Choice::new("keep", "fallocate(2) that leaves the size as it is"),
    Choice::new("truncate", "ftruncate(2): a sparse file"),
    Choice::new("0", "Alias of none"),
    Choice::new("1", "Alias of posix"),
];

const FADVISE: &[Choice] = &[
    Choice::new("0", "Give no advice"),
    Choice::new("1", "Advise what the I/O pattern suggests"),
    Choice::new("random", "Advise random access"),
    Choice::new("sequential", "Advise sequential access"),
    Choice::new("noreuse", "Advise that data is used once"),
];

const LOCKS: &[Choice] = &[
    Choice::new("none", "No locks"),
    Choice::new("exclusive", "One I/O at a time in a file"),
    Choice::new("readwrite", "Many readers or one writer"),
];

const FILE_TYPES: &[Choice] = &[
    Choice::new("none", "What the file is"),
    Choice::new("file", "Regular file"),
    Choice::new("block", "Block device: it is not made if it is missing"),
    Choice::new("char", "Character device: it is not made if it is missing"),
    Choice::new("pipe", "Pipe").status(Rejected("a pipe has no offsets")),
];

#[rustfmt::skip]
pub(super) const ROWS: &[JobRow] = &[
    option("filename", text(set_names))
        .tier(1).help("Files to use, separated by colons; every clone uses the same").offer(Files),
    option("directory", text(|d, text| {
        d.job.files.directories = value::names(text);
        Ok(())
    })).tier(1).help("Directories of the files, separated by colons; clones take them in turn")
        .offer(Directories),
    option("filename_format", text(|d, text| {
        d.job.files.name_format = Some(text.to_owned()).filter(|format| format != DEFAULT_FORMAT);
        Ok(())
    }))
        .default(DEFAULT_FORMAT).help("How generated names are made"),
    option("unique_filename", boolean(|d, on| d.job.files.unique = on))
        .tier(3).default("1").help("Put the node's name before generated file names, where several nodes run"),
    option("opendir", text(|d, text| { d.job.files.opened_directories.push(text.to_owned()); Ok(()) }))
        .help("Use all regular files below this directory").offer(Directories),
    option("nrfiles", integer(0, COUNT_MAX, |d, n| d.job.files.count = count(n).max(1)))
        .aliases(&["nr_files"]).default("1").help("Files per clone when names are generated; the size is divided"),
    option("openfiles", integer(0, COUNT_MAX, |d, n| d.job.files.open = Some(count(n)).filter(|n| *n > 0)))
        .help("Files open at the same time; another one is opened when one of them is done"),
    option("file_service_type", word(SERVICES, set_service))
        .default("roundrobin").help("How the file of the next I/O is chosen"),
    option("filesize", Kind::SizeRange { min: 1, set: |d, low, high| d.job.files.file_size = Some((low, high)) })
        .help("Size of each file, or a range for random sizes"),
    option("size", amount(|d, size| d.job.files.size = Some(size)))
        .tier(1).help("Bytes that each clone covers over all its files"),
    option("io_size", amount(|d, size| d.job.extent.io_size = Some(size)))
        .aliases(&["io_limit"]).help("Bytes to transfer, when they differ from the size"),
    option("offset", amount(|d, offset| d.job.files.offset = offset))
        .aliases(&["fileoffset"]).default("0").help("Where in the file the used range begins"),
    option("offset_increment", amount(|d, step| d.job.files.offset_increment = step))
        .default("0").help("Added to the offset once per clone number"),
    option("offset_align", size(0, |d, bytes| d.job.files.offset_align = bytes))
        .tier(3).default("0").help("Round an offset in percent up to a multiple of this; 0 is the smallest block"),
    option("number_ios", size(0, |d, n| d.job.extent.number_ios = n))
        .default("0").help("Stop after this number of I/Os"),
    option("fill_device", boolean(|d, on| d.job.files.fill_device = on))
        .aliases(&["fill_fs"]).default("0").help("Run until the device is full, which is then not an error"),
    option("file_append", boolean(|d, on| d.job.files.append = on))
        .tier(3).default("0").help("Begin at the end of the file"),
    option("fallocate", word(FALLOCATE, set_fallocate))
        .tier(1).default("native").help("How the space of a new file is reserved"),
    option("create_serialize", boolean(|d, on| d.job.files.create_serialize = on))
        .default("1").help("Lay out the files of one job after those of the other"),
    option("create_fsync", boolean(|d, on| d.job.files.create_fsync = on))
        .default("1").help("fsync each file after layout"),
    option("create_on_open", boolean(|d, on| d.job.files.create_on_open = on))
        .default("0").help("Make files when they are opened, not before"),
    option("create_only", boolean(|d, on| d.job.files.create_only = on))
        .default("0").help("Lay the files out and stop"),
    option("allow_file_create", boolean(|d, on| d.job.files.allow_create = on))
        .default("1").help("Off: a missing file is an error"),
    option("allow_mounted_write", boolean(|d, on| d.job.files.allow_mounted_write = on))
        .tier(3).default("0").help("Let a device be changed that is in use or holds something"),
    option("overwrite", boolean(|d, on| d.job.files.overwrite = on))
        .default("0").help("Lay the files out for write jobs too"),
    option("unlink", boolean(|d, on| d.job.files.unlink = on))
        .default("0").help("Delete the files when the job is done"),
    option("unlink_each_loop", boolean(|d, on| d.job.files.unlink_each_loop = on))
        .tier(3).default("0").help("Delete the files between two loops"),
    option("pre_read", boolean(|d, on| d.job.files.pre_read = on))
        .tier(3).default("0").help("Read the files into the cache before the run"),
    option("invalidate", boolean(|d, on| d.job.files.invalidate = on))
        .default("1").help("Drop the files' cached pages before the run"),
    option("fadvise_hint", word(FADVISE, set_fadvise))
        .default("1").help("Access pattern that is given to the kernel as advice"),
    option("filetype", word(FILE_TYPES, |d, word| {
        d.job.files.device = ["block", "char"].contains(&word.choice.word);
        Ok(())
    })).tier(3).default("none").help("Treat the file as if it had this type"),
    option("lockfile", word(LOCKS, |d, word| {
        d.job.files.lock = match word.choice.word {
            "exclusive" => Some(LockFile::Exclusive),
            "readwrite" => Some(LockFile::ReadWrite),
            _ => None,
        };
        Ok(())
    })).tier(3).default("none").help("Jobs of the run take turns at files that they share, I/O by I/O"),
    option("ioscheduler", text(ignore_text))
        .tier(4).help("I/O scheduler of the device")
        .status(Rejected("it changes the whole system: set it yourself in /sys/block/DEVICE/queue/scheduler")),
];

/// Adds file names: a second `filename` adds to the first. The names get the `directory` that was set before them.
fn set_names(draft: &mut Draft, text: &str) -> Result<(), Refusal> {
    let names = value::names(text);
    if names.is_empty() {
        return Err(Refusal::new("no file name"));
    }
    if draft.job.files.directories.is_empty() {
        draft.written.named_without_directory = true;
    } else {
        draft.written.named_in_directory = true;
    }
    draft.job.files.names.extend(names);
    Ok(())
}

fn set_service(draft: &mut Draft, word: &Word) -> Result<(), Refusal> {
    let tail = word.tail.as_deref();
    let per_file = || match tail {
        Some(tail) => match value::count(tail)? {
            0 => Err(Refusal::new("a file has at least one I/O before the next one")),
            per_file => Ok(per_file),
        },
        None => Ok(1),
    };
    draft.job.files.service = match word.choice.word {
        "random" => FileService::Random { per_file: per_file()? },
        // The number of I/Os has no meaning here: a file is finished before the next one begins.
        "sequential" => per_file().map(|_| FileService::Sequential)?,
        "zipf" => skew::zipf(tail).map(|(theta, centre)| FileService::Zipf(theta, centre))?,
        "pareto" => skew::pareto(tail).map(|(h, centre)| FileService::Pareto(h, centre))?,
        "normal" | "gauss" => skew::normal(tail).map(|(deviation, centre)| FileService::Normal(deviation, centre))?,
        _ => FileService::RoundRobin { per_file: per_file()? },
    };
    Ok(())
}

fn set_fallocate(draft: &mut Draft, word: &Word) -> Result<(), Refusal> {
    draft.job.files.fallocate = match word.choice.word {
        "native" => Fallocate::Native,
        "posix" | "1" => Fallocate::Posix,
        "keep" => Fallocate::Keep,
        "truncate" => Fallocate::Truncate,
        _ => Fallocate::None,
    };
    Ok(())
}

fn set_fadvise(draft: &mut Draft, word: &Word) -> Result<(), Refusal> {
    draft.job.files.fadvise = match word.choice.word {
        "1" => Fadvise::ByPattern,
        "random" => Fadvise::Random,
        "sequential" => Fadvise::Sequential,
        "noreuse" => Fadvise::NoReuse,
        _ => Fadvise::Off,
    };
    Ok(())
}
