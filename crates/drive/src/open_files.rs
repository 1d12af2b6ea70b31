//! The files of a worker: all of them are open from its start to its end, or at most `openfiles` at a time.

use fsdyno_os::files::OpenFile;
use fsdyno_workload::{FileRange, Generator, Op};

use crate::loops::Failure;

/// Opens and leaves the files of a worker that has not all of them open.
pub trait Opener {
    /// Opens the file of this number, as the first ones were.
    fn open(&self, file: usize) -> Result<OpenFile, Failure>;
    /// This file is about to be closed: what a close has to say is said here.
    fn leave(&self, open: &OpenFile) -> Result<(), Failure>;
}

/// The files that requests name by their number.
pub struct OpenFiles<'run> {
    /// The descriptors. Without a window they are the files, in their order.
    places: &'run [OpenFile],
    window: Option<HeldFiles<'run>>,
}

/// Which files the descriptors lead to.
struct HeldFiles<'run> {
    opener: Box<dyn Opener + 'run>,
    held: Box<[Held]>,
    /// By file: where it is open, or [`CLOSED`].
    place_of: Box<[u32]>,
    /// Requests so far.
    requests: u64,
    /// The generator is done with it.
    finished: Option<u32>,
}

/// The file in a place.
#[derive(Clone, Copy)]
struct Held {
    /// Or [`CLOSED`]: what was there is closed, or removed.
    file: u32,
    /// Number of the last request that named it.
    used: u64,
}

const CLOSED: u32 = u32::MAX;

impl<'run> OpenFiles<'run> {
    /// All files are open.
    pub fn all(files: &'run [OpenFile]) -> OpenFiles<'run> {
        OpenFiles { places: files, window: None }
    }

    /// Of `count` files the first ones are open, each in a place of its own that others take later.
    pub fn in_turn(places: &'run [OpenFile], count: usize, opener: Box<dyn Opener + 'run>) -> OpenFiles<'run> {
        let held = (0..places.len() as u32).map(|file| Held { file, used: 0 }).collect();
        let place_of = (0..count as u32).map(|file| if (file as usize) < places.len() { file } else { CLOSED });
        OpenFiles {
            places,
            window: Some(HeldFiles { opener, held, place_of: place_of.collect(), requests: 0, finished: None }),
        }
    }

    /// They take turns: not all can be open.
    pub fn take_turns(&self) -> bool {
        self.window.is_some()
    }

    /// How many are open. `count`: how many files there are.
    pub(crate) fn count_open(&self, count: usize) -> usize {
        match &self.window {
            Some(window) => window.held.iter().filter(|held| held.file != CLOSED).count(),
            // The files of the engines that touch none count as open, as with fio.
            None => count,
        }
    }

    /// The place of a file that is open.
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

    /// A request names this file. False: it is closed.
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

    /// The place that another file may take, and the file in it: one that is done, else one that the requests to come,
    /// `rest`, do not name, and that has not been asked for for longest.
    pub(crate) fn one_to_close(&mut self, rest: &[Op], generator: &mut Generator) -> (usize, Option<u32>) {
        let Some(window) = &mut self.window else { return (0, None) };
        let comes = |file: u32| rest.iter().any(|op| op.file == file);
        while let Some(file) = window.finished.take().or_else(|| generator.next_finished()) {
            if comes(file) {
                // It is done later on in the block.
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
        let mut unused = window.held.iter().enumerate().min_by_key(used).expect("there is a place");
        if is_open(unused.1) && comes(unused.1.file) {
            let others = window.held.iter().enumerate().filter(|(_, held)| !comes(held.file));
            unused = others.min_by_key(used).unwrap_or(unused);
        }
        let (place, held) = unused;
        (place, Some(held.file).filter(|file| *file != CLOSED))
    }

    /// Opens this file in the place of another one, of which nothing is in flight.
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

    /// Another file has come in the place of this one, which `open` opens. Where files take turns it is opened when a
    /// request asks for it.
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

    /// Visits each file, with its number; those that are closed are opened for it.
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

    /// Drops what is cached of the files that are open: of the others it was dropped, or is when they are opened.
    #[cold]
    pub(crate) fn drop_cache(&self, used: &[FileRange]) {
        for (number, range) in (0..).zip(used) {
            if let Some(file) = self.get(number) {
                // Advice only: what cannot be dropped stays, as with fio.
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

    /// Which files were opened, in order.
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

    /// The files that are opened by the requests of a job with eight files of forty blocks, three of which are open.
    fn opened(service: FileService, loops: u32) -> Vec<usize> {
        let (places, opened) = ([open(), open(), open()], RefCell::default());
        let mut files = OpenFiles::in_turn(&places, 8, Box::new(Opened(&opened)));
        let file = |number| FileRange { start: 0, length: 40 * 4096, name: format!("{number}") };
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
            pacing: Pacing::default(),
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
            assert_eq!(opened.len(), count, "none is opened twice");
        }
    }
}
