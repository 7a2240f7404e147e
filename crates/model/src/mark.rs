//! Marks of people on records that do not change the text: pinned, muted, useful.

use crate::limits;
use crate::record::Attrs;
use serde_json::Value;

/// Attribute of a pinned record: it is in every context of its scope.
pub const PINNED: &str = "pinned";
/// Attribute of a muted record: it is in no context.
pub const MUTED: &str = "muted";
/// Attribute with the usefulness count of a record; negative if it did not help.
pub const USEFUL: &str = "useful";

/// A mark on a record. Marking keeps the record's id and text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mark {
    /// Pins the record to every context of its scope, or unpins it.
    Pinned(bool),
    /// Keeps the record out of contexts, or allows it again.
    Muted(bool),
    /// Counts the record as useful or not useful, up to [`limits::USEFUL_MAX`] either way.
    Useful(bool),
}

impl Mark {
    /// All marks.
    pub const ALL: [Self; 6] = [
        Self::Pinned(true),
        Self::Pinned(false),
        Self::Muted(true),
        Self::Muted(false),
        Self::Useful(true),
        Self::Useful(false),
    ];

    /// Returns the name in events.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pinned(true) => "pinned",
            Self::Pinned(false) => "not pinned",
            Self::Muted(true) => "muted",
            Self::Muted(false) => "not muted",
            Self::Useful(true) => "useful",
            Self::Useful(false) => "not useful",
        }
    }

    /// Returns the mark with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mark| mark.as_str() == name)
    }

    /// Returns the mark that undoes this one.
    #[must_use]
    pub fn inverse(self) -> Self {
        match self {
            Self::Pinned(on) => Self::Pinned(!on),
            Self::Muted(on) => Self::Muted(!on),
            Self::Useful(yes) => Self::Useful(!yes),
        }
    }

    /// Returns the attributes with this mark applied.
    pub fn apply_to(self, attrs: &Attrs) -> Attrs {
        let mut marked = attrs.clone();
        let (name, value) = match self {
            Self::Pinned(on) => (PINNED, on.then_some(Value::Bool(true))),
            Self::Muted(on) => (MUTED, on.then_some(Value::Bool(true))),
            Self::Useful(yes) => {
                let step = if yes { 1 } else { -1 };
                let count = useful_count(attrs) + step;
                let count = count.clamp(-limits::USEFUL_MAX, limits::USEFUL_MAX);
                (USEFUL, (count != 0).then(|| Value::from(count)))
            }
        };
        match value {
            Some(value) => marked.insert(name.to_owned(), value),
            None => marked.remove(name),
        };
        marked
    }
}

/// Returns true if the attributes of a record mark it as pinned.
pub fn is_pinned(attrs: &Attrs) -> bool {
    attrs.get(PINNED) == Some(&Value::Bool(true))
}

/// Returns true if the attributes of a record mark it as muted.
pub fn is_muted(attrs: &Attrs) -> bool {
    attrs.get(MUTED) == Some(&Value::Bool(true))
}

/// Returns the usefulness count: times it helped minus times it did not, within [`limits::USEFUL_MAX`].
pub fn useful_count(attrs: &Attrs) -> i64 {
    let count = attrs.get(USEFUL).and_then(Value::as_i64).unwrap_or(0);
    count.clamp(-limits::USEFUL_MAX, limits::USEFUL_MAX)
}

/// Copies the marks of a replaced record to its successor, because they are about the subject and not the wording.
/// Marks that the successor has are kept; the usefulness count belongs to the old wording and is not copied.
pub fn inherit_marks(old: &Attrs, new: &mut Attrs) {
    for name in [PINNED, MUTED] {
        if let Some(value) = old.get(name)
            && !new.contains_key(name)
        {
            new.insert(name.to_owned(), value.clone());
        }
    }
}

/// Returns the attributes without marks.
pub fn strip_marks(attrs: &Attrs) -> Attrs {
    let mut unmarked = attrs.clone();
    unmarked.retain(|name, _| ![PINNED, MUTED, USEFUL].contains(&name.as_str()));
    unmarked
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(marks: &[Mark]) -> Attrs {
        let mut attrs = Attrs::new();
        for mark in marks {
            attrs = mark.apply_to(&attrs);
        }
        attrs
    }

    #[test]
    fn mark_and_inverse_cancel_out() {
        for mark in Mark::ALL {
            let on = match mark {
                Mark::Pinned(_) => Mark::Pinned(true),
                Mark::Muted(_) => Mark::Muted(true),
                Mark::Useful(_) => mark,
            };
            assert_eq!(marked(&[on, on.inverse()]), Attrs::new());
            assert_eq!(Mark::from_name(mark.as_str()), Some(mark));
        }
        assert_eq!(Mark::from_name("glorious"), None);
    }

    #[test]
    fn usefulness_count_is_bounded() {
        let most = usize::try_from(limits::USEFUL_MAX).unwrap();
        assert_eq!(
            useful_count(&marked(&vec![Mark::Useful(true); most])),
            limits::USEFUL_MAX
        );
        assert_eq!(
            useful_count(&marked(&vec![Mark::Useful(true); most + 1])),
            limits::USEFUL_MAX
        );
        let never = marked(&vec![Mark::Useful(false); most + 1]);
        assert_eq!(useful_count(&never), -limits::USEFUL_MAX);
        let forged = marked(&[Mark::Useful(true)]);
        let mut forged = forged;
        forged.insert(USEFUL.to_owned(), Value::from(9_000));
        assert_eq!(useful_count(&forged), limits::USEFUL_MAX);
    }

    #[test]
    fn successor_inherits_pin_and_keeps_own_marks() {
        let old = marked(&[Mark::Pinned(true), Mark::Muted(true), Mark::Useful(true)]);
        let mut new = Attrs::new();
        new.insert(MUTED.to_owned(), Value::Bool(false));
        inherit_marks(&old, &mut new);
        assert!(is_pinned(&new) && !is_muted(&new));
        assert_eq!(useful_count(&new), 0);
        assert_eq!(strip_marks(&old), Attrs::new());
    }
}
