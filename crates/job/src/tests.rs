//! Tests of the entry point: the outcome of a command line.

use crate::testing::Fake;
use crate::*;

fn run(text: &str) -> Outcome {
    let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
    parse_command_line(&words, &mut Fake::default())
}

fn rejection(text: &str) -> Rejection {
    match run(text) {
        Outcome::Rejected(rejection) => rejection,
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn nothing_to_run() {
    for text in ["", "--size=4k", "--output=f"] {
        let rejection = rejection(text);
        assert!(rejection.usage, "{text}");
        assert_eq!((rejection.status, rejection.errors[0].message.as_str()), (1, "No job(s) defined"));
    }
}

#[test]
fn help_comes_before_jobs_but_not_before_errors() {
    assert!(matches!(run("--name=a --version"), Outcome::Immediate(Action::Version)));
    assert!(matches!(run("--help"), Outcome::Immediate(Action::Help)));
    assert!(matches!(run("--cmdhelp=rw --bogus"), Outcome::Immediate(Action::Print { status: 0, .. })));
    assert_eq!(rejection("--bogus --version").errors.len(), 1);
}

/// The samples of fio's own answers: i-ambiguous, i-bad-number, i-bad-option, i-bad-value, j-missing-jobfile.
#[test]
fn answers_hold_fios_phrases() {
    let samples: [(&str, &[&str]); 5] = [
        (
            "--name=x --rwmix=70 --size=1m",
            &["fio: option '--rwmix=70' is ambiguous; possibilities: '--rwmixread' '--rwmixwrite' '--rwmixcycle'"],
        ),
        (
            "--name=x --iodepth=0 --size=1m",
            &["iodepth: min value out of range: 0 (1 min)", "fio: failed parsing iodepth=0"],
        ),
        ("--name=x --iodepht=4 --size=1m", &["fio: unrecognized option '--iodepht=4'", "did you mean `iodepth`?"]),
        (
            "--name=x --rw=ranread --size=1m",
            &["fio: failed parsing rw=ranread", "        valid values: read       Sequential read"],
        ),
        ("/data/nosuch.fio", &["fio: unable to open '/data/nosuch.fio' job file"]),
    ];
    for (words, phrases) in samples {
        let rejection = rejection(words);
        assert_eq!((rejection.status, rejection.usage), (1, false));
        let text: String = rejection.errors.iter().map(|error| error.render(false)).collect();
        for phrase in phrases {
            assert!(text.contains(phrase), "{words}: {text}");
        }
    }
}

#[test]
fn all_errors_are_listed_at_once() {
    let text = "--name=x --bogus=1 --iodepth=0 --rw=foo";
    assert_eq!(rejection(text).errors.len(), 3);
    // The value of a misspelt option is not taken for a missing job file.
    assert_eq!(rejection("--name=x -iodepht 4").errors.len(), 1);
}

#[test]
fn parse_only_needs_no_jobs_to_run() {
    let Outcome::Run(request) = run("--parse-only --name=a --rate=1m --rate_iops=3") else { panic!() };
    assert!(request.settings.parse_only);
}
