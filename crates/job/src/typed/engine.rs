//! Properties of the engines, one row for each. No other code decides them.

use crate::option::{Choice, Status};

/// The properties of one engine, which are the same on every system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct EngineRow {
    engine: EngineName,
    name: &'static str,
    aliases: &'static [&'static str],
    submission: Submits,
    reach: Reach,
    system: System,
}

/// When the engine's call returns, and what that says about the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Submits {
    /// The call returns when the request is done: one request is in flight, whatever `iodepth` says.
    AndWaits,
    /// The call returns before: `iodepth` requests are in flight.
    AndReturns,
    /// At a depth of 1 the call returns when the request is done; at greater depths it returns before.
    AsDeepAsAsked,
}

/// What an engine touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    /// Neither files nor a storage.
    Nothing,
    /// No storage: the processor, or a program that runs beside the jobs. Requests have no bytes.
    Processor,
    /// A peer: data goes to no storage.
    Network,
    /// Objects of a server, by their names.
    Objects,
    /// Names that the engine creates itself.
    NewNames,
    /// Names of directories that must exist.
    Directories,
    /// Names of files that are laid out before.
    FileNames,
    /// The allocated space of open files, but no data.
    Space,
    /// Open files.
    Files,
    /// Open devices, which get commands past the block layer.
    Devices,
    /// Files that are mapped into memory.
    Mappings,
}

/// The systems that have an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum System {
    Any,
    Unix,
    Linux,
    Windows,
}

impl System {
    /// The status of an engine of this system, in this build.
    const fn status(self) -> Status {
        match self {
            System::Windows if !cfg!(windows) => Status::Partial("in builds for Windows"),
            _ => Status::Full,
        }
    }
}

/// Makes the type of the names from the rows, so that no engine lacks a row.
macro_rules! engines {
    ($($engine:ident $name:literal [$($alias:literal),*] $help:literal,
       $submission:ident, $reach:ident, $system:ident;)+) => {
        /// Engines that the job language can name and this build knows.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum EngineName {
            $(#[doc = $help] $engine,)+
        }

        /// The words of `ioengine` that are engines here, with the help of each.
        pub(crate) const CHOICES: &[Choice] = &[$(
            Choice::new($name, $help).status(System::$system.status()),
            $(Choice::new($alias, concat!("Alias of ", $name)).hidden(),)*
        )+];

        const ROWS: &[EngineRow] = &[$(EngineRow {
            engine: EngineName::$engine,
            name: $name,
            aliases: &[$($alias),*],
            submission: Submits::$submission,
            reach: Reach::$reach,
            system: System::$system,
        },)+];
    };
}

