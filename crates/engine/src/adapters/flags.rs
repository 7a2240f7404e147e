//! Reading a command line of somebody else's program: which argument is a flag, a value, a word.

/// What is known of a program's flags. A flag that is in no list is unknown: the word after it may
/// be its value, so it is not safely a word.
pub(super) struct Flags {
    /// Flags without a value.
    pub(super) switches: &'static [&'static str],
    /// Flags with one value.
    pub(super) values: &'static [&'static str],
    /// Flags whose value may be left out.
    pub(super) maybe: &'static [&'static str],
    /// Flags that take every word up to the next flag.
    pub(super) many: &'static [&'static str],
}

/// One flag with its value, or one word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Item<'a> {
    /// The index of its first argument.
    pub(super) at: usize,
    /// The index after its last argument.
    pub(super) end: usize,
    /// The flag; empty for a word.
    pub(super) flag: &'a str,
    /// The value of the flag (the last one, if many), or the word.
    pub(super) value: Option<&'a str>,
    /// For a word: whether it cannot be the value of an unknown flag.
    pub(super) safe: bool,
}

impl Item<'_> {
    /// Whether it is a word rather than a flag.
    pub(super) fn is_word(&self) -> bool {
        self.flag.is_empty()
    }

    /// Whether it is one of these flags.
    pub(super) fn is(&self, flags: &[&str]) -> bool {
        flags.contains(&self.flag)
    }
}

impl Flags {
    /// The arguments as items, in order. `--` itself is an item named `--`.
    pub(super) fn read<'a>(&self, args: &'a [String]) -> Vec<Item<'a>> {
        let mut items = Vec::with_capacity(args.len());
        let (mut at, mut only_words, mut after_unknown) = (0, false, false);
        while let Some(arg) = args.get(at) {
            let mut item = Item {
                at,
                end: at + 1,
                flag: "",
                value: None,
                safe: true,
            };
            if only_words || !arg.starts_with('-') || arg == "-" {
                item.value = Some(arg);
                item.safe = only_words || !after_unknown;
                after_unknown = false;
            } else if arg == "--" {
                item.flag = arg;
                only_words = true;
            } else {
                after_unknown = self.read_flag(args, &mut item);
            }
            at = item.end;
            items.push(item);
        }
        items
    }

    /// Fills in the flag at `item.at`; whether it is unknown and has no value of its own.
    fn read_flag<'a>(&self, args: &'a [String], item: &mut Item<'a>) -> bool {
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
        } else if self.maybe.contains(&arg) {
            item.end += usize::from(takes_word(item.end));
        } else if self.many.contains(&arg) {
            while takes_word(item.end) {
                item.end += 1;
            }
        } else if self.switches.contains(&arg) || self.is_cluster(arg) {
            return false;
        } else {
            return self.read_glued(arg, item);
        }
        if item.end > item.at + 1 {
            item.value = Some(args[item.end - 1].as_str());
        }
        false
    }

    /// Several short switches in one argument, such as `-pc`.
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

    /// A short flag with its value in the same argument, such as `-mgpt`; else unknown.
    fn read_glued<'a>(&self, arg: &'a str, item: &mut Item<'a>) -> bool {
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
