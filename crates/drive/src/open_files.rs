//! The files of a worker: either all are open from start to end, or at most `openfiles` at a time.

use fsdyno_os::files::OpenFile;
use fsdyno_workload::{FileRange, Generator, Op};

use crate::loops::Failure;

/// Opens and closes files of a worker that cannot have all of them open.
pub trait Opener {
    /// Opens the file of this number, in the same way as the first ones.
    fn open(&self, file: usize) -> Result<OpenFile, Failure>;
    /// Called before this file is closed: reports the errors of a close.
    fn leave(&self, open: &OpenFile) -> Result<(), Failure>;
}

/// The files, which requests name by number.
pub struct OpenFiles<'run> {
    /// The descriptors. Without a window there is one for each file, in the order of the files.
    places: &'run [OpenFile],
    window: Option<HeldFiles<'run>>,
}

/// Which file each descriptor belongs to.
struct HeldFiles<'run> {
    opener: Box<dyn Opener + 'run>,
    held: Box<[Held]>,
    /// By file: the index of its descriptor, or [`CLOSED`].
    place_of: Box<[u32]>,
    /// Number of requests so far.
    requests: u64,
    /// A file that the generator has finished.
    finished: Option<u32>,
}

/// The file of one descriptor.
#[derive(Clone, Copy)]
struct Held {
    /// The file, or [`CLOSED`] if it was closed or removed.
    file: u32,
    /// Number of the last request for it.
    used: u64,
}

const CLOSED: u32 = u32::MAX;

impl<'run> OpenFiles<'run> {
    /// Makes the files of a worker that has all of them open.
    pub fn all(files: &'run [OpenFile]) -> OpenFiles<'run> {
        OpenFiles { places: files, window: None }
    }

    /// Makes the files of a worker that has the first ones of `count` files open; the others take their descriptors
    /// later.
    pub fn in_turn(places: &'run [OpenFile], count: usize, opener: Box<dyn Opener + 'run>) -> OpenFiles<'run> {
        let held = (0..places.len() as u32).map(|file| Held { file, used: 0 }).collect();
        let place_of = (0..count as u32).map(|file| if (file as usize) < places.len() { file } else { CLOSED });
        OpenFiles {
            places,
            window: Some(HeldFiles { opener, held, place_of: place_of.collect(), requests: 0, finished: None }),
        }
    }

    /// Whether files take turns, because not all can be open.
    pub fn take_turns(&self) -> bool {
        self.window.is_some()
    }

    /// Number of open files. `count`: the number of files.
    pub(crate) fn count_open(&self, count: usize) -> usize {
        match &self.window {
            Some(window) => window.held.iter().filter(|held| held.file != CLOSED).count(),
            // Files of an engine that touches none count as open, as in fio.
            None => count,
        }
    }

    /// The index of the descriptor of an open file.
    pub fn place_of(&self, file: u32) -> Option<u32> {
        match &self.window {
            Some(window) => window.place_of.get(file as usize).copied().filter(|place| *place != CLOSED),
            None => Some(file),
        }
    }

