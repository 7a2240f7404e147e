//! Tokens in memory, as they are in their file now.

use super::Access;
use heirloom_engine::{Token, Tokens, TokensStamp};
use heirloom_model::Fault;
use std::sync::{Arc, PoisonError, RwLock};

/// The tokens that open this server.
pub(crate) struct Keys {
    tokens: Tokens,
    known: RwLock<Option<(TokensStamp, Arc<Vec<Token>>)>>,
}

impl Keys {
    pub(crate) fn new(tokens: Tokens) -> Self {
        Self {
            tokens,
            known: RwLock::new(None),
        }
    }

    pub(crate) fn tokens(&self) -> &Tokens {
        &self.tokens
    }

    /// Who holds this secret. Every token is compared, each in the same time.
    pub(super) fn find(&self, secret: &str) -> Result<Option<Access>, Fault> {
        let tokens = self.now()?;
        let mut found = None;
        for token in tokens.iter() {
            if token.is(secret) {
                found = Some(token);
            }
        }
        Ok(found.map(|token| Access {
            role: token.role,
            project: token.project.as_ref().map(|name| name.as_str().to_owned()),
            holder: Arc::from(format!("token {}", token.id)),
            csrf: None,
        }))
    }

    /// The tokens as they are now: a look at the file's size and time, and its content only if these changed.
    fn now(&self) -> Result<Arc<Vec<Token>>, Fault> {
        let stamp = self.tokens.stamp();
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        if let Some((seen, tokens)) = &*known
            && *seen == stamp
        {
            return Ok(Arc::clone(tokens));
        }
        drop(known);
        let tokens = Arc::new(self.tokens.list()?);
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        // The look came before the content: what changed in between is seen by the next request.
        *known = Some((stamp, Arc::clone(&tokens)));
        Ok(tokens)
    }
}
