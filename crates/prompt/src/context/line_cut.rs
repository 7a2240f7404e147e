//! Offers that are cut at a line because they are too long for the rest of the budget, with a note about what is omitted.

use super::measured_offer::MeasuredOffer;
use heirloom_model::section::Frame;
use heirloom_model::text;

impl MeasuredOffer<'_> {
    /// Returns the part of the offer that fits `chars_max`: its frame, whole lines, and a note with the number of
    /// omitted lines. `None` if not one line fits, or if the offer has no frame.
    pub(super) fn cut(&self, chars_max: usize) -> Option<String> {
        self.cut_with(self.offer.frame?, chars_max)
    }

    /// Returns the first lines of a standing text that fit `chars_max`, and the number of missing lines. A note with
    /// the name of the text follows what is cut.
    pub(super) fn first_lines(&self, chars_max: usize, name: &str) -> (Option<String>, usize) {
        if self.chars <= chars_max {
            return (Some(self.lines.clone()), 0);
        }
        let lines: Vec<&str> = self.lines.split_inclusive('\n').collect();
        let head = self.offer.frame.map_or(0, |frame| frame.head_bytes);
        let is_blank = |line: &&&str| line.trim().is_empty();
        let content = |from: usize| {
            lines
                .iter()
                .skip(from)
                .filter(|line| !is_blank(line))
                .count()
        };
        let note = |missing: usize| {
            let word = if missing == 1 { "line" } else { "lines" };
            format!("… {missing} more {word} of {name} did not fit\n")
        };
        let Some(space) = chars_max.checked_sub(text::chars(&note(lines.len()))) else {
            return (None, content(0));
        };
        let (mut used, mut bytes, mut count) = (0, 0, 0);
        for line in &lines {
            used += text::chars(line);
            if used > space {
                break;
            }
            bytes += line.len();
            count += 1;
        }
        let gap = self.lines.len() - self.lines.trim_start_matches('\n').len();
        // A title alone has no information.
        if bytes <= head + gap {
            return (None, content(0));
        }
        let missing = content(count);
        let kept = self.lines.get(..bytes).unwrap_or_default();
        (Some(format!("{kept}{}", note(missing))), missing)
    }

    /// Returns the part of the offer that fits `chars_max` with a frame, as [`Self::cut`].
    pub(super) fn cut_with(&self, frame: Frame, chars_max: usize) -> Option<String> {
        let whole = self.lines.strip_prefix('\n').unwrap_or(&self.lines);
        // Sanitizing may have moved the bytes of the frame.
        if whole.trim_end() != self.offer.text.trim_end() {
            return None;
        }
        let gap = &self.lines[..self.lines.len() - whole.len()];
        let above = whole.get(..frame.head_bytes)?;
        let below = whole.get(whole.len().checked_sub(frame.tail_bytes)?..)?;
        let body = whole.get(frame.head_bytes..whole.len() - frame.tail_bytes)?;
        let all = body.lines().count();
        let around = [gap, above, below].map(text::chars).iter().sum::<usize>();
        let space = chars_max
            .checked_sub(around + text::chars(&render_cut_note(all, frame.keeps_last_lines)))?;
        let fits = |sizes: &mut dyn Iterator<Item = &str>| {
            let (mut space, mut end, mut line_count) = (space, 0, 0);
            for line in sizes {
                match space.checked_sub(text::chars(line)) {
                    Some(left) => space = left,
                    None => break,
                }
                end += line.len();
                line_count += 1;
            }
            (end, line_count)
        };
        let (end, line_count) = match frame.keeps_last_lines {
            true => fits(&mut body.split_inclusive('\n').rev()),
            false => fits(&mut body.split_inclusive('\n')),
        };
        let note = render_cut_note(all - line_count, frame.keeps_last_lines);
        (line_count > 0).then(|| match frame.keeps_last_lines {
            true => format!("{gap}{above}{note}{}{below}", &body[body.len() - end..]),
            false => format!("{gap}{above}{}{below}{note}", &body[..end]),
        })
    }
}

fn render_cut_note(lines: usize, are_older: bool) -> String {
    let word = if lines == 1 { "line" } else { "lines" };
    match are_older {
        true => format!("… {lines} older {word} did not fit\n"),
        false => format!("… {lines} more {word} did not fit\n"),
    }
}
