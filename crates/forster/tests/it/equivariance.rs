//! Invariance of radially isotropic position under invertible maps of the points, under rotations, under scaling of the
//! lengths, and under the replacement of weights by repeated points.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use faer::Mat;
use halfspaces_data::{Clusters, Excess, HeavyCase, HeavyKind, Marginal, Rotation};
use halfspaces_forster::{
    Accuracy, Fit, ForsterTransform, Isotropy, Normalisation, Outcome, Position, Step,
};
use halfspaces_linalg::{Params, PointSet, Points, Threads, kernels};
use proptest::prelude::*;

const ACCURACY: Accuracy = Accuracy::TwoSided(1e-9);

fn fit(points: &Points) -> Fit {
    ForsterTransform::params().accuracy(ACCURACY).check().unwrap().fit(points).unwrap()
}

fn clustered(dim: usize, n: usize, seed: u64) -> Points {
    Clusters::random(dim, 3 * dim, 0.2, seed).unwrap().sample(n, seed + 1).unwrap()
}

/// Multiplies the points by a d × d matrix that is given by its rows.
fn mapped(points: &Points, map: &Points) -> Points {
    let values = points.rows().flat_map(|x| {
        let mut image = vec![0.0; map.dim()];
        x.as_slice().iter().zip(map.rows()).for_each(|(v, row)| {
            kernels::axpy(*v, row.as_slice(), &mut image);
        });
        image
    });
    Points::new(values.collect(), map.dim()).unwrap()
}

fn scatter(fit: &Fit) -> Mat<f64> {
    fit.transform().scatter(Normalisation::Determinant)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Mapping the points by C maps the scatter to C'ΣC, up to scale. The two positions agree up to a rotation, so the
    /// products of the unit vectors agree up to sign.
    #[test]
    fn an_invertible_map_moves_the_scatter_and_not_the_position(
        seed in 0u64..1000,
        entries in prop::collection::vec(-1.0..1.0f64, 16),
    ) {
        let points = clustered(4, 80, seed);
        let mut map = Points::new(entries, 4).unwrap().into_vec();
        map.iter_mut().step_by(5).for_each(|v| *v += 3.0);
        let map = Points::new(map, 4).unwrap();
        let image = mapped(&points, &map);
        let (before, after) = (fit(&points), fit(&image));
        prop_assert!(before.is_resolved() && after.is_resolved());
        let moved = map.as_mat().transpose() * scatter(&before) * map.as_mat();
        let target = scatter(&after);
        let scale = target[(0, 0)] / moved[(0, 0)];
        for i in 0..4 {
            for j in 0..4 {
                prop_assert!((scale * moved[(i, j)] - target[(i, j)]).abs() < 1e-6 * target.norm_max());
            }
        }
        let u = before.transform().apply(&points).unwrap();
        let v = after.transform().apply(&image).unwrap();
        let product = |points: &Points, i: usize, j: usize| {
            let row = |i| points.row(i).unwrap();
            kernels::dot(row(i).as_slice(), row(j).as_slice()).abs()
        };
        for i in 0..10 {
            prop_assert!((product(&u, i, i + 10) - product(&v, i, i + 10)).abs() < 1e-6);
        }
    }

    /// A rotation and a scaling of the lengths change neither the subspace nor the members.
    #[test]
    fn members_survive_rotation_and_scaling(seed in 0u64..1000, scale in -1.0..1.0f64) {
        let case = HeavyCase::new(HeavyKind::Gaussian, 6, 3, 60, Excess::Share(0.1), seed).unwrap();
        let turned = Rotation::random(6, seed).unwrap().apply(case.points()).unwrap();
        let mut values = turned.into_vec();
        for (i, row) in values.chunks_exact_mut(6).enumerate() {
            let factor = 10f64.powf(scale * 100.0 * (i as f64 / 60.0 - 0.5));
            row.iter_mut().for_each(|v| *v *= factor);
        }
        let turned = Points::new(values, 6).unwrap();
        let (before, after) = (fit(case.points()), fit(&turned));
        let (a, b) = (&before.position().subspace, &after.position().subspace);
        prop_assert_eq!(a.members(), b.members());
        prop_assert_eq!(a.members(), &case.planted()[0].members[..]);
        prop_assert!(matches!(after.outcome(), Outcome::HeavySubspace(_)));
        let unit = after.transform().apply(&turned.select(b.members()).unwrap()).unwrap();
        prop_assert!(ACCURACY.is_reached_by(Isotropy::measure(&unit).unwrap()));
    }

    /// Integer weights are equivalent to repeated points.
    #[test]
    fn weights_are_repetitions(
        seed in 0u64..1000,
        weights in prop::collection::vec(1u8..4, 60),
        heavy in any::<bool>(),
    ) {
        let points = if heavy {
            let excess = Excess::Share(0.5);
            HeavyCase::new(HeavyKind::Gaussian, 4, 2, 60, excess, seed).unwrap().points().clone()
        } else {
            clustered(4, 60, seed)
        };
        let repeated: Vec<usize> =
            (0..60).flat_map(|i| vec![i; usize::from(weights[i])]).collect();
        let weights: Vec<f64> = weights.into_iter().map(f64::from).collect();
        let solver = ForsterTransform::params().accuracy(ACCURACY).check().unwrap();
        let weighted = solver.fit_weighted(&points, &weights).unwrap();
        let plain = solver.fit(&points.select(&repeated).unwrap()).unwrap();
        prop_assert_eq!(plain.distinct(), weighted.distinct());
        let (a, b) = (weighted.position(), plain.position());
        prop_assert_eq!(a.transform.matrix(), b.transform.matrix());
        let counts = |p: &Position| [p.subspace.weight() as u64, p.subspace.weight_inside() as u64];
        prop_assert_eq!(counts(a), counts(b));
        prop_assert!((a.certificate.least() - b.certificate.least()).abs() < 1e-12);
        let inside: Vec<usize> =
            b.subspace.members().iter().map(|i| repeated[*i]).collect();
        let mut distinct = inside.clone();
        distinct.dedup();
        prop_assert_eq!(a.subspace.members(), &distinct[..]);
        // Recomputes the weighted certificate from the unit vectors.
        let members = a.subspace.members();
        let unit = a.transform.apply(&points.select(members).unwrap()).unwrap();
        let inner: Vec<f64> = members.iter().map(|i| weights[*i]).collect();
        let again = Isotropy::measure_weighted(&unit, Some(&inner)).unwrap();
        prop_assert!((again.least() - a.certificate.least()).abs() < 1e-12);
    }
}

