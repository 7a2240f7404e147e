//! Text form of the address of a database server.

/// Prefixes of an address.
const SCHEMES: [&str; 2] = ["postgres://", "postgresql://"];

/// Returns true if the text has the form of an address.
pub fn is_database_address(text: &str) -> bool {
    SCHEMES.iter().any(|scheme| text.starts_with(scheme))
}

/// Returns the address without its password, for messages and settings.
pub fn without_password(url: &str) -> String {
    let Some((start, rest)) = url.split_once("://") else {
        return url.to_owned();
    };
    let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    let authority = match authority.rsplit_once('@') {
        Some((login, host)) => {
            let user = login.split_once(':').map_or(login, |(user, _)| user);
            format!("{user}@{host}")
        }
        None => authority.to_owned(),
    };
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let kept: Vec<&str> = query
        .split('&')
        .filter(|part| !part.is_empty() && !part.starts_with("password="))
        .collect();
    let mark = if kept.is_empty() { "" } else { "?" };
    format!("{start}://{authority}{path}{mark}{}", kept.join("&"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_without_password_keeps_everything_else() {
        let url = "postgres://user:pa%40ss@db.example:6432/memory?sslmode=disable&password=x";
        let expected = "postgres://user@db.example:6432/memory?sslmode=disable";
        assert_eq!(without_password(url), expected);
        assert_eq!(without_password(expected), expected);
        assert_eq!(
            without_password("postgres://db?password=x"),
            "postgres://db"
        );
        assert_eq!(without_password(""), "");
    }
}
