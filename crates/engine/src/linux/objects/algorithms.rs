//! The algorithms of TLS that this client offers: those that servers of objects have. They are listed here, because all
//! that a list names is part of the program.

use std::sync::Arc;

use ring::rand::{SecureRandom as _, SystemRandom};
use rustls::crypto::ring::{cipher_suite, kx_group};
use rustls::crypto::{
    CryptoProvider, GetRandomFailed, KeyProvider, SecureRandom, SupportedKxGroup, WebPkiSupportedAlgorithms,
};
use rustls::pki_types::PrivateKeyDer;
use rustls::sign::SigningKey;
use rustls::{CipherSuiteCommon, Error, SignatureScheme, SupportedCipherSuite, Tls13CipherSuite};
use webpki::ring as signatures;

/// ChaCha20 is left out: TLS 1.3 demands AES-GCM of each server, and clients name it first.
static SUITES: [SupportedCipherSuite; 6] = [
    SupportedCipherSuite::Tls13(&AES_256_GCM),
    SupportedCipherSuite::Tls13(&AES_128_GCM),
    cipher_suite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
    cipher_suite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
    cipher_suite::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
    cipher_suite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
];

static AES_256_GCM: Tls13CipherSuite = without_quic(&cipher_suite::TLS13_AES_256_GCM_SHA384);
static AES_128_GCM: Tls13CipherSuite = without_quic(&cipher_suite::TLS13_AES_128_GCM_SHA256);

const fn without_quic(suite: &SupportedCipherSuite) -> Tls13CipherSuite {
    let SupportedCipherSuite::Tls13(suite) = suite else { panic!("no suite of TLS 1.3") };
    let CipherSuiteCommon { suite: name, hash_provider, confidentiality_limit } = suite.common;
    Tls13CipherSuite {
        common: CipherSuiteCommon { suite: name, hash_provider, confidentiality_limit },
        hkdf_provider: suite.hkdf_provider,
        aead_alg: suite.aead_alg,
        quic: None,
    }
}

/// X25519 is left out: TLS 1.3 demands P-256 of each server, and certificates need that curve anyway.
static GROUPS: [&dyn SupportedKxGroup; 2] = [kx_group::SECP256R1, kx_group::SECP384R1];

/// The signatures of servers and of their authorities.
static SIGNATURES: WebPkiSupportedAlgorithms = WebPkiSupportedAlgorithms {
    all: &[
        signatures::ECDSA_P256_SHA256,
        signatures::ECDSA_P256_SHA384,
        signatures::ECDSA_P384_SHA256,
        signatures::ECDSA_P384_SHA384,
        signatures::ED25519,
        signatures::RSA_PSS_2048_8192_SHA256_LEGACY_KEY,
        signatures::RSA_PSS_2048_8192_SHA384_LEGACY_KEY,
        signatures::RSA_PSS_2048_8192_SHA512_LEGACY_KEY,
        signatures::RSA_PKCS1_2048_8192_SHA256,
        signatures::RSA_PKCS1_2048_8192_SHA384,
        signatures::RSA_PKCS1_2048_8192_SHA512,
        signatures::RSA_PKCS1_2048_8192_SHA256_ABSENT_PARAMS,
        signatures::RSA_PKCS1_2048_8192_SHA384_ABSENT_PARAMS,
        signatures::RSA_PKCS1_2048_8192_SHA512_ABSENT_PARAMS,
    ],
    // TLS 1.2 leaves the curve open, TLS 1.3 takes the first of each row.
    mapping: &[
        (SignatureScheme::ECDSA_NISTP384_SHA384, &[signatures::ECDSA_P384_SHA384, signatures::ECDSA_P256_SHA384]),
        (SignatureScheme::ECDSA_NISTP256_SHA256, &[signatures::ECDSA_P256_SHA256, signatures::ECDSA_P384_SHA256]),
        (SignatureScheme::ED25519, &[signatures::ED25519]),
        (SignatureScheme::RSA_PSS_SHA512, &[signatures::RSA_PSS_2048_8192_SHA512_LEGACY_KEY]),
        (SignatureScheme::RSA_PSS_SHA384, &[signatures::RSA_PSS_2048_8192_SHA384_LEGACY_KEY]),
        (SignatureScheme::RSA_PSS_SHA256, &[signatures::RSA_PSS_2048_8192_SHA256_LEGACY_KEY]),
        (SignatureScheme::RSA_PKCS1_SHA512, &[signatures::RSA_PKCS1_2048_8192_SHA512]),
        (SignatureScheme::RSA_PKCS1_SHA384, &[signatures::RSA_PKCS1_2048_8192_SHA384]),
        (SignatureScheme::RSA_PKCS1_SHA256, &[signatures::RSA_PKCS1_2048_8192_SHA256]),
    ],
};

/// Random numbers of the system, and no keys: a client without a certificate signs nothing.
#[derive(Debug)]
struct Client;

impl SecureRandom for Client {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), GetRandomFailed> {
        SystemRandom::new().fill(bytes).map_err(|_| GetRandomFailed)
    }
}

impl KeyProvider for Client {
    fn load_private_key(&self, _: PrivateKeyDer<'static>) -> Result<Arc<dyn SigningKey>, Error> {
        Err(Error::NoCertificatesPresented)
    }
}

pub(super) fn provider() -> CryptoProvider {
    CryptoProvider {
        cipher_suites: SUITES.to_vec(),
        kx_groups: GROUPS.to_vec(),
        signature_verification_algorithms: SIGNATURES,
        secure_random: &Client,
        key_provider: &Client,
    }
}
