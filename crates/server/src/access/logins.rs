//! People who came by a login link: their cookies, in memory only.

use super::Access;
use crate::app::Options;
use axum::http::{HeaderMap, header};
use blake3::Hash;
use heirloom_model::{AccessRole, Fault, limits};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// Who is logged in.
#[derive(Default)]
pub(crate) struct Logins {
    all: Mutex<Vec<Login>>,
}

struct Login {
    hash: Hash,
    role: AccessRole,
    csrf: Arc<str>,
    holder: Arc<str>,
    seen: Instant,
}

impl Logins {
    /// Lets somebody in; the value of their cookie.
    pub(super) fn add(&self, role: AccessRole) -> Result<String, Fault> {
        let (secret, csrf) = (random_hex()?, random_hex()?);
        let hash = blake3::hash(secret.as_bytes());
        let holder = format!("login {}", &hash.to_hex()[..12]);
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        forget_old(&mut all);
        if all.len() >= limits::LOGINS_MAX {
            all.remove(0);
        }
        all.push(Login {
            hash,
            role,
            csrf: Arc::from(csrf),
            holder: Arc::from(holder),
            seen: Instant::now(),
        });
        Ok(secret)
    }

    /// Whose cookie this is.
    pub(super) fn find(&self, headers: &HeaderMap, options: &Options) -> Option<Access> {
        let secret = cookie(headers, &cookie_name(options))?;
        let hash = blake3::hash(secret.as_bytes());
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        forget_old(&mut all);
        let at = all.iter().position(|login| login.hash == hash)?;
        // The list is by when somebody was seen, so that the first one is who goes.
        let mut login = all.remove(at);
        login.seen = Instant::now();
        let access = Access {
            role: login.role,
            project: None,
            holder: Arc::clone(&login.holder),
            csrf: Some(Arc::clone(&login.csrf)),
        };
        all.push(login);
        Some(access)
    }

    /// Lets go whoever `access` is.
    pub(super) fn remove(&self, access: &Access) {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|login| login.holder != access.holder);
    }
}

fn forget_old(all: &mut Vec<Login>) {
    let most = Duration::from_secs(limits::LOGIN_S);
    all.retain(|login| login.seen.elapsed() < most);
}

/// Cookies know no ports: two servers on one machine need two names.
pub(super) fn cookie_name(options: &Options) -> String {
    format!("heirloom-{}", options.port)
}

fn cookie<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let all = headers.get_all(header::COOKIE).into_iter();
    let mut pairs = all
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='));
    pairs
        .find(|(found, _)| *found == name)
        .map(|(_, value)| value)
}

fn random_hex() -> Result<String, Fault> {
    let mut random = [0; 32];
    getrandom::fill(&mut random)
        .map_err(|error| Fault::failed(format!("the system gives no random bytes: {error}")))?;
    Ok(blake3::Hash::from(random).to_hex().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    fn is_in(logins: &Logins, secret: &str) -> bool {
        let options = Options {
            port: 7,
            ..Options::default()
        };
        let mut headers = HeaderMap::new();
        let cookie = format!("a=b; heirloom-7={secret}");
        headers.insert(header::COOKIE, HeaderValue::from_str(&cookie).unwrap());
        logins.find(&headers, &options).is_some()
    }

    #[tokio::test(start_paused = true)]
    async fn who_was_not_seen_for_long_is_logged_out() {
        let logins = Logins::default();
        let secret = logins.add(AccessRole::User).unwrap();
        let most = Duration::from_secs(limits::LOGIN_S);
        tokio::time::advance(most - Duration::from_secs(1)).await;
        assert!(is_in(&logins, &secret));
        tokio::time::advance(most - Duration::from_secs(1)).await;
        assert!(is_in(&logins, &secret), "it was seen in between");
        tokio::time::advance(most).await;
        assert!(!is_in(&logins, &secret));
    }

    #[test]
    fn so_many_are_logged_in_at_once() {
        let logins = Logins::default();
        let first = logins.add(AccessRole::User).unwrap();
        let second = logins.add(AccessRole::User).unwrap();
        for _ in 2..limits::LOGINS_MAX {
            logins.add(AccessRole::User).unwrap();
        }
        assert!(is_in(&logins, &first), "as many as there may be");
        logins.add(AccessRole::User).unwrap();
        assert!(!is_in(&logins, &second), "who was not seen longest");
        assert!(is_in(&logins, &first));
    }
}
