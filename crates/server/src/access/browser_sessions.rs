//! Session cookies of browsers that used a login link; kept in memory only.

use super::Access;
use super::session_cookie::find_session;
use crate::app::ServerOptions;
use axum::http::HeaderMap;
use blake3::Hash;
use heirloom_model::{AccessRole, Fault, limits};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// Sessions of the browsers that are logged in, limited in number and idle time.
#[derive(Default)]
pub(crate) struct BrowserSessions {
    by_last_use: Mutex<Vec<BrowserSession>>,
}

struct BrowserSession {
    hash: Hash,
    role: AccessRole,
    csrf: Arc<str>,
    holder: Arc<str>,
    last_used: Instant,
}

impl BrowserSessions {
    /// Creates a login and returns the value of its session cookie. The least recently used login is dropped at the
    /// limit.
    pub(super) fn add(&self, role: AccessRole) -> Result<String, Fault> {
        let (secret, csrf) = (random_hex()?, random_hex()?);
        let hash = blake3::hash(secret.as_bytes());
        let holder = format!("login {}", &hash.to_hex()[..12]);
        let mut all = self
            .by_last_use
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        remove_expired(&mut all);
        if all.len() >= limits::LOGINS_MAX {
            all.remove(0);
        }
        all.push(BrowserSession {
            hash,
            role,
            csrf: Arc::from(csrf),
            holder: Arc::from(holder),
            last_used: Instant::now(),
        });
        Ok(secret)
    }

    /// Finds the login of a session cookie and marks it as used.
    pub(super) fn find(&self, headers: &HeaderMap, options: &ServerOptions) -> Option<Access> {
        let secret = find_session(headers, options)?;
        let hash = blake3::hash(secret.as_bytes());
        let mut all = self
            .by_last_use
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        remove_expired(&mut all);
        let at = all.iter().position(|login| login.hash == hash)?;
        // The list is ordered by last use, so that the first entry is the one to drop.
        let mut login = all.remove(at);
        login.last_used = Instant::now();
        let access = Access {
            role: login.role,
            project: None,
            holder: Arc::clone(&login.holder),
            agent: None,
            csrf: Some(Arc::clone(&login.csrf)),
        };
        all.push(login);
        Some(access)
    }

    /// Returns true if the login of `access` has neither ended nor expired. It does not count as a use.
    pub(super) fn has(&self, access: &Access) -> bool {
        let mut all = self
            .by_last_use
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        remove_expired(&mut all);
        all.iter().any(|login| login.holder == access.holder)
    }

    /// Removes the login of `access`.
    pub(super) fn remove(&self, access: &Access) {
        let mut all = self
            .by_last_use
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        all.retain(|login| login.holder != access.holder);
    }
}

fn remove_expired(all: &mut Vec<BrowserSession>) {
    let most = Duration::from_secs(limits::LOGIN_IDLE_TIMEOUT_S);
    all.retain(|login| login.last_used.elapsed() < most);
}

fn random_hex() -> Result<String, Fault> {
    let mut random = [0; 32];
    getrandom::fill(&mut random).map_err(|error| {
        Fault::failed(format!(
            "the operating system returned no random bytes: {error}"
        ))
    })?;
    Ok(blake3::Hash::from(random).to_hex().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::{HeaderValue, header};

    fn is_in(sessions: &BrowserSessions, secret: &str) -> bool {
        let options = ServerOptions {
            port: 7,
            ..ServerOptions::default()
        };
        let mut headers = HeaderMap::new();
        let cookie = format!("a=b; heirloom-7={secret}");
        headers.insert(header::COOKIE, HeaderValue::from_str(&cookie).unwrap());
        sessions.find(&headers, &options).is_some()
    }

    #[tokio::test(start_paused = true)]
    async fn login_expires_after_idle_time() {
        let sessions = BrowserSessions::default();
        let secret = sessions.add(AccessRole::User).unwrap();
        let most = Duration::from_secs(limits::LOGIN_IDLE_TIMEOUT_S);
        tokio::time::advance(most - Duration::from_secs(1)).await;
        assert!(is_in(&sessions, &secret));
        tokio::time::advance(most - Duration::from_secs(1)).await;
        assert!(is_in(&sessions, &secret), "it was used in between");
        tokio::time::advance(most).await;
        assert!(!is_in(&sessions, &secret));
    }

    #[test]
    fn login_over_limit_drops_least_recently_used() {
        let sessions = BrowserSessions::default();
        let first = sessions.add(AccessRole::User).unwrap();
        let second = sessions.add(AccessRole::User).unwrap();
        for _ in 2..limits::LOGINS_MAX {
            sessions.add(AccessRole::User).unwrap();
        }
        assert!(is_in(&sessions, &first), "the number is at the limit");
        sessions.add(AccessRole::User).unwrap();
        assert!(
            !is_in(&sessions, &second),
            "the least recently used login is dropped"
        );
        assert!(is_in(&sessions, &first));
    }
}
