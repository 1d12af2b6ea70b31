//! Which files a job uses and how they are made.

/// Bytes, or a share of the file or device that only probing can turn into bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// An absolute count of bytes.
    Bytes(u64),
    /// Percent of the existing file or device (0 to 100).
    Percent(u32),
    /// Zones of a zoned device (`4z`), which only the plan turns into bytes.
    Zones(u64),
}

/// Which files a job uses and how they are made.
#[derive(Clone, Debug, PartialEq)]
pub struct Files {
    /// `filename=`, split at colons, escapes resolved. Empty: names are generated from `name_format`.
    pub names: Vec<String>,
    /// `directory=`, split at colons; clones take them in turn. Empty: the current directory.
    pub directories: Vec<String>,
    /// `filename_format`; `None` is `$jobname.$jobnum.$filenum`.
    pub name_format: Option<String>,
    /// The node's name where several nodes run the same job: the value of `$clientuid`, and the beginning of
    /// generated names.
    pub client: Option<String>,
    /// Generated names begin with `client`.
    pub unique: bool,
    /// Files per clone when names are generated (1 and up).
    pub count: u32,
    /// `openfiles`: how many of them are open at a time (1 and up); `None`: all.
    pub open: Option<u32>,
    /// `filesize=`: smallest and largest size of each file, bytes.
    pub file_size: Option<(u64, u64)>,
    /// `size=`: bytes per clone over all its files. `None`: the size of the existing files.
    pub size: Option<Amount>,
    /// Where the used range begins.
    pub offset: Amount,
    /// Added to the offset once per clone index.
    pub offset_increment: Amount,
    /// An offset in percent is rounded up to a multiple of this, bytes; 0: of the smallest block.
    pub offset_align: u64,
    /// How the file of the next I/O is chosen.
    pub service: FileService,
    /// How a new file's space is reserved.
    pub fallocate: Fallocate,
    /// Lay out also for write jobs.
    pub overwrite: bool,
    /// Create each file when it is opened, without a layout.
    pub create_on_open: bool,
    /// Stop after the layout.
    pub create_only: bool,
    /// When off, a missing or short file is an error.
    pub allow_create: bool,
    /// `--readonly`: not even a layout may write.
    pub read_only: bool,
    /// fsync after layout.
    pub create_fsync: bool,
    /// Lay out one job after the other.
    pub create_serialize: bool,
    /// Delete the files at the end.
    pub unlink: bool,
    /// Delete the files at the end of each loop.
    pub unlink_each_loop: bool,
    /// Read the files into the cache first.
    pub pre_read: bool,
    /// Drop cached pages at open and at each wrap.
    pub invalidate: bool,
    /// Advice to the kernel at open.
    pub fadvise: Fadvise,
    /// `write_hint` as the kernel numbers hints; `None`: no hint is given.
    pub write_hint: Option<u8>,
    /// Run until the device is full; ENOSPC then ends the job without error.
    pub fill_device: bool,
    /// Begin at the end of the file.
    pub append: bool,
    /// A mounted block device may be written.
    pub allow_mounted_write: bool,
    /// `lockfile`: the jobs of the run take turns on files that they share.
    pub lock: Option<LockFile>,
    /// `filetype=block` or `char`: a missing path is not created as a file.
    pub device: bool,
    /// `opendir`: directories whose files are used as well.
    pub opened_directories: Vec<String>,
}

/// Who may use a shared file at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockFile {
    /// One I/O at a time.
    Exclusive,
    /// Any number of reads, or one write or trim.
    ReadWrite,
}

impl Default for Files {
    fn default() -> Files {
        Files {
            names: Vec::new(),
            directories: Vec::new(),
            name_format: None,
            client: None,
            unique: true,
            count: 1,
            open: None,
            file_size: None,
            size: None,
            offset: Amount::Bytes(0),
            offset_increment: Amount::Bytes(0),
            offset_align: 0,
            service: FileService::RoundRobin { per_file: 1 },
            fallocate: Fallocate::Native,
            overwrite: false,
            create_on_open: false,
            create_only: false,
            allow_create: true,
            read_only: false,
            create_fsync: true,
            create_serialize: true,
            unlink: false,
            unlink_each_loop: false,
            pre_read: false,
            invalidate: true,
            fadvise: Fadvise::ByPattern,
            write_hint: None,
            fill_device: false,
            append: false,
            allow_mounted_write: false,
            lock: None,
            device: false,
            opened_directories: Vec::new(),
        }
    }
}

/// `file_service_type`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FileService {
    /// Each file in turn, `per_file` I/Os each.
    RoundRobin {
        /// I/Os before the next file (1 and up).
        per_file: u32,
    },
    /// A uniform draw, `per_file` I/Os each.
    Random {
        /// I/Os before the next draw (1 and up).
        per_file: u32,
    },
    /// Finish one file before the next.
    Sequential,
    /// A zipf draw with this theta for each I/O; the centre is a share of the files (0 to 1). A file that is finished
    /// starts over.
    Zipf(f64, Option<f64>),
    /// A pareto draw with this h for each I/O; otherwise as `Zipf`.
    Pareto(f64, Option<f64>),
    /// A normal draw with this deviation in percent for each I/O; otherwise as `Zipf`.
    Normal(f64, Option<f64>),
}

/// `fallocate`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fallocate {
    /// Not at all.
    None,
    /// fallocate(2), sets the size.
    Native,
    /// posix_fallocate(3).
    Posix,
    /// fallocate(2) with FALLOC_FL_KEEP_SIZE.
    Keep,
    /// ftruncate(2): sparse.
    Truncate,
}

/// `fadvise_hint`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fadvise {
    /// None given.
    Off,
    /// RANDOM or SEQUENTIAL, as the pattern is.
    ByPattern,
    /// POSIX_FADV_RANDOM.
    Random,
    /// POSIX_FADV_SEQUENTIAL.
    Sequential,
    /// POSIX_FADV_NOREUSE.
    NoReuse,
}
