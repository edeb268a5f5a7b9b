//! Simulates a session that is answered with known labels, and measures the number of corrections and the time per
//! answer.

use super::args::Order;
use crate::error::CliError;
use crate::output::{counted, print, print_json};
use crate::progress::Progress;
use crate::streams;
use halfspaces_labelling::ACCEPTED_WRONG;
use halfspaces_linalg::rand::seq::SliceRandom;
use halfspaces_linalg::rng_for;
use halfspaces_online::{LabellingQuestion, LabellingSession};
use serde::Serialize;
use std::time::Instant;

/// Approximate number of points on the curve.
const LINES: usize = 20;

/// The simulation reports the number of answers after which each class has at least this many answers.
const ENOUGH: usize = 20;

/// The result of a simulation; `--json` prints it as it is.
#[derive(Debug, Serialize)]
pub(super) struct Simulation {
    points: usize,
    classes: Vec<String>,
    order: Order,
    /// The class that the session looks for.
    #[serde(skip_serializing_if = "Option::is_none")]
    seek: Option<String>,
    answers: usize,
    corrections: usize,
    /// Corrections in the first half of the questions; absent if the simulation stopped before that point.
    #[serde(skip_serializing_if = "Option::is_none")]
    corrections_first_half: Option<usize>,
    /// Number of answers after which each class had 20 answers or all its rows; absent if the simulation stopped before
    /// that point.
    #[serde(skip_serializing_if = "Option::is_none")]
    answers_until_20_of_each: Option<usize>,
    /// The first time at which the model suggests stopping; absent if it never does.
    #[serde(skip_serializing_if = "Option::is_none")]
    stop: Option<Stop>,
    curve: Vec<CurvePoint>,
    seconds_per_answer: Seconds,
}

/// The number of corrections after some answers, with the model's estimate of the number of further corrections and the
/// interval for this estimate.
#[derive(Debug, Clone, Serialize)]
struct CurvePoint {
    answers: usize,
    /// Number of answers of each class.
    found: Vec<usize>,
    corrections: usize,
    to_come: f64,
    low: f64,
    high: f64,
}

/// The first time at which the upper end of the estimate is at most a fraction [`ACCEPTED_WRONG`] of the rows. The time
/// after the last answer does not count.
#[derive(Debug, Clone, Copy, Serialize)]
struct Stop {
    answers: usize,
    corrections: usize,
    /// The number of wrong predictions for the rows without an answer at that time.
    wrong: usize,
}

/// Quantiles of the time from an answer to the next question and the updated estimate, in seconds.
#[derive(Debug, Clone, Copy, Serialize)]
struct Seconds {
    p50: f64,
    p99: f64,
    max: f64,
}

/// The settings of a simulation.
#[derive(Debug, Clone, Copy)]
pub(super) struct Settings {
    pub(super) order: Order,
    /// The class to look for, whatever the order.
    pub(super) seek: Option<usize>,
    pub(super) seed: u64,
    pub(super) max_answers: Option<usize>,
}

