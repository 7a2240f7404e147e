//! Command-line parser for other programs: classifies arguments as flags, values and words.

/// Known flags of a program. A flag in no list is unknown: the word after it may be its value.
pub(crate) struct FlagTable {
    /// Flags without a value.
    pub(crate) switches: &'static [&'static str],
    /// Flags with one value.
    pub(crate) values: &'static [&'static str],
    /// Flags with an optional value.
    pub(crate) optional_values: &'static [&'static str],
    /// Flags that take every word up to the next flag.
    pub(crate) multiple_values: &'static [&'static str],
}

/// One flag with its value, or one word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ArgumentItem<'a> {
    /// Index of the first argument.
    pub(crate) at: usize,
    /// Index after the last argument.
    pub(crate) end: usize,
    /// The flag; empty for a word.
    pub(crate) flag: &'a str,
    /// The value of the flag (the last one, if many), or the word.
    pub(crate) value: Option<&'a str>,
    /// For a word: true if it cannot be the value of an unknown flag.
    pub(crate) is_certain: bool,
}

impl ArgumentItem<'_> {
    /// Returns true for a word, false for a flag.
    pub(crate) fn is_word(&self) -> bool {
        self.flag.is_empty()
    }

    /// Returns true if the item is one of these flags.
    pub(crate) fn is_any_of(&self, flags: &[&str]) -> bool {
        flags.contains(&self.flag)
    }
}

impl FlagTable {
    /// Parses the arguments into items, in order. `--` itself is an item named `--`.
    pub(crate) fn parse<'a>(&self, args: &'a [String]) -> Vec<ArgumentItem<'a>> {
        let mut items = Vec::with_capacity(args.len());
        let (mut at, mut only_words, mut after_unknown) = (0, false, false);
        while let Some(arg) = args.get(at) {
            let mut item = ArgumentItem {
                at,
                end: at + 1,
                flag: "",
                value: None,
                is_certain: true,
            };
            if only_words || !arg.starts_with('-') || arg == "-" {
                item.value = Some(arg);
                item.is_certain = only_words || !after_unknown;
                after_unknown = false;
            } else if arg == "--" {
                item.flag = arg;
                only_words = true;
            } else {
                after_unknown = self.parse_flag(args, &mut item);
            }
            at = item.end;
            items.push(item);
        }
        items
    }

    /// Parses the flag at `item.at`; returns true if it is unknown and has no joined value.
    fn parse_flag<'a>(&self, args: &'a [String], item: &mut ArgumentItem<'a>) -> bool {
        let arg = args[item.at].as_str();
        if let Some((flag, value)) = arg.split_once('=') {
            (item.flag, item.value) = (flag, Some(value));
            return false;
        }
        item.flag = arg;
        let takes_word = |at: usize| {
            args.get(at)
                .is_some_and(|next| !next.starts_with('-') || next == "-")
        };
        if self.values.contains(&arg) {
            item.end = (item.at + 2).min(args.len());
        } else if self.optional_values.contains(&arg) {
            item.end += usize::from(takes_word(item.end));
        } else if self.multiple_values.contains(&arg) {
            while takes_word(item.end) {
                item.end += 1;
            }
        } else if self.switches.contains(&arg) || self.is_cluster(arg) {
            return false;
        } else {
            return self.parse_joined_value(arg, item);
        }
        if item.end > item.at + 1 {
            item.value = Some(args[item.end - 1].as_str());
        }
        false
    }

    /// Returns true for several short switches in one argument, such as `-pc`.
    fn is_cluster(&self, arg: &str) -> bool {
        let letters = &arg[1..];
        arg.len() > 2
            && letters.bytes().all(|b| b.is_ascii_alphanumeric())
            && letters.char_indices().all(|(at, c)| {
                let letter = &letters[at..at + c.len_utf8()];
                self.switches
                    .iter()
                    .any(|known| known.strip_prefix('-') == Some(letter))
            })
    }

    /// Parses a short flag with its value in the same argument, such as `-mgpt`; returns true if it is unknown.
    fn parse_joined_value<'a>(&self, arg: &'a str, item: &mut ArgumentItem<'a>) -> bool {
        let short = arg.get(..2).filter(|short| self.values.contains(short));
        match short {
            Some(short) if arg.len() > 2 => {
                (item.flag, item.value) = (short, Some(&arg[2..]));
                false
            }
            Some(_) | None => true,
        }
    }
}
