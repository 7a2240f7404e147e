//! Name of this machine.

/// Returns the name of this machine: letters, digits, dots and hyphens, at most 63 characters.
pub fn host_name() -> String {
    let name = crate::platform::raw_host_name();
    let kept = name
        .chars()
        .filter(|c| c.is_ascii_alphanumeric() || ".-".contains(*c));
    let name: String = kept.take(63).collect();
    if name.is_empty() {
        return "localhost".to_owned();
    }
    name
}

#[cfg(test)]
mod tests {
    #[test]
    fn host_name_is_a_plain_word() {
        let name = super::host_name();
        assert!(!name.is_empty() && name.len() <= 63);
        assert!(!name.contains(char::is_whitespace));
    }
}
