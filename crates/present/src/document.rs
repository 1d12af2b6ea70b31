//! Documents for programs: the answer in short before all of it.

use results::escape;
use serde_json::{Map, Value, json};

/// One JSON document: the answer in a sentence as `summary.headline`, then the members of `rest`.
pub fn document(headline: impl Into<Value>, rest: Value) -> String {
    summarised(json!({"headline": headline.into()}), rest)
}

/// What cannot be answered, and the next step: a document without a summary.
pub fn refusal(what: &str, next: Option<&str>) -> String {
    summarised(Value::Null, json!({"error": {"what": what, "next": next}}))
}

fn summarised(summary: Value, rest: Value) -> String {
    let mut members = Map::from_iter([("summary".to_owned(), summary)]);
    members.extend(rest.as_object().cloned().unwrap_or_default());
    format!("{}\n", escape::json(&format!("{:#}", Value::Object(members))))
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
        let refused: Value = serde_json::from_str(&refusal("no such run", None)).unwrap();
        assert_eq!(refused, json!({"summary": null, "error": {"what": "no such run", "next": null}}));
    }
}