pub(super) fn run(
    mut session: LabellingSession,
    truth: &[usize],
    classes: Vec<String>,
    settings: Settings,
) -> Result<Simulation, CliError> {
    let fault = |error: halfspaces_online::OnlineError| CliError::system(error.to_string());
    let open: Vec<usize> = (0..truth.len()).filter(|row| session.class(*row).is_none()).collect();
    let most = settings.max_answers.unwrap_or(open.len()).min(open.len());
    let mut is_labelled = vec![false; classes.len()];
    let known = (0..truth.len()).filter_map(|row| session.class(row));
    known.for_each(|class| is_labelled[class] = true);
    let mut rows = open.clone();
    if settings.order == Order::Random {
        rows.shuffle(&mut rng_for(streams::SIMULATED_ORDER, settings.seed));
    }
    let half = open.len() / 2;
    let (mut first_half, mut seconds) = (None, Vec::with_capacity(most));
    let mut missing = vec![0; classes.len()];
    truth.iter().for_each(|class| missing[*class] = ENOUGH.min(missing[*class] + 1));
    let (mut found, mut stop) = (None, None);
    let mut counts = vec![0; classes.len()];
    let mut curve = vec![curve_point(&session, 0, &counts)];
    let question =
        |session: &mut LabellingSession, place: usize| -> Result<LabellingQuestion, CliError> {
            let scarce = session.scarce_class().filter(|_| settings.order == Order::Rare);
            if let Some(class) = settings.seek.or(scarce) {
                let found = session.likeliest(class, 1).map_err(fault)?;
                found.first().map_or(Ok(()), |first| session.ask(*first)).map_err(fault)?;
            }
            match settings.order {
                Order::Recommended | Order::Rare => {}
                Order::Random | Order::Given => {
                    let question = session.predict(rows[place]).map_err(fault)?;
                    session.ask(question).map_err(fault)?;
                }
            }
            session.next().ok_or_else(|| {
                CliError::system("internal error: no question, although rows are open")
            })
        };
    let mut asked = if most > 0 { Some(question(&mut session, 0)?) } else { None };
    let progress = Progress::steps("simulating", most);
    for answers in 1..=most {
        let Some(LabellingQuestion { index, .. }) = asked else {
            unreachable!("there is a question for each answer")
        };
        #[expect(clippy::disallowed_methods, reason = "the simulation reports times")]
        let start = Instant::now();
        session.answer(truth[index]).map_err(fault)?;
        asked = if answers < open.len() { Some(question(&mut session, answers)?) } else { None };
        counts[truth[index]] += 1;
        let now = curve_point(&session, answers, &counts);
        seconds.push(start.elapsed().as_secs_f64());
        missing[truth[index]] = missing[truth[index]].saturating_sub(1);
        if found.is_none() && missing.iter().all(|count| *count == 0) {
            found = Some(answers);
        }
        // As in a session, there is no advice to stop while a class has no label.
        is_labelled[truth[index]] = true;
        let is_known = session.follows_advice() || !is_labelled.contains(&false);
        let is_within = is_known && session.outlook().within(ACCEPTED_WRONG);
        if stop.is_none() && answers < open.len() && is_within {
            let wrong = |row: &&usize| {
                session.class(**row).is_none()
                    && session.predict(**row).is_ok_and(|question| question.class != truth[**row])
            };
            let wrong = open.iter().filter(wrong).count();
            stop = Some(Stop { answers, corrections: now.corrections, wrong });
        }
        if answers == half {
            first_half = Some(now.corrections);
        }
        if answers % most.div_ceil(LINES) == 0 || answers == most {
            curve.push(now);
        }
        progress.advance(1);
    }
    drop(progress);
    seconds.sort_by(f64::total_cmp);
    let quantile = |fraction: f64| {
        let place = (fraction * seconds.len() as f64).ceil() as usize;
        seconds.get(place.saturating_sub(1)).copied().unwrap_or(0.0)
    };
    Ok(Simulation {
        points: truth.len(),
        seek: settings.seek.map(|class| classes[class].clone()),
        classes,
        order: settings.order,
        answers: most,
        corrections: session.progress().corrections,
        corrections_first_half: first_half,
        answers_until_20_of_each: found,
        stop,
        curve,
        seconds_per_answer: Seconds { p50: quantile(0.5), p99: quantile(0.99), max: quantile(1.0) },
    })
}

fn curve_point(session: &LabellingSession, answers: usize, counts: &[usize]) -> CurvePoint {
    let outlook = session.outlook();
    let corrections = session.progress().corrections;
    CurvePoint {
        answers,
        found: counts.to_vec(),
        corrections,
        to_come: outlook.expected,
        low: outlook.low,
        high: outlook.high,
    }
}

impl Simulation {
    pub(super) fn print(&self, json: bool) -> Result<(), CliError> {
        if json {
            return print_json(self);
        }
        let sought = self.seek.as_ref();
        let sought = sought.and_then(|class| self.classes.iter().position(|name| name == class));
        let mut text = String::from("   answers  corrections  to come");
        text.push_str(if sought.is_some() { "  found\n" } else { "\n" });
        for CurvePoint { answers, found, corrections, to_come, low, high } in &self.curve {
            let found = sought.map_or_else(String::new, |class| format!("  {:5}", found[class]));
            text.push_str(&format!(
                "{answers:10}  {corrections:11}  {to_come:7.0}{found}  ({low:.0} to {high:.0})\n"
            ));
        }
        if let Some(Stop { answers, corrections, wrong }) = self.stop {
            text.push_str(&format!(
                "the model suggests stopping after {answers} answers with {corrections} corrections: {wrong} of the \
                 other predictions are wrong\n"
            ));
        }
        if let Some(found) = self.answers_until_20_of_each {
            text.push_str(&format!(
                "after {found} answers, each class had {ENOUGH} answers or all its rows\n"
            ));
        }
        let Seconds { p50, p99, max } = self.seconds_per_answer;
        text.push_str(&format!(
            "{} in {} for {}; time per answer: median {:.1} ms, 99th percentile {:.1} ms, \
             maximum {:.1} ms\n",
            counted(self.corrections as u64, "correction"),
            counted(self.answers as u64, "answer"),
            counted(self.points as u64, "row"),
            1e3 * p50,
            1e3 * p99,
            1e3 * max
        ));
        print(&text)
    }
}
