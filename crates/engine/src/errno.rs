//! Error numbers of the system: what it calls the errors that have these names on Linux.

pub use crate::system::errno::*;

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
