//! Measures a case: which runs it takes, and which lines of the table result.

use std::path::PathBuf;

use super::case::{Bound, Case, FREE, Kind, Source, Target};
use super::cases::{COMMAND, LAYOUT, SIXTEEN_JOBS, START};
use super::command;
use super::counting::{self, Counter, split};
use super::depths;
use super::floor::{self, BareLoop};
use super::gaps;
use super::http;
use super::pairs::{self, Pairs, median};
use super::small_files;
use super::table::{self, Better, Line};
use super::tool::{self, JobCost, RunWrapper, Tool};

/// Size of the file that the jobs read, bytes.
const FILE_BYTES: usize = 256 << 20;

/// The benchmark with its tools, its directory and its lengths.
#[derive(Clone)]
pub(super) struct Bench {
    pub(super) ours: Tool,
    pub(super) fio: Option<Tool>,
    pub(super) directory: PathBuf,
    pub(super) processors: usize,
    /// Number of pairs of each timed case.
    pub(super) rounds: usize,
    /// Length of each timed run, ms.
    pub(super) runtime_ms: u32,
    quick: bool,
}

impl Bench {
    /// Makes the directory and the file that jobs read.
    pub(super) fn prepare(ours: Tool, fio: Option<Tool>, quick: bool) -> Result<Bench, String> {
        let directory = crate::workspace::target_directory().join("bench");
        let failed = |error| format!("{} cannot be prepared: {error}", directory.display());
        std::fs::create_dir_all(&directory).map_err(failed)?;
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let runtime_ms = if quick { 300 } else { 3000 };
        Ok(Bench { ours, fio, directory, processors, rounds: 5, runtime_ms, quick })
    }

    /// Measures one case; a failure becomes a line that says so.
    pub(super) fn measure(&self, case: &Case) -> Vec<Line> {
        let lines = match &case.kind {
            Kind::Instructions { words, target, recorded_fio } => {
                self.instructions(words, *target, *recorded_fio).map(|line| vec![line])
            }
            Kind::HttpInstructions { words, target } => {
                let bench = self.beside(Source::Server);
                let words = self.words(Source::Server, words);
                words.and_then(|words| {
                    let count = (Counter::Instructions, "instructions per request");
                    bench.counted(count.0, count.1, &words, *target, (1000, 6000), true).map(|line| vec![line])
                })
            }
            Kind::Option { words, more, target } => self.option(words, more, *target).map(|line| vec![line]),
            Kind::Allocations { words, target } => {
                let words = null_words(words);
                self.counted(Counter::HeapBlocks, "heap blocks per I/O", &words, *target, (10_000, 110_000), true)
                    .map(|line| vec![line])
            }
            Kind::SystemCalls { source, words, target } => self.beside(*source).system_calls(*source, words, *target),
            Kind::Job { source, words, cpu, user, iops } => {
                self.beside(*source).job(*source, words, [*cpu, *user, *iops])
            }
            Kind::Start => self.start().map(|line| vec![line]),
            Kind::SixteenJobs => self.sixteen_jobs().map(|line| vec![line]),
            Kind::Memory { words, target } => self.memory(words, *target).map(|line| vec![line]),
            Kind::ManyJobs { jobs, wall, memory, recorded_fio } => self.many_jobs(*jobs, *wall, *memory, recorded_fio),
            Kind::Layout => self.layout().map(|line| vec![line]),
            Kind::Command => self.command(),
            Kind::Floor { source, target } => self.floor(*source, *target).map(|line| vec![line]),
            Kind::Files { words, target } => {
                small_files::job(&self.ours, self.fio.as_ref(), &self.directory, words, *target).map(|line| vec![line])
            }
            Kind::Phases { target } => {
                let files = if self.quick { 1001 } else { 10_000 };
                small_files::phases(&self.ours, &self.directory, files, *target)
            }
            Kind::TwoJobs { source, words, target } => self.two_jobs(*source, words, *target),
            Kind::Gaps { words, quantiles } => {
                gaps::lines(&self.ours, &self.directory, words, self.runtime_ms, quantiles)
            }
            Kind::Depths => Ok(depths::lines(&self.ours, &self.directory)),
        };
        let deterministic = case.kind.is_deterministic();
        let mut lines = lines.unwrap_or_else(|reason| vec![failed_line(case, reason)]);
        for line in &mut lines {
            if line.case.is_empty() {
                line.case = case.title.to_owned();
            }
            line.deterministic = deterministic;
        }
        lines
    }

