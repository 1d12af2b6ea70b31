//! The server of a place, as environment and files of people's other programs set it.

use fsdyno_job::{ObjectDialect, ObjectOptions, Tls};
use fsdyno_object::{BucketAddress, BucketServer, ServerSettings, encoded_path, service_endpoint, setting};
use fsdyno_run::Bounds;

use crate::Problem;
use crate::study::Place;

/// A bucket at its server.
#[derive(Clone, Debug)]
pub(super) struct Store {
    /// As the person wrote it.
    pub(super) url: String,
    pub(super) address: BucketAddress,
    pub(super) server: BucketServer,
    /// S3 or WebDAV.
    pub(super) dialect: ObjectDialect,
    /// Time after which a request has failed, ns.
    pub(super) deadline_ns: u64,
}

impl Store {
    pub(super) fn of(place: &Place, bounds: Bounds) -> Result<Store, Problem> {
        let url = fsdyno_job::bytes::shown(&place.path);
        // Shorter than the time after which a look at a silent storage ends the program: a request has the better sentence.
        let deadline_ns = bounds.answer().lost_ns / 6 * 5;
        if !url.starts_with("s3://") {
            let (address, server) = BucketAddress::of_webdav(&url).map_err(Problem::new)?;
            return Ok(Store { url, address, server, dialect: ObjectDialect::WebDav, deadline_ns });
        }
        let address = BucketAddress::parse(&url).map_err(Problem::new)?;
        let advice = "set AWS_ENDPOINT_URL=http://HOST:PORT, or leave it out for AWS itself";
        let server = settings().server_of(&address.bucket).map_err(|what| Problem::new(what).with_next(advice))?;
        Ok(Store { url, address, server, dialect: ObjectDialect::S3, deadline_ns })
    }

    pub(super) fn options(&self) -> ObjectOptions {
        ObjectOptions {
            host: self.server.host.clone(),
            tls: self.server.tls,
            dialect: self.dialect,
            region: self.server.region.clone(),
            ..ObjectOptions::default()
        }
    }

    /// The words of a fio line for this server. Its key stands in none: the engine takes it from where this program did.
    pub(super) fn words(&self) -> Vec<String> {
        let https = if self.server.tls == Tls::Off { "off" } else { "on" };
        let mode = if self.is_webdav() { "webdav" } else { "s3" };
        let mut words = vec![
            "--ioengine=http".to_owned(),
            format!("--http_mode={mode}"),
            format!("--https={https}"),
            format!("--http_host={}", self.server.host),
        ];
        if !self.is_webdav() {
            words.push(format!("--http_s3_region={}", self.server.region));
        }
        words
    }

    pub(super) fn is_webdav(&self) -> bool {
        self.dialect == ObjectDialect::WebDav
    }

    /// The address of a key.
    pub(super) fn url_of(&self, key: &str) -> String {
        let root = if self.is_webdav() {
            self.url.split('/').take(3).collect::<Vec<_>>().join("/")
        } else {
            format!("s3://{}", self.address.bucket)
        };
        format!("{root}/{key}")
    }

    /// The name of an object on the server, not encoded; with an empty key that of the bucket.
    pub(super) fn name_of(&self, key: &str) -> String {
        if self.server.is_virtual { format!("/{key}") } else { format!("/{}/{key}", self.address.bucket) }
    }

    /// The same as it stands in a request.
    pub(super) fn path_of(&self, key: &str) -> String {
        encoded_path(self.name_of(key).as_bytes()).unwrap_or_default()
    }

    /// The beginning of all keys of this place.
    pub(super) fn key_before(&self) -> String {
        let prefix = &self.address.prefix;
        if prefix.is_empty() { String::new() } else { format!("{prefix}/") }
    }
}

fn settings() -> ServerSettings {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let profile = variable("AWS_PROFILE").unwrap_or_else(|| "default".to_owned());
    let text = fsdyno_engine::config_text();
    let written = |name: &str| setting(&text, &profile, name).map(str::to_owned);
    ServerSettings {
        endpoint: ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"]
            .into_iter()
            .find_map(variable)
            .or_else(|| service_endpoint(&text, &profile).map(str::to_owned))
            .or_else(|| written("endpoint_url")),
        region: ["AWS_REGION", "AWS_DEFAULT_REGION"].into_iter().find_map(variable).or_else(|| written("region")),
        style: written("addressing_style"),
    }
}
