use fsdyno_results::{Interval, Question, Requirement, RunRecord};

use super::*;

fn requirement(profile: &str, id: &str, title: &str) -> Requirement {
    Requirement {
        id: id.into(),
        profile: profile.into(),
        profile_title: format!("{profile}: a test"),
        title: title.into(),
        metric: "sync.lat.p99".into(),
        bound: Bound::AtMost,
        threshold: 10.0,
        unit: "ms".into(),
        derivation: None,
        source: "A vendor's documentation v3, Hardware".into(),
        read_on: "2026-11".into(),
        kind: RequirementKind::VendorRequirement,
        confidence: Confidence::A,
        job: "--name=a".into(),
    }
}

fn row(requirement: Requirement, verdict: Verdict, measured: f64, reason: &str) -> VerdictRow {
    VerdictRow {
        requirement,
        verdict,
        measured: Some(measured),
        interval: Some(Interval { low: measured * 0.95, high: measured * 1.1, confidence: 0.951 }),
        margin_percent: Some((10.0 - measured) * 10.0),
        reason: reason.into(),
        origin: TestOrigin::Vendor,
        caveats: Vec::new(),
        at_least: None,
        cap_s: None,
        rows: vec![0],
    }
}

fn study() -> Study {
    let pass = "10,029 values, each write synced to the device, with its cache; all of the interval meets the limit";
    let mut thin = row(requirement("etcd", "p99", "99th percentile of fdatasync"), Verdict::Pass, 8.5, pass);
    thin.caveats =
        vec!["the margin is below 20 %".into(), "shortened, not the vendor's test: 3 s instead of 60 s".into()];
    let open = "the limit lies inside the interval (10,029 values); run 3 times, 31.2 s in all, and the cap is 32 s \
                (--cap-seconds)";
    let mut sound =
        row(requirement("etcd", "p99/60s", "99th percentile of fdatasync; 60 s"), Verdict::Inconclusive, 9.9, open);
    sound.origin = TestOrigin::Sound;
    sound.caveats = vec!["shortened, not the vendor's test: 3 s instead of 60 s".into()];
    let gate = VerdictRow {
        measured: None,
        interval: None,
        margin_percent: None,
        requirement: Requirement { bound: Bound::Gate, ..requirement("gitaly", "local", "a local filesystem") },
        ..row(requirement("", "", ""), Verdict::Fail, 0.0, "this is nfs4: repositories need local storage")
    };
    let left_out = |id: &str, title: &str| VerdictRow {
        measured: None,
        interval: None,
        margin_percent: None,
        ..row(
            requirement("gitaly", id, title),
            Verdict::NotApplicable,
            0.0,
            "a condition before it is not met: nothing was measured",
        )
    };
    let mut example = row(
        Requirement {
            kind: RequirementKind::VendorExample,
            bound: Bound::AtLeast,
            threshold: 33_415.0,
            unit: "IOPS".into(),
            ..requirement("gitlab-fio", "read", "reads, as the example's networked SSD")
        },
        Verdict::Reference,
        85_012.0,
        "for comparison, no limit: this storage reaches it; 1 run, direct I/O to the device, with its cache",
    );
    example.interval = None;
    example.margin_percent = Some(154.4);
    let mut promise = row(
        Requirement {
            kind: RequirementKind::ProviderPromise,
            bound: Bound::AtLeast,
            threshold: 2700.0,
            unit: "IOPS".into(),
            derivation: Some("90 % of 3,000 IOPS".into()),
            source: "Another page".into(),
            confidence: Confidence::C,
            ..requirement("gitlab-fio", "promise", "16k random reads")
        },
        Verdict::Fail,
        1234.0,
        "400 windows, direct I/O to the device, with its cache; nothing of the interval meets the limit",
    );
    promise.margin_percent = Some(-54.3);
    let mut study = Study::of_run(RunRecord::new("fio-3.42-fsdyno", 1_764_000_000_000));
    study.question = Question::Check;
    study.verdicts = vec![thin, sound, gate, left_out("a", "reads"), left_out("b", "writes"), example, promise];
    study.verdicts[5].origin = TestOrigin::Ours;
    study
}

#[test]
fn answers_on_a_terminal() {
    let text = answers(&study(), Form::Text { columns: 80 });
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    insta::assert_snapshot!(text);
}

/// Where more runs can decide, the next step makes room for them; a shortened check must first be run whole.
#[test]
fn an_open_answer_names_the_cap_to_raise() {
    let mut study = study();
    study.command = ["check", "etcd", "/data"].map(str::to_owned).to_vec();
    let next = |study: &Study| {
        let steps = crate::Headline::of(study).next;
        steps.into_iter().filter_map(|step| step.command).collect::<Vec<_>>().join("\n")
    };
    assert!(!next(&study).contains("--cap-seconds"), "{}", next(&study));
    study.verdicts[1].cap_s = Some(30.5);
    assert!(next(&study).contains("fsdyno check etcd /data --cap-seconds=122"), "{}", next(&study));
    let told = |study: &Study| crate::Headline::of(study).verdicts[1].words();
    assert!(told(&study).ends_with("; its time is used after 1 run"), "{}", told(&study));
    study.rows = vec![fsdyno_results::Row { round: 4, ..Default::default() }];
    assert!(told(&study).ends_with("; the limit lies inside the interval; its time is used after 5 runs"));
    study.command.push("--quick".to_owned());
    assert!(!next(&study).contains("--cap-seconds"), "{}", next(&study));
}

