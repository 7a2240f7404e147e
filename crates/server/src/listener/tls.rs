//! TLS with certificate and key files that a user configured.

use heirloom_fs::project_fs::read_bounded_following_links;
use heirloom_model::text::EscapedPath;
use heirloom_model::{Clock, Fault, SystemClock, Timestamp, limits};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use x509_cert::der::Decode;

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
    check_expiry(&files.certificate, &chain, SystemClock.now())?;
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

/// Checks that the certificate of the server has not expired, because every client would refuse it. The beginning of the
/// validity is left to the clients: the clock of a machine that just started may be behind.
fn check_expiry(file: &Path, chain: &[CertificateDer<'_>], now: Timestamp) -> Result<(), Fault> {
    let Some(own) = chain.first() else {
        return Ok(());
    };
    let certificate =
        x509_cert::Certificate::from_der(own).map_err(|error| bad_file(file, &error))?;
    let end = certificate.tbs_certificate.validity.not_after;
    let end = i64::try_from(end.to_unix_duration().as_secs()).unwrap_or(i64::MAX);
    let end = Timestamp::from_second(end).unwrap_or(Timestamp::MAX);
    if end >= now {
        return Ok(());
    }
    let file = file.to_escaped();
    Err(
        Fault::usage(format!("{file}: the certificate expired at {end}"))
            .hint("every client would refuse it: give the renewed one as --tls-cert"),
    )
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
