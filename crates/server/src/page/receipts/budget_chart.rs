//! Budget chart: included items by section, and after the limit line the omitted items by reason, at one scale.

use super::body::{ItemTotal, ReceiptBody, ReceiptItem, ReceiptSection, sum};
use super::wording::{CutReason, item_name, section_name};
use crate::page::view::chart::put;
use crate::page::view::{Html, escape, number, plural, swatch};
use std::collections::BTreeMap;

/// Width of the gap at the limit line, percent of the chart.
const GAP: f64 = 0.4;
/// Least width of the budget in the chart, percent; a narrower one is drawn a second time, enlarged.
const BUDGET_MIN: f64 = 45.0;
/// Least width of an omitted item that is drawn on its own, percent; smaller ones of a reason are drawn as one.
const CUT_MIN: f64 = 0.6;

/// Entry of the legend: swatch, name, and size.
pub(super) struct LegendEntry {
    pub(super) swatch: Html,
    pub(super) name: String,
    pub(super) size: String,
}

/// Chart with its legend.
pub(super) struct BudgetChart {
    pub(super) svg: Html,
    pub(super) legend: Vec<LegendEntry>,
}

/// Omitted items of one reason: size, number, and the listed ones.
#[derive(Default)]
struct CutGroup<'a> {
    size: u64,
    count: usize,
    items: Vec<&'a ReceiptItem>,
}

/// Omitted items by reason.
type CutGroups<'a> = BTreeMap<CutReason, CutGroup<'a>>;

/// Returns the chart series of a section.
pub(super) fn series(section: usize) -> usize {
    section % 7 + 1
}

/// Draws the chart and its legend.
pub(super) fn render_chart(body: ReceiptBody<'_>, sections: &[ReceiptSection]) -> BudgetChart {
    let groups = cut_groups(body, sections);
    let cut = sum(sections.iter().map(ReceiptSection::left_out));
    let inside = as_f64(body.budget().max(body.used()).max(1));
    let gap = if cut.size > 0 { GAP } else { 0.0 };
    let scale = (100.0 - gap) / (inside + as_f64(cut.size));
    let limit = inside * scale;
    let is_enlarged = limit < BUDGET_MIN;
    let height = if is_enlarged { 142 } else { 72 };
    let mut svg = format!(
        "<svg class=\"chart\" height=\"{height}\" role=\"img\" aria-labelledby=\"b-t b-d\"><title id=\"b-t\">"
    );
    let unit = body.unit();
    let (used, budget) = (number(body.used()), number(body.budget()));
    escape(&format!("The budget: {used} of {budget} {unit}"), &mut svg);
    svg.push_str("</title><desc id=\"b-d\">");
    let legend = legend(body, sections, &groups);
    escape(&text_alternative(body, &legend, cut.size), &mut svg);
    svg.push_str("</desc>");
    let row = ChartRow {
        y: 24,
        height: 44,
        scale,
        limit,
        unit,
    };
    row.draw_sections(sections, &mut svg);
    row.draw_omitted(&groups, gap, &mut svg);
    draw_captions(body, cut.size, limit, &mut svg);
    if is_enlarged {
        let row = ChartRow {
            y: 104,
            height: 34,
            scale: 100.0 / inside,
            limit: 100.0,
            unit,
        };
        put(
            &mut svg,
            format_args!(
                "<line class=\"zoom\" x1=\"0\" x2=\"0\" y1=\"68\" y2=\"104\"/><line class=\"zoom\" x1=\"{limit:.2}%\" x2=\"100%\" y1=\"68\" y2=\"104\"/><text x=\"6\" y=\"98\">in: {used} {unit}</text>"
            ),
        );
        row.draw_sections(sections, &mut svg);
    }
    svg.push_str("</svg>");
    BudgetChart {
        svg: Html::from_markup(svg),
        legend,
    }
}

/// Groups all omitted items by reason, also those that a receipt only counts.
fn cut_groups<'a>(body: ReceiptBody<'_>, sections: &'a [ReceiptSection]) -> CutGroups<'a> {
    let mut groups = CutGroups::new();
    for section in sections {
        for item in section.items.iter().filter(|item| !item.is_in) {
            let group = groups.entry(CutReason::of(item, body)).or_default();
            group.size += item.size;
            group.count += 1;
            group.items.push(item);
        }
        let unfit = section.more_unfit.unwrap_or_default();
        let rest = ItemTotal {
            count: section.more.saturating_sub(unfit.count),
            size: section.more_size.saturating_sub(unfit.size),
        };
        let reason = match section.more_unfit {
            Some(_) => CutReason::UnlistedIrrelevant,
            None => CutReason::Unlisted,
        };
        for (reason, more) in [(CutReason::DidNotFit, unfit), (reason, rest)] {
            if more.count > 0 {
                let group = groups.entry(reason).or_default();
                group.size += more.size;
                group.count += more.count;
            }
        }
    }
    groups
}

