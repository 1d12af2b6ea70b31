//! Metadata operations: calls on names below an open directory. Each is exactly one system call, so that its time is
//! the storage's time; names are made before. Every failure is returned as errno.

pub use crate::system::names::{
    LINKS_REFUSED, Opened, create, link, make_directory, open, open_directory, path_of, read_link, remove,
    remove_directory, rename, size, size_asked_anew,
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::errno;
    use crate::files::Directory;

    #[test]
    fn names_come_and_go() {
        let place = tempfile::tempdir().unwrap();
        let root = Directory::open(place.path()).unwrap();
        make_directory(&root, c"sub").unwrap();
        let file = create(&root, c"sub/file").unwrap();
        assert_eq!(file.write(b"12345"), Ok(5));
        file.sync().unwrap();
        file.close().unwrap();
        let mut buffer = [0; 16];
        let file = open(&root, c"sub/file").unwrap();
        assert_eq!((file.read(&mut buffer), file.read(&mut buffer)), (Ok(5), Ok(0)));
        assert_eq!((size(&root, c"sub/file"), size_asked_anew(&root, c"sub/file")), (Ok(5), Ok(5)));
        rename(&root, c"sub/file", c"sub/moved").unwrap();
        assert_eq!(size(&root, c"sub/file"), Err(errno::ENOENT));
        link(&root, c"sub/moved", c"link").unwrap();
        let length = read_link(&root, c"link", &mut buffer).unwrap();
        assert_eq!(&buffer[..length], b"sub/moved");
        assert_eq!(open(&root, c"link").err(), Some(errno::ELOOP), "links are not followed");
        let mut names = vec![std::mem::MaybeUninit::uninit(); 4096];
        let count = |name, names: &mut Vec<_>| open_directory(&root, name).unwrap().count_names(names);
        assert_eq!((count(c".", &mut names), count(c"sub", &mut names)), (Ok(2), Ok(1)));
        remove(&root, c"link").unwrap();
        assert_eq!(remove_directory(&root, c"sub"), Err(errno::ENOTEMPTY));
        remove(&root, c"sub/moved").unwrap();
        remove_directory(&root, c"sub").unwrap();
        assert_eq!(path_of(&root, c"sub"), place.path().join("sub"));
        assert!(!path_of(&root, c"sub").exists());
    }
}
