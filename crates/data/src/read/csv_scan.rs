//! The scan that finds what the columns of a CSV file are.
//!
//! It holds one record and, for every column that may be categorical, its different values (at most
//! [`CsvOptions::max_categories`]), so its memory does not grow with the number of rows. It reports what
//! is wrong with records and labels, a header that is read as data, and numbers in a form that is not read
//! where [`Categorical::Auto`] would take them for categories; all other values are left to the stream,
//! which meets them in the order of the file.

use super::classes::{Unlabelled, label_texts};
use super::csv_column::{Observed, Role};
use super::csv_numbers::{Block, Numbers, read_blocks};
use super::csv_options::{Categorical, Column, CsvOptions, Header, LabelColumn};
use super::csv_schema::{AutoCategorical, Class, ColumnKind, CsvSchema, Layout, MISSING};
use super::error::{Location, ReadError, excerpt};
use super::input::open;
use super::number::{is_missing, parse};
use super::records::Records;
use std::collections::HashMap;
use std::io::Read;
use std::path::Path;

impl CsvSchema {
    /// Reads an input called `name` (for messages) once, from where it stands to its end.
    ///
    /// # Errors
    /// Any [`ReadError`] about records, header, labels or options.
    pub fn scan<R: Read>(
        reader: R,
        name: &str,
        options: &CsvOptions,
    ) -> Result<CsvSchema, ReadError> {
        CsvSchema::scan_with(reader, name, options, None)
    }

    /// [`CsvSchema::scan`] that keeps its rows in `numbers`.
    pub(super) fn scan_with<R: Read>(
        reader: R,
        name: &str,
        options: &CsvOptions,
        mut numbers: Option<&mut Numbers>,
    ) -> Result<CsvSchema, ReadError> {
        options.check()?;
        let mut records = Records::new(reader, name, options.delimiter, None, options.max_line);
        if !records.advance()? {
            return Err(ReadError::NoRows { name: name.to_owned() });
        }
        let first = First::of(&records);
        let mut scan = Scan::begin(&first, options)?;
        let label = scan.label;
        if let Some(delimiter) = first.other_delimiter(options.delimiter) {
            let at = Location::new(name, first.line, None);
            return Err(ReadError::OtherDelimiter { at, delimiter });
        }
        if first.fields.len() == 1 {
            return Err(ReadError::NoFeatures { name: name.to_owned() });
        }
        if scan.header == Some(false) {
            scan.observe_first(&first)?;
            if let Some(numbers) = &mut numbers {
                numbers.observe(first.fields(), label);
            }
        }
        while !scan.is_settled() && records.advance()? {
            scan.observe(records.fields(), |i| records.at(Some(i)), records.line())?;
            if let Some(numbers) = &mut numbers {
                numbers.observe(records.fields(), label);
            }
        }
        // From here on only the labels can bring anything new.
        let place = |records: &Records<R>| records.at(Some(label));
        if let Some(numbers) = numbers.filter(|numbers| numbers.is_active()) {
            let width = first.fields.len();
            read_blocks(&mut records, options, width, label, |block, before| {
                scan.observe_block(&block, name, before)?;
                numbers.append(&block);
                Ok(numbers.is_active())
            })?;
            while numbers.is_active() && records.advance()? {
                let field = records.fields().skip(label);
                scan.observe_label(field, |_| place(&records), records.line())?;
                numbers.observe(records.fields(), label);
            }
        }
        while records.advance_to_field(label)? {
            scan.observe_label(records.fields(), |_| place(&records), records.line())?;
        }
        scan.finish(&first)
    }

    /// [`CsvSchema::scan`] of a file.
    ///
    /// # Errors
    /// As there, and [`ReadError::Io`].
    pub fn scan_path(path: impl AsRef<Path>, options: &CsvOptions) -> Result<CsvSchema, ReadError> {
        let (file, name) = open(path.as_ref())?;
        CsvSchema::scan(file, &name, options)
    }
}

/// The first record, kept until the scan knows whether it is a header.
struct First {
    name: String,
    line: u64,
    fields: Vec<Vec<u8>>,
}

impl First {
    fn of<R: Read>(records: &Records<R>) -> First {
        First {
            name: records.name().to_owned(),
            line: records.line(),
            fields: records.fields().map(<[u8]>::to_vec).collect(),
        }
    }

    fn fields(&self) -> impl Iterator<Item = &[u8]> {
        self.fields.iter().map(|field| &field[..])
    }

