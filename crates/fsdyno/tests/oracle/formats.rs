//! Tests the output formats, alone and together.

use crate::case::{Case, cases, line};
use crate::left_behind::Depth;

/// A mix over 256 KiB, in the format that `words` choose.
fn job(words: &str) -> Case {
    line("--name=a --filename=data --size=256k --rw=randrw --number_ios=64").words(words)
}

cases! {
    terse_version_2: job("").terse(2);
    terse_version_3: job("").terse(3).apart();
    terse_version_4: job("").terse(4);
    terse_version_5: job("").terse(5);
    terse_of_a_group: job("--numjobs=2 --group_reporting --thread").terse(3);
    terse_with_a_description: job("--description=hello").terse(3).terse(5);
    terse_with_errors_counted: job("--continue_on_error=io").terse(3);
    terse_without_latency: job("--gtod_reduce=1").terse(3);
    terse_of_an_unknown_version: job("--output-format=terse --terse-version=9").verbatim();
    minimal: job("--minimal").verbatim();
    json_plus: job("--output-format=json+").verbatim();
    normal_is_the_default: job("").report().apart();
    all_together: job("--output-format=normal,terse,json").verbatim();
    unknown_format: job("--output-format=xml").verbatim().says("xml");
    output_file: job("--output=report.txt").verbatim().left(Depth::Names);
    output_file_of_json: job("--output=report.json --output-format=json").verbatim().left(Depth::Names);
    output_file_cannot_be_made: job("--output=no/such/place").verbatim().says("No such file or directory");
    description: job("--description=hello").report();
    significant_figures: job("--significant_figures=6").report();
    version: line("--version").verbatim();
    help: line("--help").verbatim();
    help_of_an_option: line("--cmdhelp=bs").verbatim();
    help_of_all_options: line("--cmdhelp=all").verbatim();
    help_of_an_unknown_option: line("--cmdhelp=nosuch").verbatim();
    help_of_the_engines: line("--enghelp").verbatim();
    help_of_an_engine: line("--enghelp=libaio").verbatim();
    help_of_an_engine_without_options: line("--enghelp=null").verbatim();
    help_of_an_unknown_engine: line("--enghelp=nosuch").verbatim();
    parse_only: job("--parse-only").verbatim().left(Depth::Names);
    parse_only_of_a_bad_value: job("--parse-only --iodepth=x").verbatim();
    eta_never: job("--eta=never").report();
}
