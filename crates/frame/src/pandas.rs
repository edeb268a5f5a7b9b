//! Reads the metadata about columns that pandas writes into a schema.

use crate::typing::is_nameless_index;
use arrow_schema::Schema;
use serde_json::Value;
use std::collections::BTreeSet;

/// The columns for which the pandas metadata contains a declaration.
#[derive(Debug, Default)]
pub(crate) struct Declared {
    /// Columns that contain the index of the data frame. As in delimited text, a first column without a name is such a
    /// column.
    pub(crate) indices: BTreeSet<String>,
    /// Columns that have the type `category` in pandas, regardless of the type of their values.
    pub(crate) categories: BTreeSet<String>,
}

impl Declared {
    /// Reads the metadata of a schema. Damaged or missing metadata are ignored.
    pub(crate) fn of(schema: &Schema) -> Declared {
        let names = || schema.fields().iter().map(|field| field.name());
        let nameless = names().take(1).filter(|name| name.is_empty() && schema.fields().len() > 1);
        let levels = names().filter(|name| is_nameless_index(name));
        let mut declared = Declared {
            indices: nameless.chain(levels).cloned().collect(),
            categories: BTreeSet::new(),
        };
        let text = schema.metadata().get("pandas");
        let Some(Ok(value)) = text.map(|text| serde_json::from_str::<Value>(text)) else {
            return declared;
        };
        let list = |key: &str| value.get(key).and_then(Value::as_array).into_iter().flatten();
        // An index that is a range is described by an object instead of a name and has no column.
        declared.indices.extend(list("index_columns").filter_map(Value::as_str).map(str::to_owned));
        for column in list("columns") {
            let text = |key: &str| column.get(key).and_then(Value::as_str);
            if let (Some("categorical"), Some(name)) =
                (text("pandas_type"), text("field_name").or(text("name")))
            {
                declared.categories.insert(name.to_owned());
            }
        }
        declared
    }
}
