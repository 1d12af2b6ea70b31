//! One file per trap: its story, its gates, and how it is found.

pub(crate) mod above_link_speed;
pub(crate) mod attribute_cache;
pub(crate) mod burst;
pub(crate) mod clock;
pub(crate) mod compressible_data;
pub(crate) mod cpu_starved;
pub(crate) mod depth_not_reached;
pub(crate) mod direct_not_honoured;
pub(crate) mod directory_lost;
pub(crate) mod drift;
pub(crate) mod fits_in_memory;
pub(crate) mod foreign_load;
pub(crate) mod fuse_cache;
pub(crate) mod generator_bound;
pub(crate) mod host_cache;
pub(crate) mod jobs_overlap;
pub(crate) mod latency_off;
pub(crate) mod lazy_blocks;
pub(crate) mod nfs_data_cache;
pub(crate) mod not_visible;
pub(crate) mod page_cache;
pub(crate) mod power_saving;
pub(crate) mod request_size;
pub(crate) mod shared_file;
pub(crate) mod stalled;
pub(crate) mod sync_ignored;
pub(crate) mod thin_blocks;
pub(crate) mod throttled;
pub(crate) mod too_noisy;
pub(crate) mod too_short;
pub(crate) mod unwritten_data;
pub(crate) mod writes_in_memory;

use results::Finding;

use crate::evidence::Evidence;
use crate::story::Story;

/// Looks for one trap.
pub(crate) type Find = fn(&Evidence<'_>) -> Vec<Finding>;

/// How a trap is found.
pub(crate) struct Trap {
    /// What `explain` tells of it.
    pub(crate) story: &'static Story,
    /// In a finished run.
    pub(crate) find: Find,
    /// In a plan; `None`: only a run shows it.
    pub(crate) foretell: Option<Find>,
}

const fn seen(story: &'static Story, find: Find) -> Trap {
    Trap { story, find, foretell: None }
}

const fn foreseen(story: &'static Story, find: Find, foretell: Find) -> Trap {
    Trap { story, find, foretell: Some(foretell) }
}

/// All traps, by number.
pub(crate) const ALL: &[Trap] = &[
    seen(&unwritten_data::STORY, unwritten_data::find),
    seen(&page_cache::STORY, page_cache::find),
    foreseen(&depth_not_reached::STORY, depth_not_reached::find, depth_not_reached::foretell),
    seen(&writes_in_memory::STORY, writes_in_memory::find),
    seen(&direct_not_honoured::STORY, direct_not_honoured::find),
    seen(&fuse_cache::STORY, fuse_cache::find),
    seen(&above_link_speed::STORY, above_link_speed::find),
    seen(&nfs_data_cache::STORY, nfs_data_cache::find),
    seen(&attribute_cache::STORY, attribute_cache::find),
    foreseen(&fits_in_memory::STORY, fits_in_memory::find, fits_in_memory::foretell),
    seen(&host_cache::STORY, host_cache::find),
    seen(&thin_blocks::STORY, thin_blocks::find),
    seen(&lazy_blocks::STORY, lazy_blocks::find),
    seen(&burst::STORY, burst::find),
    seen(&drift::STORY, drift::find),
    foreseen(&compressible_data::STORY, compressible_data::find, compressible_data::foretell),
    foreseen(&shared_file::STORY, shared_file::find, shared_file::foretell),
    foreseen(&jobs_overlap::STORY, jobs_overlap::find, jobs_overlap::foretell),
    seen(&generator_bound::STORY, generator_bound::find),
    seen(&cpu_starved::STORY, cpu_starved::find),
    seen(&clock::STORY, clock::find),
    seen(&power_saving::STORY, power_saving::find),
    seen(&throttled::STORY, throttled::find),
    seen(&too_short::STORY, too_short::find),
    seen(&too_noisy::STORY, too_noisy::find),
    seen(&foreign_load::STORY, foreign_load::find),
    seen(&request_size::STORY, request_size::find),
    foreseen(&latency_off::STORY, latency_off::find, latency_off::find),
    seen(&directory_lost::STORY, directory_lost::find),
    seen(&sync_ignored::STORY, sync_ignored::find),
    seen(&not_visible::STORY, not_visible::find),
    seen(&stalled::STORY, stalled::find),
];

/// All stories, by trap number.
pub fn catalogue() -> impl Iterator<Item = &'static Story> {
    ALL.iter().map(|trap| trap.story)
}

/// The story of a finding's id (`page-cache`) or of a trap's number (`T2`), in any letter case.
pub fn story(name: &str) -> Option<&'static Story> {
    catalogue().find(|story| story.id.eq_ignore_ascii_case(name) || story.trap.eq_ignore_ascii_case(name))
}
