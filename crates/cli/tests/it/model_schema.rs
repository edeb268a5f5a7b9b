//! The models of every learner conform to docs/model.schema.json, and models that do not are refused.

use crate::support::{refused, succeed, table};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

fn schema() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/model.schema.json");
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// The violations of `schema` in `value`. Supports the keywords that the schema uses; panics on others.
fn faults(schema: &Value, value: &Value, root: &Value, place: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (keyword, rule) in schema.as_object().unwrap() {
        let fault = |what: &str| vec![format!("{place}: {what} {rule}")];
        found.extend(match keyword.as_str() {
            "$schema" | "$defs" | "title" | "description" => vec![],
            "$ref" => {
                let name = rule.as_str().unwrap().strip_prefix("#/$defs/").unwrap();
                faults(&root["$defs"][name], value, root, place)
            }
            "type" => {
                let sound = match rule.as_str().unwrap() {
                    "object" => value.is_object(),
                    "array" => value.is_array(),
                    "string" => value.is_string(),
                    "number" => value.is_number(),
                    "integer" => value.is_u64() || value.is_i64(),
                    "boolean" => value.is_boolean(),
                    "null" => value.is_null(),
                    other => panic!("type {other}"),
                };
                if sound { vec![] } else { fault("is not of type") }
            }
            "const" => {
                if value == rule {
                    vec![]
                } else {
                    fault("is not")
                }
            }
            "enum" => {
                if rule.as_array().unwrap().contains(value) {
                    vec![]
                } else {
                    fault("is none of")
                }
            }
            "minimum" => {
                let least = value.as_f64().is_none_or(|v| v >= rule.as_f64().unwrap());
                if least { vec![] } else { fault("is below") }
            }
            "minItems" => {
                let enough =
                    value.as_array().is_none_or(|v| v.len() as u64 >= rule.as_u64().unwrap());
                if enough { vec![] } else { fault("has fewer items than") }
            }
            "required" => {
                let names = rule.as_array().unwrap().iter().map(|name| name.as_str().unwrap());
                let missing = names.filter(|name| value.get(name).is_none());
                missing.map(|name| format!("{place}: {name} is missing")).collect()
            }
            "properties" => {
                let rules = rule.as_object().unwrap().iter();
                let given = rules.filter_map(|(name, rule)| Some((name, rule, value.get(name)?)));
                given
                    .flat_map(|(n, rule, v)| faults(rule, v, root, &format!("{place}.{n}")))
                    .collect()
            }
            "additionalProperties" => {
                assert_eq!(rule, &json!(false));
                let known = schema["properties"].as_object().unwrap();
                let given = value.as_object().into_iter().flatten();
                let others = given.filter(|(name, _)| !known.contains_key(*name));
                others.map(|(name, _)| format!("{place}: {name} is unknown")).collect()
            }
            "items" => {
                let items = value.as_array().into_iter().flatten().enumerate();
                items.flat_map(|(i, v)| faults(rule, v, root, &format!("{place}[{i}]"))).collect()
            }
            "oneOf" => {
                let of = |rule: &Value| faults(rule, value, root, place);
                let all: Vec<Vec<String>> = rule.as_array().unwrap().iter().map(of).collect();
                match all.iter().filter(|faults| faults.is_empty()).count() {
                    1 => vec![],
                    0 => all.into_iter().flatten().collect(),
                    _ => fault("is more than one of"),
                }
            }
            other => panic!("the schema uses {other}, which this test does not check"),
        });
    }
    found
}

#[test]
fn models_conform_to_the_schema() {
    let dir = tempfile::tempdir().unwrap();
    let mut text = table(120).replace("\n-5,", "\n,");
    fs::write(dir.path().join("two.csv"), &text).unwrap();
    // The second table has a column of words and three classes.
    text = text
        .lines()
        .enumerate()
        .map(|(i, line)| match i {
            0 => format!("note,{line}\n"),
            _ if i % 9 == 0 => {
                format!("some {} words,{}z\n", ["new", "old"][i % 2], &line[..line.len() - 1])
            }
            _ => format!("other {} words,{line}\n", ["new", "old"][i % 2]),
        })
        .collect();
    fs::write(dir.path().join("three.csv"), &text).unwrap();
    let schema = schema();
    for learner in ["auto", "massart", "perspectron", "perceptron", "logistic", "svm"] {
        for data in ["two.csv", "three.csv --text note"] {
            let args =
                format!("fit {data} --label y --learner {learner} --holdout 0.4 -o m.json --force");
            succeed(dir.path(), &args);
            let model = fs::read_to_string(dir.path().join("m.json")).unwrap();
            let model: Value = serde_json::from_str(&model).unwrap();
            let found = faults(&schema, &model, &schema, "model");
            assert!(found.is_empty(), "{learner} {data}: {found:?}");
        }
    }
}

