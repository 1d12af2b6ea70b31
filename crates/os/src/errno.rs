//! Error numbers: the system's numbers for the errors that have these names on Linux.

pub use crate::system::errno::*;

/// The system's text without the number that Rust adds.
pub fn reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split_once(" (os error").map_or(text.clone(), |(before, _)| before.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_write_the_same_numbers() {
        for (name, number) in
            [("EIO", EIO), ("ENOSPC", ENOSPC), ("EAGAIN", EAGAIN), ("EILSEQ", EILSEQ), ("ETIMEDOUT", ETIMEDOUT)]
        {
            assert_eq!(fsdyno_job::errno::number(name), Some(number), "{name}");
        }
    }
}
