//! The values with which an option is drawn.

use fsdyno_job::option::{Kind, Status};
use fsdyno_job::table::{JobRow, job_rows};

/// The source of an option's values.
pub(crate) enum Values {
    /// One of these texts.
    Texts(Vec<String>),
    /// It is drawn separately, or not at all.
    Apart,
}

/// Values of options whose kind alone does not determine what is sensible in a run of a few blocks.
#[rustfmt::skip]
const LISTED: &[(&str, &[&str])] = &[
    ("description", &["text", "two words"]),
    ("numjobs", &["1", "2", "3"]),
    ("loops", &["1", "2", "3"]),
    ("filesize", &["32k", "40000", "64k", "96k"]),
    ("io_size", &["12k", "40k", "64k", "100k", "150k", "200000"]),
    ("offset", &["4k", "16k", "32k", "50%"]),
    ("offset_increment", &["4k", "16k", "64k"]),
    ("number_ios", &["1", "5", "11", "40", "1000"]),
    ("buffer_pattern", &["0xdeadbeef", "\"abc\"17", "-1"]),
    ("nrfiles", &["1", "2", "3", "4"]),
    ("bsrange", &["4k-8k", "4k-16k", "1k-4k", "4k-10k", "512-4k,4k-8k"]),
    ("bssplit", &["4k/50:8k/50", "4k/60:12k/30:16k/10", "512/20:4k/", "4k/50:8k/50,4k/100", "4/50:512/25:4096/25"]),
    ("ba", &["4k", "8k", "512"]),
    ("rwmixread", &["0", "1", "30", "50", "70", "99", "100"]),
    ("rwmixwrite", &["0", "1", "30", "50", "70", "99", "100"]),
    ("percentage_random", &["0", "30", "50", "100", "20,80"]),
    ("iodepth", &["1", "2", "4", "7", "16"]),
    ("iodepth_batch", &["0", "1", "2", "8"]),
    ("iodepth_batch_complete_min", &["0", "1", "2", "8"]),
    ("iodepth_batch_complete_max", &["0", "1", "4", "16"]),
    ("iodepth_low", &["0", "1", "3"]),
    ("iomem_align", &["0", "512", "4096"]),
    ("fsync", &["1", "3", "8"]),
    ("fdatasync", &["1", "3", "8"]),
    ("sync_file_range", &["write:3", "wait_before,write:2"]),
    ("rate", &["4m", "8m,2m", "2m,", ",3m"]),
    ("rate_iops", &["1000", "2000,500", ",700"]),
    ("rate_min", &["1", "1k"]),
    ("rate_iops_min", &["1", "2"]),
    ("rate_cycle", &["100", "1000"]),
    ("thinktime", &["10", "1000"]),
    ("thinktime_spin", &["5", "10"]),
    ("thinktime_blocks", &["1", "4", "100"]),
    ("thinktime_iotime", &["1ms", "50ms"]),
    ("flow", &["0", "1", "8"]),
    ("flow_id", &["0", "3"]),
    ("flow_sleep", &["0", "100"]),
    ("max_latency", &["50s", "60s,55s"]),
    ("verify_interval", &["512", "1k", "4k", "3k"]),
    ("verify_offset", &["64", "100"]),
    ("verify_pattern", &["0xdeadbeef", "%o", "\"ab\"%o300", "0xabc"]),
    ("verify_pattern_interval", &["512", "1000"]),
    ("verify_backlog", &["1", "3", "4", "100"]),
    ("verify_backlog_batch", &["0", "1", "2", "6"]),
    ("verify_policy", &["completed", "fsynced"]),
    ("trim_backlog", &["1", "4", "16"]),
    ("zone_reset_threshold", &["0", "0.5", "1"]),
    ("zone_reset_frequency", &["0", "0.5", "1"]),
    ("cpus_allowed", &["0", "0-1"]),
    ("cpumask", &["1", "3"]),
    ("nice", &["0", "1", "5"]),
    ("prio", &["0", "4", "7"]),
    ("prioclass", &["2", "3"]),
    ("percentile_list", &["50:99", "1:5:99.99"]),
    ("significant_figures", &["1", "4", "10"]),
    ("bwavgtime", &["100", "500"]),
    ("iopsavgtime", &["100", "500"]),
    ("ignore_error", &["EIO", "ENOSPC:EIO,EAGAIN"]),
    ("log_avg_msec", &["0", "100"]),
    ("write_bw_log", &["log"]),
    ("write_lat_log", &["log"]),
    ("write_iops_log", &["log"]),
    ("write_hist_log", &["log"]),
    ("log_hist_msec", &["0", "1", "1000"]),
    ("log_hist_coarseness", &["0", "3", "6"]),
    ("log_alternate_epoch_clock_id", &["0", "1", "4", "7"]),
    ("log_compression", &["1k", "64k"]),
    ("log_compression_cpus", &["0"]),
    ("verify_async_cpus", &["0"]),
    ("hipri_percentage", &["100"]),
    ("force_async", &["0", "2"]),
    ("rw_sequencer", &["sequential", "identical"]),
    ("random_distribution", &["random", "zipf:1.2", "pareto:0.3", "normal:10", "zoned:60/10:40/90", "zoned:10/50:90/50"]),
    ("file_service_type", &["roundrobin", "random:2", "sequential", "zipf:1.2", "pareto:0.3", "gauss:10"]),
    ("offset_align", &["0", "4k", "8k"]),
    ("buffer_compress_percentage", &["0", "50", "100"]),
    ("buffer_compress_chunk", &["512", "4k"]),
    ("dedupe_percentage", &["0", "50", "100"]),
    ("exec_prerun", &["true", "echo text"]),
    ("exec_postrun", &["true", "exit 3"]),
    ("numa_cpu_nodes", &["0"]),
    ("numa_mem_policy", &["default", "local", "bind:0", "prefer:0", "interleave:0"]),
    ("lockmem", &["0", "64k"]),
    ("hugepage-size", &["2m", "4m"]),
    ("dedupe_working_set_percentage", &["5", "50"]),
];