#[test]
fn changed_models_violate_the_schema_or_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("t.csv"), table(120)).unwrap();
    let args = "fit t.csv --label y --learner logistic --holdout 0.4 -o m.json";
    succeed(dir.path(), args);
    let model: Value =
        serde_json::from_str(&fs::read_to_string(dir.path().join("m.json")).unwrap()).unwrap();
    let schema = schema();
    let set = |pointer: &str, to: Value| {
        let mut changed = model.clone();
        *changed.pointer_mut(pointer).unwrap() = to;
        changed
    };
    // Models with these faults violate the schema and are refused by the program.
    for (pointer, to) in [
        ("/format", json!("other")),
        ("/version", json!(1)),
        ("/version", json!(5)),
        ("/pipeline/model/calibration/slope", json!(-1.0)),
        ("/pipeline/recipe/columns/0/kind", json!("date")),
        ("/pipeline/label/classes", json!("np")),
        ("/pipeline/model/method", json!("magic")),
        ("/pipeline/model/core/linear/fitted/two/halfspace/halfspace/bias", json!(null)),
        ("/pipeline/report/held_out/points", json!(0)),
        ("/pipeline/report/rows", json!(-1)),
    ] {
        let changed = set(pointer, to);
        assert!(!faults(&schema, &changed, &schema, "model").is_empty(), "{pointer}");
        fs::write(dir.path().join("changed.json"), changed.to_string()).unwrap();
        refused(dir.path(), &["predict", "changed.json", "t.csv"]);
    }
    // Faults that a schema cannot express.
    for (pointer, to) in [
        ("/pipeline/recipe/columns", json!([])),
        ("/pipeline/recipe/columns/0/name", json!("b")),
        ("/pipeline/recipe/columns/2/levels", json!(["red", "green", "blue"])),
        ("/pipeline/recipe/columns/2/levels", json!(["green", "red"])),
        ("/pipeline/label/classes", json!(["n", "n"])),
        ("/pipeline/label/classes", json!(["n", "o", "p"])),
        ("/pipeline/model/method", json!("auto")),
        ("/pipeline/model/core/linear/scale/means", json!([0.0])),
        ("/pipeline/report/held_out/errors", json!(1000)),
        // A fault that only the checksum detects.
        ("/pipeline/report/held_out/errors", json!(0)),
        ("/pipeline/model/calibration/slope", json!(0.123)),
        ("/checksum", json!("0000000000000000")),
    ] {
        fs::write(dir.path().join("changed.json"), set(pointer, to).to_string()).unwrap();
        let said = refused(dir.path(), &["predict", "changed.json", "t.csv"]);
        assert!(said.starts_with("error: changed.json: the model is damaged"), "{pointer}: {said}");
    }
}

/// Models that an earlier version of the program wrote can be loaded, and their predictions have not changed.
#[test]
fn models_of_an_earlier_program_load() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/fixtures");
    for model in ["auto", "text", "logistic"] {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        for file in ["rows.csv", &format!("{model}.json")] {
            fs::copy(fixtures.join(file), folder.join(file)).unwrap();
        }
        let found = succeed(folder, &format!("predict {model}.json rows.csv"));
        let expected = fs::read_to_string(fixtures.join(format!("{model}.csv"))).unwrap();
        // A processor with other instructions may round the last digits differently.
        let is_close = |a: &str, b: &str| match (a.parse::<f64>(), b.parse::<f64>()) {
            (Ok(a), Ok(b)) => (a - b).abs() < 1e-9,
            _ => a == b,
        };
        let cells =
            |text: &str| -> Vec<String> { text.split([',', '\n']).map(str::to_owned).collect() };
        let (found, expected) = (cells(&found), cells(&expected));
        assert!(found.len() == expected.len() && found.len() > 3 * 80);
        assert!(found.iter().zip(&expected).all(|(a, b)| is_close(a, b)), "{model}");
    }
}
