//! Lays out the files that all ranks share, by all ranks. After any failure nothing is left: the first rank then lays
//! out such a file alone, and reports the error.

use std::path::PathBuf;
use std::sync::mpsc::Sender;

use crate::control::Control;
use crate::other_ranks::OtherRanks;
use fsdyno_results::{Note, Severity};

use super::{LayoutEvent, request_of};
use crate::conduct::Shared;
use crate::layout::{LayoutPart, LayoutRequest, Meter, Progress, fill_range, has_all_parts, make_empty, take_back};
use crate::plan::{LayoutMethod, LayoutStep, Plan};

/// The files that are filled, each with its step.
fn files(plan: &Plan) -> impl Iterator<Item = (&LayoutStep, LayoutRequest<'_>)> {
    plan.layouts.iter().flat_map(move |step| {
        let requests = (0..step.files.len()).map(move |index| request_of(plan, step, index));
        requests.filter(|request| request.method == LayoutMethod::Fill).map(move |request| (step, request))
    })
}

/// The first rank's work: it makes the files, fills its part, and completes them when all others have filled theirs.
pub(super) fn lay_out(shared: &Shared, other_ranks: &dyn OtherRanks, news: &Sender<LayoutEvent>) {
    let part = LayoutPart { number: 0, of: other_ranks.layers() };
    let mut made: Vec<(&LayoutStep, LayoutRequest<'_>)> = Vec::new();
    for (step, request) in files(&shared.plan) {
        let is_new = made.iter().all(|(_, other)| other.path != request.path);
        if is_new && make_empty(&request).unwrap_or(false) {
            made.push((step, request));
        }
    }
    let names: Vec<_> = made.iter().map(|(_, request)| (request.path.to_owned(), request.bytes_needed)).collect();
    super::pauses(news);
    other_ranks.made(&names);
    let own = |request: &LayoutRequest<'_>| part.range(request).end - part.range(request).start;
    let all = |request: &LayoutRequest<'_>| part.rest(request).start;
    let total = made.iter().map(|(_, request)| request.bytes_needed - all(request) + own(request)).sum();
    let thread = fsdyno_os::thread::thread_id();
    let mut watcher = |progress: Progress| {
        let _ = news.send(LayoutEvent::Progress(thread, progress));
    };
    let mut meter = Meter::new(total, &mut watcher);
    let stop = shared.control.stop_flag();
    let mut filled = true;
    for (step, request) in &made {
        super::begins(step, Some(super::line(step)), news);
        filled &= fill_range(request, part.range(request), &mut meter, stop).is_ok();
    }
    super::pauses(news);
    let expected: u64 = made.iter().map(|(_, request)| all(request) - own(request)).sum();
    filled &= other_ranks.filled() == expected;
    for (step, request) in &made {
        super::begins(step, None, news);
        let rest = part.rest(request);
        filled = filled && has_all_parts(request, rest.start);
        filled = filled && fill_range(request, rest, &mut meter, stop).is_ok();
        if !filled {
            take_back(request);
        }
    }
    if filled && !made.is_empty() {
        let text = format!("{} ranks laid out the files that they share, each a part", part.of);
        let _ = news.send(LayoutEvent::Note(Note::new("laid-out-together", Severity::Info, text)));
    }
}

/// Another rank's work: it fills its part of those files that it would lay out as well. Returns the bytes that it
/// filled.
pub(crate) fn fill_part(plan: &Plan, made: &[(PathBuf, u64)], part: LayoutPart, control: &Control) -> u64 {
    let mut filled = 0;
    for (_, request) in files(plan) {
        if !made.iter().any(|(path, bytes)| path == request.path && *bytes == request.bytes_needed) {
            continue;
        }
        let range = part.range(&request);
        let mut alive = |_| control.follow();
        let mut meter = Meter::new(request.bytes_needed, &mut alive);
        if fill_range(&request, range.clone(), &mut meter, control.stop_flag()).is_ok() {
            filled += range.end - range.start;
        }
    }
    filled
}
