//! Error numbers of the system.

pub use libc::{
    EACCES, EAGAIN, EBUSY, ECANCELED, EDQUOT, EEXIST, EFAULT, EFBIG, EILSEQ, EINTR, EINVAL, EIO, EISDIR, ELOOP, EMFILE,
    ENFILE, ENODEV, ENOENT, ENOMEM, ENOSPC, ENOSYS, ENOTDIR, ENOTEMPTY, ENOTTY, ENXIO, EOPNOTSUPP, EPERM, EROFS,
    ESTALE, ETIMEDOUT, ETXTBSY, EWOULDBLOCK, EXDEV,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_write_the_same_numbers() {
        for (name, number) in
            [("EIO", EIO), ("ENOSPC", ENOSPC), ("EAGAIN", EAGAIN), ("EILSEQ", EILSEQ), ("ETIMEDOUT", ETIMEDOUT)]
        {
            assert_eq!(job::errno::number(name), Some(number), "{name}");
        }
    }
}
