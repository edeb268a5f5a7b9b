//! The identity of a trial and its random stream.

use fnv::FnvHasher;
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;
use std::hash::Hasher;
use std::str::FromStr;

/// The identity of a trial: everything that its outcome depends on, except the program.
///
/// ```
/// use halfspaces_eval::TrialKey;
/// let configuration = serde_json::json!({"d": 10});
/// let key = TrialKey { experiment: "K3".into(), configuration, seed: 1, index: 4 };
/// assert_eq!(key.to_string(), r#"K3 {"d":10} seed 1 trial 4"#);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TrialKey {
    /// The experiment's identifier.
    pub experiment: String,
    /// The configuration as JSON.
    pub configuration: Value,
    /// The seed of the run.
    pub seed: u64,
    /// The trial's index within its configuration, counted from 0.
    pub index: u64,
}

impl TrialKey {
    /// The configuration as text; equal configurations have equal text.
    #[must_use]
    pub fn configuration_text(&self) -> String {
        self.configuration.to_string()
    }
}

impl fmt::Display for TrialKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TrialKey { experiment, configuration, seed, index } = self;
        write!(f, "{experiment} {configuration} seed {seed} trial {index}")
    }
}

/// The random number generator of a trial: ChaCha8 keyed by the seed, the experiment and the configuration, on the
/// stream whose number is the trial's index. Trials do not depend on each other. Two trials share a stream only if two
/// experiments or configurations collide in a 64-bit hash.
///
/// ```
/// use halfspaces_eval::{TrialKey, trial_rng};
/// use halfspaces_eval::rand::RngExt;
/// let key = |index| TrialKey {
///     experiment: "K3".into(),
///     configuration: serde_json::json!({"d": 10}),
///     seed: 1,
///     index,
/// };
/// let draw = |index| trial_rng(&key(index)).random::<u64>();
/// assert_eq!(draw(0), draw(0));
/// assert_ne!(draw(0), draw(1));
/// ```
#[must_use]
pub fn trial_rng(key: &TrialKey) -> ChaCha8Rng {
    let mut seed = [0; 32];
    seed[..8].copy_from_slice(&key.seed.to_le_bytes());
    seed[8..16].copy_from_slice(&fnv1a(key.experiment.as_bytes()).to_le_bytes());
    seed[16..24].copy_from_slice(&fnv1a(key.configuration_text().as_bytes()).to_le_bytes());
    let mut rng = ChaCha8Rng::from_seed(seed);
    rng.set_stream(key.index);
    rng
}

/// 64-bit FNV-1a: a hash that is the same on every machine and in every release. The hash distinguishes files and
/// configurations, but it is not cryptographic.
///
/// ```
/// assert_eq!(halfspaces_eval::fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
/// ```
#[must_use]
pub fn fnv1a(bytes: &[u8]) -> u64 {
    let mut hasher = FnvHasher::default();
    hasher.write(bytes);
    hasher.finish()
}

/// A part of a run: part number `part`, counted from 1, of `of` parts.
///
/// ```
/// use halfspaces_eval::Shard;
/// let shard: Shard = "2/3".parse().unwrap();
/// assert_eq!((shard.part(), shard.of()), (2, 3));
/// assert!("0/3".parse::<Shard>().is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Shard {
    of: usize,
    part: usize,
}

impl Shard {
    /// The whole run.
    pub const WHOLE: Shard = Shard { part: 1, of: 1 };

    /// The number of this part, counted from 1.
    #[must_use]
    pub fn part(self) -> usize {
        self.part
    }

    /// The number of parts.
    #[must_use]
    pub fn of(self) -> usize {
        self.of
    }

    /// All parts of the run, including this one.
    pub fn siblings(self) -> impl Iterator<Item = Shard> {
        (1..=self.of).map(move |part| Shard { part, of: self.of })
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.part, self.of)
    }
}

impl TryFrom<String> for Shard {
    type Error = String;

    fn try_from(text: String) -> Result<Shard, String> {
        text.parse()
    }
}

impl From<Shard> for String {
    fn from(shard: Shard) -> String {
        shard.to_string()
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Shard, String> {
        text.split_once('/')
            .and_then(|(part, of)| {
                let shard = Shard { part: part.parse().ok()?, of: of.parse().ok()? };
                (1..=shard.of).contains(&shard.part).then_some(shard)
            })
            .ok_or_else(|| {
                format!("\"{text}\" is not a shard; write I/N with 1 <= I <= N, such as 1/3")
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfspaces_linalg::{RngStream, rng_for};
    use rand::RngExt;

    #[test]
    fn every_part_of_the_key_matters() {
        let key = TrialKey {
            experiment: "A".into(),
            configuration: serde_json::json!({"d": 1}),
            seed: 1,
            index: 0,
        };
        let mut others = vec![key.clone(); 5];
        others[1].experiment = "B".into();
        others[2].configuration = serde_json::json!({"d": 2});
        others[3].seed = 2;
        others[4].index = 1;
        let draws: Vec<u64> = others.iter().map(|k| trial_rng(k).random()).collect();
        for i in 0..draws.len() {
            assert!(draws[..i].iter().all(|d| *d != draws[i]));
        }
    }

    /// A learner may use the seed of the run, but it must not repeat the draws of the trial.
    #[test]
    fn no_purpose_of_the_libraries_draws_what_a_trial_draws() {
        let key =
            TrialKey { experiment: "A".into(), configuration: Value::Null, seed: 7, index: 0 };
        let first = |mut rng: ChaCha8Rng| [rng.random::<u64>(), rng.random(), rng.random()];
        let trial = first(trial_rng(&key));
        for number in 0..1000 {
            let other = first(rng_for(RngStream::new(number), 7));
            assert!(trial.iter().all(|draw| !other.contains(draw)), "{number}");
        }
    }

    #[test]
    fn the_hash_is_the_published_one() {
        assert_eq!(fnv1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn shards_are_read_and_written() {
        let shard: Shard = "2/3".parse().unwrap();
        assert_eq!(serde_json::from_str::<Shard>("\"2/3\"").unwrap(), shard);
        assert_eq!(serde_json::to_string(&shard).unwrap(), "\"2/3\"");
        let siblings: Vec<String> = shard.siblings().map(|s| s.to_string()).collect();
        assert_eq!(siblings, ["1/3", "2/3", "3/3"]);
        for bad in ["", "1", "4/3", "1/0", "a/b", "-1/2"] {
            assert!(bad.parse::<Shard>().is_err(), "{bad}");
        }
    }
}
