//! Prepares engines whose options depend on the worker, and the lines that announce engines without I/O.

use fsdyno_job::{EngineName, EngineOptions};

use crate::conduct::{Event, Shared};
use crate::plan::WorkerPlan;

/// The options of the worker's engine, with its own port, range, and names.
pub(super) fn options(plan: &WorkerPlan) -> EngineOptions {
    let mut options = plan.job.submission.engine_options.clone();
    let network = &mut options.network;
    network.port = network.port.saturating_add(plan.clone as u16);
    let begin = plan.files.iter().map(|file| file.start).min().unwrap_or(0);
    options.used_range = (begin, plan.files.iter().map(|file| file.start + file.length).max().unwrap_or(0));
    if let (Some(directory), false) = (plan.job.files.directories.first(), options.donor.name.is_empty()) {
        options.donor.name = format!("{directory}/{}", options.donor.name);
    }
    if plan.job.submission.engine == EngineName::Exec {
        let (program, label) = (&mut options.program, plan.job.label(plan.clone));
        let runtime_s = plan.job.extent.runtime_ns / 1_000_000_000;
        program.arguments = program.arguments.replace("%r", &runtime_s.to_string()).replace("%n", label);
        program.output = program.redirects.then(|| plan.job.name_on_node(label.to_owned()));
    }
    options
}

/// Shows the lines that take the place of other jobs' announcements.
#[inline(never)]
pub(super) fn announce(plan: &WorkerPlan, shared: &Shared) {
    let label = plan.job.label(plan.clone);
    match plan.job.submission.engine {
        EngineName::Cpuio => {
            let burn = &plan.job.submission.engine_options.burn;
            let (mode, load, burst_us) = (if burn.sorts { "qsort" } else { "noop" }, burn.load_percent, burn.burst_us);
            let text = format!("{label} ({mode}): ioengine=cpuio, cpuload={load}, cpucycle={burst_us}");
            shared.send(Event::Line(text));
        }
        EngineName::Exec => {
            let written = &plan.job.submission.engine_options.program;
            let program = options(plan).program;
            let given = |arguments: &str| if arguments.is_empty() { "(null)".to_owned() } else { arguments.to_owned() };
            let (name, arguments) = (&program.name, given(&program.arguments));
            shared.send(Event::Line(format!("{label} : program={name}, arguments={}", given(&written.arguments))));
            shared.send(Event::Line(match &program.output {
                Some(output) => {
                    format!(
                        "{label} : Saving output of {name} {arguments} : stdout={output}.stdout stderr={output}.stderr"
                    )
                }
                None => format!("{label} : Running {name} {arguments}"),
            }));
        }
        EngineName::Net | EngineName::Netsplice if plan.job.submission.engine_options.network.listens() => {
            shared.send(Event::Line("fio: waiting for connection".to_owned()));
        }
        _ => {}
    }
}
