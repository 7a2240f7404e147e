//! Values that a person judged: a share of a sample, with the commit whose records were judged and its date.

use super::document::RESULTS;
use super::metrics::{JUDGED, METRICS};
use serde_json::{Value, json};

/// A judgement: how many of a sample are good.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Judgement {
    id: &'static str,
    title: &'static str,
    good: u32,
    sample: u32,
}

impl Judgement {
    /// Parses the arguments of `--judged`: the name of the metric and a share such as `34/40`.
    pub(super) fn parse(id: &str, share: &str) -> Result<Self, String> {
        let row = (METRICS.iter())
            .find(|row| row.id == id && row.id.starts_with(JUDGED))
            .ok_or_else(|| format!("`{id}` is no metric that people judge"))?;
        let numbers = share.split_once('/').and_then(|(good, sample)| {
            let numbers: (u32, u32) = (good.parse().ok()?, sample.parse().ok()?);
            (numbers.0 <= numbers.1 && numbers.1 > 0).then_some(numbers)
        });
        let (good, sample) =
            numbers.ok_or_else(|| format!("`{share}` is no share such as `34/40`"))?;
        Ok(Self {
            id: row.id,
            title: row.title,
            good,
            sample,
        })
    }

    /// Returns the results with this judgement instead of an earlier one of the same metric.
    pub(super) fn add_to(
        &self,
        results: &str,
        commit: Option<&str>,
        date: Option<&str>,
    ) -> Result<String, String> {
        let mut value: Value = match results {
            "" => json!({}),
            text => serde_json::from_str(text).map_err(|error| format!("{}: {error}", file()))?,
        };
        let mut metrics = value["metrics"].as_array().cloned().unwrap_or_default();
        metrics.retain(|metric| metric["id"] != self.id);
        metrics.push(json!({
            "id": self.id, "name": self.title, "unit": "%", "sample": self.sample, "good": self.good,
            "median": (1_000.0 * f64::from(self.good) / f64::from(self.sample)).round() / 10.0,
            "date": date, "commit": commit,
        }));
        value["group"] = json!(JUDGED);
        value["date"] = json!(date);
        value["commit"] = json!(commit);
        value["machine"] = json!("read by a person");
        value["metrics"] = json!(metrics);
        Ok(format!("{value:#}\n"))
    }
}

/// Returns the path of the results.
pub(super) fn file() -> String {
    format!("{RESULTS}{JUDGED}.json")
}

#[cfg(test)]
mod tests {
    use super::super::document::Results;
    use super::*;

    #[test]
    fn judgement_replaces_earlier_one_and_is_rendered_with_its_sample() {
        let first = Judgement::parse("judged.lessons", "20/40").unwrap();
        let written = first.add_to("", Some("abc"), None).unwrap();
        let second = Judgement::parse("judged.lessons", "34/40").unwrap();
        let written = second
            .add_to(&written, Some("def"), Some("2026-04-01"))
            .unwrap();
        let value: Value = serde_json::from_str(&written).unwrap();
        assert_eq!(value["metrics"].as_array().map(Vec::len), Some(1));
        assert_eq!(
            (&value["commit"], &value["group"]),
            (&json!("def"), &json!("judged"))
        );
        let results = Results::parse([(file().as_str(), written.as_str())]).unwrap();
        let filled = results
            .fill("<!-- bench: metrics -->\n<!-- end -->")
            .unwrap();
        assert!(
            filled.contains("read by eye, 40 of them | 85 % | – | ≥ 60 % | yes |"),
            "{filled}"
        );
    }

    #[test]
    fn unknown_metric_and_wrong_share_are_refused() {
        for (id, share) in [
            ("lessons.kept", "1/2"),
            ("judged.gone", "1/2"),
            ("judged.lessons", "3/2"),
            ("judged.lessons", "0/0"),
            ("judged.lessons", "85"),
        ] {
            assert!(Judgement::parse(id, share).is_err(), "{id} {share}");
        }
    }
}
