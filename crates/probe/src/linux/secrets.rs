//! Blanks passwords and keys in command lines and mount options, before they are recorded or shown.

/// The replacement of a secret.
const BLANK: &str = "***";

/// An option whose name has one of these parts contains a secret.
const SECRET_PARTS: [&str; 8] = ["pass", "secret", "token", "credential", "accesskey", "apikey", "accountkey", "sig"];

/// An option whose name ends so names the place of a secret, not the secret: `passwd_file=/etc/passwd-s3fs`.
const PLACE_ENDINGS: [&str; 5] = ["file", "path", "dir", "command", "stdin"];

/// A command line without its secrets.
pub(in crate::linux) fn blank_words(words: &[String]) -> Vec<String> {
    let mut blanked = Vec::with_capacity(words.len());
    let mut value_follows = false;
    for word in words {
        let is_value = value_follows && !word.starts_with('-');
        blanked.push(if is_value { BLANK.to_owned() } else { blank_word(word) });
        // `--secret-key VALUE` is two words.
        value_follows = word.starts_with("--") && !word.contains('=') && is_secret(word);
    }
    blanked
}

/// A word without its secrets: a URL, an option, or several options with commas between.
pub(in crate::linux) fn blank_word(word: &str) -> String {
    // A comma may be part of a URL that stands alone; in a list of options it ends the URL.
    let scheme = word.find("://").filter(|end| word[..*end].chars().all(|letter| letter.is_ascii_alphanumeric()));
    if scheme.is_some() {
        return blank_url(word);
    }
    word.split(',').map(blank_option).collect::<Vec<_>>().join(",")
}

fn blank_option(option: &str) -> String {
    match option.split_once('=') {
        Some((name, value)) if is_secret(name) && !value.is_empty() => format!("{name}={BLANK}"),
        _ => blank_url(option),
    }
}

fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase().replace(['-', '_', '.'], "");
    SECRET_PARTS.iter().any(|part| name.contains(part)) && !PLACE_ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// Blanks `user:password@` after `://`, and the values of secret parameters after `?`. A password may contain an `@`,
/// so that the last `@` ends it.
fn blank_url(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else { return text.to_owned() };
    let (address, parameters) = rest.split_once('?').unwrap_or((rest, ""));
    let mut url = match address.rsplit_once('@') {
        Some((_, host)) => format!("{scheme}://{BLANK}@{host}"),
        None => format!("{scheme}://{address}"),
    };
    if !parameters.is_empty() {
        let blanked: Vec<String> = parameters.split('&').map(blank_parameter).collect();
        url.push('?');
        url.push_str(&blanked.join("&"));
    }
    url
}

fn blank_parameter(parameter: &str) -> String {
    match parameter.split_once('=') {
        Some((name, _)) if is_secret(name) => format!("{name}={BLANK}"),
        _ => parameter.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blanked(line: &str) -> String {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        blank_words(&words).join(" ")
    }

    #[test]
    fn passwords_and_keys_go() {
        assert_eq!(blanked("x --secret-key abc --depth 3"), "x --secret-key *** --depth 3");
        assert_eq!(
            blanked("x --access-key=AKIA1 -o rw,password=a,uid=0"),
            "x --access-key=*** -o rw,password=***,uid=0"
        );
        assert_eq!(blanked("redis://:pa@ss@host:6379/1"), "redis://***@host:6379/1");
        assert_eq!(
            blanked("-o url=https://key:word@s3.example,use_cache=/c"),
            "-o url=https://***@s3.example,use_cache=/c"
        );
        assert_eq!(
            blanked("https://host/b?X-Amz-Signature=1234&X-Amz-Date=5"),
            "https://host/b?X-Amz-Signature=***&X-Amz-Date=5"
        );
        assert_eq!(blanked("mysql://user:p,w@(host:3306)/juicefs"), "mysql://***@(host:3306)/juicefs");
        assert_eq!(blanked("curlftpfs#ftp://me:word@host/x"), "curlftpfs#ftp://***@host/x");
    }

    #[test]
    fn the_rest_stays() {
        for line in [
            "s3fs bench /mnt/s3 -o url=http://127.0.0.1:4568,use_path_request_style,passwd_file=/etc/passwd-s3fs",
            "sshfs -p 2299 me@host:/dir /mnt -o IdentityFile=/id",
            "rclone mount remote:path /mnt --vfs-cache-mode full",
            "x --password-file /etc/word --token-path /t",
            "",
        ] {
            assert_eq!(blanked(line), line);
        }
    }
}
