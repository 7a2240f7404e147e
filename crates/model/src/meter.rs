//! What writers may cost a day, and what they have cost. Pure: the caller keeps the numbers and knows the time.

use crate::writer::{Estimate, WriteError, WriteProblem, Written};
use crate::{Fault, Timestamp, civil, tz};
use serde::{Deserialize, Serialize};

/// What a model costs, in millionths of a dollar for a million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Price {
    /// Of the question.
    pub input_micros: u64,
    /// Of the answer.
    pub output_micros: u64,
    /// Of what comes out of the service's cache.
    pub cached_micros: u64,
}

impl Price {
    /// What so many tokens cost, in millionths of a dollar, rounded up.
    pub fn cost_micros(self, input_tokens: u64, cached_tokens: u64, output_tokens: u64) -> u64 {
        let cached_tokens = cached_tokens.min(input_tokens);
        let parts = [
            (input_tokens - cached_tokens, self.input_micros),
            (cached_tokens, self.cached_micros),
            (output_tokens, self.output_micros),
        ];
        let of_a_million = |(tokens, price): (u64, u64)| u128::from(tokens) * u128::from(price);
        let sum = parts
            .into_iter()
            .map(of_a_million)
            .fold(0, u128::saturating_add);
        u64::try_from(sum.div_ceil(1_000_000)).unwrap_or(u64::MAX)
    }
}

/// One line of a price list: `MODEL INPUT OUTPUT CACHED`, dollars for a million tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PriceRow {
    /// The model's name without a date.
    pub model: String,
    /// What it costs.
    pub price: Price,
}

impl PriceRow {
    /// Reads a line. Errors say what is wrong with it.
    pub fn parse(line: &str) -> Result<Self, String> {
        let wrong = || format!("`{line}` is no `MODEL INPUT OUTPUT CACHED`");
        let mut words = line.split_whitespace();
        let model = words.next().ok_or_else(wrong)?.to_owned();
        let mut next = || {
            let word = words.next().ok_or_else(wrong)?;
            parse_dollars(word).ok_or_else(|| format!("`{word}` in `{line}` is no price"))
        };
        let price = Price {
            input_micros: next()?,
            output_micros: next()?,
            cached_micros: next()?,
        };
        match words.next() {
            Some(_) => Err(wrong()),
            None => Ok(Self { model, price }),
        }
    }

    /// Whether this is the row of `model`: the same name, or the name with a date or `latest` behind it.
    pub fn is_of(&self, model: &str) -> bool {
        let Some(rest) = model.trim().strip_prefix(self.model.as_str()) else {
            return false;
        };
        let date = rest.strip_prefix(['-', '@']);
        rest.is_empty()
            || date.is_some_and(|date| {
                let digits = date.bytes().take_while(u8::is_ascii_digit).count();
                date == "latest" || digits >= 4
            })
    }
}

/// `0.125` in millionths; none for anything that is no such number, or has more than six digits behind the point.
fn parse_dollars(word: &str) -> Option<u64> {
    let (whole, part) = word.split_once('.').unwrap_or((word, "0"));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(whole) || !is_number(part) || whole.len() > 6 || part.len() > 6 {
        return None;
    }
    let whole: u64 = whole.parse().ok()?;
    let part: u64 = format!("{part:0<6}").parse().ok()?;
    Some(whole * 1_000_000 + part)
}

/// What a day may cost. Zero is no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DailyLimits {
    /// Tokens of questions and answers together.
    pub tokens: u64,
    /// Hundredths of a dollar. Counts only where the model's price is known.
    pub cents: u64,
}

/// What one day has cost: what the caller keeps.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Spent {
    /// The day, by UTC; none before the first call.
    pub day: Option<civil::Date>,
    /// Calls that brought a text.
    pub calls: u64,
    /// Calls that brought none.
    pub failures: u64,
    /// Tokens of the questions; of what was lost, by the estimate.
    pub input_tokens: u64,
    /// Those of them that came out of a cache.
    pub cached_tokens: u64,
    /// Tokens of the answers.
    pub output_tokens: u64,
    /// Millionths of a dollar.
    pub cost_micros: u64,
}

impl Spent {
    /// Tokens of questions and answers.
    pub fn tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
}

/// Counts what writers cost, and says when it is enough.
///
/// A day is never over its limits by more than what the last call took beyond its estimate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Meter {
    limits: DailyLimits,
    price: Option<Price>,
    spent: Spent,
}

impl Meter {
    /// A meter that goes on from what was kept. Without a price money is not counted.
    pub fn new(limits: DailyLimits, price: Option<Price>, spent: Spent) -> Self {
        Self {
            limits,
            price,
            spent,
        }
    }

    /// What is to be kept.
    pub fn spent(&self) -> &Spent {
        &self.spent
    }

    /// What counts today: what is kept if it is of this day, else nothing.
    pub fn today(&self, now: Timestamp) -> Spent {
        let day = day_of(now);
        match self.spent.day {
            Some(kept) if is_same_day(kept, day) => self.spent.clone(),
            _ => Spent {
                day: Some(day),
                ..Spent::default()
            },
        }
    }