/// Row of the chart.
struct ChartRow {
    y: u32,
    height: u32,
    /// Percent of the chart for one unit of the budget.
    scale: f64,
    /// End of the budget, percent.
    limit: f64,
    unit: &'static str,
}

impl ChartRow {
    /// Draws the included items by section, and the free part of the budget.
    fn draw_sections(&self, sections: &[ReceiptSection], svg: &mut String) {
        let mut x = 0.0;
        for (at, section) in sections.iter().enumerate() {
            let items: Vec<_> = section.items.iter().filter(|item| item.is_in).collect();
            if items.is_empty() {
                continue;
            }
            let name = section_name(&section.name);
            let class = format!("c{}", series(at));
            // Headings and line breaks of a section are distributed over its items.
            let stretch = as_f64(section.size) / as_f64(section.included().size.max(1));
            for item in items {
                let wide = as_f64(item.size) * stretch * self.scale;
                let size = number(item.size);
                let words = format!("{name}: {}, {size} {}", short_name(item), self.unit);
                self.draw_rect(&class, x, (wide - 0.16).max(wide / 2.0), &words, svg);
                x += wide;
            }
        }
        if x < self.limit {
            let free = self.limit - x;
            self.draw_rect("f-track", x, free, "free", svg);
        }
    }

    /// Draws the omitted items after the limit line.
    fn draw_omitted(&self, groups: &CutGroups<'_>, gap: f64, svg: &mut String) {
        let mut x = self.limit + gap;
        for (reason, group) in groups {
            let start = x;
            let mut items = group.items.clone();
            items.sort_by_key(|item| std::cmp::Reverse(item.size));
            let mut rest = (group.size, group.count);
            for item in items {
                let wide = as_f64(item.size) * self.scale;
                if wide < CUT_MIN {
                    break;
                }
                rest = (rest.0 - item.size, rest.1 - 1);
                let size = number(item.size);
                let words = format!(
                    "{}: {}, {size} {}",
                    reason.words(),
                    short_name(item),
                    self.unit
                );
                self.draw_rect("cutbox", x, wide - 0.2, &words, svg);
                x += wide;
            }
            if rest.1 > 0 {
                let wide = as_f64(rest.0) * self.scale;
                let items = plural(rest.1, "item", "items");
                let words = format!(
                    "{}: {items}, {} {}",
                    reason.words(),
                    number(rest.0),
                    self.unit
                );
                self.draw_rect("cutbox", x, (wide - 0.2).max(wide / 2.0), &words, svg);
                x += wide;
            }
            let label = reason.words();
            // A character is at most one percent wide where labels are shown.
            if x - start > as_f64(label.len() as u64) + 2.0 {
                put(
                    svg,
                    format_args!(
                        "<text class=\"halo hide-s\" x=\"{:.2}%\" y=\"{}\">{label}</text>",
                        start + 0.8,
                        self.y + self.height / 2 + 4
                    ),
                );
            }
        }
    }

    fn draw_rect(&self, class: &str, x: f64, wide: f64, words: &str, svg: &mut String) {
        put(
            svg,
            format_args!(
                "<rect class=\"{class}\" x=\"{x:.3}%\" width=\"{wide:.3}%\" y=\"{}\" height=\"{}\"><title>",
                self.y, self.height
            ),
        );
        escape(words, svg);
        svg.push_str("</title></rect>");
    }
}

/// Draws the limit line and the captions above the bar.
fn draw_captions(body: ReceiptBody<'_>, cut: u64, limit: f64, svg: &mut String) {
    let unit = body.unit();
    put(
        svg,
        format_args!(
            "<line class=\"lim\" x1=\"{limit:.2}%\" x2=\"{limit:.2}%\" y1=\"8\" y2=\"74\"/>"
        ),
    );
    let (at, end) = if limit < BUDGET_MIN {
        (limit + 0.8, "")
    } else {
        put(
            svg,
            format_args!(
                "<text x=\"0\" y=\"16\">in: {} {unit}</text>",
                number(body.used())
            ),
        );
        (limit - 0.6, " end")
    };
    put(
        svg,
        format_args!(
            "<text x=\"{at:.2}%\" y=\"16\" class=\"t-strong{end}\">budget {}</text>",
            number(body.budget())
        ),
    );
    if cut > 0 && limit < 90.0 {
        let narrow = if limit > 64.0 { " hide-s" } else { "" };
        put(
            svg,
            format_args!(
                "<text x=\"100%\" y=\"16\" class=\"end{narrow}\">cut: {} {unit}</text>",
                number(cut)
            ),
        );
    }
}

