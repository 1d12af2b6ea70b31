//! What names in a directory stand for.

/// What a file or a directory is, however it is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Number of the filesystem.
    pub device: u64,
    /// Number of the inode in it.
    pub inode: u64,
}

/// Kinds of what a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A regular file.
    Regular,
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
    /// A device, a pipe, a socket.
    Other,
}

/// What a name in a directory stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its kind.
    pub kind: EntryKind,
    /// What it is.
    pub identity: Identity,
    /// Number of the user who owns it.
    pub owner: u32,
    /// How many names it has; 0: it was removed.
    pub names: u64,
    /// Its length, bytes.
    pub size_bytes: u64,
    /// What it takes on the storage, bytes.
    pub allocated_bytes: u64,
}
