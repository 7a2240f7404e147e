//! Plot with two logarithmic axes, as SVG for light and dark backgrounds.

use std::fmt::Write;

/// Size of the plot and of the margins around its field, in pixels.
const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 460.0;
const LEFT: f64 = 78.0;
const RIGHT: f64 = 150.0;
const TOP: f64 = 44.0;
const BOTTOM: f64 = 58.0;

/// Colours of lines on light and on dark backgrounds, distinguishable with red-green colour blindness.
const COLOURS: [(&str, &str); 5] = [
    ("#0b62c4", "#6cb2ff"),
    ("#b54708", "#ffb066"),
    ("#7a3ea8", "#d3a4f5"),
    ("#0b7a6f", "#5fd6c7"),
    ("#a11d5b", "#ff8fbd"),
];

/// One measured quantity: its name and its points.
pub(crate) struct Line {
    pub(crate) name: String,
    pub(crate) points: Vec<(f64, f64)>,
}

/// Plot with title, axes and lines.
pub(crate) struct Plot {
    pub(crate) title: String,
    /// Labels of the axes, with units.
    pub(crate) across: String,
    pub(crate) up: String,
    pub(crate) lines: Vec<Line>,
}

/// Range of whole decades that contains all values, as powers of ten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Decades {
    from: i32,
    to: i32,
}

impl Decades {
    fn of_values(values: impl Iterator<Item = f64>) -> Self {
        let (mut from, mut to) = (i32::MAX, i32::MIN);
        for value in values.filter(|value| *value > 0.0 && value.is_finite()) {
            // A little tolerance, so that 1,000 is on the edge of its decade and not in the next.
            from = from.min((value.log10() + 1e-9).floor() as i32);
            to = to.max((value.log10() - 1e-9).ceil() as i32);
        }
        if from > to {
            return Self { from: 0, to: 1 };
        }
        Self {
            from,
            to: to.max(from + 1),
        }
    }

    /// Returns the relative position of a value in the range, 0 to 1.
    fn position(self, value: f64) -> f64 {
        (value.log10() - f64::from(self.from)) / f64::from(self.to - self.from)
    }
}

/// Area between the axes, which maps values to pixels.
struct Field {
    across: Decades,
    up: Decades,
}

impl Field {
    fn x(&self, value: f64) -> f64 {
        LEFT + self.across.position(value) * (WIDTH - LEFT - RIGHT)
    }

    fn y(&self, value: f64) -> f64 {
        HEIGHT - BOTTOM - self.up.position(value) * (HEIGHT - TOP - BOTTOM)
    }
}

impl Plot {
    /// Renders the plot as SVG.
    pub(crate) fn svg(&self) -> String {
        let points = || self.lines.iter().flat_map(|line| line.points.iter());
        let field = Field {
            across: Decades::of_values(points().map(|point| point.0)),
            up: Decades::of_values(points().map(|point| point.1)),
        };
        let mut svg = String::new();
        write_head(&mut svg, &self.title);
        draw_grid(&mut svg, &field);
        self.draw_names(&mut svg);
        self.guide(&mut svg, &field);
        let mut used_heights: Vec<f64> = Vec::new();
        for (n, line) in self.lines.iter().enumerate() {
            draw_line(&mut svg, &field, n % COLOURS.len(), line, &mut used_heights);
        }
        svg.push_str("</svg>\n");
        svg
    }

    fn draw_names(&self, svg: &mut String) {
        let middle = (LEFT + WIDTH - RIGHT) / 2.0;
        let centre = (TOP + HEIGHT - BOTTOM) / 2.0;
        push_element(
            svg,
            &format!(
                "<text x=\"{LEFT}\" y=\"24\" class=\"title\">{}</text>",
                escape(&self.title)
            ),
        );
        let low = HEIGHT - 14.0;
        push_element(
            svg,
            &format!(
                "<text x=\"{middle:.0}\" y=\"{low:.0}\" class=\"middle\">{}</text>",
                escape(&self.across)
            ),
        );
        push_element(
            svg,
            &format!(
                "<text transform=\"translate(18 {centre:.0}) rotate(-90)\" class=\"middle\">{}</text>",
                escape(&self.up)
            ),
        );
    }

