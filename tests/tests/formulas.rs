//! Constants and bounds at arguments for which no factor is 1 and no two terms are equal, so that every changed sign,
//! factor or exponent changes a value. The expected values were computed in Python from the formulas of the
//! documentation, not from this code.

use halfspaces_online::bounds;
use halfspaces_pac::schedule;

fn near(name: &str, found: f64, expected: f64) {
    assert!((found / expected - 1.0).abs() < 1e-12, "{name}: {found}, not {expected}");
}

#[test]
fn schedules_at_generic_arguments() {
    use schedule::*;
    // η = 0.15, ε = 0.3, γ = 0.45, δ = 0.07, T = 12 345, |H| = 37.
    let (noise, excess, margin, failure, t, k) = (0.15, 0.3, 0.45, 0.07, 12_345, 37);
    assert_eq!(runs(failure), 5);
    assert_eq!(paper_run_length(excess, margin), 878);
    assert_eq!(run_length(noise, excess, margin), 635);
    assert_eq!(validation(k, excess, failure), 681);
    assert_eq!(thinned_run_length(noise, excess, margin, failure), 8880);
    assert_eq!(thinned_run_length_max(noise, excess, margin, failure), 15_701);
    assert_eq!(thinned_candidates(noise, excess, failure), 16);
    assert_eq!(thinned_validation(k, excess, failure), 717);
    assert_eq!(glm_paper_run_length(excess, margin), 19_510);
    assert_eq!(glm_corrected_run_length(excess, margin), 624_296);
    assert_eq!(glm_run_length(excess, margin), 3512);
    assert_eq!(glm_thinned_run_length(excess, margin, failure), 66_704);
    assert_eq!(grid_validation(k, excess, failure), 2476);
    assert_eq!(held_out(excess, failure), 298);
    assert_eq!(elimination_checks(777), 20);
    near("paper step", paper_step(margin, t), 0.002_025_055_689_797_215);
    near("step", step(noise, margin, t), 0.002_382_418_458_584_959_5);
    near("paper padding", paper_padding(excess), 0.176_470_588_235_294_13);
    near("paper GLM step", glm_paper_step(excess, margin, t), 0.000_505_387_274_306_827_8);
    near("padding", padding(excess), 0.081_081_081_081_081_07);
    near("GLM step", glm_corrected_step(excess, margin, t), 0.000_164_193_704_578_152_53);
    near("our GLM step", glm_step(margin, t), 0.001_012_527_844_898_607_5);
    near("noise bound", glm_noise_bound(0.6, -0.35, 0.2), 0.425);
    near("guess", guess_failure(failure, 3), 0.004_375);
    // λ = 0.02, t = 777.
    let average = average_excess(noise, margin, 0.02, 777, failure);
    near("average", average, 0.243_721_187_168_813_58);
    let average = average_excess_max(noise, margin, 0.02, 777, failure);
    near("average, max", average, 0.314_045_228_044_286_36);
    let average = glm_average_excess(margin, 0.02, 777, failure);
    near("average, GLM", average, 0.861_590_813_488_874);
    near("gap", elimination_gap(333, k, 20, failure), 78.556_325_070_647_5);
    near("choice", choice_accuracy(k, 777, failure), 0.133_879_112_667_321_3);
    near("validation", validation_accuracy(k, 777, failure), 0.066_939_556_333_660_65);
}

#[test]
fn bounds_at_generic_arguments() {
    use bounds::*;
    // R = 1.3, ‖w*‖ = 0.7, γ = 0.27, η = 0.15, δ = 0.07, d = 6, T = 1234.
    let (radius, norm, margin, noise, failure, t) = (1.3, 0.7, 0.27, 0.15, 0.07, 1234.0);
    near("perceptron", perceptron_mistakes(radius, norm, margin), 11.359_396_433_470_504);
    let deviation = perceptron_mistakes_with_deviation(radius, 2.2, margin);
    near("perceptron, not separable", deviation, 168.038_408_779_149_5);
    near("batch", batch_perceptron_updates(radius, margin), 23.182_441_700_960_22);
    near("margin", margin_perceptron_updates(radius, margin), 69.547_325_102_880_65);
    near("grid", grid_halving_mistakes(6, radius, norm, margin), 38.250_236_588_081_55);
    near("modified", modified_perceptron_mistakes(0.31, 0.17), 81.0);
    near("kernel", kernel_perceptron_mistakes(5.3, margin), 72.702_331_961_591_21);
    near("Massart", massart_excess(t, noise, margin), 110.589_206_368_242_6);
    let unknown = massart_excess_any_horizon(t, noise, margin);
    near("Massart, restarts", unknown, 377.575_168_234_530_9);
    near("Massart, any time", massart_excess_anytime(t, noise, margin), 156.396_755_498_045_76);
    near("deviation", massart_deviation(t, margin, failure), 150.023_475_199_516_6);
    near("ε", leaky_relu_accuracy(123_456.0, noise, margin), 0.087_268_797_797_240_56);
    near("leaky", leaky_relu_excess(123_456.0, noise, margin), 19_448.994_252_385_58);
    near("ALMA", alma_corrections(0.3, margin), 903.629_934_461_210_2);
    near("Winnow", winnow_mistakes(5, 37), 95.141_800_484_434_26);
    near("second order", second_order_mistakes(0.4, 3.3, 7.7, margin), 19.768_897_992_714_837);
    near("ellipsoid", ellipsoid_mistakes(6, margin), 130.061_418_518_158);
    near("gravity", centre_of_gravity_mistakes(6, margin), 20.254_206_961_411_732);
    near("volumetric", volumetric_mistakes(6, margin), 15_406.001_108_303_419);
    near("random order", random_order_mistakes(1e7, 6), 3.495_019_040_837_770_6);
    near("rate", random_order_rate(6)[0], 1.960_188_251_956_452_4);
    near("rate", random_order_rate(6)[1], 2.5);
}
