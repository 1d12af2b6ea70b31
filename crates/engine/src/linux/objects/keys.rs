//! Where the key of a job comes from: the job, the environment, the files of AWS' programs, or the role that the platform of a
//! container or a machine gives.

use std::net::{TcpStream, ToSocketAddrs};
use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

use fsdyno_job::{ObjectDialect, ObjectOptions, Secret};
use fsdyno_object::{Credentials, Endpoint, PlainRequest, Requests, setting};

use super::client::{ObjectClient, reason};
use super::setup::{self, config_text, credentials_text, file_text, option, variable};
use crate::setup::EngineSetupError;

/// Time for a connection, and again for an answer: elsewhere nobody is at these addresses.
const PATIENCE: Duration = Duration::from_secs(1);

/// Where a container's platform is, where the environment gives no whole address.
const OF_CONTAINER: &str = "169.254.170.2";

/// Hosts that may be asked without TLS: they are this machine's own.
const NEAR: [&str; 5] = [OF_CONTAINER, "169.254.170.23", "127.0.0.1", "localhost", "::1"];

/// Where a machine's platform is, and what it is asked.
const OF_MACHINE: &str = "169.254.169.254";
const TOKEN: &str = "/latest/api/token";
const ROLES: &str = "/latest/meta-data/iam/security-credentials/";

impl ObjectClient {
    /// Connects, with the key of the environment, the usual files or the platform.
    ///
    /// # Errors
    /// A sentence: there is no key, no such server, or its certificate is not trusted.
    pub fn connect(options: &ObjectOptions) -> Result<ObjectClient, String> {
        let key = key(options).map_err(reason)?;
        let endpoint = setup::endpoint(options).map_err(reason)?;
        let identity = setup::identity(options, &endpoint).map_err(reason)?;
        let requests = requests(options, &endpoint, key);
        ObjectClient::open(&endpoint, identity, requests)
    }
}

/// The requests of a job. Without a name and a password of its own, those of WebDAV have them from the environment.
pub(super) fn requests(options: &ObjectOptions, endpoint: &Endpoint, key: Option<Credentials>) -> Requests {
    let of_job = options.dialect != ObjectDialect::WebDav || !options.user.is_empty() || !options.password.is_empty();
    let login = variable("FSDYNO_HTTP_USER").zip(variable("FSDYNO_HTTP_PASS")).filter(|_| !of_job);
    let Some((user, password)) = login else { return Requests::new(options, endpoint, key) };
    Requests::new(&ObjectOptions { user, password: Secret::new(password), ..options.clone() }, endpoint, key)
}

/// The key of the job, or of the environment, or of the file that other programs have it from.
pub(super) fn key(options: &ObjectOptions) -> Result<Option<Credentials>, EngineSetupError> {
    if options.dialect != ObjectDialect::S3 {
        return Ok(None);
    }
    let (key_id, secret, token) = (options.key_id.clone(), options.key.clone(), options.session_token.clone());
    match (key_id.is_empty(), secret.is_empty()) {
        (false, false) => return Ok(Some(Credentials { key_id, secret, token })),
        (true, true) => {}
        _ => return Err(option("http_s3_keyid", "only one of http_s3_keyid and http_s3_key is given: give both")),
    }
    if let Some(key) = Credentials::from_environment(|name| std::env::var(name).ok()) {
        return Ok(Some(key));
    }
    let profile = variable("AWS_PROFILE").unwrap_or_else(|| "default".to_owned());
    let (keys, config) = (credentials_text(), config_text());
    let written = Credentials::from_file(&keys, &profile).or_else(|| Credentials::from_config(&config, &profile));
    if let Some(key) = written {
        return Ok(Some(key));
    }
    let of_others = OF_OTHERS.iter().find(|name| setting(&config, &profile, name).is_some());
    let of_token = variable("AWS_WEB_IDENTITY_TOKEN_FILE").map(|_| &"AWS_WEB_IDENTITY_TOKEN_FILE");
    if let Some(name) = of_token.or(of_others) {
        let reason = format!(
            "the key comes from {name}, which this program does not ask: run `eval \"$(aws configure export-credentials \
             --profile {profile} --format env)\"` first"
        );
        return Err(option("http_mode=s3", reason));
    }
    let advice = "there is no key: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or name a profile of ~/.aws/credentials in \
                  AWS_PROFILE";
    of_role().map(Some).ok_or_else(|| option("http_mode=s3", advice))
}

