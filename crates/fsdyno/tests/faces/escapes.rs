//! Tests names and paths with terminal control sequences, in every output of the program.

use fsdyno_text::escape::is_hostile;

use testkit::{RunResult, Running, TestDirectory};

/// Clears the screen, sets the title, and reverses the writing direction.
const ORDERS: &str = "x\u{1b}[2J\u{1b}]0;title\u{7}\u{202e}";

/// Runs with words of any bytes.
fn run(place: &TestDirectory, words: &[&str]) -> RunResult {
    Running::start(&mut place.command(words)).finish()
}

/// Checks that no output contains a control sequence, except those in `allowed`.
#[track_caller]
fn assert_harmless(what: &str, text: &str, allowed: &[char]) {
    let order = text.chars().position(|character| is_hostile(character) && !allowed.contains(&character));
    assert_eq!(order.map(|at| text.chars().skip(at).take(20).collect::<String>()), None, "{what}");
}

#[test]
fn reports_of_a_job_whose_name_is_an_order() {
    let place = TestDirectory::new();
    let (name, description) = (format!("--name={ORDERS}\nREAD: forged"), format!("--description={ORDERS}"));
    for form in ["normal", "json", "json+", "terse"] {
        let format = format!("--output-format={form}");
        let job = ["--ioengine=null", "--size=64k", "--eta=always", &name, &description, &format, "--record=kept"];
        let ran = run(&place, &job);
        assert_eq!(ran.status, Some(0), "{}", ran.stderr);
        assert_harmless(form, &ran.stdout, &['\n', '\r']);
        assert_harmless(form, &ran.stderr, &['\n']);
        assert!(ran.stdout.contains("\\u{1b}[2J") || ran.stdout.contains("\\u001b[2J"), "{}", ran.stdout);
        assert!(!ran.stdout.lines().any(|line| line.starts_with("READ: forged")), "{}", ran.stdout);
    }
    for form in ["normal", "json", "terse", "markdown", "csv", "openmetrics", "html"] {
        let again = run(&place, &["report", "--as", form, "kept"]);
        assert_eq!(again.status, Some(0), "{}", again.stderr);
        assert_harmless(form, &again.stdout, &['\n', '\t']);
    }
    assert_harmless("show", &run(&place, &["show", "./kept"]).stdout, &['\n']);
    assert_harmless("show", &run(&place, &["show", "./kept", "--json"]).stdout, &['\n']);
    assert_harmless("the record", &place.read("kept"), &['\n']);
}

#[test]
fn a_job_whose_name_is_a_formula() {
    let place = TestDirectory::new();
    let ran = run(&place, &["--ioengine=null", "--size=64k", "--name==1+1", "--record=kept"]);
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    let csv = run(&place, &["report", "--as", "csv", "kept"]).stdout;
    assert!(csv.contains("\"'=1+1\"") && !csv.contains(",=1+1"), "{csv}");
}

#[test]
fn errors_that_quote_an_order() {
    let place = TestDirectory::new();
    place.write("odd.fio", format!("[{ORDERS}]\nrw={ORDERS}\n"));
    let missing = format!("{ORDERS}.fio");
    let option = format!("--{ORDERS}=1");
    for words in [
        vec!["odd.fio"],
        vec!["fio", &missing],
        vec!["--name=a", &option],
        vec!["--name=a", "--rw=read", "--size=4k", "--directory", ORDERS],
        vec!["measure", ORDERS],
        vec!["inspect", ORDERS],
        vec!["show", ORDERS],
        vec!["explain", ORDERS],
        vec!["clean", ORDERS],
        vec!["measure", "--size", ORDERS],
        vec!["diff", ORDERS, ORDERS],
        vec!["check", "--profile", ORDERS],
    ] {
        let ran = run(&place, &words);
        assert_harmless(&format!("{words:?}"), &ran.stderr, &['\n']);
        assert_harmless(&format!("{words:?}"), &ran.stdout, &['\n']);
    }
}

