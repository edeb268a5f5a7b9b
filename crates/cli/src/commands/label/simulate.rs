//! A session played against known labels: what a person would have had to correct, and how long they would have waited.

use super::args::Order;
use crate::error::CliError;
use crate::output::say;
use halfspaces_linalg::{RngStream, rng_for};
use halfspaces_online::{LabellingQuestion, LabellingSession};
use rand::seq::SliceRandom;
use serde::Serialize;
use std::time::Instant;

/// Lines of the curve.
const LINES: usize = 20;

/// What came of it; the JSON of `--json`.
#[derive(Debug, Serialize)]
pub(super) struct Played {
    points: usize,
    classes: Vec<String>,
    order: Order,
    answers: usize,
    corrections: usize,
    /// Among the answers about the first half of the pool; absent if it was not reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    corrections_first_half: Option<usize>,
    curve: Vec<Moment>,
    seconds_per_answer: Seconds,
}

#[derive(Debug, Clone, Copy, Serialize)]
struct Moment {
    answers: usize,
    corrections: usize,
    to_come: f64,
    low: f64,
    high: f64,
}

/// From an answer to the next question with its prediction, and what is expected of the rest.
#[derive(Debug, Clone, Copy, Serialize)]
struct Seconds {
    p50: f64,
    p99: f64,
    max: f64,
}

/// How it is played.
#[derive(Debug, Clone, Copy)]
pub(super) struct Play {
    pub(super) order: Order,
    pub(super) seed: u64,
    pub(super) max_answers: Option<usize>,
}

pub(super) fn play(
    mut session: LabellingSession,
    truth: &[usize],
    classes: Vec<String>,
    play: Play,
) -> Result<Played, CliError> {
    let fault = |error: halfspaces_online::LabellingError| CliError::system(error.to_string());
    let open: Vec<usize> = (0..truth.len()).filter(|row| session.class(*row).is_none()).collect();
    let most = play.max_answers.unwrap_or(open.len()).min(open.len());
    let mut rows = open.clone();
    if play.order == Order::Random {
        rows.shuffle(&mut rng_for(RngStream::Order, play.seed));
    }
    let half = open.len() / 2;
    let (mut first_half, mut seconds) = (None, Vec::with_capacity(most));
    let mut curve = vec![moment(&session, 0)];
    let question =
        |session: &mut LabellingSession, place: usize| -> Result<LabellingQuestion, CliError> {
            if play.order != Order::Recommended {
                let question = session.predict(rows[place]).map_err(fault)?;
                session.ask(question).map_err(fault)?;
            }
            session.next().ok_or_else(|| CliError::system("no question although rows are open"))
        };
    let mut asked = if most > 0 { Some(question(&mut session, 0)?) } else { None };
    for answers in 1..=most {
        let Some(LabellingQuestion { index, .. }) = asked else {
            unreachable!("no more answers than rows")
        };
        #[expect(clippy::disallowed_methods, reason = "it reports times")]
        let start = Instant::now();
        session.answer(truth[index]).map_err(fault)?;
        asked = if answers < open.len() { Some(question(&mut session, answers)?) } else { None };
        let now = moment(&session, answers);
        seconds.push(start.elapsed().as_secs_f64());
        if answers == half {
            first_half = Some(now.corrections);
        }
        if answers % most.div_ceil(LINES) == 0 || answers == most {
            curve.push(now);
        }
    }
    seconds.sort_by(f64::total_cmp);
    let at = |share: f64| {
        let place = (share * seconds.len() as f64).ceil() as usize;
        seconds.get(place.saturating_sub(1)).copied().unwrap_or(0.0)
    };
    Ok(Played {
        points: truth.len(),
        classes,
        order: play.order,
        answers: most,
        corrections: session.progress().corrections,
        corrections_first_half: first_half,
        curve,
        seconds_per_answer: Seconds { p50: at(0.5), p99: at(0.99), max: at(1.0) },
    })
}

fn moment(session: &LabellingSession, answers: usize) -> Moment {
    let outlook = session.outlook();
    let corrections = session.progress().corrections;
    Moment { answers, corrections, to_come: outlook.expected, low: outlook.low, high: outlook.high }
}

impl Played {
    pub(super) fn print(&self, json: bool) -> Result<(), CliError> {
        if json {
            let text = serde_json::to_string_pretty(self);
            let Ok(text) = text else {
                unreachable!("numbers and texts have a JSON form: {text:?}")
            };
            return say(&format!("{text}\n"));
        }
        let mut text = String::from("   answers  corrections  to come\n");
        for Moment { answers, corrections, to_come, low, high } in &self.curve {
            text.push_str(&format!(
                "{answers:10}  {corrections:11}  {to_come:7.0}  ({low:.0} to {high:.0})\n"
            ));
        }
        let Seconds { p50, p99, max } = self.seconds_per_answer;
        text.push_str(&format!(
            "{} corrections in {} answers about {} rows; per answer {:.1} ms (99 %: {:.1}, most: {:.1})\n",
            self.corrections,
            self.answers,
            self.points,
            1e3 * p50,
            1e3 * p99,
            1e3 * max
        ));
        say(&text)
    }
}
