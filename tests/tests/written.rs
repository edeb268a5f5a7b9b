//! Files written by `halfspaces-data` are read back bit for bit.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use halfspaces_data::{write_csv, write_libsvm};
use halfspaces_frame::{Block, Format, Frame, Hints, Labels, ReadOptions, Values, read_bytes};
use halfspaces_linalg::{Label, PointSet, Points, SparsePoints};
use proptest::prelude::*;

fn finite() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<f64>().prop_filter("finite", |v| v.is_finite()),
        any::<u64>().prop_map(|bits| f64::from_bits(bits >> 12)), // subnormal
        Just(0.0),
        Just(-0.0),
        Just(f64::MAX),
        (-100..100i32).prop_map(f64::from),
    ]
}

fn examples() -> impl Strategy<Value = (Points, Vec<Label>)> {
    (1..5usize, 1..8usize).prop_flat_map(|(dim, n)| {
        let labels = prop::collection::vec(any::<bool>(), n).prop_map(|signs| {
            let label = |s| if s { Label::Positive } else { Label::Negative };
            signs.into_iter().map(label).collect()
        });
        let points = prop::collection::vec(finite(), n * dim)
            .prop_map(move |values| Points::new(values, dim).unwrap());
        (points, labels)
    })
}

fn read(text: Vec<u8>, format: Format) -> Frame {
    let options =
        ReadOptions { format: Some(format), header: Some(false), ..ReadOptions::default() };
    read_bytes("t", text, &options, &Hints::default()).unwrap()
}

fn numbers(values: &Values) -> &[f64] {
    let Values::Numbers(numbers) = values else { unreachable!("{values:?}") };
    numbers.values()
}

/// Takes the column `name` out of the frame and returns its labels.
fn labels_of(frame: &mut Frame, name: &str) -> Vec<Label> {
    let labels = Labels::take_part(frame, name).unwrap();
    let sign = |class: &usize| match labels.classes[*class].as_str() {
        "1" => Label::Positive,
        _ => Label::Negative,
    };
    labels.of_row.iter().map(sign).collect()
}

proptest! {
    #[test]
    fn csv_comes_back_to_the_bit((points, labels) in examples()) {
        let (mut text, mut other) = (Vec::new(), Vec::new());
        write_csv(&mut text, &points, &labels, &[]).unwrap();
        write_csv(&mut other, &SparsePoints::from_dense(&points).unwrap(), &labels, &[]).unwrap();
        let mut frame = read(text, Format::Csv);
        let dim = frame.column_count() - 1;
        prop_assert_eq!(labels_of(&mut frame, &format!("c{}", dim + 1)), &labels[..]);
        for (column, at) in frame.columns.iter().zip(0..) {
            let written: Vec<u64> =
                points.as_slice().iter().skip(at).step_by(dim).map(|v| v.to_bits()).collect();
            let read: Vec<u64> = numbers(&column.values).iter().map(|v| v.to_bits()).collect();
            prop_assert_eq!(read, written);
        }
        // Entries that are not stored are read as 0, never as -0.
        let zeros = read(other, Format::Csv);
        prop_assert_eq!(zeros.rows, labels.len());
        for (column, at) in zeros.columns.iter().zip(0..dim) {
            let written = points.as_slice().iter().skip(at).step_by(dim);
            prop_assert!(numbers(&column.values).iter().eq(written));
        }
    }

    #[test]
    fn libsvm_comes_back_to_the_bit((points, labels) in examples()) {
        let sparse = SparsePoints::from_dense(&points).unwrap();
        let (mut text, mut other) = (Vec::new(), Vec::new());
        write_libsvm(&mut text, &points, &labels).unwrap();
        write_libsvm(&mut other, &sparse, &labels).unwrap();
        prop_assert_eq!(&text, &other);
        let mut frame = read(text, Format::Libsvm);
        prop_assert_eq!(labels_of(&mut frame, "label"), labels);
        let Some(Block::Sparse(block)) = frame.block else { panic!("entries") };
        let read = block.points();
        for (row, x) in sparse.rows().enumerate() {
            let found = read.row(row).unwrap();
            prop_assert_eq!(found.columns(), x.columns());
            prop_assert!(found.values().iter().zip(x.values()).all(|(a, b)| a.to_bits() == b.to_bits()));
        }
    }
}
