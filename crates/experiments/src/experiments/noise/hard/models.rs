//! Distributions on a few pairs of opposite points in the plane, with Massart noise.

use super::workload::Listed;
use crate::experiments::common::*;
use crate::experiments::noise::pairs::with_opposites;
use crate::experiments::noise::planar::{Atom, Planar, genes};
use halfspaces_linalg::{DenseRow, ExampleStream, Label, PointSet, Points, RowView};

/// Number of pairs of opposite points of a distribution in a search.
pub(super) const PAIRS: usize = 3;

/// Number of genes that encode such a distribution.
pub(super) const GENES: usize = genes(PAIRS);

/// Decodes numbers in \[0, 1\] into a distribution, which always has the given margin and noise rate.
pub(super) fn decode(noise: f64, margin: f64, numbers: &[f64]) -> Planar {
    let mut numbers = numbers.to_vec();
    // The genes of the link: one level on both sides, allowing for the stretching of genes.
    let level = (1.0 - 2.0 * noise + 0.2) / 1.4;
    numbers[..5].copy_from_slice(&[0.0, level, 0.0, 0.0, 0.0]);
    with_opposites(margin, noise, &Planar::decode(margin, &numbers).atoms)
}

/// Σ mass × flip probability: the error of w*.
pub(super) fn opt(planar: &Planar) -> f64 {
    planar.atoms.iter().map(|atom| atom.mass * atom.flip).sum()
}

/// One point of each pair.
pub(super) fn listed(planar: &Planar) -> Vec<Listed> {
    planar
        .atoms
        .chunks(2)
        .map(|pair| {
            let Atom { x, flip, mass } = pair[0];
            [x[0], x[1], flip, 2.0 * mass]
        })
        .collect()
}

/// The points of the distribution.
pub(super) fn support(planar: &Planar) -> Result<Points, Failure> {
    Ok(Points::from_rows(&planar.atoms.iter().map(|atom| atom.x).collect::<Vec<_>>())?)
}

/// The exact error of `labels` on the points of [`support`].
pub(super) fn error_of(planar: &Planar, labels: &[Label]) -> f64 {
    let error = |(atom, label): (&Atom, &Label)| {
        let right = *label == Label::from_sign(atom.x[0]);
        atom.mass * if right { atom.flip } else { 1.0 - atom.flip }
    };
    planar.atoms.iter().zip(labels).map(error).sum()
}

/// Draws n labelled examples.
pub(super) fn sample(
    planar: &Planar,
    n: usize,
    rng: &mut ChaCha8Rng,
) -> Result<(Points, Vec<Label>), Failure> {
    let mut stream = planar.stream(rng);
    let (mut values, mut labels) = (Vec::with_capacity(2 * n), Vec::with_capacity(n));
    for _ in 0..n {
        let Some((x, y)) = stream.next_row()? else {
            unreachable!("the stream of a distribution is endless")
        };
        let x: DenseRow<'_> = x;
        values.extend((0..x.dim()).map(|j| x.as_slice()[j]));
        labels.push(y);
    }
    Ok((Points::new(values, 2)?, labels))
}

/// The first n examples of a sample.
pub(super) fn first(
    (points, labels): &(Points, Vec<Label>),
    n: usize,
) -> Result<(Points, Vec<Label>), Failure> {
    let n = n.min(points.len());
    Ok((points.select(&(0..n).collect::<Vec<_>>())?, labels[..n].to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decoded_distributions_have_their_margin_and_rate() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        for _ in 0..300 {
            let numbers: Vec<f64> = (0..GENES).map(|_| rng.random()).collect();
            let planar = decode(0.2, 0.1, &numbers);
            assert_eq!(planar.atoms.len(), 2 * PAIRS);
            assert!((planar.atoms.iter().map(|a| a.mass).sum::<f64>() - 1.0).abs() < 1e-12);
            for Atom { x, flip, .. } in &planar.atoms {
                assert!(x[0].abs() >= 0.1 - 1e-12 && x[0].hypot(x[1]) <= 1.0 + 1e-12);
                assert!((0.0..=0.2 + 1e-12).contains(flip), "{flip}");
            }
            assert!((planar.level() - 0.2).abs() < 1e-12);
            let right: Vec<Label> = planar.atoms.iter().map(|a| Label::from_sign(a.x[0])).collect();
            assert!((error_of(&planar, &right) - opt(&planar)).abs() < 1e-12);
        }
    }
}
