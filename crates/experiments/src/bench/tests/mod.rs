//! The jobs give the same results as their plain versions.

mod plain;

use super::definition::Size;
use super::jobs::definitions;
use super::pools::Pools;
use super::*;

#[test]
fn every_job_gives_the_result_of_its_plain_version() {
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
    let (jobs, threaded) = chosen(&[]).unwrap();
    assert_eq!((jobs.len(), threaded.len()), (definitions().len(), threads::SERIES.len()));
    let (jobs, threaded) = chosen(&["scan".into(), "classes".into()]).unwrap();
    assert_eq!((jobs[0].id, threaded[0].id, threaded[1].id), ("scan", "scan", "classes"));
    assert_eq!((jobs.len(), threaded.len()), (1, 2));
    let fault = chosen(&["no-such".into()]).unwrap_err().to_string();
    assert!(fault.starts_with("--only no-such: no such job; use one of classes, csv, "), "{fault}");
}
