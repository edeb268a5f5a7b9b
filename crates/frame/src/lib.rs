#![doc = include_str!("../README.md")]
#![cfg_attr(test, allow(clippy::float_cmp, reason = "tests compare exact values on purpose"))]

#[cfg(feature = "arrow")]
mod arrow;
#[cfg(any(feature = "arrow", feature = "parquet"))]
mod batches;
mod block;
mod classes;
mod csv;
mod csv_columns;
mod csv_layout;
mod detect;
mod error;
mod frame;
mod labels;
mod levels;
mod libsvm;
mod names;
mod npy;
mod options;
#[cfg(feature = "parquet")]
mod parquet;
mod read;
mod source;
mod typing;
mod values;

pub use block::Block;
pub use classes::{ClassCollector, ClassKey, Classes, number_label};
pub use error::{DataError, DataErrorKind};
pub use frame::{Column, Frame, Places, Remark};
pub use labels::{Labels, find_class};
pub use names::{suggestion, visible};
pub use options::{Format, Hints, MISSING_SHOWN, ReadOptions};
pub use read::{LargeTable, read};
pub use typing::{
    ColumnRecord, ColumnRule, ColumnSummary, DateOrder, Decimal, Group, Kind, MomentFormat,
    MomentParts, NumberFormat, Reading,
};
pub use values::{MISSING, Texts, Values};