/// A whole fit with several blocks of rows gives the same bits for any number of threads.
#[test]
fn threads_change_no_bit_of_a_fit() {
    let points = clustered(6, 15_000, 3);
    let params = ForsterTransform::params().accuracy(ACCURACY);
    for step in [Step::Automatic, Step::Newton] {
        let fit = |threads| {
            let params = params.step(step).threads(Threads::new(threads).unwrap());
            params.check().unwrap().fit(&points).unwrap()
        };
        let one = fit(1);
        assert!(one.is_resolved());
        assert!([2, 3, 5].into_iter().all(|threads| fit(threads) == one));
    }
}

#[test]
fn heavy_by_weight_alone() {
    // There are three points in R^2. The weight of the first one decides whether its line is heavy.
    let points = Points::from_rows(&[[1.0, 0.0], [1.0, 1.0], [-1.0, 2.0]]).unwrap();
    let solver = ForsterTransform::params().check().unwrap();
    let light = solver.fit_weighted(&points, &[0.2, 0.3, 0.3]).unwrap();
    assert!(matches!(light.outcome(), Outcome::RadiallyIsotropic(_)));
    let heavy = solver.fit_weighted(&points, &[0.7, 0.3, 0.3]).unwrap();
    let Outcome::HeavySubspace(position) = heavy.outcome() else { panic!("{heavy:?}") };
    assert_eq!(position.subspace.members(), [0]);
    assert!(position.subspace.is_heavy());
}

/// On points of a plane in R³, the scatter has rank two, and the product of its nonzero eigenvalues is 1.
#[test]
fn the_scatter_of_a_plane_has_determinant_one_in_the_plane() {
    let inside = clustered(2, 60, 3);
    let into = Points::from_rows(&[[2.0, 0.0], [0.0, 0.5], [1.0, -3.0]]).unwrap();
    let values = inside
        .rows()
        .flat_map(|x| into.rows().map(move |row| kernels::dot(row.as_slice(), x.as_slice())));
    let points = Points::new(values.collect(), 3).unwrap();
    let fit = fit(&points);
    assert_eq!(fit.transform().inner_dim(), 2);
    let eigenvalues = scatter(&fit).self_adjoint_eigenvalues(faer::Side::Lower).unwrap();
    assert!(eigenvalues[0].abs() < 1e-9, "{eigenvalues:?}");
    assert!((eigenvalues[1] * eigenvalues[2] - 1.0).abs() < 1e-9, "{eigenvalues:?}");
}
