//! Parses the words after a chore.

#![expect(clippy::print_stdout, reason = "it talks to a person at a terminal")]

/// What the words after a chore ask for; `None`: its help, which was printed.
pub(crate) fn asked<Asked: clap::Parser>(words: &[String]) -> Result<Option<Asked>, String> {
    match Asked::try_parse_from(std::iter::once(&String::new()).chain(words)) {
        Ok(asked) => Ok(Some(asked)),
        Err(error) if error.use_stderr() => Err(error.to_string()),
        Err(help) => {
            println!("{help}");
            Ok(None)
        }
    }
}

/// The named items, or all.
pub(crate) fn named<'all, T>(
    all: &'all [T],
    names: &[String],
    name_of: fn(&T) -> &str,
) -> Result<Vec<&'all T>, String> {
    let wanted: Vec<&T> =
        all.iter().filter(|one| names.is_empty() || names.iter().any(|name| name == name_of(one))).collect();
    if wanted.is_empty() {
        return Err(format!("no target is called {}; --list names them", names.join(" or ")));
    }
    Ok(wanted)
}

#[cfg(test)]
pub(crate) mod tests {
    /// Parses these words of a chore.
    pub(crate) fn asked<Asked: clap::Parser>(words: &str) -> Result<Asked, String> {
        let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
        super::asked(&words).map(|asked| asked.expect("no word asks for help"))
    }
}