    /// Draws a dashed line for linear growth from the lower left corner of the field.
    fn guide(&self, svg: &mut String, field: &Field) {
        let power = |exponent: i32| 10_f64.powi(exponent);
        let (left, right) = (power(field.across.from), power(field.across.to));
        let (low, high) = (power(field.up.from), power(field.up.to));
        // The line ends where it leaves the field.
        let end = (left * high / low).min(right);
        let (x1, y1) = (field.x(left), field.y(low));
        let (x2, y2) = (field.x(end), field.y(low * end / left));
        push_element(
            svg,
            &format!(
                "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" class=\"guide\"/>"
            ),
        );
        let (x, y) = (x1 + 0.62 * (x2 - x1), y1 + 0.62 * (y2 - y1));
        let angle = (y2 - y1).atan2(x2 - x1).to_degrees();
        push_element(
            svg,
            &format!(
                "<text transform=\"translate({x:.1} {y:.1}) rotate({angle:.1})\" dy=\"-5\" class=\"small\">twice the records, twice as much</text>"
            ),
        );
    }
}

fn write_head(svg: &mut String, title: &str) {
    let mut style = String::from(
        "text{font:13px system-ui,sans-serif;fill:#333}.title{font-size:15px;font-weight:600}.small{font-size:11px;fill:#666}\
         .middle{text-anchor:middle}.end{text-anchor:end}.paper{fill:#fff}.axis{stroke:#888;fill:none}.grid{stroke:#ddd}.fine{stroke:#f0f0f0}\
         .guide{stroke:#888;stroke-dasharray:6 5}.line{fill:none;stroke-width:2.2}",
    );
    let mut dark = String::from(
        "text{fill:#ddd}.small{fill:#aaa}.paper{fill:#0d1117}.axis{stroke:#777}.grid{stroke:#2b313a}.fine{stroke:#1b2028}.guide{stroke:#777}",
    );
    for (n, (on_light, on_dark)) in COLOURS.iter().enumerate() {
        style.push_str(&format!(
            ".l{n}{{stroke:{on_light}}}.f{n}{{fill:{on_light}}}"
        ));
        dark.push_str(&format!(".l{n}{{stroke:{on_dark}}}.f{n}{{fill:{on_dark}}}"));
    }
    push_element(
        svg,
        &format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{}\">",
            escape(title)
        ),
    );
    push_element(
        svg,
        &format!("<style>{style}@media(prefers-color-scheme:dark){{{dark}}}</style>"),
    );
    push_element(
        svg,
        &format!("<rect width=\"{WIDTH}\" height=\"{HEIGHT}\" class=\"paper\"/>"),
    );
}

fn draw_grid(svg: &mut String, field: &Field) {
    let (right, low) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
    for exponent in field.across.from..=field.across.to {
        for digit in 1..10 {
            let value = f64::from(digit) * 10_f64.powi(exponent);
            let x = field.x(value);
            if x <= right + 0.5 {
                let class = if digit == 1 { "grid" } else { "fine" };
                push_element(
                    svg,
                    &format!(
                        "<line x1=\"{x:.1}\" y1=\"{TOP}\" x2=\"{x:.1}\" y2=\"{low}\" class=\"{class}\"/>"
                    ),
                );
            }
        }
        let x = field.x(10_f64.powi(exponent));
        let y = low + 20.0;
        push_element(
            svg,
            &format!(
                "<text x=\"{x:.1}\" y=\"{y}\" class=\"middle\">{}</text>",
                format_power(exponent)
            ),
        );
    }
    for exponent in field.up.from..=field.up.to {
        for digit in 1..10 {
            let value = f64::from(digit) * 10_f64.powi(exponent);
            let y = field.y(value);
            if y >= TOP - 0.5 {
                let class = if digit == 1 { "grid" } else { "fine" };
                push_element(
                    svg,
                    &format!(
                        "<line x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{right}\" y2=\"{y:.1}\" class=\"{class}\"/>"
                    ),
                );
            }
        }
        let (x, y) = (LEFT - 8.0, field.y(10_f64.powi(exponent)) + 4.0);
        push_element(
            svg,
            &format!(
                "<text x=\"{x}\" y=\"{y:.1}\" class=\"end\">{}</text>",
                format_power(exponent)
            ),
        );
    }
    let (wide, tall) = (right - LEFT, low - TOP);
    push_element(
        svg,
        &format!(
            "<rect x=\"{LEFT}\" y=\"{TOP}\" width=\"{wide}\" height=\"{tall}\" class=\"axis\"/>"
        ),
    );
}

