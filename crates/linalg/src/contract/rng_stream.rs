//! Which stream of random numbers is drawn for what.
//!
//! A learner and the source of its examples may well be given the same seed, and every proof needs
//! their draws independent. So each purpose of a draw, in every crate of the workspace, has a stream of
//! its own: no two numbers drawn for different purposes are the same number, whatever the seeds.

use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;

/// What random numbers are drawn for.
///
/// ```
/// use halfspaces_linalg::{RngStream, rng_for};
/// use rand::RngExt;
/// let first = |stream| rng_for(stream, 7).random::<u64>();
/// assert_eq!(first(RngStream::Target), first(RngStream::Target));
/// assert_ne!(first(RngStream::Target), first(RngStream::InitialWeights));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u32)]
pub enum RngStream {
    /// Anything that a caller draws with a seed of its own and no learner or generator here draws.
    Caller = 0,
    // Sources of data.
    /// The points of a marginal.
    Points = 1,
    /// A target halfspace.
    Target = 2,
    /// The noisy examples of an instance: points, then the coins of their labels.
    Examples = 3,
    /// The points that a population is judged on.
    Population = 4,
    /// A random rotation.
    Rotation = 5,
    /// The order of the rows of a data set.
    Shuffle = 6,
    /// Points with planted heavy subspaces.
    PlantedSubspaces = 7,
    /// The centres of clusters.
    ClusterCentres = 8,
    // Online learners and orders.
    /// A random order of a pool.
    Order = 16,
    /// The starting weights of the modified perceptron.
    InitialWeights = 17,
    /// The hit-and-run sample of the centre of gravity, a round per cut.
    CentreOfGravity = 18,
    /// The chains of the self-directed Algorithm 1.
    Chains = 19,
    /// The starts of the strong self-directed learner, a round per round.
    StrongStarts = 20,
    /// The version-space sample of the sampled greedy, a round per resample.
    SampledGreedy = 21,
    // Learners from noisy examples.
    /// Which iterates are retained as candidates.
    Retention = 32,
    /// Which iterate stands in when the examples end early.
    ReservoirIterate = 33,
    /// How a sample is split, and in which order it is gone through.
    Split = 34,
    /// Where a heuristic starts.
    HeuristicStart = 35,
    /// A random projection, a round per coordinate of its points.
    Projection = 36,
    /// The order of passes of the support vector machine.
    SvmOrder = 37,
    /// The descents of DGT19.
    DgtDescent = 38,
    /// In which order the descents of a positioned learner take its examples, a round per descent.
    PositionedDescent = 39,
    // Feature maps.
    /// The pairs of points whose median distance is a kernel's scale.
    DistancePairs = 40,
    /// The landmarks of a Nyström map.
    Landmarks = 41,
    /// The frequencies of random Fourier features.
    Frequencies = 42,
    /// Which rows of a table are learned from, compared on and kept back for the bound.
    TableRows = 43,
    /// The order of passes over a table's rows, a round per family of candidates.
    TableOrder = 44,
    // Evaluation.
    /// Resamples of the bootstrap.
    Bootstrap = 48,
}

impl RngStream {
    /// Every purpose.
    pub const ALL: [RngStream; 29] = [
        RngStream::Caller,
        RngStream::Points,
        RngStream::Target,
        RngStream::Examples,
        RngStream::Population,
        RngStream::Rotation,
        RngStream::Shuffle,
        RngStream::PlantedSubspaces,
        RngStream::ClusterCentres,
        RngStream::Order,
        RngStream::InitialWeights,
        RngStream::CentreOfGravity,
        RngStream::Chains,
        RngStream::StrongStarts,
        RngStream::SampledGreedy,
        RngStream::Retention,
        RngStream::ReservoirIterate,
        RngStream::Split,
        RngStream::HeuristicStart,
        RngStream::Projection,
        RngStream::SvmOrder,
        RngStream::DgtDescent,
        RngStream::PositionedDescent,
        RngStream::DistancePairs,
        RngStream::Landmarks,
        RngStream::Frequencies,
        RngStream::TableRows,
        RngStream::TableOrder,
        RngStream::Bootstrap,
    ];

    /// The number of the ChaCha stream of `round`: the purpose above, the round below, so that no two
    /// pairs share one.
    fn number(self, round: u32) -> u64 {
        u64::from(self as u32) << u32::BITS | u64::from(round)
    }
}

/// The generator of `seed` for a purpose.
#[must_use]
pub fn rng_for(stream: RngStream, seed: u64) -> ChaCha8Rng {
    rng_for_round(stream, seed, 0)
}

/// The generator of `seed` for one of many rounds of a purpose, each with a stream of its own;
/// [`rng_for`] is round 0.
#[must_use]
pub fn rng_for_round(stream: RngStream, seed: u64, round: u32) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(stream.number(round));
    rng
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// The variants as they are declared: nothing else knows all of them.
    #[test]
    fn all_lists_every_variant_once() {
        let source = include_str!("rng_stream.rs");
        let (_, body) = source.split_once("pub enum RngStream {\n").unwrap();
        let (body, _) = body.split_once("\n}").unwrap();
        let declared: Vec<&str> =
            body.lines().map(str::trim).filter(|line| !line.starts_with("//")).collect();
        let listed: Vec<String> = RngStream::ALL
            .iter()
            .map(|stream| format!("{stream:?} = {},", *stream as u32))
            .collect();
        assert_eq!(listed, declared);
        let numbers: BTreeSet<u32> = RngStream::ALL.iter().map(|stream| *stream as u32).collect();
        assert_eq!(numbers.len(), RngStream::ALL.len());
    }
}
