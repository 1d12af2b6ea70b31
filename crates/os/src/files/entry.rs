//! What a name in a directory stands for.

/// Identifies a file or a directory, whatever its name is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Device number of the filesystem.
    pub device: u64,
    /// Inode number.
    pub inode: u64,
}

/// The kinds of entries.
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
pub struct DirectoryEntry {
    /// Kind of the file.
    pub kind: EntryKind,
    /// Identity of the file.
    pub identity: Identity,
    /// Number of the user who owns it.
    pub owner: u32,
    /// Number of its names; 0: it was removed.
    pub names: u64,
    /// Length, bytes.
    pub size_bytes: u64,
    /// Bytes that it uses on the storage.
    pub allocated_bytes: u64,
}
