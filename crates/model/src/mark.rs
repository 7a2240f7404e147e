//! What people say about a record without changing what it says: pinned, muted, useful.

use crate::limits;
use crate::record::Attrs;
use serde_json::Value;

/// Attribute of a record that is in every context of its scope.
pub const PINNED: &str = "pinned";
/// Attribute of a record that is in no context.
pub const MUTED: &str = "muted";
/// Attribute of a record that helped, or did not: a count, negative if it did not.
pub const USEFUL: &str = "useful";

/// One thing that is said about a record; it stays in its place and keeps its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mark {
    /// Whether it is in every context of its scope.
    Pinned(bool),
    /// Whether it is kept out of contexts.
    Muted(bool),
    /// Whether it helped; counted, up to [`limits::USEFUL_MAX`] either way.
    Useful(bool),
}

impl Mark {
    /// Every mark.
    pub const ALL: [Self; 6] = [
        Self::Pinned(true),
        Self::Pinned(false),
        Self::Muted(true),
        Self::Muted(false),
        Self::Useful(true),
        Self::Useful(false),
    ];

    /// Its name in events.
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

    /// The mark of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mark| mark.as_str() == name)
    }

    /// The mark that takes this one back.
    #[must_use]
    pub fn inverse(self) -> Self {
        match self {
            Self::Pinned(on) => Self::Pinned(!on),
            Self::Muted(on) => Self::Muted(!on),
            Self::Useful(yes) => Self::Useful(!yes),
        }
    }

    /// The attributes with this mark.
    pub fn laid_over(self, attrs: &Attrs) -> Attrs {
        let mut marked = attrs.clone();
        let (name, value) = match self {
            Self::Pinned(on) => (PINNED, on.then_some(Value::Bool(true))),
            Self::Muted(on) => (MUTED, on.then_some(Value::Bool(true))),
            Self::Useful(yes) => {
                let step = if yes { 1 } else { -1 };
                let count = useful(attrs) + step;
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

/// Whether these attributes say pinned.
pub fn is_pinned(attrs: &Attrs) -> bool {
    attrs.get(PINNED) == Some(&Value::Bool(true))
}

/// Whether these attributes say muted.
pub fn is_muted(attrs: &Attrs) -> bool {
    attrs.get(MUTED) == Some(&Value::Bool(true))
}

/// How often it helped, less how often it did not; within [`limits::USEFUL_MAX`].
pub fn useful(attrs: &Attrs) -> i64 {
    let count = attrs.get(USEFUL).and_then(Value::as_i64).unwrap_or(0);
    count.clamp(-limits::USEFUL_MAX, limits::USEFUL_MAX)
}

/// Gives a successor the marks of the record whose place it takes: they are about the thing, not about its
/// words. What the successor says itself stays; how useful the old words were says nothing of the new ones.
pub fn carry(old: &Attrs, new: &mut Attrs) {
    for name in [PINNED, MUTED] {
        if let Some(value) = old.get(name)
            && !new.contains_key(name)
        {
            new.insert(name.to_owned(), value.clone());
        }
    }
}

/// The attributes without marks: what was said.
pub fn without(attrs: &Attrs) -> Attrs {
    let mut said = attrs.clone();
    said.retain(|name, _| ![PINNED, MUTED, USEFUL].contains(&name.as_str()));
    said
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(marks: &[Mark]) -> Attrs {
        let mut attrs = Attrs::new();
        for mark in marks {
            attrs = mark.laid_over(&attrs);
        }
        attrs
    }

    #[test]
    fn a_mark_and_its_inverse_leave_nothing() {
        for mark in Mark::ALL {
            let on = match mark {
                Mark::Pinned(_) => Mark::Pinned(true),
                Mark::Muted(_) => Mark::Muted(true),
                Mark::Useful(_) => mark,
            };
            assert_eq!(marked(&[on, on.inverse()]), Attrs::new());
            assert_eq!(Mark::named(mark.as_str()), Some(mark));
        }
        assert_eq!(Mark::named("glorious"), None);
    }

    #[test]
    fn useful_is_bounded() {
        let most = usize::try_from(limits::USEFUL_MAX).unwrap();
        assert_eq!(
            useful(&marked(&vec![Mark::Useful(true); most])),
            limits::USEFUL_MAX
        );
        assert_eq!(
            useful(&marked(&vec![Mark::Useful(true); most + 1])),
            limits::USEFUL_MAX
        );
        let never = marked(&vec![Mark::Useful(false); most + 1]);
        assert_eq!(useful(&never), -limits::USEFUL_MAX);
        let forged = marked(&[Mark::Useful(true)]);
        let mut forged = forged;
        forged.insert(USEFUL.to_owned(), Value::from(9_000));
        assert_eq!(useful(&forged), limits::USEFUL_MAX);
    }

    #[test]
    fn a_successor_keeps_pins_and_its_own_word() {
        let old = marked(&[Mark::Pinned(true), Mark::Muted(true), Mark::Useful(true)]);
        let mut new = Attrs::new();
        new.insert(MUTED.to_owned(), Value::Bool(false));
        carry(&old, &mut new);
        assert!(is_pinned(&new) && !is_muted(&new));
        assert_eq!(useful(&new), 0);
        assert_eq!(without(&old), Attrs::new());
    }
}
