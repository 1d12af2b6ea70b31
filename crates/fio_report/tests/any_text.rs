//! Checks that JSON stays valid and terse lines stay lines, whatever names and options contain.

use fsdyno_fio_report::{json, terse};
use fsdyno_results::{JobRecord, JobSetup, RunRecord};
use jiff::tz::TimeZone;
use proptest::prelude::*;
use serde_json::Value;

proptest! {
    #[test]
    fn json_is_valid_and_terse_is_one_line(name in any::<String>(), option in any::<String>(), text in "[\\PC\\x00-\\x1f\"\\\\;]*") {
        let mut run = RunRecord::new("fio-3.42", 0);
        let mut job = JobRecord::new(name.clone(), 1, JobSetup::default());
        job.description = Some(text.clone());
        job.options = vec![(option.clone(), "first".into()), (option.clone(), text.clone())];
        run.global_options = vec![("directory".into(), text.clone())];
        run.jobs = vec![job];

        let document: Value = serde_json::from_str(&json::document(&run, true, &TimeZone::UTC)).unwrap();
        prop_assert_eq!(&document["jobs"][0]["jobname"], &Value::from(name));
        prop_assert_eq!(&document["jobs"][0]["desc"], &Value::from(text.clone()));
        prop_assert_eq!(&document["jobs"][0]["job options"][option.as_str()], &Value::from(text.clone()));
        prop_assert_eq!(&document["global options"]["directory"], &Value::from(text));

        let terse = terse::lines(&run, terse::Version::V3);
        prop_assert_eq!(terse.split(';').count(), 122);
        prop_assert_eq!(terse.split('\n').count(), 2);
    }
}
