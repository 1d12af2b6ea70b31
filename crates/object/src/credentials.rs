//! Reads keys from where the programs of AWS also look for them: the environment, or a `credentials` file.

use fsdyno_job::Secret;

/// An access key with its secret.
#[derive(Clone)]
pub struct Credentials {
    /// The public part of the key.
    pub key_id: String,
    /// The secret part of the key.
    pub secret: Secret,
    /// The token of a session; empty when the key is permanent.
    pub token: Secret,
}

impl Credentials {
    /// Reads the environment variables of the AWS programs. Returns `None` when the key or its secret is missing.
    pub fn from_environment(variable: impl Fn(&str) -> Option<String>) -> Option<Credentials> {
        let set = |name: &str| variable(name).filter(|text| !text.is_empty());
        Some(Credentials {
            key_id: set("AWS_ACCESS_KEY_ID")?,
            secret: Secret::new(set("AWS_SECRET_ACCESS_KEY")?),
            token: Secret::new(set("AWS_SESSION_TOKEN").unwrap_or_default()),
        })
    }

    /// Reads the section of this name in the text of a `credentials` file.
    pub fn from_file(text: &str, profile: &str) -> Option<Credentials> {
        Credentials::of_names(&|name| crate::profile::value_of_section(text, profile, name))
    }

    /// Reads the profile of this name in the text of a `config` file.
    pub fn from_config(text: &str, profile: &str) -> Option<Credentials> {
        Credentials::of_names(&|name| crate::profile::setting(text, profile, name))
    }

    fn of_names<'t>(value: &dyn Fn(&str) -> Option<&'t str>) -> Option<Credentials> {
        let value = |name| value(name).map(str::to_owned);
        Some(Credentials {
            key_id: value("aws_access_key_id")?,
            secret: Secret::new(value("aws_secret_access_key")?),
            token: Secret::new(value("aws_session_token").unwrap_or_default()),
        })
    }

    /// Reads what the platform of a container or a machine answers.
    pub fn from_json(text: &str) -> Option<Credentials> {
        let value = |name: &str| {
            let rest = text.split_once(&format!("\"{name}\""))?.1.trim_start().strip_prefix(':')?;
            let (value, _) = rest.trim_start().strip_prefix('"')?.split_once('"')?;
            // A `/` may be written with a backslash; nothing else in a key has one.
            Some(value.replace("\\/", "/")).filter(|value| !value.contains('\\') && !value.is_empty())
        };
        Some(Credentials {
            key_id: value("AccessKeyId")?,
            secret: Secret::new(value("SecretAccessKey")?),
            token: Secret::new(value("Token").unwrap_or_default()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(credentials: Option<Credentials>) -> Option<String> {
        credentials.map(|key| format!("{} {} {}", key.key_id, key.secret.reveal(), key.token.reveal()))
    }

    #[test]
    fn a_file_has_sections_comments_and_blanks() {
        let text = "[default]\naws_access_key_id = A\naws_secret_access_key=b/c=\n# [other]\n[ work ]\n\
                    aws_secret_access_key = s\naws_session_token=t\naws_access_key_id=W\nregion=x\n[half]\naws_access_key_id=H\n";
        assert_eq!(shown(Credentials::from_file(text, "default")).as_deref(), Some("A b/c= "));
        assert_eq!(shown(Credentials::from_file(text, "work")).as_deref(), Some("W s t"));
        assert_eq!(shown(Credentials::from_file(text, "half")), None);
        assert_eq!(shown(Credentials::from_file(text, "none")), None);
    }

    #[test]
    fn a_config_file_and_a_platform_have_keys_too() {
        let text = "[profile work]\naws_access_key_id=W\naws_secret_access_key=s\n";
        assert_eq!(shown(Credentials::from_config(text, "work")).as_deref(), Some("W s "));
        assert_eq!(shown(Credentials::from_config(text, "default")), None);
        let json = r#"{"Code" : "Success", "AccessKeyId": "A", "SecretAccessKey" :"b\/c+", "Token" : "t=="}"#;
        assert_eq!(shown(Credentials::from_json(json)).as_deref(), Some("A b/c+ t=="));
        for none in ["", r#"{"AccessKeyId":"A"}"#, r#"{"AccessKeyId":"A","SecretAccessKey":"\u0041"}"#] {
            assert_eq!(shown(Credentials::from_json(none)), None, "{none}");
        }
    }

    #[test]
    fn half_a_key_of_the_environment_is_none() {
        let with = |names: &'static [&str]| {
            shown(Credentials::from_environment(|name| names.contains(&name).then(|| name[4..6].to_owned())))
        };
        assert_eq!(with(&["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"]).as_deref(), Some("AC SE "));
        assert_eq!(with(&["AWS_ACCESS_KEY_ID", "AWS_SESSION_TOKEN"]), None);
    }
}