/// Settings of a profile whose key other programs have to ask for.
const OF_OTHERS: [&str; 5] =
    ["credential_process", "sso_session", "sso_start_url", "web_identity_token_file", "role_arn"];

/// The key of the role; asked once for all workers.
fn of_role() -> Option<Credentials> {
    static KEY: OnceLock<Option<Credentials>> = OnceLock::new();
    KEY.get_or_init(|| of_container().or_else(of_machine)).clone()
}

fn of_container() -> Option<Credentials> {
    let (host, path) = match variable("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") {
        Some(path) => (OF_CONTAINER.to_owned(), path),
        None => {
            let whole = variable("AWS_CONTAINER_CREDENTIALS_FULL_URI")?;
            let (host, path) = whole.strip_prefix("http://")?.split_once('/')?;
            (host.to_owned(), format!("/{path}"))
        }
    };
    let of_file = || Some(file_text(Path::new(&variable("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE")?)));
    let token = variable("AWS_CONTAINER_AUTHORIZATION_TOKEN").or_else(of_file);
    let line = token.map(|token| line("Authorization", &token)).unwrap_or_default();
    let endpoint = Endpoint::parse(&host, false).filter(|endpoint| NEAR.contains(&endpoint.host.as_str()))?;
    Credentials::from_json(&ask(&endpoint, "GET", &path, line)?)
}

fn of_machine() -> Option<Credentials> {
    if variable("AWS_EC2_METADATA_DISABLED").is_some_and(|word| word.eq_ignore_ascii_case("true")) {
        return None;
    }
    let set = variable("AWS_EC2_METADATA_SERVICE_ENDPOINT");
    let host = set.as_deref().map_or(OF_MACHINE, |url| url.trim_start_matches("http://").trim_end_matches('/'));
    let endpoint = Endpoint::parse(host, false)?;
    let token = ask(&endpoint, "PUT", TOKEN, line("X-aws-ec2-metadata-token-ttl-seconds", "21600"))?;
    let line = line("X-aws-ec2-metadata-token", &token);
    let role = ask(&endpoint, "GET", ROLES, line.clone())?;
    Credentials::from_json(&ask(&endpoint, "GET", &format!("{ROLES}{}", role.lines().next()?.trim()), line)?)
}

/// A line of a head. A value with control characters would be more than one.
fn line(name: &str, value: &str) -> Secret {
    let mut line = String::with_capacity(name.len() + value.len() + 4);
    line.extend([name, ": "]);
    line.extend(value.trim().chars().filter(|letter| !letter.is_control()));
    line.push_str("\r\n");
    Secret::new(line)
}

fn ask(endpoint: &Endpoint, method: &'static str, path: &str, line: Secret) -> Option<String> {
    // Without this look, a connection to nobody would take its usual ten seconds.
    let address = (endpoint.host.as_str(), endpoint.port).to_socket_addrs().ok()?.next()?;
    TcpStream::connect_timeout(&address, PATIENCE).ok()?;
    let mut client = ObjectClient::open(endpoint, None, Requests::with_line(endpoint, line)).ok()?;
    client.deadline_ns = PATIENCE.as_nanos() as u64;
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let is_plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_graphic());
    let request = PlainRequest { method, path, query, body: &[], only_new: false };
    let reply = (is_plain(path) && is_plain(query)).then(|| client.ask(&request))?.ok()?;
    String::from_utf8(reply.body).ok().filter(|_| reply.status == 200)
}