    /// The benchmark of cases with this source: a fio that was built without its engine is left out.
    fn beside(&self, source: Source) -> Bench {
        let fio = self.fio.clone().filter(|fio| source != Source::Server || http::is_engine_of(fio));
        Bench { fio, ..self.clone() }
    }

    fn instructions(&self, words: &str, target: Target, recorded_fio: f64) -> Result<Line, String> {
        let words = null_words(words);
        let ios = if self.quick { (20_000, 120_000) } else { (50_000, 450_000) };
        let mut line = self.counted(Counter::Instructions, "instructions per I/O", &words, target, ios, !self.quick)?;
        if line.fio.is_none() {
            line.fio = Some(format!("{} (3.33, recorded)", table::number(recorded_fio)));
            line.ratio = line.ours.map(|ours| recorded_fio / ours);
        }
        Ok(line)
    }

    fn option(&self, words: &str, more: &str, target: Target) -> Result<Line, String> {
        let ios = if self.quick { (5000, 15_000) } else { (10_000, 60_000) };
        let count = |words: &str| {
            let words = self.words(Source::Cached, words)?;
            counting::per_io(Counter::Instructions, &self.ours, &words, &self.directory, ios)
        };
        let (without, with) = (count(words)?, count(&format!("{words} {more}"))?);
        let mut line = single("instructions per I/O, times those without", None, with / without, target);
        line.note = Some(format!("{} of {}", table::number(with), table::number(without)));
        Ok(line)
    }

    fn counted(
        &self,
        counter: Counter,
        measure: &str,
        words: &[String],
        target: Target,
        ios: (u32, u32),
        with_fio: bool,
    ) -> Result<Line, String> {
        let ours = counting::per_io(counter, &self.ours, words, &self.directory, ios)?;
        // fio takes ten times the instructions: a fifth of the I/Os gives the same slope.
        let fio_ios = (ios.0 / 5, ios.1 / 5);
        let fio = match self.fio.as_ref().filter(|_| with_fio) {
            Some(fio) => Some(counting::per_io(counter, fio, words, &self.directory, fio_ios)?),
            None => None,
        };
        Ok(Line { ratio: fio.filter(|_| ours > 0.0).map(|fio| fio / ours), ..single(measure, fio, ours, target) })
    }

    fn system_calls(&self, source: Source, words: &str, target: Target) -> Result<Vec<Line>, String> {
        let words = self.words(source, &format!("--rw=randread {words}"))?;
        self.counted(Counter::SystemCalls, "system calls per I/O", &words, target, (1000, 6000), true)
            .map(|line| vec![line])
    }

    fn job(&self, source: Source, words: &str, targets: [Target; 3]) -> Result<Vec<Line>, String> {
        let mut words = self.words(source, words)?;
        words.push(format!("--runtime={}ms", self.runtime_ms));
        words.extend(["--time_based", "--output-format=json"].map(str::to_owned));
        // Many jobs share all processors.
        let many = words.iter().any(|word| word.starts_with("--numjobs="));
        let wrapped = if many { RunWrapper::Bare } else { RunWrapper::Pinned(self.processors - 1) };
        let (fio, ours) = self.alternate(self.rounds, |tool| {
            let run = tool::run(tool, &words, &self.directory, wrapped)?;
            tool::job_cost(&run.stdout)
        })?;
        let pairs = |value: fn(&JobCost) -> f64| Pairs {
            fio: fio.iter().map(value).collect(),
            ours: ours.iter().map(value).collect(),
        };
        let [cpu, user, iops] = targets;
        Ok(vec![
            paired("CPU per I/O, ns", Better::Less, &pairs(|cost| cost.cpu_ns), cpu),
            // The kernel divides CPU time into user and system by its ticks.
            paired("user CPU per I/O, ns (mean)", Better::Less, &pairs(|cost| cost.user_ns).averaged(), user),
            paired("IOPS", Better::More, &pairs(|cost| cost.iops), iops),
        ])
    }