    /// A delimiter that would cut the first record in more fields than one, if it is one.
    fn other_delimiter(&self, delimiter: u8) -> Option<u8> {
        let [only] = &self.fields[..] else { return None };
        b";\t|, ".iter().copied().find(|byte| *byte != delimiter && only.contains(byte))
    }

    fn at(&self, index: usize) -> Location {
        Location::new(&self.name, self.line, Some(index + 1))
    }

    /// The fields as names, checked to be names.
    fn names(&self) -> Result<Vec<String>, ReadError> {
        let mut taken: HashMap<&[u8], usize> = HashMap::new();
        let mut names = Vec::with_capacity(self.fields.len());
        for (i, field) in self.fields.iter().enumerate() {
            if field.is_empty() {
                return Err(ReadError::MissingName { at: self.at(i) });
            }
            let Ok(name) = std::str::from_utf8(field) else {
                return Err(ReadError::NameNotUtf8 { at: self.at(i) });
            };
            if let Some(first) = taken.insert(field, i + 1) {
                let name = excerpt(field);
                return Err(ReadError::DuplicateName { at: self.at(i), name, first });
            }
            names.push(name.to_owned());
        }
        Ok(names)
    }

    /// Whether no field is a number or missing.
    fn may_be_a_header(&self) -> bool {
        !self.fields.iter().any(|field| is_missing(field) || parse(field).is_some())
    }

    /// The place of a column.
    fn place(&self, column: &Column, header: Option<bool>) -> Result<usize, ReadError> {
        let found = match column {
            Column::Index(index) => Some(*index).filter(|&i| i < self.fields.len()),
            Column::Name(_) if header == Some(false) => None,
            Column::Name(name) => self.fields.iter().position(|f| f == name.as_bytes()),
        };
        found.ok_or_else(|| ReadError::ColumnNotFound {
            at: Location::new(&self.name, self.line, None),
            wanted: column.to_string(),
            fields: self.fields.len(),
        })
    }
}

/// A scan under way.
struct Scan<'a> {
    options: &'a CsvOptions,
    /// Whether the first record is a header; `None` until all others have been seen.
    header: Option<bool>,
    label: usize,
    columns: Vec<Observed>,
    rows: u64,
}

impl<'a> Scan<'a> {
    fn begin(first: &First, options: &'a CsvOptions) -> Result<Scan<'a>, ReadError> {
        let header = match options.header {
            Header::Auto if options.names_a_column() => Some(true),
            Header::Auto if !first.may_be_a_header() => Some(false),
            Header::Auto => None,
            Header::Present => Some(true),
            Header::Absent => Some(false),
        };
        let width = first.fields.len();
        let label = match &options.label {
            LabelColumn::Last => width.saturating_sub(1),
            LabelColumn::First => 0,
            LabelColumn::Index(index) => first.place(&Column::Index(*index), header)?,
            LabelColumn::Name(name) => first.place(&Column::Name(name.clone()), header)?,
        };
        let role = match options.categorical {
            Categorical::Auto => Role::Open,
            Categorical::None | Categorical::Columns(_) => Role::Numeric,
        };
        let mut columns: Vec<Observed> = (0..width).map(|_| Observed::new(role)).collect();
        if let Categorical::Columns(categorical) = &options.categorical {
            for column in categorical {
                columns[first.place(column, header)?].role = Role::Categorical;
            }
        }
        columns[label].role = Role::Label;
        Ok(Scan { options, header, label, columns, rows: 0 })
    }

    /// Whether no column but that of the labels can bring anything new. Looked at now and then.
    fn is_settled(&self) -> bool {
        const EVERY: u64 = 64;
        let undecided = self.header.is_none();
        let others = || self.columns.iter().enumerate().filter(|(i, _)| *i != self.label);
        self.rows.is_multiple_of(EVERY) && others().all(|(_, column)| column.is_inert(undecided))
    }

    /// Takes one row of data in, of which the label alone is given.
    fn observe_label<'f>(
        &mut self,
        mut fields: impl Iterator<Item = &'f [u8]>,
        at: impl Fn(usize) -> Location,
        line: u64,
    ) -> Result<(), ReadError> {
        let Some(field) = fields.next() else {
            unreachable!("a record has as many fields as the first, and the first has the label's")
        };
        self.observe_field(self.label, field, &at, line)?;
        self.rows += 1;
        Ok(())
    }

