//! Licence expressions (SPDX): `MIT OR (Apache-2.0 AND Zlib)`, and the older `MIT/Apache-2.0`.

/// Whether the expression can be met by licences of which `is_allowed` says yes. What cannot be read is refused.
pub(super) fn allows(expression: &str, is_allowed: &dyn Fn(&str) -> bool) -> bool {
    let spaced = expression
        .replace('/', " OR ")
        .replace('(', " ( ")
        .replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut reader = Reader {
        words: &words,
        is_allowed,
    };
    reader.any() == Some(true) && reader.words.is_empty()
}

struct Reader<'w> {
    words: &'w [&'w str],
    is_allowed: &'w dyn Fn(&str) -> bool,
}

impl Reader<'_> {
    fn take(&mut self, wanted: &str) -> bool {
        match self.words.split_first() {
            Some((first, rest)) if *first == wanted => {
                self.words = rest;
                true
            }
            Some(_) | None => false,
        }
    }

    fn any(&mut self) -> Option<bool> {
        let mut met = self.all()?;
        while self.take("OR") {
            met |= self.all()?;
        }
        Some(met)
    }

    fn all(&mut self) -> Option<bool> {
        let mut met = self.one()?;
        while self.take("AND") {
            met &= self.one()?;
        }
        Some(met)
    }

    fn one(&mut self) -> Option<bool> {
        if self.take("(") {
            let met = self.any()?;
            return self.take(")").then_some(met);
        }
        let (first, rest) = self.words.split_first()?;
        self.words = rest;
        if !self.take("WITH") {
            return Some((self.is_allowed)(first));
        }
        let (exception, rest) = self.words.split_first()?;
        self.words = rest;
        Some((self.is_allowed)(&format!("{first} WITH {exception}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(expression: &str) -> bool {
        allows(expression, &|one| {
            ["MIT", "Zlib", "Apache-2.0 WITH LLVM-exception"].contains(&one)
        })
    }

    #[test]
    fn expressions_are_read_as_the_specification_says() {
        for met in [
            "MIT",
            "MIT OR GPL-3.0",
            "GPL-3.0/MIT",
            "MIT AND Zlib",
            "GPL-3.0 OR MIT AND Zlib",
            "(GPL-3.0 OR MIT) AND Zlib",
            "Apache-2.0 WITH LLVM-exception OR GPL-3.0",
        ] {
            assert!(told(met), "{met}");
        }
        for unmet in [
            "",
            "GPL-3.0",
            "MIT AND GPL-3.0",
            "(MIT OR GPL-3.0) AND GPL-2.0",
            "Apache-2.0",
            "MIT WITH LLVM-exception",
            "(MIT",
            "MIT)",
            "MIT OR",
            "MIT Zlib",
        ] {
            assert!(!told(unmet), "{unmet}");
        }
    }
}
