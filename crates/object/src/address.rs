//! Where the objects of a question are: a bucket with a prefix, at a server, as people name and set them.

use fsdyno_job::Tls;

use crate::Endpoint;

/// `s3://BUCKET[/PREFIX]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BucketAddress {
    /// The bucket.
    pub bucket: String,
    /// The beginning of all keys, without `/` at its ends; empty: the bucket itself.
    pub prefix: String,
}

impl BucketAddress {
    /// Reads an address.
    ///
    /// # Errors
    /// A sentence: what is wrong with it.
    pub fn parse(text: &str) -> Result<BucketAddress, String> {
        let rest = text.strip_prefix("s3://").ok_or_else(|| format!("{text} does not begin with s3://"))?;
        let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        let may_be = |letter: u8| letter.is_ascii_alphanumeric() || b".-_".contains(&letter);
        if bucket.is_empty() || bucket.len() > 255 || !bucket.bytes().all(may_be) {
            return Err(format!("{text} names no bucket: write s3://BUCKET or s3://BUCKET/PREFIX"));
        }
        Ok(BucketAddress { bucket: bucket.to_owned(), prefix: prefix_of(text, prefix)? })
    }

    /// Reads the address of a folder of WebDAV, `http(s)://HOST[:PORT][/FOLDER]`, which has no bucket: keys are paths on the
    /// server, without their first `/`.
    ///
    /// # Errors
    /// A sentence: what is wrong with it.
    pub fn of_webdav(text: &str) -> Result<(BucketAddress, BucketServer), String> {
        let (scheme, rest) = text.split_once("//").unwrap_or(("", text));
        let (host, folder) = rest.split_once('/').unwrap_or((rest, ""));
        let (tls, host) = endpoint_of(&format!("{scheme}//{host}"))?;
        let address = BucketAddress { bucket: String::new(), prefix: prefix_of(text, folder)? };
        Ok((address, BucketServer { host, tls, region: String::new(), is_virtual: true }))
    }
}

/// The beginning of all keys, without `/` at its ends.
fn prefix_of(text: &str, prefix: &str) -> Result<String, String> {
    let prefix = prefix.trim_matches('/').to_owned();
    // Keys of tests are some 90 bytes longer, and no key has more than 1,024.
    if prefix.len() > 800 || prefix.chars().any(char::is_control) {
        return Err(format!("the prefix of {text} is too long, or has control characters"));
    }
    if prefix.split('/').any(|part| part == "." || part == ".." || part.is_empty() && !prefix.is_empty()) {
        return Err(format!(
            "the prefix of {text} has an empty part, or one of dots: servers read these as other keys"
        ));
    }
    Ok(prefix)
}

/// Where a bucket is served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BucketServer {
    /// `HOST` or `HOST:PORT`; of virtual-host style with the bucket in its name.
    pub host: String,
    /// How connections are protected.
    pub tls: Tls,
    /// The region of signatures.
    pub region: String,
    /// The bucket stands in the host's name, not in the path.
    pub is_virtual: bool,
}

/// What environment and files say of the server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerSettings {
    /// `http://HOST:PORT`; `None`: AWS itself.
    pub endpoint: Option<String>,
    /// The region; `None`: us-east-1.
    pub region: Option<String>,
    /// `path`, `virtual` or `auto`.
    pub style: Option<String>,
}

impl ServerSettings {
    /// The server of a bucket. Without a style the bucket stands in the path where an endpoint was named, as most servers
    /// outside of AWS know no other style, and in the name of the host at AWS.
    ///
    /// # Errors
    /// A sentence: what is wrong with the endpoint.
    pub fn server_of(&self, bucket: &str) -> Result<BucketServer, String> {
        let region = self.region.clone().unwrap_or_else(|| "us-east-1".to_owned());
        let (tls, host) = match &self.endpoint {
            None => (Tls::Checked, format!("s3.{region}.amazonaws.com")),
            Some(url) => endpoint_of(url)?,
        };
        let is_virtual = match self.style.as_deref() {
            Some("path") => false,
            Some("virtual") => true,
            // A certificate for all buckets does not cover names with dots.
            _ => self.endpoint.is_none() && !bucket.contains('.'),
        };
        let host = if is_virtual { format!("{bucket}.{host}") } else { host };
        Ok(BucketServer { host, tls, region, is_virtual })
    }
}