    /// Takes the rows of a block in, of which the labels alone can bring anything new, and those only where a
    /// class appears first; `before` is the number of the line before it.
    fn observe_block(&mut self, block: &Block, name: &str, before: u64) -> Result<(), ReadError> {
        let mut classes = 0;
        for (class, line) in block.classes() {
            let line = before + line;
            let at = |i| Location::new(name, line, Some(i + 1));
            self.observe_label([class].into_iter(), at, line)?;
            classes += 1;
        }
        self.rows += (block.rows() - classes) as u64;
        Ok(())
    }

    /// Takes one row of data in.
    fn observe<'f>(
        &mut self,
        fields: impl Iterator<Item = &'f [u8]>,
        at: impl Fn(usize) -> Location,
        line: u64,
    ) -> Result<(), ReadError> {
        for (i, field) in fields.enumerate() {
            self.observe_field(i, field, &at, line)?;
        }
        self.rows += 1;
        Ok(())
    }

    #[inline]
    fn observe_field(
        &mut self,
        i: usize,
        field: &[u8],
        at: &impl Fn(usize) -> Location,
        line: u64,
    ) -> Result<(), ReadError> {
        let limit = self.options.max_categories;
        let undecided = self.header.is_none();
        let column = &mut self.columns[i];
        if is_missing(field) {
            if i == self.label {
                return Err(ReadError::MissingValue { at: at(i) });
            }
            column.missing = true;
            return Ok(());
        }
        column.note_below(field);
        if column.values.contains_key(field) {
            return Ok(());
        }
        column.classify(field, undecided);
        if column.keeps_values() && column.keep(field, line, limit) {
            check_words(column, &at(i))?;
            let found = excerpt(column.a_word().unwrap_or(field));
            return Err(ReadError::TooManyCategories { at: at(i), limit, found });
        }
        Ok(())
    }

    /// Takes the first row of data in, which may be a header that was taken for one.
    fn observe_first(&mut self, first: &First) -> Result<(), ReadError> {
        self.observe(first.fields(), |i| first.at(i), first.line)?;
        self.columns.iter_mut().zip(first.fields()).for_each(|(column, f)| column.note_first(f));
        Ok(())
    }

    fn finish(mut self, first: &First) -> Result<CsvSchema, ReadError> {
        let options = self.options;
        let has_header = match self.header {
            Some(header) => header,
            None => self.columns.iter().any(Observed::only_numbers),
        };
        if self.header.is_none() && !has_header {
            // Every column that holds anything holds words below as well.
            self.observe(first.fields(), |i| first.at(i), first.line)?;
        }
        if self.rows == 0 {
            return Err(ReadError::NoRows { name: first.name.clone() });
        }
        for (i, column) in self.columns.iter().enumerate() {
            check_words(column, &first.at(i))?;
        }
        let names = if has_header {
            first.names()?
        } else {
            (1..=first.fields.len()).map(|i| format!("x{i}")).collect()
        };
        let classes = self.classes(first)?;
        let missing = options.missing;
        let mut auto_categorical = Vec::new();
        let mut kinds = Vec::with_capacity(self.columns.len());
        for (i, (column, name)) in self.columns.into_iter().zip(&names).enumerate() {
            let open = column.role == Role::Open;
            let example = excerpt(column.a_word().unwrap_or(MISSING));
            let kind = column.kind(missing);
            if let (ColumnKind::Categorical(values), true) = (&kind, open) {
                let (name, categories) = (name.clone(), values.len());
                auto_categorical.push(AutoCategorical { column: i + 1, name, categories, example });
            }
            kinds.push(kind);
        }
        CsvSchema::try_from(Layout {
            delimiter: options.delimiter,
            max_line: options.max_line,
            missing,
            names,
            has_header,
            kinds,
            classes,
            auto_categorical,
            rows: self.rows,
        })
    }

    /// The classes with their labels.
    fn classes(&mut self, first: &First) -> Result<Vec<Class>, ReadError> {
        let mut seen: Vec<_> = self.columns[self.label].values.drain().collect();
        seen.sort_unstable();
        let texts: Vec<&[u8]> = seen.iter().map(|(text, _)| &text[..]).collect();
        let positive = self.options.positive.as_deref();
        let fault = match label_texts(&texts, positive) {
            Ok(labels) => {
                return Ok(seen.into_iter().zip(labels).map(|((text, _), y)| (text, y)).collect());
            }
            Err(fault) => fault,
        };
        let Some(last) = seen.iter().map(|&(_, line)| line).max() else {
            unreachable!("there are rows, and every row has a label")
        };
        let at = Location::new(&first.name, last, Some(self.label + 1));
        let classes = texts.iter().map(|text| excerpt(text)).collect();
        Err(match (fault, positive) {
            (Unlabelled::Absent, Some(name)) => {
                ReadError::AbsentPositive { at, positive: name.to_owned(), classes }
            }
            _ => ReadError::UnclearPositive { at, classes },
        })
    }
}

