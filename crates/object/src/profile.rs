//! The files in which people's other programs keep their settings: `~/.aws/credentials`, `~/.aws/config`.

/// The value of a name in a section of the file, with `below` only in the indented lines below that name; blank values count
/// as none.
fn value_in<'t>(
    text: &'t str,
    is_section: &dyn Fn(&str) -> bool,
    below: Option<&str>,
    wanted: &str,
) -> Option<&'t str> {
    let (mut inside, mut block) = (false, "");
    let mut found = None;
    for whole in text.lines() {
        let line = whole.trim();
        if line.starts_with(['#', ';']) {
            continue;
        }
        if !whole.starts_with([' ', '\t']) {
            block = line.split_once('=').map_or("", |(name, _)| name.trim());
        }
        if below.is_some_and(|below| below != block && !line.starts_with('[')) {
            continue;
        }
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
    value_in(text, &is_section, None, name)
}

/// A value in the section with exactly this name.
pub(crate) fn value_of_section<'t>(text: &'t str, section: &str, name: &str) -> Option<&'t str> {
    value_in(text, &|known| known == section, None, name)
}

/// The endpoint that a profile's `services` give the service S3, in the text of a `config` file.
pub fn service_endpoint<'t>(text: &'t str, profile: &str) -> Option<&'t str> {
    let services = setting(text, profile, "services")?;
    let is_section = |section: &str| section.strip_prefix("services ").is_some_and(|named| named.trim() == services);
    value_in(text, &is_section, Some("s3"), "endpoint_url")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn services_have_an_endpoint_for_each_service() {
        let text = "[services lab]\ndynamodb =\n  endpoint_url = http://d\ns3 =\n  endpoint_url = http://s\nsqs =\n  endpoint_url = http://q\n\
                    [services none]\nsqs =\n  endpoint_url = http://q\n[default]\nservices = lab\n[profile p]\nservices=none\n";
        assert_eq!(service_endpoint(text, "default"), Some("http://s"));
        assert_eq!([service_endpoint(text, "p"), service_endpoint(text, "q")], [None, None]);
    }

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