    /// The file of this number, if it is open.
    pub(crate) fn get(&self, file: u32) -> Option<&'run OpenFile> {
        self.places.get(self.place_of(file)? as usize)
    }

    /// Notes a request for this file. Returns false if the file is closed.
    #[inline]
    pub(crate) fn is_asked_for(&mut self, file: u32) -> bool {
        let Some(window) = &mut self.window else { return true };
        let place = window.place_of[file as usize];
        if place == CLOSED {
            return false;
        }
        window.requests += 1;
        window.held[place as usize].used = window.requests;
        true
    }

    /// The descriptor that another file may take, with its current file. A finished file comes first; otherwise the
    /// file that was not used for the longest time and that the coming requests, `rest`, do not name.
    pub(crate) fn one_to_close(&mut self, rest: &[Op], generator: &mut Generator) -> (usize, Option<u32>) {
        let Some(window) = &mut self.window else { return (0, None) };
        let comes = |file: u32| rest.iter().any(|op| op.file == file);
        while let Some(file) = window.finished.take().or_else(|| generator.next_finished()) {
            if comes(file) {
                // Requests later in the block still need it.
                window.finished = Some(file);
                break;
            }
            let place = window.place_of[file as usize];
            if place != CLOSED && !generator.serves(file) {
                return (place as usize, Some(file));
            }
        }
        let is_open = |held: &Held| held.file != CLOSED;
        let used = |(_, held): &(usize, &Held)| (is_open(held), held.used);
        let mut unused = window.held.iter().enumerate().min_by_key(used).expect("there is at least one descriptor");
        if is_open(unused.1) && comes(unused.1.file) {
            let others = window.held.iter().enumerate().filter(|(_, held)| !comes(held.file));
            unused = others.min_by_key(used).unwrap_or(unused);
        }
        let (place, held) = unused;
        (place, Some(held.file).filter(|file| *file != CLOSED))
    }

    /// Opens this file in place of another one, which has no request in flight.
    pub(crate) fn open(&mut self, file: u32, place: usize) -> Result<(), Failure> {
        let Some(window) = &mut self.window else { return Ok(()) };
        let before = window.held[place].file;
        if before != CLOSED {
            window.opener.leave(&self.places[place])?;
            window.place_of[before as usize] = CLOSED;
        }
        window.held[place].file = CLOSED;
        let opened = window.opener.open(file as usize)?;
        let replaced = self.places[place].replace(opened);
        replaced.map_err(|error| Failure::of_file("open", &error))?;
        window.requests += 1;
        window.held[place] = Held { file, used: window.requests };
        window.place_of[file as usize] = place as u32;
        Ok(())
    }

    /// Replaces a file that was created again; `open` opens it. Where files take turns, it is opened when a request
    /// needs it.
    pub fn renew(&mut self, file: usize, open: &dyn Fn() -> Result<OpenFile, Failure>) -> Result<(), Failure> {
        let Some(window) = &mut self.window else {
            return self.places[file].replace(open()?).map_err(|error| Failure::of_file("open", &error));
        };
        let place = std::mem::replace(&mut window.place_of[file], CLOSED);
        if let Some(held) = window.held.get_mut(place as usize) {
            held.file = CLOSED;
        }
        Ok(())
    }

    /// Calls `visit` for each file with its number; a closed file is opened for the call.
    pub fn each(&self, visit: &mut dyn FnMut(usize, &OpenFile) -> Result<(), Failure>) -> Result<(), Failure> {
        let Some(window) = &self.window else {
            return self.places.iter().enumerate().try_for_each(|(file, open)| visit(file, open));
        };
        for file in 0..window.place_of.len() {
            if let Some(open) = self.get(file as u32) {
                visit(file, open)?;
                continue;
            }
            let opened = window.opener.open(file)?;
            visit(file, &opened)?;
            opened.close().map_err(|error| Failure::of_file("close", &error))?;
        }
        Ok(())
    }

    /// Drops the cached pages of the open files. Those of closed files are dropped when they are closed or opened.
    #[cold]
    pub(crate) fn drop_cache(&self, used: &[FileRange]) {
        for (number, range) in (0..).zip(used) {
            if let Some(file) = self.get(number) {
                // Dropping is only advice: pages that cannot be dropped stay, as in fio.
                let _ = file.drop_cache(range.start, range.length);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::path::Path;

    use fsdyno_job::{Durability, FileService, Pacing};
    use fsdyno_os::files::{FileAccess, OpenMode};
    use fsdyno_workload::{Block, Refill, Workload};

    use super::*;

    fn open() -> OpenFile {
        OpenFile::open(Path::new("/dev/null"), OpenMode::buffered(FileAccess::Read)).unwrap()
    }

    /// Records which files were opened, in order.
    struct Opened<'test>(&'test RefCell<Vec<usize>>);

    impl Opener for Opened<'_> {
        fn open(&self, file: usize) -> Result<OpenFile, Failure> {
            self.0.borrow_mut().push(file);
            Ok(open())
        }

        fn leave(&self, _: &OpenFile) -> Result<(), Failure> {
            Ok(())
        }
    }

    /// The files that the requests of a job open; the job has eight files of forty blocks, of which three are open.
    fn opened(service: FileService, loops: u32) -> Vec<usize> {
        let (places, opened) = ([open(), open(), open()], RefCell::default());
        let mut files = OpenFiles::in_turn(&places, 8, Box::new(Opened(&opened)));
        let file =
            |number| FileRange { start: 0, length: 40 * 4096, name: std::path::Path::new(&format!("{number}")).into() };
        let workload = Workload {
            pattern: fsdyno_job::draft::Draft::default().job.pattern,
            service,
            open_files: Some(3),
            files: (0..8).map(file).collect(),
            bytes: u64::MAX,
            starts_over: false,
            pass_bytes: None,
            verified: false,
            backlog: None,
            trims: None,
            loops,
            time_based: false,
            number_ios: 0,
            durability: Durability::default(),
            pacing: Pacing::default().into(),
            priority_shares: Default::default(),
            zones: Default::default(),
            counts_read_back: false,
            thread_number: 1,
            seed: 1,
        };
        let mut generator = Generator::new(&workload).unwrap();
        let mut block = Block::new();
        let mut requests = 0;
        while generator.refill(&mut block) != Refill::Done {
            for index in 0..block.len {
                let file = block.ops[index].file;
                if !files.is_asked_for(file) {
                    let (place, other) = files.one_to_close(&block.ops[index..block.len], &mut generator);
                    files.open(file, place).unwrap();
                    assert!(other.is_none_or(|other| files.place_of(other).is_none()), "it is closed");
                }
                assert!(files.place_of(file).is_some() && files.count_open(8) == 3);
                requests += 1;
            }
        }
        assert_eq!(requests, 8 * 40 * loops);
        opened.take()
    }

    #[test]
    fn a_file_is_opened_once_and_closed_when_it_is_done() {
        assert_eq!(opened(FileService::Sequential, 1), [3, 4, 5, 6, 7]);
        assert_eq!(opened(FileService::RoundRobin { per_file: 1 }, 1), [3, 4, 5, 6, 7]);
        assert_eq!(opened(FileService::RoundRobin { per_file: 2 }, 2).len(), 5 + 8);
        for per_file in 1..4 {
            let mut opened = opened(FileService::Random { per_file }, 1);
            let count = opened.len();
            opened.sort_unstable();
            opened.dedup();
            assert_eq!(opened.len(), count, "no file is opened twice");
        }
    }
}
