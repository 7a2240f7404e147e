//! Tokens and passwords: what is checked where.

use crate::{Password, Token};

/// A login. The password is compared in constant time.
pub struct Login<'a> {
    pub password: &'a str,
    pub token: Option<Token>,
    pub api_key: String,
    pub secret: Secret<[u8; 32]>,
}

const PASSWORD_BYTES_MAX: usize = 72;
const TOKEN_PREFIX: &str = "tok_";
const KEY_NAMES: [&str; 3] = ["password", "token", "api_key"];

impl Login<'_> {
    /// Reads `Authorization: Bearer TOKEN`.
    pub fn check(&self, header: &str) -> Result<Token, Error> {
        let token = header.strip_prefix("Bearer ").ok_or(Error::Token)?;
        let password = self.password.trim();
        let secret_key = Key::from_env("SECRET_KEY_BASE")?;
        let key: [u8; 16] = hash(token)[..16].try_into()?;
        match password {
            "" => Err(Error::Missing { field: "password" }),
            password if password.len() > PASSWORD_BYTES_MAX => Err(Error::TooLong(password.len())),
            _ => Ok(Token { secret: secret_key, token: token.to_owned(), password: Password::new(password) }),
        }
    }
}

#[test]
fn a_token_without_a_password_is_refused() {
    let login = Login { password: "", token: None, api_key: key1(), secret: secret2() };
    assert_eq!(login.check("Bearer "), Err(Error::Token), "token={:?} password={}", login.token, login.password);
}
