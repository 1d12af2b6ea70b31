//! Notes what the random map cannot guarantee for mixed block sizes.

use fsdyno_job::Job;
use fsdyno_results::{Note, Severity};
use fsdyno_workload::Workload;

/// The notes for the record of this job.
pub(super) fn notes(job: &Job, workload: &Workload) -> Vec<Note> {
    let mut notes = Vec::new();
    let mut note = |id: &str, severity, text: &str| {
        notes.push(Note { job: Some(job.name.clone()), ..Note::new(id, severity, text) });
    };
    if workload.has_map_per_direction() {
        let text = "random map: reads and writes have sizes of their own, so that each of them has a map of its own: no \
                    request is cut, and a block may be both read and written";
        note("map-per-direction", Severity::Info, text);
    }
    if workload.fills_gaps() {
        let text = "random map: sizes that are no multiples of the smallest leave gaps: when all blocks were used, some are \
                    used again until the size is done";
        note("map-fills-gaps", Severity::Info, text);
    }
    if workload.leaves_gaps() {
        let text = "random map: sizes that are no multiples of the smallest leave gaps, and in fio's order the job ends \
                    before its size. Next step: leave out random_generator";
        note("map-leaves-gaps", Severity::Caution, text);
    }
    if workload.map_limits_sizes() {
        let text = "random map: where fewer bytes are free than the size that was drawn, a smaller one is taken: the shares \
                    of small sizes are larger than asked for; norandommap keeps them";
        note("map-limits-sizes", Severity::Info, text);
    }
    notes
}

#[cfg(test)]
mod tests {
    fn ids_of(words: &str) -> Vec<String> {
        let words: Vec<String> = format!("--name=a --size=1m {words}").split_whitespace().map(str::to_owned).collect();
        let fsdyno_job::Outcome::Run(request) = fsdyno_job::parse_command_line(&words, &mut crate::MachineSources)
        else {
            panic!("{words:?} is a job")
        };
        let plan = crate::plan::plan(&request.jobs, &fsdyno_probe::HostFacts::default(), 0);
        plan.notes.into_iter().map(|note| note.id.to_string()).filter(|id| id.starts_with("map-")).collect()
    }

    #[test]
    fn what_a_map_cannot_do_is_in_the_record() {
        let (apart, limits) = ("map-per-direction", "map-limits-sizes");
        let (filled, left) = ("map-fills-gaps", "map-leaves-gaps");
        let cases: [(&str, &[&str]); 13] = [
            ("--rw=randrw --bs=4k", &[]),
            ("--rw=randrw --bs=4k,16k", &[apart]),
            ("--rw=randrw --bs=4k,16k --numjobs=3", &[apart]),
            ("--rw=randrw --bs=4k,16k --norandommap", &[]),
            ("--rw=randrw --bs=4k,16k --rwmixread=100", &[]),
            ("--rw=randwrite --bs=4k,16k", &[]),
            ("--rw=rw --bs=4k,16k", &[]),
            ("--rw=randrw --bssplit=4k/50:8k/50,64k/100", &[apart, limits]),
            ("--rw=randread --bsrange=4k-64k", &[limits]),
            ("--rw=randread --bsrange=4k-10k", &[filled, limits]),
            ("--rw=randread --bssplit=5000/50:8k/50", &[filled, limits]),
            ("--rw=randread --bsrange=4k-10k --random_generator=tausworthe", &[left, limits]),
            ("--rw=randread --bsrange=4k-64k --random_generator=lfsr", &[]),
        ];
        for (words, ids) in cases {
            assert_eq!(ids_of(words), ids, "{words}");
        }
    }
}
