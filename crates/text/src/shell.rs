//! Quotes command lines for a shell.

/// The words, with quotes where a shell needs them.
pub fn as_typed(words: &[String]) -> String {
    let plain = |word: &str| {
        let is_plain = |character: char| character.is_alphanumeric() || "-_=./:,%+@".contains(character);
        !word.is_empty() && word.chars().all(is_plain)
    };
    let quoted = |word: &String| {
        if plain(word) { word.clone() } else { format!("'{}'", word.replace('\'', "'\\''")) }
    };
    words.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

/// A word of a command, such as the address of an object store.
pub fn word_as_typed(word: &str) -> String {
    as_typed(&[word.to_owned()])
}

/// A path as a word of a command.
pub fn path_as_typed(path: &std::path::Path) -> String {
    word_as_typed(&path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_a_shell_would_read_them_otherwise() {
        let words = ["fsdyno", "--name=a b", "--x='y'", "", "$HOME"].map(str::to_owned);
        assert_eq!(as_typed(&words), r"fsdyno '--name=a b' '--x='\''y'\''' '' '$HOME'");
        assert_eq!(word_as_typed("s3://bucket/a?b"), "'s3://bucket/a?b'");
        assert_eq!(word_as_typed("s3://bucket/a"), "s3://bucket/a");
    }
}
