//! Properties that all maps share: the features of a point are the same for dense and sparse points, for one point at a
//! time and for many, and on any number of threads.

use crate::*;
use halfspaces_linalg::{
    AffineHalfspace, Classifier, InputError, PointSet, Points, RngStream, SparsePoints, Threads,
    kernels, rng_for,
};
use rand::RngExt;

fn points(n: usize, dim: usize, seed: u64) -> Points {
    let mut rng = rng_for(RngStream::CALLER, seed);
    let value = |_| if rng.random_bool(0.4) { 0.0 } else { rng.random_range(-2.0..2.0) };
    Points::new((0..n * dim).map(value).collect(), dim).unwrap()
}

fn nystroem(points: &Points, kernel: RadialKernel) -> Nystroem {
    Nystroem::new(choose_landmarks(points, 19, 2).unwrap(), kernel).unwrap()
}

fn check<T: FeatureMap + Clone + Sync>(map: &T, points: &Points) {
    let features = map.apply(points).unwrap();
    assert_eq!((features.len(), features.dim()), (points.len(), map.output_dim()));
    let same = |other: &Points| {
        let pairs = features.as_slice().iter().zip(other.as_slice());
        assert!(pairs.len() > 0 && pairs.into_iter().all(|(a, b)| a.to_bits() == b.to_bits()));
    };
    let sparse = SparsePoints::from_dense(points).unwrap();
    same(&map.apply(&sparse).unwrap());
    for count in [2, 3] {
        same(&map.apply_on(points, Threads::new(count).unwrap()).unwrap());
    }
    let mut alone = vec![f64::NAN; features.as_slice().len()];
    let rows = alone.chunks_exact_mut(map.output_dim());
    for (x, out) in points.rows().zip(rows) {
        map.map_row(x, out).unwrap();
    }
    same(&Points::new(alone, map.output_dim()).unwrap());
    // A model gives a point the same label whether the point is labelled alone or with others.
    let weights = (0..map.output_dim()).map(|j| f64::from((j % 7) as u8) - 3.0).collect();
    let halfspace = AffineHalfspace::new(weights, 0.125).unwrap();
    let model = Transformed::new(map.clone(), halfspace.clone()).unwrap();
    let labels = model.label_all(points).unwrap();
    assert_eq!(labels, halfspace.label_all(&features).unwrap());
    assert_eq!(labels, model.label_all_on(&sparse, Threads::new(2).unwrap()).unwrap());
    let one_by_one: Vec<_> = points.rows().map(|x| model.label(x).unwrap()).collect();
    assert_eq!(labels, one_by_one);
    assert_eq!(labels[7..300], model.label_rows(points, 7..300).unwrap());
    assert!(matches!(
        model.label_rows(points, 0..points.len() + 1),
        Err(InputError::IndexOutOfRange { .. })
    ));
    let wide = Points::new(vec![0.0; points.dim() + 1], points.dim() + 1).unwrap();
    assert!(map.apply(&wide).is_err() && model.label_all(&wide).is_err());
    let wrong = AffineHalfspace::new(vec![1.0; map.output_dim() + 1], 0.0).unwrap();
    assert!(Transformed::new(map.clone(), wrong).is_err());
}

#[test]
fn the_route_does_not_change_the_features() {
    let points = points(611, 5, 1);
    let gaussian = RadialKernel::gaussian(5.0).unwrap();
    let laplacian = RadialKernel::laplacian(6.0).unwrap();
    check(&ZScore::fit(&points).unwrap(), &points);
    check(&Ranks::fit(&points).unwrap(), &points);
    check(&nystroem(&points, gaussian), &points);
    check(&nystroem(&points, laplacian), &points);
    check(&KernelValues::new(points.select(&[1, 5, 9]).unwrap(), laplacian).unwrap(), &points);
}

/// The mean of |φ(x) · φ(z) - K(x, z)| over all pairs of points.
fn mean_error<T: FeatureMap + Sync>(map: &T, kernel: RadialKernel, points: &Points) -> f64 {
    let features = map.apply(points).unwrap();
    let mut sum = 0.0;
    for (x, a) in points.rows().zip(features.rows()) {
        for (z, b) in points.rows().zip(features.rows()) {
            let exact = kernel.value(x, z.as_slice()).unwrap();
            sum += (kernels::dot(a.as_slice(), b.as_slice()) - exact).abs();
        }
    }
    sum / (points.len() * points.len()) as f64
}

#[test]
fn inner_products_approximate_the_kernel() {
    let points = points(120, 3, 5);
    for kernel in [RadialKernel::gaussian(6.0).unwrap(), RadialKernel::laplacian(4.0).unwrap()] {
        let by = |count| {
            let landmarks = choose_landmarks(&points, count, 1).unwrap();
            mean_error(&Nystroem::new(landmarks, kernel).unwrap(), kernel, &points)
        };
        // If every point is a landmark, the features reproduce the kernel exactly, up to the rank that is kept.
        assert!(by(120) < 1e-8);
        assert!(by(40) < by(10) && by(40) < 0.03, "{} {}", by(10), by(40));
    }
}

