//! `schema`: prints the JSON Schema of what `--json` and `--record` write.
//!
//! Tests make it from the types. The program contains only the larger one, compressed: the other is a part of it.

use std::process::ExitCode;

use clap::{Args, ValueEnum};
use serde_json::{Map, Value};

use crate::process::streams::shown;

/// Print the JSON Schema of what `--json` or `--record` writes.
#[derive(Debug, Args)]
pub(crate) struct Schema {
    /// Which document.
    document: Document,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Document {
    /// What `--json` prints of a question: the summary, then the study.
    Study,
    /// What `--record` saves of a fio run.
    Record,
}

/// The schema of a study, minified and deflated.
const STUDY: &[u8] = include_bytes!("schema/study.json.deflated");

/// The key under which a schema holds its definitions.
const DEFINITIONS: &str = "$defs";

impl Schema {
    pub(crate) fn run(self) -> ExitCode {
        shown(&self.document.text())
    }
}

impl Document {
    fn text(self) -> String {
        let text = miniz_oxide::inflate::decompress_to_vec(STUDY).expect("a test inflates it");
        // Parsed as text like everything else: parsing bytes would add the parser's code a second time.
        let text = String::from_utf8_lossy(&text);
        let study: Value = serde_json::from_str(&text).expect("a test reads it");
        let schema = match self {
            Document::Study => study,
            Document::Record => part(&study, "RunRecord"),
        };
        format!("{schema:#}\n")
    }
}

/// A definition of a schema as a schema by itself.
fn part(whole: &Value, name: &str) -> Value {
    let definitions = &whole[DEFINITIONS];
    let mut used = Map::new();
    collect(&definitions[name], definitions, &mut used);
    let mut schema = Map::from_iter([("$schema".to_owned(), whole["$schema"].clone()), ("title".into(), name.into())]);
    schema.extend(definitions[name].as_object().cloned().unwrap_or_default());
    schema.insert(DEFINITIONS.to_owned(), used.into());
    schema.into()
}

/// Collects the definitions that a schema refers to, recursively.
fn collect(schema: &Value, definitions: &Value, used: &mut Map<String, Value>) {
    if let Some(name) = schema["$ref"].as_str().and_then(|path| path.strip_prefix("#/$defs/"))
        && used.insert(name.to_owned(), definitions[name].clone()).is_none()
    {
        collect(&definitions[name], definitions, used);
    }
    let members = schema.as_object().into_iter().flat_map(Map::values);
    members.chain(schema.as_array().into_iter().flatten()).for_each(|member| collect(member, definitions, used));
}

#[cfg(test)]
mod tests {
    use schemars::JsonSchema;
    use schemars::generate::SchemaSettings;
    use schemars::transform::{RecursiveTransform, Transform};

    use super::*;

    /// Turns descriptions, which are doc comments, into JSON's words, and removes defaults: they stand for fields of
    /// older records, not of documents that are written.
    fn in_words_of_json(schema: &mut schemars::Schema) {
        schema.remove("default");
        if let Some(text) = schema.get("description").and_then(Value::as_str) {
            let text = text.replace("`None`", "`null`").replace("[`", "`").replace("`]", "`");
            let paragraphs: Vec<String> = text.split("\n\n").map(|paragraph| paragraph.replace('\n', " ")).collect();
            schema.insert("description".to_owned(), paragraphs.join("\n\n").into());
        }
    }

    fn of_type<T: JsonSchema>() -> Value {
        let settings = SchemaSettings::draft2020_12().for_serialize();
        let mut schema = settings.into_generator().into_root_schema_for::<T>();
        RecursiveTransform(in_words_of_json).transform(&mut schema);
        schema.to_value()
    }

    #[test]
    fn the_schemas_are_those_of_the_types() {
        let study = of_type::<fsdyno_present::Document<'static>>();
        if std::env::var_os("FSDYNO_DOCS").is_some_and(|word| word == "write") {
            let deflated = miniz_oxide::deflate::compress_to_vec(study.to_string().as_bytes(), 10);
            let file = testkit::workspace().join("crates/fsdyno/src/schema/study.json.deflated");
            std::fs::write(file, deflated).expect("the schema can be written");
        }
        testkit::assert_document("docs/schema/study.json", &format!("{study:#}\n"));
        testkit::assert_document("docs/schema/record.json", &format!("{:#}\n", part(&study, "RunRecord")));
        assert_eq!(part(&study, "RunRecord"), of_type::<fsdyno_results::RunRecord>(), "it has all that it refers to");
        let inflated = Document::Study.text();
        assert!(inflated == format!("{study:#}\n"), "stale: FSDYNO_DOCS=write cargo test -p fsdyno --bins, twice");
    }
}
