//! Options that select columns.

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use halfspaces_pipeline::{RecipeOptions, Unseen};

/// Options that select the feature columns.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Columns")]
pub(crate) struct ColumnArgs {
    /// Ignore a column; may be repeated
    #[arg(long, value_name = "COLUMN")]
    pub(crate) drop: Vec<String>,
    /// Learn from the words and characters of a column of text; may be repeated. Columns of long, varied text are
    /// recognised without this option
    #[arg(long, value_name = "COLUMN")]
    pub(crate) text: Vec<String>,
    /// Hash the words and characters of texts into 2 x 2^BITS coordinates instead of listing them; BITS is from 1 to 28
    #[arg(long, value_name = "BITS", value_parser = clap::value_parser!(u32).range(1..=28))]
    pub(crate) hash_bits: Option<u32>,
    /// Learn from a column that looks like an identifier or a saved index; may be repeated
    #[arg(long = "use", value_name = "COLUMN")]
    pub(crate) use_columns: Vec<String>,
}

impl ColumnArgs {
    /// The corresponding options of the library.
    pub(crate) fn options(&self) -> RecipeOptions {
        RecipeOptions {
            drop: self.drop.clone(),
            text: self.text.clone(),
            hash_bits: self.hash_bits,
            use_columns: self.use_columns.clone(),
            ..RecipeOptions::default()
        }
    }
}

/// The parser of `--unseen`.
pub(crate) fn unseen() -> impl TypedValueParser<Value = Unseen> {
    let values = [
        PossibleValue::new("error").help("Fail; the error names the category or the column"),
        PossibleValue::new("zero").help(
            "Treat the category as different from all known ones, and all values of a missing column as missing",
        ),
    ];
    PossibleValuesParser::new(values).map(|name| match name.as_str() {
        "zero" => Unseen::Zero,
        _ => Unseen::Error,
    })
}
