//! `zonemode=zbd`: reads the zones of a worker's devices when its turn comes.

use fsdyno_os::errno::EINVAL;
use fsdyno_os::files::OpenFile;
use fsdyno_os::zones::ZoneState;
use fsdyno_workload::{FileRange, Generator, Zone, ZoneKind};

use super::Refused;
use crate::plan::{WorkerPlan, least_transfer};

/// Has the generator obey the zones as they are now: jobs before this one may have written them.
#[inline(never)]
pub(super) fn obey(plan: &WorkerPlan, files: &[OpenFile], generator: &mut Generator) -> Result<(), Refused> {
    if plan.workload.pattern.zoned.is_none() {
        return Ok(());
    }
    let found = files.iter().zip(&plan.workload.files).map(|(file, range)| zones(plan, file, range));
    let found = found.collect::<Result<Vec<_>, _>>()?;
    plan.workload.zones.set(found);
    generator.obey_zones(&plan.workload);
    Ok(())
}

/// The zones in the range of one file.
fn zones(plan: &WorkerPlan, file: &OpenFile, range: &FileRange) -> Result<Vec<Zone>, Refused> {
    let Some(rules) = plan.workload.pattern.zoned else { return Ok(Vec::new()) };
    let refused = |code, message| Refused { code, function: "zbd_init_files", message };
    if rules.are_counted {
        let capacity = if rules.capacity > 0 { rules.capacity } else { rules.zone_bytes };
        let empty = Zone { capacity, written: 0, kind: ZoneKind::Sequential };
        return Ok(vec![empty; (range.length / rules.zone_bytes) as usize]);
    }
    let found = file.zones(range.start, range.start.saturating_add(range.length));
    let found = found.map_err(|error| refused(error.code, format!("fio: {error}")))?;
    let uneven = found.iter().any(|zone| zone.length != rules.zone_bytes);
    if uneven || found.len() as u64 != range.length / rules.zone_bytes {
        let message =
            format!("fio: {}: its zones are not all of the same length", fsdyno_job::bytes::shown(&range.name));
        return Err(refused(EINVAL, message));
    }
    let least = least_transfer(&plan.job);
    if found.iter().all(|zone| zone.capacity < least) {
        let message = format!(
            "fio: {}: no zone takes a block of {least} bytes. Next step: lower --bs",
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
    Ok(zones.collect())
}
