//! TLS by files that a person names.

use heirloom_model::Fault;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;

/// A certificate and its key, as PEM.
#[derive(Debug, Clone)]
pub struct Certificate {
    /// The certificate, and those between it and its root.
    pub certificate: PathBuf,
    /// Its private key.
    pub key: PathBuf,
}

/// What greets clients with this certificate. Errors: `Usage` for files that are none, or do not fit together.
pub(super) fn acceptor(files: &Certificate) -> Result<TlsAcceptor, Fault> {
    let chain = CertificateDer::pem_file_iter(&files.certificate)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| unfit(&files.certificate, &error))?;
    if chain.is_empty() {
        return Err(unfit(&files.certificate, &"it holds no certificate"));
    }
    let key =
        PrivateKeyDer::from_pem_file(&files.key).map_err(|error| unfit(&files.key, &error))?;
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| Fault::failed(format!("TLS: {error}")))?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(|error| unfit(&files.certificate, &error))?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

fn unfit(file: &Path, problem: &dyn std::fmt::Display) -> Fault {
    Fault::usage(format!("{}: {problem}", file.display())).hint(
        "--tls-cert takes a certificate with its chain, --tls-key its private key, both as PEM",
    )
}
