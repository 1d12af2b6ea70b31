//! Converts between the forms of a path on Windows. It only handles text, and is tested on every system.

/// The prefix that makes Windows use a path unchanged and without a limit of its length.
const VERBATIM: &str = r"\\?\";
const VERBATIM_SHARE: &str = r"\\?\UNC\";

/// The form that programs know: `\\?\C:\a` is `C:\a`, `\\?\UNC\server\share` is `\\server\share`. Volumes without a
/// letter have no other form.
pub(super) fn plain(path: &str) -> String {
    if let Some(share) = path.strip_prefix(VERBATIM_SHARE) {
        return format!(r"\\{share}");
    }
    match path.strip_prefix(VERBATIM) {
        Some(rest) if rest.as_bytes().get(1) == Some(&b':') => rest.to_owned(),
        _ => path.to_owned(),
    }
}

/// The form with the prefix, for a whole path that may be longer than 260 characters; `None`: it has the prefix
/// already, or is not a whole path of a file.
pub(super) fn verbatim(path: &str) -> Option<String> {
    if path.starts_with(VERBATIM) || path.starts_with(r"\\.\") {
        None
    } else if let Some(share) = path.strip_prefix(r"\\") {
        Some(format!("{VERBATIM_SHARE}{share}"))
    } else {
        (path.as_bytes().get(1) == Some(&b':')).then(|| format!("{VERBATIM}{path}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_may_be_long_and_comes_back() {
        for (path, long) in
            [(r"C:\a\b", r"\\?\C:\a\b"), (r"\\server\share\a", r"\\?\UNC\server\share\a"), (r"d:\", r"\\?\d:\")]
        {
            assert_eq!(verbatim(path).as_deref(), Some(long));
            assert_eq!(plain(long), path);
            assert_eq!(plain(path), path);
        }
    }

    #[test]
    fn what_has_one_spelling_keeps_it() {
        for path in [r"\\?\Volume{0-1}\a", r"\\?\C:\a", r"\\.\PhysicalDrive1", r"\\.\C:", "a", r"a\b"] {
            assert_eq!(verbatim(path), None, "{path}");
        }
        for path in [r"\\?\Volume{0-1}\a", r"\\.\C:", "a"] {
            assert_eq!(plain(path), path);
        }
    }
}