    fn floor(&self, source: Source, target: Target) -> Result<Line, String> {
        let (words, name, bare) = match source {
            Source::Server => {
                let requests = if self.quick { 10_000 } else { 50_000 };
                let [address, path, bytes] = http::object(4096)?;
                let bare = BareLoop { example: "bare_get", words: vec![address, path, bytes, requests.to_string()] };
                (format!("--rw=randread --number_ios={requests}"), "GET", bare)
            }
            _ => {
                let direct = source == Source::Direct;
                let reads = if self.quick { 20_000 } else { 200_000 } * if direct { 1 } else { 10 };
                let mut words = split(&format!("data 64 {reads}"));
                words.extend(direct.then(|| "direct".to_owned()));
                let ours = "--ioengine=io_uring --iodepth=64 --rw=randread";
                (format!("{ours} --number_ios={reads}"), "ring", BareLoop { example: "bare_ring", words })
            }
        };
        let words = self.words(source, &format!("{words} --io_size=1t --output-format=json"))?;
        let found = floor::compare(&self.ours, &self.directory, &words, &bare, self.processors - 1)?;
        let mut line = single(&format!("CPU per I/O, times that of the bare {name}"), None, found.times, target);
        line.note = Some(format!("the bare {name} takes {} ns", table::number(found.bare_ns)));
        Ok(line)
    }

    /// Two jobs beside one: IOPS, which other programs disturb, and CPU time per I/O, which they disturb less.
    fn two_jobs(&self, source: Source, words: &str, target: Target) -> Result<Vec<Line>, String> {
        if self.processors < 2 {
            return Err("it needs two processors".to_owned());
        }
        let mut words = self.words(source, words)?;
        // Many short runs in turn: a neighbour that slows one processor for seconds then spoils a pair, not the median.
        let (rounds, runtime_ms) = (3 * self.rounds, self.runtime_ms / 3);
        words.push(format!("--runtime={runtime_ms}ms"));
        words.extend(
            ["--time_based", "--output-format=json", "--cpus_allowed=0,1", "--cpus_allowed_policy=split"]
                .map(str::to_owned),
        );
        let (one, two) = pairs::alternate(rounds, true, |is_two| {
            let mut words = words.clone();
            words.extend(is_two.then(|| "--numjobs=2".to_owned()));
            let run = tool::run(&self.ours, &words, &self.directory, RunWrapper::Bare)?;
            tool::job_cost(&run.stdout)
        })?;
        let of = |times: fn(&JobCost, &JobCost) -> f64| {
            let times: Vec<f64> = one.iter().zip(&two).map(|(one, two)| times(one, two)).collect();
            median(&times).ok_or("no pair was measured")
        };
        let lost = of(|one, two| 2.0 * one.iops / two.iops)?;
        let mut iops = single("IOPS of one job x 2, times those of both", None, lost, target);
        let mut note = format!("two jobs reach {} times one", table::number(2.0 / lost));
        if source == Source::Cached {
            let bare = floor::pread_scaling(&self.directory, f64::from(runtime_ms) / 1e3, rounds)?;
            note += &format!(", two bare loops of pread {} times", table::number(bare));
        }
        iops.note = Some(note);
        let cpu = of(|one, two| two.cpu_ns / one.cpu_ns)?;
        Ok(vec![iops, single("CPU per I/O of two, times that of one", None, cpu, target)])
    }

    fn start(&self) -> Result<Line, String> {
        let words = null_words("--rw=randread --number_ios=1");
        let (fio, ours) = self.alternate(self.rounds, |tool| {
            let run = tool::run(tool, &words, &self.directory, RunWrapper::Bare)?;
            Ok(run.wall.as_secs_f64() * 1e3)
        })?;
        Ok(paired("wall, ms", Better::Less, &Pairs { fio, ours }, START))
    }