/// The features of a point have norm at most 1, and those of a landmark have norm 1.
#[test]
fn landmarks_are_exact_and_others_shorter() {
    let points = points(60, 4, 6);
    let kernel = RadialKernel::laplacian(3.0).unwrap();
    let landmarks = points.select(&(0..20).collect::<Vec<_>>()).unwrap();
    let map = Nystroem::new(landmarks.clone(), kernel).unwrap();
    for x in map.apply(&landmarks).unwrap().rows() {
        assert!((kernels::norm_sq(x.as_slice()) - 1.0).abs() < 1e-9);
    }
    assert!(
        map.apply(&points).unwrap().rows().all(|x| kernels::norm_sq(x.as_slice()) < 1.0 + 1e-9)
    );
    // A duplicate landmark adds no feature.
    let twice = points.select(&(0..20).chain(0..3).collect::<Vec<_>>()).unwrap();
    assert_eq!(Nystroem::new(twice, kernel).unwrap().output_dim(), map.output_dim());
}

#[test]
fn an_expansion_in_kernel_values_is_the_halfspace_of_features() {
    let points = points(50, 4, 8);
    let map = nystroem(&points, RadialKernel::gaussian(3.0).unwrap());
    let w: Vec<f64> = (0..map.output_dim()).map(|k| f64::from(k as u8) - 4.0).collect();
    let coefficients = map.expansion(&w).unwrap();
    for (x, features) in points.rows().zip(map.apply(&points).unwrap().rows()) {
        let values = map.kernel_values();
        let mut k = vec![0.0; values.output_dim()];
        values.map_row(x, &mut k).unwrap();
        let sum = kernels::dot(&k, &coefficients);
        assert!((sum - kernels::dot(features.as_slice(), &w)).abs() < 1e-8);
    }
    assert!(map.expansion(&w[1..]).is_err());
}

/// A rotation of the points does not change the Gaussian kernel.
#[test]
fn gaussian_features_do_not_depend_on_the_axes() {
    let points = points(80, 2, 9);
    let (s, c) = 0.7f64.sin_cos();
    let turned =
        points.as_slice().chunks(2).flat_map(|x| [c * x[0] - s * x[1], s * x[0] + c * x[1]]);
    let turned = Points::new(turned.collect(), 2).unwrap();
    let products = |points: &Points| {
        let scale = Distance::SquaredEuclidean.median(points, 4).unwrap();
        let features =
            nystroem(points, RadialKernel::gaussian(scale).unwrap()).apply(points).unwrap();
        let rows: Vec<Vec<f64>> = features.rows().map(|x| x.as_slice().to_vec()).collect();
        let of = |a: &Vec<f64>| rows.iter().map(|b| kernels::dot(a, b)).collect::<Vec<f64>>();
        rows.iter().flat_map(of).collect::<Vec<f64>>()
    };
    for (a, b) in products(&points).iter().zip(products(&turned)) {
        assert!((a - b).abs() < 1e-6, "{a} {b}");
    }
}

#[test]
fn values_out_of_range_are_typed() {
    let far = Points::new(vec![0.0, 1e200, 1e308], 1).unwrap();
    let kernel = RadialKernel::gaussian(1e-3).unwrap();
    let near = far.select(&[0]).unwrap();
    let map = Nystroem::new(near, kernel).unwrap();
    assert_eq!(map.apply(&far), Err(InputError::Overflow { row: 1 }));
    assert!(Nystroem::new(far, kernel).is_err());
}

#[cfg(feature = "serde")]
#[test]
fn saved_maps_are_the_same_maps() {
    let points = points(40, 3, 4);
    let map = KernelValues::new(points.clone(), RadialKernel::laplacian(3.0).unwrap()).unwrap();
    let halfspace = AffineHalfspace::new(vec![0.5; map.output_dim()], 0.0).unwrap();
    let model = Transformed::new(map, halfspace).unwrap();
    type Model = Transformed<KernelValues, AffineHalfspace>;
    let text = serde_json::to_string(&model).unwrap();
    let loaded: Model = serde_json::from_str(&text).unwrap();
    assert_eq!(loaded, model);
    assert_eq!(loaded.label_all(&points).unwrap(), model.label_all(&points).unwrap());
    let mut value = serde_json::to_value(&model).unwrap();
    value["map"]["kernel"]["scale"] = 0.0.into();
    assert!(serde_json::from_value::<Model>(value.clone()).is_err());
    value["map"]["kernel"]["scale"] = 1.0.into();
    assert!(serde_json::from_value::<Model>(value.clone()).is_ok());
    value["map"]["points"]["dim"] = 4.into();
    assert!(serde_json::from_value::<Model>(value).is_err());
}
