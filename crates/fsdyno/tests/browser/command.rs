//! Tests `fsdyno report`: formats, files, refusals; and what other programs read in the exports.

use std::process::Command;

use fsdyno_results::Study;
use testkit::{RunResult, TestDirectory, skip, text};

use crate::{fixture, odd};

/// A directory with a study in it.
fn with(study: &Study) -> TestDirectory {
    let place = TestDirectory::new();
    place.write("study.json", study.to_json());
    place
}

#[track_caller]
fn good(place: &TestDirectory, words: &str) -> RunResult {
    place.run(words).good()
}

/// Wrong input is reported with the next step, writes nothing, and ends with status 2.
#[track_caller]
fn refused(place: &TestDirectory, words: &str, says: &str) {
    let before = place.names("");
    place.run(words).refused(says);
    assert_eq!(place.names(""), before, "{words}");
}

/// The sheet's rates have the same units as the terminal's.
#[test]
fn the_sheet_has_the_units_that_were_asked_for() {
    let place = with(&odd::quick());
    let unit = |words: &str| {
        good(&place, &format!("report study.json -o a.html {words}"));
        let page = place.read("a.html");
        // Sentences of a saved run stay as they were written.
        let tables: Vec<&str> = page.split("<table").skip(1).filter_map(|rest| rest.split("</table>").next()).collect();
        ["MB/s", "MiB/s"].map(|unit| tables.iter().filter(|table| table.contains(unit)).count())
    };
    let ([plain, none], [nothing, binary]) = (unit(""), unit("--units=binary"));
    assert!(plain > 0 && none == 0 && nothing == 0 && binary == plain, "{plain} {none} {nothing} {binary}");
}

#[test]
fn the_ending_of_the_file_tells_the_form() {
    let place = with(&fixture::short_comparison());
    for (name, begins) in [
        ("a.html", "<!DOCTYPE html>"),
        ("b.md", "local wins in read"),
        ("c.csv", "study,target,path,pattern"),
        ("d.prom", "# TYPE fsdyno_throughput_bytes_per_second gauge\n"),
        ("e.txt", "read: (g=0): rw=read, bs=(R) 4096B-4096B"),
    ] {
        let ran = good(&place, &format!("report study.json -o {name}"));
        assert_eq!(ran.stdout, "");
        assert!(ran.stderr.contains(&format!("wrote {name}")), "{}", ran.stderr);
        let text = place.read(name);
        assert!(text.trim_start().starts_with(begins), "{name}: {}", &text[..text.len().min(200)]);
    }
    let first = place.read("a.html");
    good(&place, "report study.json -o a.html");
    assert_eq!(place.read("a.html"), first, "an export may be replaced, and is the same each time");
    assert_eq!(place.names(""), ["a.html", "b.md", "c.csv", "d.prom", "e.txt", "study.json"], "no draft is left");
}

#[test]
fn forms_go_to_stdout_too() {
    let place = with(&fixture::short_comparison());
    assert!(good(&place, "report study.json --as html").stdout.starts_with("<!DOCTYPE html>"));
    assert!(good(&place, "report study.json -o - --as csv").stdout.starts_with("study,"));
    assert!(good(&place, "report study.json").stdout.contains("| | local | nfs | s3 |"), "Markdown is for studies");
    let titled = good(&place, "report study.json --as html --title Before").stdout;
    assert!(titled.contains("<h1>Before</h1>"));
}

#[test]
fn runs_of_fio_command_lines_have_sheets() {
    let place = with(&odd::small_files());
    let jobs = "--ioengine=null --size=256k --name=first --rw=randread --iodepth=4 --name=second --rw=write";
    good(&place, &format!("{jobs} --record=run.json --output=printed"));
    good(&place, "report run.json study.json -o both.html");
    let page = place.read("both.html");
    assert!(
        page.contains("<code>first</code>")
            && page.contains("<code>second</code>")
            && page.contains("stat, names cached")
    );
    assert!(page.contains("--name=first"), "the command stands there");
    let csv = good(&place, "report run.json study.json --as csv").stdout;
    assert_eq!(csv.matches("study,target").count(), 1);
    assert!(csv.contains(",first,") && csv.contains(",stat-hot,"));
}

