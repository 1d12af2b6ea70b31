//! The options of `http`.

use std::fmt;

use super::Job;
use crate::secret::{HIDDEN, Secret};

/// The options of `http`: the server, and the identity of the user.
#[derive(Clone, PartialEq, Eq)]
pub struct ObjectOptions {
    /// Name or address of the server, with its port if that is not the usual one.
    pub host: String,
    /// How connections are protected.
    pub tls: Tls,
    /// Protocol of the server.
    pub dialect: ObjectDialect,
    /// WebDAV: the user.
    pub user: String,
    /// WebDAV: the user's password.
    pub password: Secret,
    /// S3: the region of signatures.
    pub region: String,
    /// S3: the public part of the key; empty: that of the environment.
    pub key_id: String,
    /// S3: its secret part.
    pub key: Secret,
    /// S3: the token of a session.
    pub session_token: Secret,
    /// S3: what the server encrypts objects with; empty: it does not.
    pub customer_key: Secret,
    /// S3: by which algorithm.
    pub customer_algorithm: String,
    /// S3: the storage class of what is written.
    pub storage_class: String,
    /// Swift: the token.
    pub swift_token: Secret,
    /// Each file is one object, of which parts are read; else each block is one.
    pub ranges: bool,
}

impl Default for ObjectOptions {
    fn default() -> ObjectOptions {
        ObjectOptions {
            host: "localhost".to_owned(),
            tls: Tls::Off,
            dialect: ObjectDialect::WebDav,
            user: String::new(),
            password: Secret::default(),
            region: "us-east-1".to_owned(),
            key_id: String::new(),
            key: Secret::default(),
            session_token: Secret::default(),
            customer_key: Secret::default(),
            customer_algorithm: "AES256".to_owned(),
            storage_class: "STANDARD".to_owned(),
            swift_token: Secret::default(),
            ranges: false,
        }
    }
}

/// Replaces the secrets of the jobs in the words of their command line.
pub fn words_without_secrets(words: &[String], jobs: &[Job]) -> Vec<String> {
    let of_job = |job: &'_ Job| {
        let ObjectOptions { password, key, session_token, customer_key, swift_token, .. } =
            job.submission.engine_options.object.clone();
        [password, key, session_token, customer_key, swift_token]
    };
    let secrets: Vec<Secret> = jobs.iter().flat_map(of_job).filter(|secret| !secret.is_empty()).collect();
    let shown = |word: &String| {
        let mut before = secrets.iter().filter_map(|secret| word.strip_suffix(secret.reveal()));
        match before.find(|before| before.is_empty() || before.ends_with('=')) {
            Some(before) => format!("{before}{HIDDEN}"),
            None => word.clone(),
        }
    };
    words.iter().map(shown).collect()
}

/// Leaves secrets out.
impl fmt::Debug for ObjectOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ObjectOptions { host, tls, dialect, .. } = self;
        f.debug_struct("ObjectOptions")
            .field("host", host)
            .field("tls", tls)
            .field("dialect", dialect)
            .finish_non_exhaustive()
    }
}

/// `https=`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tls {
    /// None.
    Off,
    /// The server's certificate is checked.
    Checked,
    /// The server's certificate is not checked.
    Unchecked,
}

impl Tls {
    /// Connections are encrypted.
    pub fn is_on(self) -> bool {
        self != Tls::Off
    }
}

/// `http_mode=`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectDialect {
    /// Plain requests.
    WebDav,
    /// With a token, and sums of what is written.
    Swift,
    /// With signatures.
    S3,
}
