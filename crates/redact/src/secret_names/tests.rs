use super::*;

#[test]
fn classify_name_recognises_every_spelling() {
    let password = Some(SecretNameKind::Password);
    for (name, expected) in [
        ("password", password),
        ("DB_PASSWORD", password),
        ("dbPassword2", password),
        ("PGPASSWORD", password),
        ("spring.datasource.password", password),
        ("pass", password),
        ("passed", None),
        ("password_hash", None),
        ("is_password", None),
        ("forgot-password", None),
        ("secret_key_base", Some(SecretNameKind::Key)),
        ("SECRET_KEY_BASE", Some(SecretNameKind::Key)),
        ("clientSecret", Some(SecretNameKind::Secret)),
        ("secretName", None),
        ("APIKey", Some(SecretNameKind::Key)),
        ("x-api-key", Some(SecretNameKind::Key)),
        ("primary_key", None),
        ("MAILGUN_KEY", Some(SecretNameKind::OtherKey)),
        ("mailgunKey", Some(SecretNameKind::OtherKey)),
        ("sort_key", None),
        ("DB_PW", password),
        ("SIM_PIN", Some(SecretNameKind::Pin)),
        ("pinned", None),
        ("asana_client_id", Some(SecretNameKind::ClientId)),
        ("discordClientId", Some(SecretNameKind::ClientId)),
        ("user_id", None),
        ("wallet.mnemonic", Some(SecretNameKind::Phrase)),
        ("recovery_phrase", Some(SecretNameKind::Phrase)),
        ("phrase", None),
        ("needless_pass_by_value", None),
        ("public_api_key", None),
        ("key", None),
        ("_authToken", Some(SecretNameKind::Token)),
        ("max_tokens", None),
        ("token_count", None),
        ("Authorization", Some(SecretNameKind::Authorization)),
        ("Set-Cookie", Some(SecretNameKind::SetCookie)),
        ("author", None),
    ] {
        assert_eq!(classify_name(name), expected, "{name}");
    }
}