/// Options that are not drawn like the others, and why.
#[rustfmt::skip]
const APART: &[(&str, &str)] = &[
    ("rw", "drawn for each case"), ("bs", "drawn for each case"), ("size", "drawn for each case"),
    ("ioengine", "drawn for each case"), ("filename", "drawn for each case"), ("name", "drawn for each case"),
    ("randseed", "goes with the pattern"), ("randrepeat", "goes with the pattern"),
    ("random_generator", "goes with the pattern"),
    ("runtime", "the clock decides"), ("time_based", "the clock decides"), ("ramp_time", "the clock decides"),
    ("startdelay", "takes its time"), ("sync", "takes its time"),
    ("directory", "the oracle's table of files has it"), ("filename_format", "the oracle's table of files has it"),
    ("fill_device", "fills the disk"), ("allow_mounted_write", "there is no device"),
    ("opendir", "the oracle's table of files has it"), ("file_append", "the oracle's table of files has it"),
    ("filetype", "the oracle's table of files has it"), ("create_on_open", "the oracle's table of files has it"),
    ("zonesize", "goes with the others of zones"), ("zonerange", "goes with the others of zones"),
    ("zoneskip", "goes with the others of zones"),
    ("kb_base", "the oracle's table of units has it"), ("unit_base", "the oracle's table of units has it"),
    ("unified_rw_reporting", "the report has other keys"), ("stats", "the report has no such job"),
    ("group_reporting", "the order of clones differs without it"),
    ("ramp_size", "new after 3.33"), ("thinkcycles", "new after 3.33"), ("wait_for", "there is one job"),
    ("steadystate", "the oracle's table of what is measured has it"), ("steadystate_duration", "the clock decides"),
    ("steadystate_ramp_time", "the clock decides"), ("steadystate_check_interval", "the clock decides"),
    ("latency_target", "the clock decides"), ("latency_window", "the clock decides"),
    ("latency_percentile", "says nothing without a target"), ("latency_run", "says nothing without a target"),
    ("exit_what", "the clock decides who is still there"),
    ("exitall", "the clock decides who is still there"), ("exitall_on_error", "the clock decides who is still there"),
    ("hipri", "a kernel without polling refuses it"), ("sqthread_poll", "a kernel thread takes a processor"),
    ("sqthread_poll_cpu", "a kernel thread takes a processor"), ("nowait", "the kernel decides what would wait"),
    ("uid", "needs root"), ("gid", "needs root"), ("cgroup", "drawn last"), ("cgroup_weight", "drawn last"), ("cgroup_nodelete", "drawn last"),
    ("comm", "new after 3.33"), ("thp", "new after 3.33"),
    ("stat_type", "new after 3.33"), ("uncached", "new in the kernel"), ("mem", "huge pages may not be there"), ("cmd_type", "of one word"),
    ("libaio_vectored", "new after 3.33"), ("priohint", "new after 3.33"),
    ("hostname", "drawn with net"), ("port", "drawn with net"), ("protocol", "the faces' tests of the network have it"), ("nodelay", "drawn with net"),
    ("listen", "drawn with net"), ("pingpong", "drawn with net"), ("interface", "the faces' tests of the network have it"), ("ttl", "the faces' tests of the network have it"),
    ("window_size", "drawn with net"), ("mss", "the faces' tests of the network have it"),
    ("cpuload", "drawn with its engine"), ("cpuchunks", "drawn with its engine"),
    ("cpumode", "drawn with its engine"), ("exit_on_io_done", "the oracle's table of engines has it"),
    ("donorname", "the oracle's table of operations has it"), ("inplace", "the oracle's table of operations has it"),
    ("program", "drawn with its engine"), ("arguments", "drawn with its engine"),
    ("grace_time", "drawn with its engine"), ("std_redirect", "drawn with its engine"),
    ("http_host", "needs a server"), ("https", "needs a server"),
    ("http_mode", "needs a server"), ("http_object_mode", "needs a server"),
    ("http_user", "needs a server"), ("http_pass", "needs a server"),
    ("http_s3_region", "needs a server"), ("http_s3_keyid", "needs a server"),
    ("http_s3_key", "needs a server"), ("http_s3_security_token", "needs a server"),
    ("http_s3_sse_customer_key", "needs a server"), ("http_s3_sse_customer_algorithm", "needs a server"),
    ("http_s3_storage_class", "needs a server"), ("http_swift_auth_token", "needs a server"),
    ("http_verbose", "needs a server"),
    ("readfua", "needs a device"), ("writefua", "needs a device"), ("sg_write_mode", "needs a device"),
    ("deallocate", "needs a device"), ("verify_mode", "needs a device"),
    ("verify_state_load", "goes with a run before it"), ("zonecapacity", "compared with zonemode=zbd in the oracle"),
    ("sim_service", "not in fio"), ("sim_channels", "not in fio"), ("sim_queue", "not in fio"),
    ("sim_faults", "not in fio"),
];

