//! Nouns for secrets in several languages.

use super::secret_names::SecretNameKind;

/// A noun for a secret.
pub(super) struct Noun {
    pub(super) text: &'static [u8],
    /// Offset of the bytes by which the prefilter finds it, chosen to be rare.
    pub(super) anchor: usize,
    pub(super) kind: SecretNameKind,
}

macro_rules! nouns {
    ($($kind:ident $text:literal $anchor:literal)*) => {
        /// Nouns that the classification of names does not know, in small letters.
        pub(super) const NOUNS: &[Noun] = &[
            $(Noun { text: $text.as_bytes(), anchor: $anchor, kind: SecretNameKind::$kind },)*
        ];
    };
}

nouns! {
    Password "mot de passe" 7
    Password "palavra-passe" 8
    Password "kennwort" 2
    Password "zugangscode" 3
    Password "contraseña" 7
    Password "contrasena" 4
    Password "clave" 1
    Password "senha" 2
    Password "d'ordine" 1
    Password "wachtwoord" 3
    Password "hasło" 2
    Password "heslo" 1
    Password "lösenord" 2
    Password "adgangskode" 5
    Password "salasana" 3
    Password "şifre" 2
    Password "Şifre" 2
    Password "jelszó" 1
    Password "пароль" 3
    Password "пароля" 3
    Password "паролем" 3
    Password "Пароль" 3
    Password "密码" 0
    Password "密碼" 0
    Password "口令" 0
    Password "パスワード" 5
    Password "暗証番号" 0
    Password "비밀번호" 0
    Password "암호" 0
    Password "mật khẩu" 1
    Password "κωδικός" 1
    Password "كلمة المرور" 1
    Password "סיסמה" 1
    Password "पासवर्ड" 1
    Secret "geheimnis" 3
    Secret "secreto" 4
    Secret "segreto" 4
    Secret "segredo" 4
    Secret "секрет" 3
    Secret "Секрет" 3
    Secret "秘密" 0
    Secret "シークレット" 2
    Key "schlüssel" 4
    Key "clé " 2
    Key "chiave" 1
    Key "chave" 1
    Key "ключ" 5
    Key "Ключ" 5
    Key "密钥" 0
    Key "密鑰" 0
    Key "金钥" 0
    Key "金鑰" 0
    Key "キー" 2
    Key "鍵" 0
    Key "키" 0
    Key "sleutel" 1
    Key "klucz" 1
    Token "jeton" 0
    Token "токен" 3
    Token "Токен" 3
    Token "令牌" 0
    Token "トークン" 2
    Token "토큰" 0
}
