//! The jobs give what their plain versions do.

mod plain;

use super::definition::Size;
use super::jobs::definitions;
use super::pools::Pools;
use super::*;

#[test]
fn every_job_gives_what_the_plain_version_does() {
    let mut pools = Pools::default();
    for definition in definitions() {
        let shape = definition.shape(Size::Toy);
        let mut job = (definition.build)(&mut pools, shape).unwrap();
        let result = (job.run)().unwrap();
        assert_eq!((job.run)().unwrap(), result, "{} again", definition.id);
        (job.limit)().unwrap();
        assert_eq!(plain::result(definition.id, shape).unwrap(), result, "{}", definition.id);
    }
}

#[test]
fn jobs_are_chosen_by_name() {
    assert_eq!(chosen(&[]).unwrap().len(), definitions().len());
    assert_eq!(chosen(&["scan".into()]).unwrap()[0].id, "scan");
    let fault = chosen(&["no-such".into()]).unwrap_err().to_string();
    assert!(fault.starts_with("no job \"no-such\"; known are perceptron, "), "{fault}");
}
