//! Properties of the machine that affect the numbers.

use fsdyno_results::evidence::{MachineEvidence, RecordedFact};

use crate::linux::{Look, limits, machine, read_text};

/// Clock, processors and memory. Foreign load and the cost of the generator are filled in by the caller.
pub(super) fn evidence(look: &Look) -> MachineEvidence {
    let text = |path: &str| read_text(&look.sys.join(path)).ok().filter(|text| !text.is_empty());
    MachineEvidence {
        clock_source: text("devices/system/clocksource/clocksource0/current_clocksource"),
        governor: text("devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        generator_floor_ns: None,
        foreign_bytes_per_s: RecordedFact::default(),
        memory_bytes: machine::host(look).memory_bytes,
        cgroup_memory_bytes: limits::cgroup_cache_bytes(look).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::block::fixture::tree;
    use std::fs;

    #[test]
    fn clock_and_governor() {
        let tree = tree();
        let write = |path: &str, text: &str| {
            let path = tree.look.sys.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let nothing = evidence(&tree.look);
        assert_eq!((nothing.clock_source, nothing.governor), (None, None));
        assert!(nothing.cgroup_memory_bytes.value().is_none());
        write("devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
        write("devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
        let found = evidence(&tree.look);
        assert_eq!((found.clock_source.as_deref(), found.governor.as_deref()), (Some("tsc"), Some("powersave")));
    }
}