engines! {
    Sync "sync" [] "lseek and read or write", AndWaits, Files, Any;
    Psync "psync" [] "pread or pwrite", AndWaits, Files, Any;
    Vsync "vsync" [] "lseek and readv or writev", AndWaits, Files, Unix;
    Pvsync "pvsync" [] "preadv or pwritev", AndWaits, Files, Unix;
    Pvsync2 "pvsync2" [] "preadv2 or pwritev2", AndWaits, Files, Linux;
    Libaio "libaio" ["aio", "linuxaio"] "Linux asynchronous I/O: io_submit, io_getevents", AndReturns, Files, Linux;
    IoUring "io_uring" [] "Linux asynchronous I/O through shared rings", AndReturns, Files, Linux;
    IoUringCmd "io_uring_cmd" [] "NVMe commands through shared rings, on /dev/ng0n1", AndReturns, Devices, Linux;
    Posixaio "posixaio" [] "Asynchronous I/O on io_uring, or libaio where that is refused; fio: aio_read, aio_write",
        AndReturns, Files, Linux;
    Sg "sg" [] "SCSI commands, on /dev/sg0 and /dev/sda", AsDeepAsAsked, Devices, Linux;
    Splice "splice" [] "Moves pages through a pipe: splice, vmsplice", AndWaits, Files, Linux;
    Falloc "falloc" [] "fallocate as reads, writes and trims", AndWaits, Space, Linux;
    Ftruncate "ftruncate" [] "ftruncate as writes", AndWaits, Space, Linux;
    E4defrag "e4defrag" [] "Exchanges blocks of ext4 files with those of a donor file", AndWaits, Space, Linux;
    Filecreate "filecreate" [] "Creates files", AndWaits, NewNames, Linux;
    Filestat "filestat" [] "Looks files up", AndWaits, FileNames, Linux;
    Filedelete "filedelete" [] "Deletes files", AndWaits, FileNames, Linux;
    Filerename "filerename" [] "Renames files", AndWaits, FileNames, Linux;
    Dircreate "dircreate" [] "Creates directories", AndWaits, NewNames, Linux;
    Dirstat "dirstat" [] "Looks directories up", AndWaits, Directories, Linux;
    Dirdelete "dirdelete" [] "Deletes directories", AndWaits, Directories, Linux;
    Mmap "mmap" [] "Copies from and to a mapping of the file", AndWaits, Mappings, Any;
    Windowsaio "windowsaio" [] "Overlapped I/O and a completion port of Windows", AndReturns, Files, Windows;
    Cpuio "cpuio" [] "Burns CPU time beside the jobs that do I/O", AndWaits, Processor, Linux;
    Exec "exec" [] "Runs a program beside the jobs that do I/O", AndWaits, Processor, Linux;
    Net "net" [] "Sends to a peer, or receives from one: TCP, UDP, UNIX sockets", AndWaits, Network, Linux;
    Netsplice "netsplice" [] "The same through a pipe: splice, vmsplice; TCP, UNIX sockets", AndWaits, Network, Linux;
    Http "http" [] "Objects of a server: S3, WebDAV, Swift", AndWaits, Objects, Linux;
    PageFault "page_fault" [] "Copies from and to memory of its own, which the kernel gives page by page", AndWaits, Nothing, Linux;
    Null "null" [] "No I/O: measures the cost of the generator itself", AsDeepAsAsked, Nothing, Any;
    Sim "sim" [] "A virtual device on a virtual clock (not in fio)", AndReturns, Nothing, Any;
}

impl EngineName {
    /// Every engine of this system, in the order of the help.
    pub fn all() -> impl Iterator<Item = EngineName> {
        ROWS.iter().map(|row| row.engine).filter(|engine| engine.is_of_this_system())
    }

    /// The engine of this name or alias, also one of another system, because records are read on other machines.
    pub fn named(name: &str) -> Option<EngineName> {
        ROWS.iter().find(|row| row.name == name || row.aliases.contains(&name)).map(|row| row.engine)
    }

    /// The engine of a job that names none: fio's choice for the system.
    pub const DEFAULT: EngineName = if cfg!(windows) { EngineName::Windowsaio } else { EngineName::Psync };

    /// Whether this system has the engine.
    pub fn is_of_this_system(self) -> bool {
        match self.row().system {
            System::Any => true,
            System::Unix => cfg!(unix),
            System::Linux => cfg!(target_os = "linux"),
            System::Windows => cfg!(windows),
        }
    }