    fn sixteen_jobs(&self) -> Result<Line, String> {
        let (seconds, rounds) = if self.quick { (1, 1) } else { (3, 5) };
        let words = null_words(&format!("--rw=randread --numjobs=16 --time_based --runtime={seconds}"));
        let (fio, ours) = self.alternate(rounds, |tool| {
            let run = tool::run(tool, &words, &self.directory, RunWrapper::Bare)?;
            Ok((run.wall.as_secs_f64() - f64::from(seconds)) * 1e3)
        })?;
        Ok(paired("wall beyond the runtime, ms", Better::Less, &Pairs { fio, ours }, SIXTEEN_JOBS))
    }

    fn memory(&self, words: &str, target: Target) -> Result<Line, String> {
        if words.contains(counting::REPLAYED) {
            counting::write_log(&self.directory, 5_000_000)?;
        }
        let words = null_words(&format!("--rw=randread --number_ios=1000 {words}"));
        let sections: String =
            (0..5000).map(|number| format!("[j{number}]\nrw=randread\nbs=4k\nsize=1m\nioengine=null\n")).collect();
        let path = self.directory.join("sections.fio");
        std::fs::write(&path, sections).map_err(|error| format!("{} cannot be written: {error}", path.display()))?;
        let peak = |tool: &Tool| {
            let run = tool::run(tool, &words, &self.directory, RunWrapper::Timed)?;
            run.memory_mib.ok_or_else(|| "GNU time is not installed".to_owned())
        };
        let (fio, ours) = self.alternate(1, peak)?;
        Ok(paired("peak memory, MiB", Better::Less, &Pairs { fio, ours }, target))
    }

    fn many_jobs(&self, jobs: u32, wall: Target, memory: Target, recorded_fio: &str) -> Result<Vec<Line>, String> {
        let words = null_words(&format!("--rw=randread --size=4k --numjobs={jobs} --group_reporting"));
        let run = tool::run(&self.ours, &words, &self.directory, RunWrapper::Timed)?;
        let recorded = Some(format!("{recorded_fio} (recorded)"));
        let wall = single("wall, s", None, run.wall.as_secs_f64(), wall);
        let peak = run.memory_mib.ok_or("GNU time is not installed")?;
        Ok(vec![Line { fio: recorded, ..wall }, single("peak memory, MiB", None, peak, memory)])
    }

    fn command(&self) -> Result<Vec<Line>, String> {
        let cost = command::cost(&self.ours, &self.directory, if self.quick { 3 } else { 15 })?;
        let mut beyond = single("wall beyond the bare one, ms", None, cost.beyond_ms, COMMAND);
        beyond.note = Some(format!("the bare one is {} ms", table::number(cost.bare_ms)));
        Ok(vec![beyond, single("a whole round, ms", None, cost.round_ms, FREE)])
    }

    fn layout(&self) -> Result<Line, String> {
        let (size, mebibytes, rounds) = if self.quick { ("256m", 256, 1) } else { ("2g", 2048, 3) };
        let words =
            split(&format!("--name=layout --filename=layout.data --rw=read --bs=4k --size={size} --create_only=1"));
        let path = self.directory.join("layout.data");
        let gone = |path: &PathBuf| {
            let _ = std::fs::remove_file(path);
        };
        let (fio, ours) = self.alternate(rounds, |tool| {
            gone(&path);
            Ok(tool::run(tool, &words, &self.directory, RunWrapper::Bare)?.wall.as_secs_f64())
        })?;
        gone(&path);
        let start = std::time::Instant::now();
        write_file(&path, mebibytes << 20)?;
        let bare = start.elapsed().as_secs_f64();
        gone(&path);
        let mut line = paired(&format!("wall for {size}, s"), Better::Less, &Pairs { fio, ours }, LAYOUT);
        line.note = Some(format!("a bare write and fsync takes {} s", table::number(bare)));
        if line.ours.is_some_and(|ours| ours <= bare * 1.1) {
            line.target = Target { must: Bound::AtMost(bare * 1.1), aim: Bound::AtMost(bare * 1.1) };
        }
        Ok(line)
    }

