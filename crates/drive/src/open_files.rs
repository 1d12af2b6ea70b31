//! The files of a worker: all of them are open from its start to its end, or so many at a time (`openfiles`).

use engine::files::OpenFile;
use workload::{FileRange, Generator, Op};

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
    window: Option<Window<'run>>,
}

/// Which files the descriptors lead to.
struct Window<'run> {
    opener: Box<dyn Opener + 'run>,
    held: Box<[Held]>,
    /// By file: where it is open, or [`CLOSED`].
    place_of: Box<[u32]>,
    /// Requests so far.
    requests: u64,
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
        OpenFiles { places, window: Some(Window { opener, held, place_of: place_of.collect(), requests: 0 }) }
    }

    /// They take turns: not all can be open.
    pub fn take_turns(&self) -> bool {
        self.window.is_some()
    }

    /// How many are open. `count`: of so many.
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

    /// The place that another file may take, and the file in it: one that is done, else the one that has not been asked for
    /// for longest. `rest`: the requests to come.
    pub(crate) fn to_close(&self, rest: &[Op], generator: &mut Generator) -> (usize, Option<u32>) {
        while let Some(file) = generator.next_finished() {
            let comes_again = generator.serves(file) || rest.iter().any(|op| op.file == file);
            if let Some(place) = self.place_of(file).filter(|_| !comes_again) {
                return (place as usize, Some(file));
            }
        }
        let held = self.window.iter().flat_map(|window| &window.held).enumerate();
        let unused = held.min_by_key(|(_, held)| (held.file != CLOSED, held.used));
        unused.map_or((0, None), |(place, held)| (place, Some(held.file).filter(|file| *file != CLOSED)))
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
