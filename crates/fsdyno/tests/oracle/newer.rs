//! Options and an engine that are newer than Debian's fio: what the kernel is asked for, as fio 3.41 asked for it when these
//! lines were traced; and the pages that `page_fault` touches, by arithmetic.

use std::process::Command;

use serde_json::Value;

use crate::tools::OURS;

/// The calls of a job of four requests; `None`: they cannot be traced here.
fn calls(trace: &str, words: &str) -> Option<Vec<String>> {
    if !testkit::has("strace") {
        testkit::skip("strace is not installed");
        return None;
    }
    let directory = testkit::directory();
    let ran = Command::new("strace")
        .args(["-f", "-o", "calls", "-e", &format!("trace={trace}")])
        .arg(&OURS.program)
        .args(["--name=a", "--filename=data", "--size=16k", "--bs=4k"])
        .args(words.split(' '))
        .current_dir(&directory)
        .output()
        .expect("strace runs");
    assert!(ran.status.success(), "{words}: {}", testkit::text(&ran.stderr));
    let calls = std::fs::read_to_string(directory.path().join("calls")).expect("strace has written them");
    Some(calls.lines().map(str::to_owned).collect())
}

/// How often a text stands in the calls.
fn count(calls: &[String], text: &str) -> usize {
    calls.iter().map(|call| call.matches(text).count()).sum()
}

#[test]
fn hints_stand_beside_class_and_level() {
    let words = "--rw=read --ioengine=libaio --iodepth=4 --cmdprio_percentage=100 --cmdprio_class=2 --cmdprio=3";
    let Some(hinted) = calls("io_submit", &format!("{words} --cmdprio_hint=1")) else { return };
    // Eight hints of eight levels each: 1 * 8 + 3.
    assert_eq!(count(&hinted, "aio_reqprio=IOPRIO_PRIO_VALUE(IOPRIO_CLASS_BE, 11)"), 4, "{hinted:#?}");
    let Some(plain) = calls("io_submit", words) else { return };
    assert_eq!(count(&plain, "IOPRIO_CLASS_BE, 3)"), 4, "{plain:#?}");
    let Some(thread) = calls("ioprio_set", "--rw=read --prioclass=2 --prio=3 --priohint=2") else { return };
    let set = "ioprio_set(IOPRIO_WHO_PROCESS, 0, IOPRIO_PRIO_VALUE(IOPRIO_CLASS_BE, 19)) = 0";
    assert_eq!(count(&thread, set), 1, "{thread:#?}");
}

#[test]
fn vectored_requests_are_lists() {
    let words = "--rw=write --ioengine=libaio --iodepth=4 --libaio_vectored=";
    let Some(vectored) = calls("io_submit", &format!("{words}1")) else { return };
    assert_eq!(count(&vectored, "IOCB_CMD_PWRITEV"), 4, "{vectored:#?}");
    assert_eq!(count(&vectored, "iov_len=4096}"), 4, "{vectored:#?}");
    let Some(plain) = calls("io_submit", &format!("{words}0")) else { return };
    assert_eq!([count(&plain, "IOCB_CMD_PWRITE,"), count(&plain, "IOCB_CMD_PWRITEV")], [4, 0], "{plain:#?}");
}

#[test]
fn huge_pages_are_asked_for_where_the_file_is_mapped() {
    let words = "--rw=randread --ioengine=mmap --size=4m --thp=";
    let Some(huge) = calls("mmap,madvise", &format!("{words}1")) else { return };
    let address =
        |call: &String| call.contains("4194304, PROT_READ").then(|| call.rsplit(' ').next().map(str::to_owned));
    let mapped = huge.iter().find_map(address).flatten().expect("the file is mapped");
    assert_eq!(count(&huge, &format!("madvise({mapped}, 4194304, MADV_HUGEPAGE) = 0")), 1, "{huge:#?}");
    let Some(small) = calls("mmap,madvise", &format!("{words}0")) else { return };
    assert_eq!(count(&small, "MADV_HUGEPAGE"), 0, "{small:#?}");
}

/// Each page of the job's memory is given once, whatever is read and written of it afterwards.
#[test]
fn each_page_faults_once() {
    let huge = std::fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled").unwrap_or_default();
    if huge.contains("[always]") {
        testkit::skip("this kernel gives huge pages unasked, so that pages are not counted one by one");
        return;
    }
    let faults = |words: &str| {
        let directory = testkit::directory();
        let ran = Command::new(&OURS.program)
            .args(["--name=a", "--ioengine=page_fault", "--bs=4k", "--output-format=json"])
            .args(words.split(' '))
            .current_dir(&directory)
            .output()
            .expect("it runs");
        let document: Value = serde_json::from_slice(&ran.stdout).expect("a document");
        let job = &document["jobs"][0];
        let requests = ["read", "write"].map(|direction| job[direction]["total_ios"].as_u64().expect("a number"));
        (requests, job["minf"].as_u64().expect("a number"))
    };
    let (requests, few) = faults("--rw=write --size=4k");
    assert_eq!(requests, [0, 1]);
    for (words, expected) in [
        ("--rw=write --size=8m", [0, 2048]),
        ("--rw=randread --size=8m", [2048, 0]),
        ("--rw=write --size=8m --loops=3", [0, 6144]),
    ] {
        let (requests, many) = faults(words);
        assert_eq!(requests, expected, "{words}");
        let pages = many - few;
        assert!((2000..2150).contains(&pages), "{words}: {pages} pages beyond the first one");
    }
}
