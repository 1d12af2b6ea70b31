//! Distributions that most jobs do not ask for. They stand together, so that an I/O without them costs one check.

use super::RecorderOptions;
use super::cells::Cells;

/// The distributions of `lat_percentiles` and `slat_percentiles`.
#[derive(Clone)]
pub(super) struct OnRequest {
    pub(super) lat: Option<Cells>,
    pub(super) slat: Option<Cells>,
}

impl OnRequest {
    pub(super) fn new(kept: RecorderOptions) -> Option<Box<OnRequest>> {
        let on_request =
            OnRequest { lat: kept.lat_distribution.then(Cells::new), slat: kept.slat_distribution.then(Cells::new) };
        (kept.lat_distribution || kept.slat_distribution).then(|| Box::new(on_request))
    }

    pub(super) fn add(&mut self, lat_ns: u64, slat_ns: u64) {
        if let Some(cells) = &mut self.lat {
            cells.add(lat_ns);
        }
        if let Some(cells) = &mut self.slat {
            cells.add(slat_ns);
        }
    }

    pub(super) fn clear(&mut self) {
        [&mut self.lat, &mut self.slat].into_iter().flatten().for_each(Cells::clear);
    }
}