/// Refuses a column whose only words are the name of the column or numbers in a form that is not read.
/// `at` is any place in the column.
fn check_words(column: &Observed, at: &Location) -> Result<(), ReadError> {
    let place = |line| Location { line, ..at.clone() };
    if let Some((found, line)) = column.header() {
        return Err(ReadError::HeaderAsData { at: place(line), found: excerpt(found) });
    }
    if let Some(((found, line), cause)) = column.misspelt() {
        return Err(ReadError::NotANumber { at: place(line), found: excerpt(found), cause });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::Missing;
    use halfspaces_linalg::Label;

    fn scan(text: &str, options: CsvOptions) -> Result<CsvSchema, ReadError> {
        CsvSchema::scan(text.as_bytes(), "t", &options)
    }

    fn message(text: &str, options: CsvOptions) -> String {
        scan(text, options).unwrap_err().to_string()
    }

    fn auto() -> CsvOptions {
        CsvOptions::new()
    }

    fn categories(values: &[&str]) -> ColumnKind {
        ColumnKind::Categorical(values.iter().map(|v| v.as_bytes().into()).collect())
    }

    #[test]
    fn headers_are_found() {
        let headed = |text: &str| scan(text, auto().positive("1")).map(|s| s.has_header()).unwrap();
        assert!(headed("a,b,y\n1,2,0\n3,4,1\n"));
        assert!(headed("a,b,y\nred,2,0\nblue,4,1\n"));
        assert!(headed("a,y\nred,0\nblue,1\n")); // numeric labels count as a numeric column
        assert!(!headed("1,2,0\n3,4,1\n"));
        assert!(!headed("a,b,1\nc,d,e\n"));
        assert!(!headed("a,nan,1\nb,2,0\n"));
        assert!(!headed("a,,1\nb,2,0\n"));
        assert!(!headed("a,b,c\n"));
        let by_name = |c| scan("a,y\nu,v\n", auto().categorical(c).positive("v")).unwrap();
        assert!(!by_name(Categorical::Columns(vec![0.into()])).has_header());
        assert!(by_name(Categorical::Columns(vec!["a".into()])).has_header());
    }

    #[test]
    fn all_categories_without_a_header_are_data() {
        let schema = scan("a,b,yes\nc,d,no\n", auto().positive("yes")).unwrap();
        assert_eq!((schema.rows(), schema.dim()), (2, 4));
        assert_eq!(schema.columns(), ["x1=a", "x1=c", "x2=b", "x2=d"]);
        assert_eq!(schema.names(), ["x1", "x2", "x3"]);
        let classes: Vec<_> = schema.classes().collect();
        assert_eq!(classes, [("no".into(), Label::Negative), ("yes".into(), Label::Positive)]);
        let schema = scan("a,b,yes\nc,d,no\n", auto().positive("no").header(Header::Present));
        assert_eq!(schema.unwrap().columns(), ["a=c", "b=d"]);
    }

    #[test]
    fn columns_with_words_are_categorical() {
        let schema = scan("1,1,NA,1\n2,b,u,1\n3,?,b,0\n", auto().missing(Missing::Category));
        let schema = schema.unwrap();
        assert_eq!(
            schema.kinds(),
            [
                ColumnKind::Numeric,
                categories(&["1", "?", "b"]),
                categories(&["NA", "b", "u"]),
                ColumnKind::Label
            ]
        );
        assert_eq!(schema.columns()[..3], ["x1", "x2=1", "x2=?"]);
        // A column of nothing but missing values is a category if those are allowed.
        let kind = |m| scan("?,1\n,0\n", auto().missing(m)).unwrap().kinds()[0].clone();
        assert_eq!(kind(Missing::Category), categories(&["?"]));
        assert_eq!(kind(Missing::Error), ColumnKind::Numeric);
        // NaN is a bad number, not a word.
        assert_eq!(scan("nan,1\n1,0\n", auto()).unwrap().kinds()[0], ColumnKind::Numeric);
    }

    #[test]
    fn too_many_categories() {
        let options = || auto().max_categories(3);
        let numbers = "1,1\n2,0\n3,1\n4,0\n";
        assert_eq!(scan(numbers, options()).unwrap().kinds()[0], ColumnKind::Numeric);
        // A word after too many numbers leaves the column numeric, for the stream to report.
        let late = format!("{numbers}abc,0\n");
        assert_eq!(scan(&late, options()).unwrap().kinds()[0], ColumnKind::Numeric);
        assert_eq!(
            message("1,1\nabc,0\n3,1\n4,0\n", options()),
            "t, line 4, column 1: more than 3 different values, among them \"abc\"; declare the \
             column numeric, choose another label column, or raise CsvOptions::max_categories"
        );
        let declared = options().categorical(Categorical::Columns(vec![0.into()]));
        assert!(message(numbers, declared).starts_with("t, line 4, column 1: more than 3"));
        assert!(message("1,1\n1,2\n1,3\n1,4\n", options()).starts_with("t, line 4, column 2"));
    }

    #[test]
    fn names_that_are_no_utf8_are_refused_and_categories_escaped() {
        let text = b"a,\xff\n1,0\n";
        let fault = CsvSchema::scan(&text[..], "t", &auto()).unwrap_err();
        assert_eq!(
            fault.to_string(),
            "t, line 1, column 2: the name is not UTF-8; save the file as UTF-8"
        );
        let schema = CsvSchema::scan(&b"\xff,0\nb,1\n"[..], "t", &auto()).unwrap();
        assert_eq!(schema.columns(), ["x1=b", "x1=\\xff"]);
    }

    #[test]
    fn header_faults_say_where() {
        let present = || auto().header(Header::Present);
        assert_eq!(
            message("\na,b,a\n1,2,1\n", auto()),
            "t, line 2, column 3: the name \"a\" is taken by column 1; rename one of the two"
        );
        assert_eq!(
            message("a,,y\n1,2,1\n", present()),
            "t, line 1, column 2: the column has no name; name it, or read with Header::Absent"
        );
        let no_column = "; give an index from 0, or a name of the header (with \
                         Header::Present)";
        let label = |label| present().label(label);
        assert_eq!(
            message("a,y\n1,1\n", label(LabelColumn::Name("z".into()))),
            format!("t, line 1: there is no column \"z\" among 2{no_column}")
        );
        assert_eq!(
            message("a,y\n1,1\n", label(LabelColumn::Index(2))),
            format!("t, line 1: there is no column 2 among 2{no_column}")
        );
        let absent = auto().header(Header::Absent).label(LabelColumn::Name("a".into()));
        assert_eq!(
            message("a,y\n1,1\n", absent),
            format!("t, line 1: there is no column \"a\" among 2{no_column}")
        );
        let columns = auto().categorical(Categorical::Columns(vec![5.into()]));
        assert!(matches!(scan("1,1\n", columns), Err(ReadError::ColumnNotFound { fields: 2, .. })));
    }

    #[test]
    fn class_faults_list_the_classes() {
        assert_eq!(
            message("1,no\n2,no\n3,yes\n4,no\n", auto()),
            "t, line 3, column 2: the labels are \"no\", \"yes\"; \
             name the positive class in the options"
        );
        assert_eq!(
            message("1,1\n2,2\n3,1\n4,3\n", auto()),
            "t, line 4, column 2: the labels are \"1\", \"2\", \"3\"; \
             name the positive class in the options"
        );
        assert_eq!(
            message("no,1\nyes,2\n", auto().label(LabelColumn::First).positive("YES")),
            "t, line 2, column 1: the labels are \"no\", \"yes\", without the positive class \
             \"YES\"; name one of them"
        );
        assert_eq!(
            message("1,1\n2,\n", auto()),
            "t, line 2, column 2: the value is missing; drop the row or fill the value in \
             (a categorical column may also be read with Missing::Category)"
        );
        // One class is enough.
        assert_eq!(scan("1,no\n", auto().positive("yes")).unwrap().rows(), 1);
    }

    #[test]
    fn nothing_to_read() {
        let no_rows = "t: no rows of data; give at least one example";
        assert_eq!(message("", auto()), no_rows);
        assert_eq!(message("\n \r\n", auto()), no_rows);
        assert_eq!(message("a,b\n", auto().header(Header::Present)), no_rows);
        assert_eq!(
            message("1\n0\n", auto()),
            "t: no features beside the labels; check the delimiter, or declare a dimension"
        );
        assert_eq!(
            message("1,2\n", auto().delimiter(b'"')),
            "the delimiter '\"' is a quote or a line end; choose another"
        );
        let missing = CsvSchema::scan_path("/no/such/file.csv", &auto()).unwrap_err();
        assert!(matches!(missing, ReadError::Io { .. }));
        assert!(missing.to_string().starts_with("/no/such/file.csv: "));
    }
}
