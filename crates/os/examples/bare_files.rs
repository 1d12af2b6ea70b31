//! Loops over the system calls of small files that count and check nothing: the floor for the phases of `smallfiles`. Each
//! line of its output is the name of a phase and its CPU time per operation, ns.
//!
//! Words: an empty directory, and the number of files.
#![expect(clippy::print_stdout, reason = "the figures are for the caller")]

use std::ffi::CString;
use std::io;

use fsdyno_os::files::Directory;
use fsdyno_os::names;

/// The content of a file, as `smallfiles` writes it.
const CONTENT: &[u8] = b"test\n";

fn main() -> io::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [place, files] = words.as_slice() else { return Err(io::Error::other("words: DIRECTORY FILES")) };
    let files: usize = files.parse().map_err(io::Error::other)?;
    let root = Directory::open(place.as_ref()).map_err(|error| io::Error::other(error.to_string()))?;
    let named = |letter: char| -> Vec<CString> {
        (0..files).map(|number| CString::new(format!("{letter}{number:07}")).unwrap_or_default()).collect()
    };
    let (written, created, moved) = (named('w'), named('c'), named('m'));
    let mut buffer = [0; 256];
    phase("write", &written, |name| {
        let file = names::create(&root, name)?;
        file.write(CONTENT)?;
        file.close()
    })?;
    phase("read", &written, |name| {
        let file = names::open(&root, name)?;
        while file.read(&mut buffer)? > 0 {}
        file.close()
    })?;
    phase("stat-hot", &written, |name| names::size(&root, name).map(drop))?;
    phase("create", &created, |name| names::create(&root, name)?.close())?;
    let mut news = moved.iter();
    phase("rename", &created, |name| news.next().map_or(Ok(()), |new| names::rename(&root, name, new)))?;
    phase("unlink", &written, |name| names::remove(&root, name))?;
    moved.iter().try_for_each(|name| names::remove(&root, name)).map_err(io::Error::from_raw_os_error)
}

fn phase(title: &str, names: &[CString], mut operate: impl FnMut(&CString) -> Result<(), i32>) -> io::Result<()> {
    let before = fsdyno_os::thread::usage();
    names.iter().try_for_each(&mut operate).map_err(io::Error::from_raw_os_error)?;
    let used = fsdyno_os::thread::usage().since(&before);
    println!("{title} {:.1}", (used.user + used.system).as_nanos() as f64 / names.len() as f64);
    Ok(())
}
