//! Locks on open files.

use std::fs::File;
use std::io;

use crate::system::beneath;
use crate::system::fd::AsFd;

/// The result of a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lock {
    /// This process has the lock as long as the file is open.
    Taken,
    /// Another one has the lock.
    Held,
    /// The filesystem does not support locks.
    Unsupported,
}

/// Tries to lock an open file. The lock ends when the file is closed, also after a kill.
pub fn try_lock(file: &File) -> Lock {
    match flock(file) {
        Ok(()) => Lock::Taken,
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Lock::Held,
        Err(_) => Lock::Unsupported,
    }
}

/// flock(2), exclusive and without waiting: a BSD lock on the whole file, which belongs to this open file
/// description.
///
/// # Errors
/// The filesystem's error; `WouldBlock` if another one has the lock.
pub fn flock(file: &File) -> io::Result<()> {
    beneath::flock(file.as_fd()).map_err(io::Error::from_raw_os_error)
}

/// fcntl(2), exclusive and without waiting: a POSIX record lock on the whole file, which belongs to this process.
///
/// # Errors
/// The filesystem's error.
pub fn fcntl_lock(file: &File) -> io::Result<()> {
    beneath::fcntl_lock(file.as_fd()).map_err(io::Error::from_raw_os_error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_of_bsd_belongs_to_the_open_description_and_one_of_posix_to_the_process() {
        let place = tempfile::tempdir().unwrap();
        let open = || File::options().write(true).create(true).truncate(false).open(place.path().join("file")).unwrap();
        let (first, second) = (open(), open());
        flock(&first).unwrap();
        assert_eq!(flock(&second).unwrap_err().kind(), io::ErrorKind::WouldBlock);
        assert_eq!(try_lock(&second), Lock::Held);
        fcntl_lock(&first).unwrap();
        fcntl_lock(&second).unwrap();
    }
}
