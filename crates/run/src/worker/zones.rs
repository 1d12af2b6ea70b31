//! `zonemode=zbd`: reads the zones of a worker's device when its turn comes.

use fsdyno_os::errno::EINVAL;
use fsdyno_os::files::OpenFile;
use fsdyno_os::zones::ZoneState;
use fsdyno_workload::{Generator, Zone, ZoneKind};

use super::Refused;
use crate::plan::{WorkerPlan, smallest_block};

/// Has the generator obey the zones as they are now: jobs before this one may have written them.
#[inline(never)]
pub(super) fn obey(plan: &WorkerPlan, files: &[OpenFile], generator: &mut Generator) -> Result<(), Refused> {
    let (Some(rules), [file], [range]) = (plan.workload.pattern.zoned, files, plan.workload.files.as_slice()) else {
        return Ok(());
    };
    let refused = |code, message| Refused { code, function: "zbd_init_files", message };
    let found = file.zones(range.start, range.start.saturating_add(range.length));
    let found = found.map_err(|error| refused(error.code, format!("fio: {error}")))?;
    let uneven = found.iter().any(|zone| zone.length != rules.zone_bytes);
    if uneven || found.len() as u64 != range.length / rules.zone_bytes {
        let message =
            format!("fio: {}: its zones are not all of the same length", fsdyno_job::bytes::shown(&range.name));
        return Err(refused(EINVAL, message));
    }
    let smallest = smallest_block(&plan.job);
    if found.iter().all(|zone| zone.capacity < smallest) {
        let message = format!(
            "fio: {}: no zone takes a block of {smallest} bytes. Next step: lower --bs",
            fsdyno_job::bytes::shown(&range.name)
        );
        return Err(refused(EINVAL, message));
    }
    let zones = found.iter().map(|zone| Zone {
        capacity: zone.capacity,
        written: zone.written,
        kind: match zone.state {
            ZoneState::Conventional => ZoneKind::Conventional,
            ZoneState::Unusable => ZoneKind::Unusable,
            ZoneState::Empty | ZoneState::Active | ZoneState::Full => ZoneKind::Sequential,
        },
    });
    generator.obey_zones(&plan.workload, zones.collect());
    Ok(())
}