    /// Whether a call of this size fits into what is left of the day. Changes nothing.
    ///
    /// The error is [`WriteProblem::OverBudget`]; it says what is spent, and when the next day begins.
    pub fn check(&self, estimate: Estimate, now: Timestamp) -> Result<(), WriteError> {
        let today = self.today(now);
        let needed = estimate.input_tokens.saturating_add(estimate.output_tokens);
        let (limit, used) = (self.limits.tokens, today.tokens());
        if limit > 0 && used.saturating_add(needed) > limit {
            let said = format!(
                "{used} of the day's {limit} tokens for summaries are used, and this one may need {needed}"
            );
            return Err(over(&today, &said, "writer.daily_tokens"));
        }
        let limit = self.limits.cents.saturating_mul(10_000);
        let cost = self.cost(estimate.input_tokens, 0, estimate.output_tokens);
        if limit > 0 && today.cost_micros.saturating_add(cost) > limit {
            let said = format!(
                "{} of the day's {} for summaries are used, and this one may cost {}",
                dollars(today.cost_micros),
                dollars(limit),
                dollars(cost)
            );
            return Err(over(&today, &said, "writer.daily_cents"));
        }
        Ok(())
    }

    /// Takes what a call may need out of the day before it is made: whoever asks at the same time, or dies while
    /// asking, spends nothing twice. [`Meter::settle`] follows. Errors: those of [`Meter::check`].
    pub fn reserve(&mut self, estimate: Estimate, now: Timestamp) -> Result<(), WriteError> {
        self.check(estimate, now)?;
        self.spent = self.today(now);
        self.add(estimate.input_tokens, 0, estimate.output_tokens);
        Ok(())
    }

    /// Counts what a call took in place of what was reserved for it.
    pub fn settle(
        &mut self,
        answered: &Result<Written, WriteError>,
        estimate: Estimate,
        reserved_at: Timestamp,
        now: Timestamp,
    ) {
        if self
            .spent
            .day
            .is_some_and(|day| is_same_day(day, day_of(reserved_at)))
        {
            let cost = self.cost(estimate.input_tokens, 0, estimate.output_tokens);
            let spent = &mut self.spent;
            spent.input_tokens = spent.input_tokens.saturating_sub(estimate.input_tokens);
            spent.output_tokens = spent.output_tokens.saturating_sub(estimate.output_tokens);
            spent.cost_micros = spent.cost_micros.saturating_sub(cost);
        }
        match answered {
            Ok(written) => self.charge(written, estimate, now),
            Err(error) => self.fail(error.lost_tries, estimate, now),
        }
    }

    /// Counts a call that brought a text, and the tries that were lost on the way to it.
    pub fn charge(&mut self, written: &Written, estimate: Estimate, now: Timestamp) {
        self.spent = self.today(now);
        self.spent.calls = self.spent.calls.saturating_add(1);
        self.lose(written.lost_tries, estimate);
        self.add(
            written.input_tokens,
            written.cached_tokens,
            written.output_tokens,
        );
    }

    /// Counts a call that brought none. Tries of which nobody knows what they took count by the estimate.
    pub fn fail(&mut self, lost_tries: u32, estimate: Estimate, now: Timestamp) {
        self.spent = self.today(now);
        self.spent.failures = self.spent.failures.saturating_add(1);
        self.lose(lost_tries, estimate);
    }

    fn lose(&mut self, tries: u32, estimate: Estimate) {
        for _ in 0..tries {
            self.add(estimate.input_tokens, 0, estimate.output_tokens);
        }
    }

    fn add(&mut self, input: u64, cached: u64, output: u64) {
        let cost = self.cost(input, cached, output);
        let spent = &mut self.spent;
        spent.input_tokens = spent.input_tokens.saturating_add(input);
        spent.cached_tokens = spent.cached_tokens.saturating_add(cached.min(input));
        spent.output_tokens = spent.output_tokens.saturating_add(output);
        spent.cost_micros = spent.cost_micros.saturating_add(cost);
    }

    fn cost(&self, input: u64, cached: u64, output: u64) -> u64 {
        let price = self.price;
        price.map_or(0, |price| price.cost_micros(input, cached, output))
    }
}

fn day_of(now: Timestamp) -> civil::Date {
    now.to_zoned(tz::TimeZone::UTC).date()
}

/// A clock that is set back over midnight does not give the day's budget a second time; one that was wrong by more
/// must not stop everything until its day comes.
fn is_same_day(kept: civil::Date, today: civil::Date) -> bool {
    kept == today || kept.yesterday().is_ok_and(|before| before == today)
}

fn over(today: &Spent, said: &str, key: &str) -> WriteError {
    let day = today.day.unwrap_or_default();
    let next = day
        .tomorrow()
        .and_then(|next| next.to_zoned(tz::TimeZone::UTC));
    let resets_at = next.map_or(Timestamp::MAX, |next| next.timestamp());
    WriteError {
        problem: WriteProblem::OverBudget { resets_at },
        fault: Fault::refused(format!("{said}; the next day begins at {resets_at}"))
            .hint(format!("wait, or set `{key}` higher")),
        lost_tries: 0,
    }
}

/// Millionths of a dollar, as a person reads them.
pub fn dollars(micros: u64) -> String {
    format!("${}.{:04}", micros / 1_000_000, micros % 1_000_000 / 100)
}

#[cfg(test)]
#[path = "meter/tests.rs"]
mod tests;