/// Returns the legend: sections with included items, the free part, and the reasons of omitted items.
fn legend(
    body: ReceiptBody<'_>,
    sections: &[ReceiptSection],
    groups: &CutGroups<'_>,
) -> Vec<LegendEntry> {
    let inside = sections.iter().enumerate();
    let inside = inside.filter(|(_, section)| section.included().count > 0);
    let inside = inside.map(|(at, section)| LegendEntry {
        swatch: swatch(series(at)),
        name: section_name(&section.name),
        size: number(section.size),
    });
    let plain = |class: &str| {
        Html::from_markup(format!(
            "<svg class=\"sw\" aria-hidden=\"true\"><rect class=\"{class}\" x=\".5\" y=\".5\" width=\"8\" height=\"8\"/></svg>"
        ))
    };
    let free = (body.free() > 0).then(|| LegendEntry {
        swatch: plain("f-track"),
        name: "Free".to_owned(),
        size: number(body.free()),
    });
    let cut = groups.iter().map(|(reason, group)| LegendEntry {
        swatch: plain("cutbox"),
        name: format!(
            "Cut, {}: {}",
            reason.words(),
            plural(group.count, "item", "items")
        ),
        size: number(group.size),
    });
    inside.chain(free).chain(cut).collect()
}

fn text_alternative(body: ReceiptBody<'_>, legend: &[LegendEntry], cut: u64) -> String {
    let unit = body.unit();
    let parts: Vec<String> = legend
        .iter()
        .map(|entry| format!("{} {} {unit}", entry.name, entry.size))
        .collect();
    format!(
        "{}. {} {unit} were cut. The table below lists each item.",
        parts.join("; "),
        number(cut)
    )
}

#[expect(clippy::cast_precision_loss, reason = "places on a chart")]
fn as_f64(n: u64) -> f64 {
    n as f64
}

fn short_name(item: &ReceiptItem) -> String {
    heirloom_model::text::excerpt(&item_name(item, None).words, 60)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn chart(used: u64, cut: &[u64], more: u64) -> (String, Vec<(String, String)>) {
        let mut items =
            vec![json!({"text": "in", "chars": used * 4, "included": true, "reason": "by worth"})];
        items.extend(cut.iter().map(|size| {
            json!({"text": "out", "chars": size * 4, "included": false, "reason": "did not fit"})
        }));
        let Value::Object(body) = json!({
            "unit": "tokens", "budget": 500, "tokens": used, "chars": used * 4,
            "sections": [{"name": "Key Facts", "chars": used * 4, "items": items,
                "more_left_out": u64::from(more > 0), "more_left_out_chars": more * 4}],
        }) else {
            unreachable!()
        };
        let body = ReceiptBody(&body);
        let chart = render_chart(body, &body.sections());
        let legend = chart
            .legend
            .into_iter()
            .map(|entry| (entry.name, entry.size));
        (chart.svg.to_string(), legend.collect())
    }

    /// Returns the sum of the widths of the rectangles with a class in the first row, percent.
    fn width(svg: &str, class: &str) -> f64 {
        let rects = svg.split("<rect class=\"").skip(1);
        let own = rects.filter(|rect| rect.starts_with(class) && rect.contains("y=\"24\""));
        own.map(|rect| {
            let (_, rest) = rect.split_once("width=\"").unwrap();
            rest.split('%').next().unwrap().parse::<f64>().unwrap()
        })
        .sum()
    }

    #[test]
    fn omitted_items_have_the_scale_of_the_budget_also_if_they_are_larger() {
        for (cut, more) in [
            (&[100, 150][..], 0),
            (&[1_961, 551], 0),
            (&[2_000], 500),
            (&[], 9_000),
        ] {
            let (svg, _) = chart(500, cut, more);
            let size: u64 = cut.iter().sum::<u64>() + more;
            let ratio = width(&svg, "cutbox") / width(&svg, "c1");
            let expected = as_f64(size) / 500.0;
            assert!(
                (ratio - expected).abs() < expected / 20.0,
                "{ratio} {expected}: {svg}"
            );
            let whole = width(&svg, "cutbox") + width(&svg, "c1");
            assert!(whole <= 100.0 && whole > 98.0, "{whole}: {svg}");
        }
    }

    #[test]
    fn legend_names_every_section_and_reason() {
        let (svg, legend) = chart(400, &[1, 2], 7);
        let of = |name: &str, size: &str| (name.to_owned(), size.to_owned());
        let expected = [
            of("Facts", "400"),
            of("Free", "100"),
            of("Cut, did not fit: 2 items", "3"),
            of("Cut, not listed one by one: 1 item", "7"),
        ];
        assert_eq!(legend, expected);
        assert!(svg.contains("10 tokens were cut"), "{svg}");
        assert!(!svg.contains("class=\"zoom\""), "{svg}");
        assert!(chart(400, &[2_000], 0).0.contains("class=\"zoom\""));
    }
}
