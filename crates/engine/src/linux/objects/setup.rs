//! Resolves names, addresses and keys before the clock starts.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use fsdyno_job::{EngineName, ObjectOptions};
use fsdyno_object::{Endpoint, encoded_path, epoch_s_of_date, field_of};
use rustls::pki_types::ServerName;

use super::stream::{self, Connected, Identity};
use super::trust;
use crate::setup::{EngineSetup, EngineSetupError};
use fsdyno_os::clock::RealClock;
use fsdyno_os::errno::EIO;

/// A file with keys is not longer.
const KEYS_BYTES_MAX: u64 = 1 << 20;

pub(super) fn option(option: &'static str, reason: impl Into<String>) -> EngineSetupError {
    EngineSetupError::Option { engine: EngineName::Http, option, reason: reason.into() }
}

pub(super) fn endpoint(options: &ObjectOptions) -> Result<Endpoint, EngineSetupError> {
    Endpoint::parse(&options.host, options.tls.is_on()).ok_or_else(|| {
        option("http_host", format!("{} is no HOST or HOST:PORT: leave out what else there is", options.host))
    })
}

/// The files' names as requests have them.
pub(super) fn paths(setup: &EngineSetup<'_>) -> Result<Box<[String]>, EngineSetupError> {
    let path = |name: &&std::path::Path| encoded_path(name.as_os_str().as_bytes());
    let paths: Option<Box<[String]>> = setup.names.paths.iter().map(path).collect();
    paths.ok_or_else(|| option("filename", "it does not begin with /: use --filename=/BUCKET/NAME"))
}

/// A variable that is not empty.
pub(super) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// The text of a file; empty: there is none.
pub(super) fn file_text(path: &Path) -> String {
    let text = fsdyno_os::files::read_whole(path, KEYS_BYTES_MAX).unwrap_or_default();
    String::from_utf8_lossy(&text).into_owned()
}

/// The text of the file in this variable, else of the one below `~/.aws`.
fn aws_text(name: &str, usual: &str) -> String {
    let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".aws").join(usual));
    variable(name).map(PathBuf::from).or_else(home).map(|file| file_text(&file)).unwrap_or_default()
}

pub(super) fn credentials_text() -> String {
    aws_text("AWS_SHARED_CREDENTIALS_FILE", "credentials")
}

/// The text of the file with the settings of AWS' programs; empty: there is none.
pub fn config_text() -> String {
    aws_text("AWS_CONFIG_FILE", "config")
}

/// Seconds by which the server's clock is ahead of this machine's; `None`: the head of its answer has no date.
pub(super) fn seconds_ahead(head: &[u8]) -> Option<i64> {
    let there_s = field_of(head, "date").and_then(epoch_s_of_date)?;
    let here_s = std::time::SystemTime::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_secs());
    Some(there_s as i64 - here_s as i64)
}

pub(super) fn identity(options: &ObjectOptions, endpoint: &Endpoint) -> Result<Option<Identity>, EngineSetupError> {
    if !options.tls.is_on() {
        return Ok(None);
    }
    let config = trust::config(options.tls).map_err(|reason| option("https", reason))?;
    let name = ServerName::try_from(endpoint.host.clone())
        .map_err(|_| option("http_host", format!("{} is no name that a certificate can have", endpoint.host)))?;
    Ok(Some((config, name)))
}

/// A connection to a server whose name may have several addresses.
pub(super) struct Reached {
    pub(super) address: SocketAddr,
    /// Number of addresses that the name has, of the same family.
    pub(super) resolved: u64,
    pub(super) connected: Connected,
}

/// Number of connections of this process: each begins with the next address of the name.
static DEALT: AtomicUsize = AtomicUsize::new(0);

/// Connects to an address of the server that answers. Workers take its addresses in turn, as each of them may be another
/// machine.
pub(super) fn connect(
    endpoint: &Endpoint,
    identity: Option<&Identity>,
    clock: &RealClock,
) -> Result<Reached, EngineSetupError> {
    let refused = |call, error: io::Error| EngineSetupError::Refused {
        engine: EngineName::Http,
        call,
        code: error.raw_os_error().unwrap_or(if stream::is_wait(&error) { fsdyno_os::errno::ETIMEDOUT } else { EIO }),
        advice: match error.raw_os_error() {
            Some(_) => format!("is a server at {}? See http_host", endpoint.authority),
            None => format!("{}: {error}", endpoint.authority),
        },
    };
    let host = (endpoint.host.as_str(), endpoint.port);
    let all: Vec<SocketAddr> = host.to_socket_addrs().map_err(|error| refused("getaddrinfo", error))?.collect();
    let is_preferred = |address: &SocketAddr| all.first().is_some_and(|first| first.is_ipv6() == address.is_ipv6());
    let (mut addresses, others): (Vec<SocketAddr>, Vec<SocketAddr>) = all.iter().copied().partition(is_preferred);
    let resolved = addresses.len();
    addresses.rotate_left(DEALT.fetch_add(1, Ordering::Relaxed) % resolved.max(1));
    let mut failed = None;
    for address in addresses.into_iter().chain(others) {
        match stream::connect(&address, identity, clock) {
            Ok(connected) => return Ok(Reached { address, resolved: resolved as u64, connected }),
            Err(error) => failed = Some(error),
        }
    }
    Err(refused("connect", failed.unwrap_or_else(|| io::ErrorKind::AddrNotAvailable.into())))
}