/// Draws one line with its points, and its name at its end, below names that were drawn before.
fn draw_line(
    svg: &mut String,
    field: &Field,
    colour: usize,
    line: &Line,
    used_heights: &mut Vec<f64>,
) {
    let places: Vec<(f64, f64)> = line
        .points
        .iter()
        .map(|point| (field.x(point.0), field.y(point.1)))
        .collect();
    let path: Vec<String> = places
        .iter()
        .map(|(x, y)| format!("{x:.1},{y:.1}"))
        .collect();
    push_element(
        svg,
        &format!(
            "<polyline points=\"{}\" class=\"line l{colour}\"/>",
            path.join(" ")
        ),
    );
    for ((x, y), (records, value)) in places.iter().zip(&line.points) {
        push_element(
            svg,
            &format!(
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.4\" class=\"f{colour}\"><title>{records}: {value:.3}</title></circle>"
            ),
        );
    }
    let Some((x, y)) = places.last() else { return };
    let mut at = *y;
    while let Some(other) = used_heights
        .iter()
        .find(|other| (**other - at).abs() < 15.0)
    {
        at = other + 15.0;
    }
    used_heights.push(at);
    let (x, at) = (x + 9.0, at + 4.0);
    push_element(
        svg,
        &format!(
            "<text x=\"{x:.1}\" y=\"{at:.1}\" class=\"f{colour}\">{}</text>",
            escape(&line.name)
        ),
    );
}

fn push_element(svg: &mut String, element: &str) {
    // Writing to a string never fails.
    writeln!(svg, "{element}").unwrap_or_default();
}

/// Formats a power of ten for people.
fn format_power(exponent: i32) -> String {
    match exponent {
        ..0 => format!(
            "{:.*}",
            exponent.unsigned_abs() as usize,
            10_f64.powi(exponent)
        ),
        0..3 => format!("{:.0}", 10_f64.powi(exponent)),
        3..6 => format!("{:.0}k", 10_f64.powi(exponent - 3)),
        _ => format!("{:.0}M", 10_f64.powi(exponent - 6)),
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decades_of_values_contain_all_of_them() {
        let decades = |values: &[f64]| Decades::of_values(values.iter().copied());
        assert_eq!(decades(&[1_000.0, 1_000_000.0]), Decades { from: 3, to: 6 });
        assert_eq!(decades(&[0.2, 3.0]), Decades { from: -1, to: 1 });
        assert_eq!(decades(&[10.0]), Decades { from: 1, to: 2 });
        assert_eq!(decades(&[0.0, f64::NAN]), Decades { from: 0, to: 1 });
        assert!((decades(&[1.0, 100.0]).position(10.0) - 0.5).abs() < 1e-9);
    }

    #[test]
    fn powers_of_ten_are_formatted_briefly() {
        let written: Vec<String> = (-2..=6).map(format_power).collect();
        assert_eq!(
            written,
            ["0.01", "0.1", "1", "10", "100", "1k", "10k", "100k", "1M"]
        );
    }

    #[test]
    fn names_of_close_lines_do_not_overlap() {
        let line = |name: &str| Line {
            name: name.to_owned(),
            points: vec![(1_000.0, 1.0), (10_000.0, 2.0)],
        };
        let plot = Plot {
            title: "a < b".to_owned(),
            across: "records".to_owned(),
            up: "ms".to_owned(),
            lines: vec![line("one"), line("two")],
        };
        let svg = plot.svg();
        let place = |name: &str| {
            let text = svg
                .lines()
                .find(|line| line.ends_with(&format!(">{name}</text>")))
                .unwrap();
            let y = text
                .split("y=\"")
                .nth(1)
                .unwrap()
                .split('"')
                .next()
                .unwrap();
            y.parse::<f64>().unwrap()
        };
        assert!((place("two") - place("one") - 15.0).abs() < 0.01);
        assert!(svg.contains("a &lt; b") && !svg.contains("NaN"));
    }
}