    /// Why this system does not have the engine, and what to use instead.
    pub(crate) fn missing_because(self) -> &'static str {
        match self.row().system {
            System::Windows => "it needs a build for Windows; use libaio or io_uring",
            System::Linux => "it exists on Linux only; on Windows use windowsaio, or psync",
            System::Any | System::Unix => "Windows has no such calls; use windowsaio, or psync",
        }
    }

    /// The row of this engine. Rows and names come from the same lines, so that they have the same order.
    fn row(self) -> &'static EngineRow {
        &ROWS[self as usize]
    }

    /// fio's name for it.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// Whether a request is done when the call returns: one is in flight, whatever `iodepth` says.
    pub fn is_synchronous(self) -> bool {
        self.row().submission == Submits::AndWaits
    }

    /// Whether at this depth a request is done when the call returns.
    pub fn is_synchronous_at(self, depth: u32) -> bool {
        match self.row().submission {
            Submits::AndWaits => true,
            Submits::AndReturns => false,
            Submits::AsDeepAsAsked => depth <= 1,
        }
    }

    /// Whether it can write atomically: the device does the whole write or nothing of it.
    pub fn writes_atomically(self) -> bool {
        matches!(self, EngineName::Pvsync2 | EngineName::Libaio | EngineName::IoUring)
    }

    /// Whether any thread can make its calls: a call depends on the request alone.
    pub fn can_be_offloaded(self) -> bool {
        self.row().reach == Reach::Files && self != EngineName::Splice
    }

    /// Whether it moves no data of a storage: it touches neither files nor devices, or only their names.
    pub fn is_diskless(self) -> bool {
        !self.has_paths() || self.works_on_names()
    }

    /// Whether it does no I/O but computes or runs a program.
    pub fn computes(self) -> bool {
        self.row().reach == Reach::Processor
    }

    /// Whether it transfers data to or from a peer.
    pub fn has_a_peer(self) -> bool {
        self.row().reach == Reach::Network
    }

    /// Whether its files are objects of a server.
    pub fn reaches_objects(self) -> bool {
        self.row().reach == Reach::Objects
    }

    /// Whether its requests are operations on names.
    pub fn works_on_names(self) -> bool {
        matches!(self.row().reach, Reach::NewNames | Reach::Directories | Reach::FileNames)
    }

    /// Whether it touches files, open or by name, so that somebody must find out on which storage they are.
    pub fn has_paths(self) -> bool {
        !matches!(self.row().reach, Reach::Nothing | Reach::Processor | Reach::Network | Reach::Objects)
    }

    /// Whether its files are laid out if they are missing.
    pub fn lays_out(self) -> bool {
        self.has_paths() && !matches!(self.row().reach, Reach::NewNames | Reach::Directories)
    }

    /// Whether the names that existed before it runs are removed by it, or moved.
    pub fn takes_names_away(self) -> bool {
        matches!(self, EngineName::Filedelete | EngineName::Filerename | EngineName::Dirdelete)
    }

    /// Whether it transfers data between buffers and files. Other engines count bytes that never move.
    pub fn moves_data(self) -> bool {
        matches!(self.row().reach, Reach::Files | Reach::Devices | Reach::Mappings)
    }

    /// Whether its writes have content, even if the content goes nowhere.
    pub fn uses_buffers(self) -> bool {
        self.moves_data() || !self.has_paths()
    }

    /// Whether its writes store the content of buffers and its reads bring it back.
    pub fn carries_data(self) -> bool {
        !self.is_diskless() || self.reaches_objects()
    }

    /// Whether it changes its target whatever the directions of its requests are.
    pub fn always_changes(self) -> bool {
        self.changes_space() || self.works_on_names() && self != EngineName::Filestat
    }

    /// Whether it changes the space of files, but no data.
    pub fn changes_space(self) -> bool {
        self.row().reach == Reach::Space
    }

    /// Whether devices get its requests as commands, past the block layer and the page cache.
    pub fn commands_devices(self) -> bool {
        self.row().reach == Reach::Devices
    }

    /// Whether it maps its files: then the page cache serves it, however they were opened.
    pub fn maps_files(self) -> bool {
        self.row().reach == Reach::Mappings
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::option::Kind;

    #[test]
    fn the_option_takes_the_names_of_the_table_and_no_others() {
        let row = crate::table::job_row("ioengine", "psync").unwrap();
        let Kind::Word { choices, .. } = &row.kind else { panic!("ioengine is a word") };
        let mut taken: Vec<&str> = choices
            .iter()
            .filter(|choice| !matches!(choice.status, Status::NotYet(_) | Status::Rejected(_)))
            .map(|choice| choice.word)
            .collect();
        let mut known: Vec<&str> = ROWS.iter().flat_map(|row| row.aliases.iter().copied().chain([row.name])).collect();
        taken.sort_unstable();
        known.sort_unstable();
        assert_eq!(taken, known);
    }

    #[test]
    fn a_name_and_its_aliases_lead_to_the_same_row() {
        for engine in EngineName::all() {
            assert_eq!(EngineName::named(engine.name()), Some(engine));
            assert_eq!(engine.row().engine, engine);
        }
        assert_eq!(EngineName::named("aio"), EngineName::named("linuxaio"));
        assert_eq!(EngineName::named("aio"), Some(EngineName::Libaio));
        assert_eq!(EngineName::named("solarisaio"), None);
    }
}