#[test]
fn a_directory_whose_name_is_an_order() {
    let place = TestDirectory::new();
    let path = place.path(ORDERS);
    std::fs::create_dir(&path).expect("any name will do");
    let path = path.to_str().expect("it is text");
    for words in [
        ["inspect", path].as_slice(),
        &["measure", path, "--quick", "--only=seq-read,sync-latency", "--size=16m", "--store", "kept"],
    ] {
        let ran = run(&place, words);
        assert_eq!(ran.status, Some(0), "{}", ran.stderr);
        assert_harmless("stdout", &ran.stdout, &['\n']);
        assert_harmless("stderr", &ran.stderr, &['\n']);
    }
    let ran = run(&place, &["runs", "--store", "kept"]);
    assert_harmless("runs", &ran.stdout, &['\n']);
    assert!(ran.stdout.contains("\\u{1b}"), "{}", ran.stdout);
}

/// Each name that the language has, with a byte that is not UTF-8. On Windows names are Unicode.
#[cfg(unix)]
#[test]
fn names_of_any_bytes() {
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;
    use std::path::PathBuf;

    let place = TestDirectory::new();
    let name =
        |text: &str| OsString::from_vec(text.bytes().map(|byte| if byte == b'~' { 0xff } else { byte }).collect());
    let path = |text: &str| place.path("").join(PathBuf::from(name(text)));
    std::fs::create_dir_all(path("d~/deep")).unwrap();
    std::fs::write(path("part~"), name("verify_pattern=\"~\"'pattern~'\n").as_encoded_bytes()).unwrap();
    std::fs::write(path("pattern~"), "ab").unwrap();
    let text = "[j~]\ndirectory=d~\nrw=write\nsize=64k\nverify=pattern\ninclude part~\nwrite_bw_log=${LOG}\ncomm=c~\n\
                exec_prerun=echo ~ > pre~\n[k]\nopendir=d~/deep\nrw=read\ndescription=~\n";
    std::fs::write(path("jobs~"), name(text).as_encoded_bytes()).unwrap();
    std::fs::write(path("d~/deep/f~"), [0; 8192]).unwrap();
    let words = ["jobs~", "--output=o~", "--output-format=json", "--record=r~", "--bandwidth-log=all~"].map(name);
    let ran = Running::start(place.command(&words).env("LOG", name("log~"))).finish();
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    for made in [
        "d~/j~.0.0",
        "log~_bw.1.log",
        "j~.prerun.txt",
        "pre~",
        "o~",
        "r~",
        "all~-write_bw.log",
        "local-j~-0-verify.state",
    ] {
        assert!(path(made).exists(), "{made}: {}", ran.stderr);
    }
    assert_eq!(std::fs::read(path("j~.prerun.txt")).unwrap(), b"\xff\n");
    assert!(std::fs::read(path("d~/j~.0.0")).unwrap().starts_with(b"\xffab\xffab"));
    // The record keeps the byte, the report shows it.
    for (document, job) in [("o~", r#""j\\xff""#), ("r~", r#""j\udbff\udeff""#)] {
        let text = String::from_utf8(std::fs::read(path(document)).unwrap()).expect("documents are UTF-8");
        assert!(text.contains(job), "{text}");
        serde_json::from_str::<serde_json::Value>(&text).unwrap();
        assert_harmless(document, &text, &['\n']);
    }
    // The first word may contain such a byte, and an error shows it.
    let ran = Running::start(&mut place.command(&["--name=x~", "--size=4k", "--rw=bad~"].map(name))).finish();
    assert_eq!(ran.status, Some(1));
    assert!(ran.stderr.contains(r"rw=bad\xff"), "{}", ran.stderr);
}

#[test]
fn bytes_are_of_the_same_characters_in_words_and_reports() {
    assert_eq!(fsdyno_text::escape::BYTES, fsdyno_job::bytes::FIRST..=fsdyno_job::bytes::LAST);
}
