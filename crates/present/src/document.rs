//! Writes JSON documents for programs: first the answer in short, then everything.

use fsdyno_text::escape;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};

/// Why a question has no answer.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct QuestionError {
    /// The exit status.
    pub code: u8,
    /// What is wrong.
    pub sentence: String,
    /// The next step.
    pub next: Option<String>,
    /// The path that it is about.
    pub path: Option<String>,
}

/// One JSON document: the answer in a sentence as `summary.headline`, then the members of `rest`.
pub fn document(headline: impl Into<Value>, rest: Value) -> String {
    summarised(json!({"headline": headline.into()}), rest)
}

/// The same with one list, of which only one item at a time is in memory: lists can have tens of thousands of items.
pub(crate) fn list_document(headline: String, name: &str, items: impl Iterator<Item = Value>) -> String {
    let mut listed = String::new();
    for item in items {
        listed.push_str(if listed.is_empty() { "\n    " } else { ",\n    " });
        listed.push_str(&format!("{item:#}").replace('\n', "\n    "));
    }
    let end = if listed.is_empty() { "]" } else { "\n  ]" };
    let around = document(headline, json!({ name: [] }));
    format!("{}[{}{end}\n}}\n", around.trim_end_matches("[]\n}\n"), escape::json_report(&listed))
}

/// The document of a refusal.
pub fn refusal(error: &QuestionError) -> String {
    summarised(json!({ "headline": null, "error": error }), json!({}))
}

fn summarised(summary: Value, rest: Value) -> String {
    let mut members = Map::from_iter([("summary".to_owned(), summary)]);
    // Moved, not cloned: it may be the largest part of the program's memory.
    if let Value::Object(rest) = rest {
        members.extend(rest);
    }
    format!("{}\n", escape::json_report(&format!("{:#}", Value::Object(members))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_stands_first_and_nothing_gives_orders_to_a_terminal() {
        let text = document("one \u{202e} run", json!({"runs": [1]}));
        assert_eq!(
            text,
            "{\n  \"summary\": {\n    \"headline\": \"one \\u202e run\"\n  },\n  \"runs\": [\n    1\n  ]\n}\n"
        );
        for count in 0..3 {
            let items = vec![json!({"id": "a\nb", "none": [], "some": [count]}); count];
            assert_eq!(
                list_document("[] no {}".into(), "runs", items.clone().into_iter()),
                document("[] no {}", json!({ "runs": items }))
            );
        }
        let (sentence, path) = ("no such run".to_owned(), Some("/data".to_owned()));
        let of_question = QuestionError { code: 2, sentence, next: None, path };
        let refused: Value = serde_json::from_str(&refusal(&of_question)).unwrap();
        let error = json!({"code": 2, "sentence": "no such run", "next": null, "path": "/data"});
        assert_eq!(refused, json!({"summary": {"headline": null, "error": error}}));
    }
}
