//! The files in which people's other programs keep their settings: `~/.aws/credentials`, `~/.aws/config`.

/// The value of a name in a section of the file; blank values count as none.
pub(crate) fn value_in<'t>(text: &'t str, is_section: impl Fn(&str) -> bool, wanted: &str) -> Option<&'t str> {
    let mut inside = false;
    let mut found = None;
    for line in text.lines().map(str::trim).filter(|line| !line.starts_with(['#', ';'])) {
        if let Some((section, _)) = line.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            inside = is_section(section.trim());
        } else if let Some((_, value)) = line.split_once('=').filter(|(name, _)| inside && name.trim() == wanted) {
            found = Some(value.trim()).filter(|value| !value.is_empty());
        }
    }
    found
}

/// A setting of a profile in the text of a `config` file, where sections are called `[default]` and `[profile NAME]`. Settings
/// of one service, which stand below `s3 =`, are found by their own names.
pub fn setting<'t>(text: &'t str, profile: &str, name: &str) -> Option<&'t str> {
    let is_section = |section: &str| match section.strip_prefix("profile ") {
        Some(named) => named.trim() == profile,
        None => section == profile && profile == "default",
    };
    value_in(text, is_section, name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_has_its_own_settings() {
        let text = "[default]\nregion = eu-west-1\n[profile lab]\nregion=lab-1\nendpoint_url = http://127.0.0.1:9000\n\
                    s3 =\n  addressing_style = path\n[lab]\nregion=wrong\n[profile blank]\nregion=\n";
        assert_eq!(setting(text, "default", "region"), Some("eu-west-1"));
        assert_eq!(setting(text, "lab", "region"), Some("lab-1"));
        assert_eq!(setting(text, "lab", "addressing_style"), Some("path"));
        assert_eq!(setting(text, "lab", "endpoint_url"), Some("http://127.0.0.1:9000"));
        assert_eq!([setting(text, "blank", "region"), setting(text, "other", "region")], [None, None]);
    }
}