/// Options that are left out of the draw: `write_hint`, priorities and recorded I/O are drawn after the others, so that a
/// number gives the same case as before; offloaded jobs of 3.33 often never end; the effect of `atomic` depends on the device;
/// `cmdprio_hint` is new after 3.33, and merged traces are compared by the oracle's `recorded`.
const LATER: &[&str] = &[
    "io_submit_mode",
    "write_hint",
    "atomic",
    "write_iolog",
    "replay_no_stall",
    "replay_redirect",
    "replay_scale",
    "replay_align",
    "replay_time_scale",
    "replay_skip",
    "merge_blktrace_file",
    "merge_blktrace_scalars",
    "merge_blktrace_iters",
    "cmdprio_percentage",
    "cmdprio_class",
    "cmdprio",
    "cmdprio_hint",
    "cmdprio_bssplit",
];

/// The job options that are called full.
pub(crate) fn full_rows() -> impl Iterator<Item = &'static JobRow> {
    job_rows().filter(|row| row.status == Status::Full && !LATER.contains(&row.name))
}

/// The values of an option; `None`: none are defined.
pub(crate) fn of(row: &JobRow) -> Option<Values> {
    if APART.iter().any(|(name, _)| *name == row.name) {
        return Some(Values::Apart);
    }
    let texts = |list: &[&str]| Some(Values::Texts(list.iter().map(|text| (*text).to_owned()).collect()));
    if let Some((_, list)) = LISTED.iter().find(|(name, _)| *name == row.name) {
        return texts(list);
    }
    match &row.kind {
        Kind::Flag(_) | Kind::Bool(_) => texts(&["0", "1"]),
        Kind::Word { choices, .. } => {
            let full = choices.iter().filter(|choice| choice.status == Status::Full && !choice.hidden);
            Some(Values::Texts(full.map(|choice| choice.word.to_owned()).collect()))
        }
        Kind::Integer { min, max, .. } => {
            Some(Values::Texts([*min, (*min + 1).min(*max)].map(|n| n.to_string()).to_vec()))
        }
        _ => None,
    }
}
