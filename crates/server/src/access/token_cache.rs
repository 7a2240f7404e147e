//! Cache of the token file, reloaded when the file changes.

use super::Access;
use heirloom_engine::{Token, TokenStamp, Tokens};
use heirloom_model::{AccessRole, Authority, Fault};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

/// Returns the source of the records of an agent with this token.
fn agent_of(token: &Token) -> Option<Arc<str>> {
    let name = token
        .name
        .as_deref()
        .filter(|_| token.role == AccessRole::Agent)?;
    Some(Arc::from(Authority::agent_source(name.trim())))
}

/// Returns the identity of a caller with this token.
fn holder_of(token: &Token) -> String {
    format!("token {}", token.id)
}

/// Cached access tokens of this server.
pub(crate) struct TokenCache {
    tokens: Tokens,
    cached: RwLock<Option<(TokenStamp, Arc<Vec<Token>>)>>,
    /// Time of the last request with each token since the start.
    last_uses: Mutex<HashMap<String, Instant>>,
}

impl TokenCache {
    pub(crate) fn new(tokens: Tokens) -> Self {
        Self {
            tokens,
            cached: RwLock::new(None),
            last_uses: Mutex::default(),
        }
    }

    pub(crate) fn tokens(&self) -> &Tokens {
        &self.tokens
    }

    /// Finds the access of a secret. All tokens are compared, each in constant time.
    pub(super) fn find_access(&self, secret: &str) -> Result<Option<Access>, Fault> {
        let tokens = self.current_tokens()?;
        let mut found = None;
        for token in tokens.iter() {
            if token.matches_secret(secret) {
                found = Some(token);
            }
        }
        if let Some(token) = found {
            let mut uses = self
                .last_uses
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            uses.insert(token.id.clone(), Instant::now());
        }
        Ok(found.map(|token| Access {
            role: token.role,
            project: token.project.as_ref().map(|name| name.as_str().to_owned()),
            holder: Arc::from(holder_of(token)),
            agent: agent_of(token),
            csrf: None,
        }))
    }

    /// Returns true if the token of an access still grants it.
    pub(super) fn has(&self, access: &Access) -> Result<bool, Fault> {
        let tokens = self.current_tokens()?;
        Ok(tokens.iter().any(|token| {
            *holder_of(token) == *access.holder
                && token.role == access.role
                && token.project.as_ref().map(|name| name.as_str()) == access.project.as_deref()
        }))
    }

    /// Returns the time since the last request with a token; `None` if this server has not seen it.
    pub(crate) fn last_use(&self, id: &str) -> Option<Duration> {
        let uses = self
            .last_uses
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        uses.get(id).map(Instant::elapsed)
    }

    /// Returns the current tokens: checks the file's metadata, and reads the file only if they changed.
    fn current_tokens(&self) -> Result<Arc<Vec<Token>>, Fault> {
        let stamp = self.tokens.stamp();
        let cached = self.cached.read().unwrap_or_else(PoisonError::into_inner);
        if let Some((cached_stamp, tokens)) = &*cached
            && *cached_stamp == stamp
        {
            return Ok(Arc::clone(tokens));
        }
        drop(cached);
        let tokens = Arc::new(self.tokens.list()?);
        let mut cached = self.cached.write().unwrap_or_else(PoisonError::into_inner);
        // The stamp was taken before the read, so a change in between is noticed by the next request.
        *cached = Some((stamp, Arc::clone(&tokens)));
        Ok(tokens)
    }
}