#[test]
fn refusals() {
    let place = with(&odd::quick());
    std::fs::create_dir(place.path("folder")).expect("a directory");
    place.write("small.json", odd::small_files().to_json());
    place.write("text", "this is text");
    let study = place.read("study.json");
    refused(&place, "report missing.json -o a.html", "missing.json");
    refused(&place, "report text -o a.html", "text: this is not a run record");
    refused(&place, "report study.json -o sheet.pdf", "is not a known format");
    refused(&place, "report study.json -o no/such/place.html", "cannot write no/such/place.html");
    refused(&place, "report study.json -o study.json --as html", "study.json is a saved run");
    assert_eq!(place.read("study.json"), study, "a saved run is never replaced");
    refused(&place, "report study.json -o folder --as html", "only fio's JSON is written to several files");
    refused(&place, "report study.json --as json", "-o DIRECTORY/");
    refused(&place, "report small.json --as json", "cannot be shown in fio's formats");
    refused(&place, "report small.json --as terse", "cannot be shown in fio's formats");
    refused(&place, "report study.json small.json --as openmetrics", "one run");
    refused(&place, "report", "RUN");
    refused(&place, "report study.json --as pdf", "`pdf` is no value of --as");
}

#[test]
fn fio_plot_draws_the_exported_rows() {
    let place = with(&fixture::short_comparison());
    good(&place, "report study.json --as json -o rows/");
    let rows: Vec<_> =
        place.path("rows").read_dir().expect("rows").map(|row| row.expect("a row").file_name()).collect();
    assert_eq!(rows.len(), 48);
    let Some(fio_plot) = testkit::python("fio-plot") else { return };
    std::fs::create_dir(place.path("one")).expect("a directory");
    let name = rows.iter().find(|row| row.to_string_lossy().ends_with("-local-read-r1.json")).expect("the row");
    std::fs::copy(place.path("rows").join(name), place.path("one").join(name)).expect("a copy");
    for graph in ["-l", "-N", "-H"] {
        let mut command = Command::new(&fio_plot);
        command
            .current_dir(place.path(""))
            .args(["-i", "one", "-T", "title", graph, "-r", "read", "-d", "32", "-n", "4"]);
        let output = command.args(["-o", "picture.png"]).output().expect("fio-plot starts");
        assert!(output.status.success(), "{graph}: {}", text(&output.stderr));
        let picture = std::fs::read(place.path("picture.png")).expect("a picture");
        assert!(picture.starts_with(b"\x89PNG") && picture.len() > 10_000, "{graph}");
        std::fs::remove_file(place.path("picture.png")).expect("removed");
    }
}

#[test]
fn prometheus_reads_the_metrics() {
    let Some(python) = testkit::python("python3") else { return };
    let reads = "import sys\n\
                 try:\n    from prometheus_client import parser\n    from prometheus_client.openmetrics import parser as strict\n\
                 except ImportError:\n    sys.exit(77)\n\
                 text = sys.stdin.read()\n\
                 for read in (strict, parser):\n    families = list(read.text_string_to_metric_families(text))\n\
                 print(len(families), sum(len(family.samples) for family in families))\n";
    for study in [
        fixture::short_comparison(),
        odd::small_files(),
        odd::check(),
        odd::hostile(),
        odd::failed_job(),
        odd::nothing(),
    ] {
        let place = with(&study);
        good(&place, "report study.json -o metrics.prom");
        let metrics = std::fs::File::open(place.path("metrics.prom")).expect("the metrics");
        let output = Command::new(&python).args(["-c", reads]).stdin(metrics).output().expect("python starts");
        if output.status.code() == Some(77) {
            return skip(&format!("{} has no prometheus_client", python.display()));
        }
        assert!(output.status.success(), "{}", text(&output.stderr));
    }
}