#[test]
fn a_percentile_without_an_interval_has_the_least_that_it_can_be() {
    let mut study = study();
    study.verdicts[0].interval = None;
    let told = |study: &Study| crate::Headline::of(study).verdicts[0].words();
    assert_eq!(told(&study), "99th percentile of fdatasync: 8.50 ms, at most 10 ms");
    study.verdicts[0].at_least = Some(fsdyno_results::LowerBound { value: 6.25, confidence: 0.975 });
    assert_eq!(told(&study), "99th percentile of fdatasync: 8.50 ms, at most 10 ms (97.5 %: at least 6.25)");
}

#[test]
fn what_does_not_apply_for_one_reason_shares_a_line() {
    let lines = lines(&Headline::of(&study()), Question::Check, Form::Text { columns: 80 });
    assert_eq!(lines.matches("NOT APPLICABLE").count(), 1, "{lines}");
    assert!(lines.contains("NOT APPLICABLE  2 requirements: a condition before it is not met"), "{lines}");
    assert_eq!(lines.matches(" PASS ").count() + lines.matches(" FAIL ").count(), 3, "{lines}");
}

/// The details repeat nothing of the lines: no figure, interval, limit or verdict, and no reason twice.
#[test]
fn below_the_lines_is_only_what_they_have_not_said() {
    let mut study = study();
    let disagree = "the vendor's line says PASS with 8.50 ms, its sound variant FAIL with 9.90 ms";
    (0..2).for_each(|index| study.verdicts[index].reason = disagree.into());
    let form = Form::Text { columns: 200 };
    let below = answers(&study, form);
    for said in ["INCONCLUSIVE", "FAIL: ", "at most", "at least", "interval 9.40", "85,012 IOPS", "repositories need"] {
        assert!(!below.contains(said), "{said}: {below}");
    }
    assert_eq!(below.matches(disagree).count(), 1, "{below}");
    let lines = lines(&Headline::of(&study), Question::Check, form);
    assert!(lines.contains("9.90 ms, at most 10 ms (95 %: 9.40 – 10.9)"), "{lines}");
    assert!(lines.contains("this is nfs4: repositories need local storage"), "{lines}");
}

#[test]
fn answers_in_a_ticket() {
    insta::assert_snapshot!(answers(&study(), Form::Markdown));
}

#[test]
fn the_worst_row_is_the_profiles_answer() {
    let study = study();
    let of = |profile: &str| {
        let rows: Vec<&VerdictRow> = study.verdicts.iter().filter(|row| row.requirement.profile == profile).collect();
        overall(&rows)
    };
    assert_eq!([of("etcd"), of("gitaly"), of("gitlab-fio")], [Verdict::Inconclusive, Verdict::Fail, Verdict::Fail]);
    let only = |index: usize| overall(&[&study.verdicts[index]]);
    assert_eq!([only(3), only(5)], [Verdict::NotApplicable, Verdict::Reference]);
}

#[test]
fn profiles_are_listed() {
    let listed = ListedProfile {
        name: "etcd".into(),
        title: "etcd: syncing the write-ahead log".into(),
        source: "etcd documentation v3.6, FAQ".into(),
        read_on: "2026-11".into(),
        kind: RequirementKind::VendorRequirement,
        seconds: 60,
        ends_by_bytes: true,
        tiers: Vec::new(),
        path: None,
    };
    let own = ListedProfile {
        name: "own".into(),
        kind: RequirementKind::OurBand,
        seconds: 301,
        ends_by_bytes: false,
        tiers: vec!["small".into(), "large".into()],
        path: Some("profiles/own.toml".into()),
        ..listed.clone()
    };
    let gate = ListedProfile { name: "gate".into(), seconds: 0, ends_by_bytes: false, ..listed.clone() };
    let all = [listed, own, gate];
    insta::assert_snapshot!(profiles(&all, 80));
    let json: serde_json::Value = serde_json::from_str(&profiles_json(&all)).unwrap();
    assert_eq!(json["profiles"][1]["kind"], "our-band");
    assert_eq!(json["profiles"][0]["ends_by_bytes"], true);
}

#[test]
fn small_figures_keep_their_digits() {
    let shown: Vec<String> =
        [0.0, 0.00171, 0.0496, 0.128, 12.77, 85_012.0].iter().map(|value| figure(*value)).collect();
    assert_eq!(shown, ["0", "0.0017", "0.050", "0.128", "12.8", "85,012"]);
}
