//! TLS with certificate and key files that a user configured.

use heirloom_fs::project_fs::read_bounded_following_links;
use heirloom_model::text::EscapedPath;
use heirloom_model::{Fault, limits};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;

/// Paths of a certificate and its private key, as PEM.
#[derive(Debug, Clone)]
pub struct Certificate {
    /// Certificate chain.
    pub certificate: PathBuf,
    /// Private key.
    pub key: PathBuf,
}

/// Builds the TLS acceptor. Errors: `Usage` for invalid files, or a key that does not match the certificate.
pub(super) fn tls_acceptor(files: &Certificate) -> Result<TlsAcceptor, Fault> {
    let chain = CertificateDer::pem_slice_iter(&read_pem(&files.certificate)?)
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| bad_file(&files.certificate, &error))?;
    if chain.is_empty() {
        return Err(bad_file(&files.certificate, &"it contains no certificate"));
    }
    let key = PrivateKeyDer::from_pem_slice(&read_pem(&files.key)?)
        .map_err(|error| bad_file(&files.key, &error))?;
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| Fault::failed(format!("TLS: {error}")))?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(|error| bad_file(&files.certificate, &error))?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

fn read_pem(file: &Path) -> Result<Vec<u8>, Fault> {
    read_bounded_following_links(file, limits::CONFIG_BYTES_MAX)
        .map_err(|problem| bad_file(file, &problem))
}

fn bad_file(file: &Path, problem: &dyn std::fmt::Display) -> Fault {
    Fault::usage(format!("{}: {problem}", file.to_escaped())).hint(
        "--tls-cert takes a certificate with its chain, --tls-key its private key, both as PEM",
    )
}
