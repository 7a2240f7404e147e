//! Encryption of connections.

use crate::StoreError;
use heirloom_model::text::EscapedPath;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};
use std::path::Path;
use std::sync::Arc;
use tokio_postgres_rustls::MakeRustlsConnect;
use tokio_rustls::rustls::client::danger::{
    HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier,
};
use tokio_rustls::rustls::crypto::{CryptoProvider, ring};
use tokio_rustls::rustls::{
    ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
};

/// Encryption of the connections to a server.
#[derive(Clone)]
pub(crate) enum TlsMode {
    /// None.
    Off,
    /// TLS, if the server has it or if the address requires it.
    On(MakeRustlsConnect),
}

impl TlsMode {
    /// Encrypts and accepts every certificate, as libpq does without a root certificate.
    pub(crate) fn unverified() -> Result<Self, StoreError> {
        let provider = Arc::new(ring::default_provider());
        let verifier = Arc::new(UnverifiedCertificate(Arc::clone(&provider)));
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| unusable(&error))?
            .dangerous()
            .with_custom_certificate_verifier(verifier)
            .with_no_client_auth();
        Ok(Self::On(MakeRustlsConnect::new(config)))
    }

    /// Encrypts and accepts the certificates that an authority of `roots`, a PEM file, has signed for the server's name.
    pub(crate) fn verified(roots: &Path) -> Result<Self, StoreError> {
        let cannot_use = |problem: String| {
            StoreError::Invalid(format!("sslrootcert {}: {problem}", roots.to_escaped()))
        };
        let mut store = RootCertStore::empty();
        let certificates =
            CertificateDer::pem_file_iter(roots).map_err(|error| cannot_use(error.to_string()))?;
        for certificate in certificates {
            let certificate = certificate.map_err(|error| cannot_use(error.to_string()))?;
            store
                .add(certificate)
                .map_err(|error| cannot_use(error.to_string()))?;
        }
        if store.is_empty() {
            return Err(cannot_use("it has no certificate".to_owned()));
        }
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| unusable(&error))?
            .with_root_certificates(store)
            .with_no_client_auth();
        Ok(Self::On(MakeRustlsConnect::new(config)))
    }
}

fn unusable(error: &Error) -> StoreError {
    StoreError::Backend(format!("TLS cannot be used: {error}"))
}

/// Verifier that accepts every certificate.
///
/// It checks no signature of the handshake either: an attacker who presents a certificate of their own signs with its key.
/// Servers with an automatic certificate, such as Citus, present one of an old version that cannot be parsed.
#[derive(Debug)]
struct UnverifiedCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for UnverifiedCertificate {
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
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
