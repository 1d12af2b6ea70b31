//! Tests what is measured and shown.

use crate::case::shared_command::shared_commands;
use crate::case::{Case, cases, line};

/// 64 random reads of a file of 256 KiB.
fn job(words: &str) -> Case {
    line("--name=a --filename=data --size=256k --rw=randread").words(words)
}

cases! {
    percentile_list: job("--percentile_list=50:90:99:99.9:99.999:100").report().terse(3);
    percentile_list_unsorted: job("--percentile_list=99:50").report();
    percentiles_off: job("--clat_percentiles=0").report().terse(3);
    lat_percentiles: job("--lat_percentiles=1").report();
    slat_percentiles: job("--slat_percentiles=1 --ioengine=libaio --iodepth=4").report();
    gtod_reduce: job("--gtod_reduce=1").report().terse(3);
    latency_target: job("--latency_target=5s --latency_window=100ms --latency_percentile=99 --runtime=500ms --time_based --ioengine=libaio --iodepth=4").report();
    latency_target_of_one: job("--latency_target=10s --latency_window=50ms --latency_percentile=99 --runtime=5s --time_based").report();
    latency_target_that_nothing_keeps: job("--latency_target=1us --latency_window=50ms --ioengine=libaio --iodepth=4").says("exceeds specified max (1000 nsec)");
    latency_target_while_running: job("--latency_target=10s --latency_window=50ms --latency_percentile=50 --latency_run=1 --ioengine=libaio --iodepth=4 --rate_iops=2000 --runtime=5s --time_based").report();
    steadystate_attained: job("--rate_iops=100 --time_based --runtime=20 --ss=iops:60% --ss_dur=2").report();
    steadystate_of_bandwidth: job("--rw=randrw --rate_iops=50,100 --time_based --runtime=3 --ss=bw:0% --ss_dur=2 --ss_ramp=1").report();
    steadystate_without_a_duration: job("--ss=iops:1%").counts().report();
    steadystate_of_a_short_run: job("--ss=iops_slope:5% --ss_dur=3").counts().report();
    idle_prof_of_the_system: job("--idle-prof=system --time_based --runtime=300ms").report();
    idle_prof_of_each_cpu: job("--idle-prof=percpu --time_based --runtime=300ms").report();
    idle_prof_of_terse: job("--idle-prof=percpu --time_based --runtime=300ms").terse(3);
    idle_prof_calibrates: line("--idle-prof=calibrate").verbatim().says("CPU idleness:").says("  unit work: mean=");
    samples: job("--rate_iops=2000 --time_based --runtime=1s").report().terse(5);
    samples_of_short_windows: job("--time_based --runtime=500ms --bwavgtime=100 --iopsavgtime=100").report();
    stats_off: job("--stats=0").verbatim();
}

shared_commands! {
    all_percentiles: job("--slat_percentiles=1 --clat_percentiles=1 --lat_percentiles=1 --ioengine=libaio --iodepth=4").report();
    disable_lat: job("--disable_lat=1").counts().report();
    disable_clat: job("--disable_clat=1").counts().report();
    disable_slat: job("--disable_slat=1 --ioengine=libaio --iodepth=4").counts().report();
    disable_bw: job("--disable_bw=1").counts().report();
    disable_all: job("--disable_lat=1 --disable_clat=1 --disable_slat=1 --disable_bw=1").counts().report();
    gtod_reduce_of_a_queue: job("--gtod_reduce=1 --ioengine=libaio --iodepth=16").report();
    unified_mixed: job("--rw=randrw --unified_rw_reporting=mixed").report();
    unified_both: job("--rw=randrw --unified_rw_reporting=both");
    unified_by_number: job("--rw=randrw --unified_rw_reporting=1 --rwmixread=100").counts();
    continue_on_error: job("--continue_on_error=all").counts().report();
    disk_util_off: job("--disk_util=0").report();
}