    fn alternate<T>(
        &self,
        rounds: usize,
        mut run: impl FnMut(&Tool) -> Result<T, String>,
    ) -> Result<(Vec<T>, Vec<T>), String> {
        pairs::alternate(rounds, self.fio.is_some(), |is_ours| match (&self.fio, is_ours) {
            (Some(fio), false) => run(fio),
            _ => run(&self.ours),
        })
    }

    /// The words of a job on `source`.
    fn words(&self, source: Source, words: &str) -> Result<Vec<String>, String> {
        match source {
            Source::Nothing => return Ok(null_words(words)),
            Source::Server => return http::words(words),
            Source::Cached | Source::Direct => {}
        }
        let path = self.directory.join("data");
        if std::fs::metadata(&path).map_or(0, |data| data.len()) != FILE_BYTES as u64 {
            write_file(&path, FILE_BYTES)?;
        }
        let access = if source == Source::Direct { "--direct=1" } else { "--invalidate=0" };
        if source == Source::Cached {
            // Reading the file once brings it into the page cache.
            std::fs::read(&path).map_err(|error| format!("{} cannot be read: {error}", path.display()))?;
        }
        Ok(split(&format!("--name=file --thread --filename=data --size={FILE_BYTES} {access} {words}")))
    }
}

/// The words of a job of the null engine over 64 GiB; later words may override them.
fn null_words(words: &str) -> Vec<String> {
    // So large that fio uses each block once within a timed run, as the cases demand: on a small range its random map
    // would stay in the CPU's cache.
    split(&format!("--name=null --thread --ioengine=null --size=64g {words}"))
}

/// Writes a file of incompressible bytes to the device.
fn write_file(path: &PathBuf, bytes: usize) -> Result<(), String> {
    use std::io::Write as _;
    let mut state: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut block = vec![0; 1 << 20];
    let written = std::fs::File::create(path).and_then(|mut file| {
        for _ in 0..bytes / block.len() {
            for word in block.chunks_exact_mut(8) {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                word.copy_from_slice(&state.to_le_bytes());
            }
            file.write_all(&block)?;
        }
        file.sync_all()
    });
    written.map_err(|error| format!("{} cannot be written: {error}", path.display()))
}

/// A line of medians.
fn paired(measure: &str, better: Better, pairs: &Pairs, target: Target) -> Line {
    let ratio = pairs.fio_over_ours().map(|ratio| table::times_better(better, ratio));
    Line {
        fio: pairs.fio_median().map(table::number),
        ours: pairs.our_median(),
        ratio,
        ..single(measure, None, 0.0, target)
    }
}

/// A line of single values.
fn single(measure: &str, fio: Option<f64>, ours: f64, target: Target) -> Line {
    Line {
        case: String::new(),
        measure: measure.to_owned(),
        fio: fio.map(table::number),
        ours: Some(ours),
        ratio: None,
        target,
        deterministic: false,
        note: None,
    }
}

/// A line for a case that could not be measured: it has no value, not a zero.
fn failed_line(case: &Case, reason: String) -> Line {
    let target = match &case.kind {
        Kind::Instructions { target, .. }
        | Kind::HttpInstructions { target, .. }
        | Kind::Option { target, .. }
        | Kind::Allocations { target, .. }
        | Kind::SystemCalls { target, .. }
        | Kind::Memory { target, .. }
        | Kind::Floor { target, .. }
        | Kind::Files { target, .. }
        | Kind::Phases { target }
        | Kind::TwoJobs { target, .. }
        | Kind::Job { cpu: target, .. }
        | Kind::ManyJobs { wall: target, .. } => *target,
        Kind::Start => START,
        Kind::SixteenJobs => SIXTEEN_JOBS,
        Kind::Layout => LAYOUT,
        Kind::Command => COMMAND,
        Kind::Gaps { quantiles, .. } => quantiles.first().map_or(FREE, |quantile| quantile.1),
        Kind::Depths => FREE,
    };
    Line { ours: None, note: Some(reason), ..single("", None, 0.0, if target == FREE { FREE } else { target }) }
}
