//! What changes between two texts, line by line, as people read it.

/// Lines around a change that are shown.
const AROUND: usize = 3;
/// Lines of both texts, multiplied, up to which the shortest change is looked for.
const CELLS_MAX: usize = 4_000_000;

/// One line of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line<'t> {
    Same(&'t str),
    Gone(&'t str),
    Come(&'t str),
}

/// The change from `before` to `after` with some lines around it; empty for none.
pub(crate) fn diff(name: &str, before: &str, after: &str) -> String {
    if before == after {
        return String::new();
    }
    let lines = lines(before, after);
    let is_shown = |n: usize| {
        let from = n.saturating_sub(AROUND);
        let to = (n + AROUND + 1).min(lines.len());
        lines[from..to]
            .iter()
            .any(|line| !matches!(line, Line::Same(_)))
    };
    let mut said = format!("--- {name}\n+++ {name}\n");
    let mut was_shown = false;
    let (mut old, mut new) = (1, 1);
    for (n, line) in lines.iter().enumerate() {
        let shown = is_shown(n);
        if shown && !was_shown {
            said.push_str(&format!("@@ -{old} +{new} @@\n"));
        }
        was_shown = shown;
        let (mark, text) = match line {
            Line::Same(text) => (' ', text),
            Line::Gone(text) => ('-', text),
            Line::Come(text) => ('+', text),
        };
        if shown {
            said.push_str(&format!("{mark}{text}\n"));
        }
        old += usize::from(!matches!(line, Line::Come(_)));
        new += usize::from(!matches!(line, Line::Gone(_)));
    }
    said
}

fn lines<'t>(before: &'t str, after: &'t str) -> Vec<Line<'t>> {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let head = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let (old_rest, new_rest) = (&old[head..], &new[head..]);
    let pairs = old_rest.iter().rev().zip(new_rest.iter().rev());
    let tail = pairs.take_while(|(a, b)| a == b).count();
    let old_mid = &old_rest[..old_rest.len() - tail];
    let new_mid = &new_rest[..new_rest.len() - tail];
    let mut all: Vec<Line<'t>> = old[..head].iter().map(|line| Line::Same(line)).collect();
    all.extend(middle(old_mid, new_mid));
    all.extend(old[old.len() - tail..].iter().map(|line| Line::Same(line)));
    all
}

/// The shortest change of the lines that differ; all of them for very long texts.
fn middle<'t>(old: &[&'t str], new: &[&'t str]) -> Vec<Line<'t>> {
    if old.len().saturating_mul(new.len()) > CELLS_MAX {
        let gone = old.iter().map(|line| Line::Gone(line));
        return gone
            .chain(new.iter().map(|line| Line::Come(line)))
            .collect();
    }
    // How many lines are the same from here to the ends.
    let width = new.len() + 1;
    let mut same = vec![0_u32; (old.len() + 1) * width];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            same[i * width + j] = if old[i] == new[j] {
                same[(i + 1) * width + j + 1] + 1
            } else {
                same[(i + 1) * width + j].max(same[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut all = Vec::new();
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i] == new[j] {
            all.push(Line::Same(old[i]));
            (i, j) = (i + 1, j + 1);
        } else if i < old.len()
            && (j == new.len() || same[(i + 1) * width + j] >= same[i * width + j + 1])
        {
            all.push(Line::Gone(old[i]));
            i += 1;
        } else {
            all.push(Line::Come(new[j]));
            j += 1;
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_changes_is_shown() {
        let before: String = (0..20).map(|n| format!("{n}\n")).collect();
        let after = before.replace("10\n", "10\nnew\n").replace("2\n", "two\n");
        let said = diff("f", &before, &after);
        assert!(
            said.contains("@@ -1 +1 @@\n 0\n 1\n-2\n+two\n 3\n"),
            "{said}"
        );
        assert!(said.contains(" 10\n+new\n 11\n"), "{said}");
        assert!(!said.contains(" 17\n"), "{said}");
        assert_eq!(diff("f", &before, &before), "");
        assert_eq!(diff("f", "", "a\n"), "--- f\n+++ f\n@@ -1 +1 @@\n+a\n");
    }
}
