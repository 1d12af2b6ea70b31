//! What is measured and shown.

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
    all_percentiles: job("--slat_percentiles=1 --clat_percentiles=1 --lat_percentiles=1 --ioengine=libaio --iodepth=4").report();
    disable_lat: job("--disable_lat=1").counts().report();
    disable_clat: job("--disable_clat=1").counts().report();
    disable_slat: job("--disable_slat=1 --ioengine=libaio --iodepth=4").counts().report();
    disable_bw: job("--disable_bw=1").counts().report();
    disable_all: job("--disable_lat=1 --disable_clat=1 --disable_slat=1 --disable_bw=1").counts().report();
    gtod_reduce: job("--gtod_reduce=1").report().terse(3);
    gtod_reduce_of_a_queue: job("--gtod_reduce=1 --ioengine=libaio --iodepth=16").report();
    unified_mixed: job("--rw=randrw --unified_rw_reporting=mixed").report();
    unified_both: job("--rw=randrw --unified_rw_reporting=both");
    unified_by_number: job("--rw=randrw --unified_rw_reporting=1 --rwmixread=100").counts();
    continue_on_error: job("--continue_on_error=all").counts().report();
    latency_target: job("--latency_target=10ms --latency_window=100ms --latency_percentile=99 --runtime=500ms --time_based --ioengine=libaio --iodepth=4").differs("options that are not built", 1);
    samples: job("--time_based --runtime=1s").report().terse(5);
    samples_of_short_windows: job("--time_based --runtime=500ms --bwavgtime=100 --iopsavgtime=100").report();
    stats_off: job("--stats=0").verbatim();
    disk_util_off: job("--disk_util=0").report();
}