/// TLS and host of `http://HOST[:PORT][/]`.
fn endpoint_of(url: &str) -> Result<(Tls, String), String> {
    let (tls, rest) = match (url.strip_prefix("https://"), url.strip_prefix("http://")) {
        (Some(rest), _) => (Tls::Checked, rest),
        (None, Some(rest)) => (Tls::Off, rest),
        // It may hold a password by mistake, and is not repeated.
        (None, None) => return Err("the endpoint does not begin with http:// or https://".to_owned()),
    };
    let host = rest.strip_suffix('/').unwrap_or(rest);
    Endpoint::parse(host, tls.is_on()).ok_or_else(|| {
        let shown = if host.contains('@') { "the endpoint" } else { url };
        format!("{shown} is no http://HOST:PORT: leave out what else there is")
    })?;
    Ok((tls, host.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_bucket_and_a_prefix() {
        let shown = |text| BucketAddress::parse(text).map(|address| format!("{} {}", address.bucket, address.prefix));
        for (text, wanted) in
            [("s3://b", "b "), ("s3://b/", "b "), ("s3://my.b/a/c", "my.b a/c"), ("s3://b/a b/", "b a b")]
        {
            assert_eq!(shown(text).as_deref(), Ok(wanted));
        }
        let long = format!("s3://b/{}", "x".repeat(900));
        for text in [
            "s3://",
            "s3:///p",
            "s3://b c",
            "s3://b?x",
            "s3://u:p@b",
            "b",
            "s3://b/a//c",
            "s3://b/../c",
            "s3://b/a\nc",
            &long,
        ] {
            assert!(shown(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_style_follows_the_endpoint_unless_it_is_set() {
        let of = |endpoint: Option<&str>, style: Option<&str>, bucket| {
            let settings = ServerSettings {
                endpoint: endpoint.map(str::to_owned),
                region: Some("eu-1".to_owned()),
                style: style.map(str::to_owned),
            };
            settings.server_of(bucket).map(|server| (server.host, server.tls, server.is_virtual))
        };
        let aws = "s3.eu-1.amazonaws.com";
        assert_eq!(of(None, None, "b"), Ok((format!("b.{aws}"), Tls::Checked, true)));
        assert_eq!(of(None, None, "b.c"), Ok((aws.to_owned(), Tls::Checked, false)));
        assert_eq!(of(None, Some("path"), "b"), Ok((aws.to_owned(), Tls::Checked, false)));
        assert_eq!(of(Some("http://[::1]:9000/"), None, "b"), Ok(("[::1]:9000".to_owned(), Tls::Off, false)));
        assert_eq!(of(Some("https://s3.lab"), Some("virtual"), "b"), Ok(("b.s3.lab".to_owned(), Tls::Checked, true)));
        let of_webdav = |text| BucketAddress::of_webdav(text).map(|(address, server)| (server.host, address.prefix));
        assert_eq!(of_webdav("https://h:8443/a/b/"), Ok(("h:8443".to_owned(), "a/b".to_owned())));
        assert_eq!(of_webdav("http://[::1]"), Ok(("[::1]".to_owned(), String::new())));
        for wrong in ["http://", "http://user:secret@h/a", "http://h/../a"] {
            assert!(of_webdav(wrong).is_err_and(|error| !error.contains("secret")), "{wrong}");
        }
        for wrong in ["ftp://h", "http://", "http://h/path", "http://user:secret@h"] {
            let error = of(Some(wrong), None, "b").unwrap_err();
            assert!(!error.contains("secret"), "{error}");
        }
    }
}
