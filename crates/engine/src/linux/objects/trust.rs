//! Decides which certificates a TLS connection accepts.

use std::sync::{Arc, OnceLock};

use fsdyno_job::Tls;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

use super::algorithms;
use super::authorities::authorities;

/// Made once for all workers of the process: to read the system's authorities takes longer than a connection.
pub(super) fn config(tls: Tls) -> Result<Arc<ClientConfig>, String> {
    static CHECKED: OnceLock<Result<Arc<ClientConfig>, String>> = OnceLock::new();
    static UNCHECKED: OnceLock<Result<Arc<ClientConfig>, String>> = OnceLock::new();
    let (made, checks) = if tls == Tls::Unchecked { (&UNCHECKED, false) } else { (&CHECKED, true) };
    made.get_or_init(|| make(checks)).clone()
}

fn make(checks: bool) -> Result<Arc<ClientConfig>, String> {
    let provider = Arc::new(algorithms::provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    if !checks {
        let anyone = Arc::new(AnyCertificate(provider));
        let builder = builder.dangerous().with_custom_certificate_verifier(anyone);
        return Ok(Arc::new(builder.with_no_client_auth()));
    }
    let mut roots = RootCertStore::empty();
    let named = |variable| std::env::var_os(variable).filter(|path| !path.is_empty());
    roots.add_parsable_certificates(authorities(named("SSL_CERT_FILE"), named("SSL_CERT_DIR")));
    if roots.is_empty() {
        return Err("this system trusts no authority: install ca-certificates, name a file in SSL_CERT_FILE, or use \
                    https=insecure"
            .to_owned());
    }
    Ok(Arc::new(builder.with_root_certificates(roots).with_no_client_auth()))
}

/// `https=insecure`: the connection is encrypted, but the server's certificate is not checked.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
