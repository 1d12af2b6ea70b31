//! Writes the HTML document around the content.

use maud::{DOCTYPE, Markup, PreEscaped, html};

/// The file `style.css`, compressed by the build script.
const STYLE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/style.css.deflated"));
const SCRIPT: &str = include_str!("script.js");

/// SHA-256 of the page's only script, for the page's policy. A test computes it.
const SCRIPT_HASH: &str = "sha256-8dLnX8EyQiFo7VadeN0bUrrdPaZMJS9Q9W0sEEoCe7I=";

fn style() -> String {
    let style = miniz_oxide::inflate::decompress_to_vec(STYLE).expect("the build script has compressed it");
    String::from_utf8_lossy(&style).into_owned()
}

/// The whole file.
pub(super) fn document(title: &str, content: Markup) -> String {
    let policy = format!(
        "default-src 'none'; style-src 'unsafe-inline'; script-src '{SCRIPT_HASH}'; img-src data:; base-uri 'none'; \
         form-action 'none'"
    );
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="generator" content="fsdyno";
                title { (title) " – fsdyno" }
                style { (PreEscaped(style())) }
            }
            body {
                main { (content) }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    fsdyno_text::escape::html(&page.into_string()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::Engine as _;
    use sha2::{Digest as _, Sha256};

    #[test]
    fn the_policy_names_the_script() {
        let digest = Sha256::digest(SCRIPT.as_bytes());
        let hash = format!("sha256-{}", base64::engine::general_purpose::STANDARD.encode(digest));
        assert_eq!(SCRIPT_HASH, hash, "the script has changed: SCRIPT_HASH follows it");
    }

    #[test]
    fn nothing_in_the_script_ends_it() {
        assert!(!SCRIPT.to_lowercase().contains("</script") && !style().contains("</"));
    }
}
