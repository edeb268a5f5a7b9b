//! Columns as the command line names them.

use crate::error::CliError;
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use halfspaces_pipeline::{RecipeOptions, Unseen};

/// What a person says of the columns.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Columns")]
pub(crate) struct ColumnArgs {
    /// Leave a column out
    #[arg(long, value_name = "COLUMN")]
    pub(crate) drop: Vec<String>,
    /// Learn from the words of a column of free text
    #[arg(long, value_name = "COLUMN")]
    pub(crate) text: Vec<String>,
    /// Learn from a column although it seems to name its rows only (an identifier, a saved index)
    #[arg(long = "use", value_name = "COLUMN")]
    pub(crate) use_columns: Vec<String>,
}

impl ColumnArgs {
    /// The options of the library.
    pub(crate) fn options(&self) -> RecipeOptions {
        RecipeOptions {
            drop: self.drop.clone(),
            text: self.text.clone(),
            use_columns: self.use_columns.clone(),
            ..RecipeOptions::default()
        }
    }

    /// Checks that a column with another role (`what`) is neither left out nor read as text.
    pub(crate) fn check_apart(&self, column: &str, what: &str) -> Result<(), CliError> {
        self.options().check_apart(column, what)
    }
}

/// The parser of `--unseen`.
pub(crate) fn unseen() -> impl TypedValueParser<Value = Unseen> {
    let values = [
        PossibleValue::new("error").help("An error that names it"),
        PossibleValue::new("zero").help(
            "None of the known categories; of a column that is not there all values are missing",
        ),
    ];
    PossibleValuesParser::new(values).map(|name| match name.as_str() {
        "zero" => Unseen::Zero,
        _ => Unseen::Error,
    })
}
