//! Chart of one lesson: the time at which it was learned, and the sessions that were told.

use super::DAYS;
use super::lesson_outcomes::{Delivery, LessonOutcome, LessonReport, Then, Told};
use crate::page::record_label;
use crate::page::view::chart::put;
use crate::page::view::{Html, Times, agent_mark, escape};
use heirloom_model::{Session, text};

/// Height of the base line in pixels.
const BASE: f64 = 130.0;

/// Class of a session in charts, by its course.
fn class(delivery: &Delivery) -> &'static str {
    match (&delivery.then, delivery.told) {
        (Then::Repeated(..), _) => "l-bad",
        (Then::Completed(_), Told::Yes) => "l-ok",
        (_, Told::Yes) => "l-told",
        (_, Told::Cut | Told::NoContext) => "l-cut",
    }
}

/// Returns the name of an agent for display.
pub(super) fn agent(session: &Session) -> String {
    text::replace_control_chars(session.agent.as_deref().unwrap_or("unknown agent"))
}

/// Returns the position at which a lesson was learned; before the period it is 0.
fn origin(lesson: &LessonOutcome, times: &Times) -> f64 {
    times.position(lesson.record.recorded_at, DAYS).max(0.0)
}

/// Draws the lesson with the days of the week and the marks of all sessions.
pub(super) fn draw(lesson: &LessonOutcome, report: &LessonReport, times: &Times) -> Html {
    let mut svg = String::from(
        "<svg class=\"chart\" height=\"176\" role=\"img\" aria-labelledby=\"lc-t lc-d\"><title id=\"lc-t\">Sessions after the lesson</title><desc id=\"lc-d\">",
    );
    escape(&text_alternative(lesson, times), &mut svg);
    svg.push_str("</desc><svg class=\"plot\" y=\"0\" width=\"100%\" height=\"130\" viewBox=\"0 0 1000 130\" preserveAspectRatio=\"none\">");
    draw_arcs(lesson, times, BASE, &mut svg);
    svg.push_str("<line class=\"ax\" x1=\"0\" x2=\"1000\" y1=\"130\" y2=\"130\"/></svg>");
    draw_days(times, &mut svg);
    for session in &report.sessions {
        draw_mark(session, lesson, times, &mut svg);
    }
    let x = origin(lesson, times) * 100.0;
    let (anchor, x) = match x {
        ..10.0 => ("", x.max(0.4)),
        90.0.. => ("end ", x),
        _ => ("mid ", x),
    };
    put(
        &mut svg,
        format_args!(
            "<text x=\"{x:.2}%\" y=\"{:.0}\" class=\"{anchor}t-accent halo\">learned",
            BASE - 6.0
        ),
    );
    if times.position(lesson.record.recorded_at, DAYS) < 0.0 {
        put(
            &mut svg,
            format_args!(" {}", times.day(lesson.record.recorded_at)),
        );
    }
    svg.push_str("</text></svg>");
    Html::from_markup(svg)
}

/// Draws the lesson as a small chart without texts.
pub(super) fn draw_small(lesson: &LessonOutcome, times: &Times) -> Html {
    let mut svg = String::from(
        "<svg class=\"chart\" height=\"36\" aria-hidden=\"true\"><svg class=\"plot\" width=\"100%\" height=\"36\" viewBox=\"0 0 1000 36\" preserveAspectRatio=\"none\">",
    );
    draw_arcs(lesson, times, 34.0, &mut svg);
    svg.push_str("<line class=\"grid\" x1=\"0\" x2=\"1000\" y1=\"34\" y2=\"34\"/></svg></svg>");
    Html::from_markup(svg)
}

fn draw_arcs(lesson: &LessonOutcome, times: &Times, base: f64, svg: &mut String) {
    let from = origin(lesson, times);
    for delivery in &lesson.deliveries {
        let to = times.position(delivery.session.started_at, DAYS);
        let half = ((to - from) * 500.0).max(4.0);
        let high = arc_height(half, base);
        put(
            svg,
            format_args!(
                "<path class=\"arc {}\" d=\"M{:.0} {base:.0}A{half:.0} {high:.0} 0 0 1 {:.0} {base:.0}\"/>",
                class(delivery),
                from * 1000.0,
                from * 1000.0 + 2.0 * half
            ),
        );
    }
}

/// Returns the height of an arc from half its width.
fn arc_height(half: f64, base: f64) -> f64 {
    let most = base - 18.0_f64.min(base / 6.0);
    (most * (half / 400.0).max(0.0).powf(0.6)).clamp(most / 10.0, most)
}

fn draw_mark(session: &Session, lesson: &LessonOutcome, times: &Times, svg: &mut String) {
    let delivery = lesson
        .deliveries
        .iter()
        .find(|one| one.session.id == session.id);
    let is_origin = lesson.record.scope.session.as_deref() == Some(session.id.as_str());
    let class = match (delivery, is_origin) {
        (Some(delivery), _) => class(delivery),
        (None, true) => "l-from",
        (None, false) => "l-none",
    };
    let name = agent(session);
    let x = times.position(session.started_at, DAYS) * 100.0;
    put(
        svg,
        format_args!(
            "<use href=\"#{}\" class=\"mk {class}\" x=\"{x:.2}%\" y=\"136\" width=\"10\" height=\"10\" transform=\"translate(-5 0)\"><title>",
            agent_mark(&name)
        ),
    );
    let course = delivery.map_or("", |one| course_label(&one.then));
    escape(
        &format!("{name}, {}{course}", times.full(session.started_at)),
        svg,
    );
    svg.push_str("</title></use>");
}

/// Returns the course of a session for the label of its mark.
fn course_label(then: &Then) -> &'static str {
    match then {
        Then::Repeated(..) => ": the failure came again",
        Then::Completed(_) => ": told, completed",
        Then::Failed(_) => ": told, another attempt failed",
        Then::Unknown => ": told",
    }
}

fn draw_days(times: &Times, svg: &mut String) {
    for day in 0..DAYS {
        let x = (f64::from(day) + 0.5) / f64::from(DAYS) * 100.0;
        let (name, class) = match day == DAYS - 1 {
            true => ("Today".to_owned(), "mid t-strong"),
            false => (times.weekday(times.midnight(DAYS - 1 - day)), "mid"),
        };
        if day > 0 {
            let edge = f64::from(day) / f64::from(DAYS) * 100.0;
            put(
                svg,
                format_args!(
                    "<line class=\"grid\" x1=\"{edge:.2}%\" x2=\"{edge:.2}%\" y1=\"130\" y2=\"152\"/>"
                ),
            );
        }
        put(
            svg,
            format_args!("<text x=\"{x:.2}%\" y=\"166\" class=\"{class}\">{name}</text>"),
        );
    }
}

/// Returns the chart's text alternative for screen readers.
fn text_alternative(lesson: &LessonOutcome, times: &Times) -> String {
    format!(
        "{}, learned {}. {} later sessions were told, {} of them completed an attempt; the failure came again {} times.",
        record_label::name(&lesson.record),
        times.full(lesson.record.recorded_at),
        lesson.told(),
        lesson.completed(),
        lesson.repeated()
    )
}
