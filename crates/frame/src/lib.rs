//! Reads tables in all supported formats as typed columns and numeric blocks.

#![doc = include_str!("../README.md")]
#![cfg_attr(test, allow(clippy::float_cmp, reason = "tests compare exact values on purpose"))]

#[cfg(any(feature = "arrow", feature = "parquet"))]
mod array_column;
#[cfg(any(feature = "arrow", feature = "parquet"))]
mod array_texts;
#[cfg(any(feature = "arrow", feature = "parquet"))]
mod array_values;
#[cfg(feature = "arrow")]
mod arrow;
#[cfg(feature = "arrow")]
mod arrow_check;
#[cfg(any(feature = "arrow", feature = "parquet"))]
mod batches;
mod block;
mod budget;
mod classes;
mod csv_columns;
mod decimal;
mod delimited;
mod detect;
mod error;
mod folder;
mod frame;
#[cfg(any(feature = "arrow", feature = "parquet"))]
mod guard;
mod labels;
mod levels;
mod libsvm;
mod libsvm_line;
mod look_alikes;
mod missing;
mod names;
mod npy;
mod npy_archive;
mod npy_header;
mod npy_items;
mod npy_sparse;
mod options;
mod orientation;
#[cfg(any(feature = "arrow", feature = "parquet"))]
mod pandas;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(feature = "parquet")]
mod parquet_header;
mod picture;
mod positions;
mod raw_file;
mod read;
mod source;
mod text_column;
mod text_kind;
mod typing;
mod values;

#[cfg(all(test, feature = "arrow", feature = "parquet"))]
mod damaged;

pub use block::{Block, SparseBlock};
pub use classes::{ClassKey, Classes, same_class};
pub use delimited::{FileRecord, Inspection, inspect, inspect_bytes};
pub use error::{DataError, DataErrorKind};
pub use folder::by_numbers;
pub use frame::{Column, Frame, Places, Remark};
pub use labels::{Labels, find_class};
pub use look_alikes::look_alikes;
pub use missing::{MISSING_SHOWN, is_missing_marker};
pub use names::{first_of, short, suggestion, visible};
pub use options::{Format, Hints, Ragged, ReadOptions};
pub use picture::Picture;
pub use read::{LargeTable, read, read_bytes};
#[cfg(feature = "arrow")]
pub use read::{read_batches, read_part};
pub use source::Source;
pub use text_kind::TextKind;
pub use typing::{
    ColumnRecord, ColumnRule, ColumnSummary, DateOrder, Decimal, Group, Kind, MissingSearch,
    MomentFormat, MomentParts, NumberFormat, Reading, unread_spelling,
};
pub use values::{MISSING, Texts, Values};
