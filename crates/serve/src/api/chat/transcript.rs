//! What an answer is made of: the passages of a search, those that are cited, and a tool's answer
//! as plain text.

use knowledge::KnowledgeBase;
use knowledge::chat::ToolName;
use serde_json::{Value, json};

/// Puts the answers of several knowledge bases together: results by their score, which means the
/// same in all of them, summaries one after another. Each result says which base it is from.
pub(super) fn together(
    tool: ToolName,
    mut answers: Vec<(&KnowledgeBase, Value)>,
    max_results: u64,
) -> Value {
    if answers.len() == 1
        && let Some((base, mut answer)) = answers.pop()
    {
        name_base(&mut answer, base);
        return answer;
    }
    if tool == ToolName::GetKnowledgeBaseSummary {
        let text = |answer: &Value| answer["summary"].as_str().unwrap_or_default().to_owned();
        let summary: Vec<String> = answers.iter().map(|(_, answer)| text(answer)).collect();
        let total = |name: &str| -> u64 {
            answers.iter().filter_map(|(_, answer)| answer["statistics"][name].as_u64()).sum()
        };
        let statistics = json!({
            "total_documents": total("total_documents"),
            "total_collections": total("total_collections"),
            "total_chunks": total("total_chunks"),
        });
        let answers: Vec<Value> = answers.into_iter().map(|(_, answer)| answer).collect();
        return json!({
            "summary": summary.join("\n\n"), "statistics": statistics, "summaries": answers,
        });
    }
    let mut warnings: Vec<Value> = vec![];
    let mut found: Vec<Value> = vec![];
    let mut query = Value::Null;
    let n_results = |answer: &Value| answer["results"].as_array().map_or(0, Vec::len);
    let has_results = answers.iter().any(|(_, answer)| n_results(answer) > 0);
    for (base, mut answer) in answers {
        name_base(&mut answer, base);
        query = answer["query"].take();
        // That one base has nothing, and how near it came, means nothing while another has
        // something.
        let is_empty = n_results(&answer) == 0;
        let is_said = |warning: &Value| {
            let text = warning.as_str().unwrap_or_default();
            !(has_results && is_empty && knowledge::is_about_emptiness(text))
        };
        if let Value::Array(results) = answer["results"].take() {
            found.extend(results);
        }
        if let Value::Array(of_base) = answer["warnings"].take() {
            let is_new = |warning: &Value| is_said(warning) && !warnings.contains(warning);
            let new: Vec<Value> = of_base.into_iter().filter(is_new).collect();
            warnings.extend(new);
        }
    }
    let score = |result: &Value| result["score"].as_f64().unwrap_or_default();
    found.sort_by(|one, other| score(other).total_cmp(&score(one)));
    found.truncate(usize::try_from(max_results).unwrap_or(usize::MAX));
    json!({ "query": query, "count": found.len(), "results": found, "warnings": warnings })
}

fn name_base(answer: &mut Value, base: &KnowledgeBase) {
    for result in answer["results"].as_array_mut().into_iter().flatten() {
        result["metadata"]["knowledge_base_id"] = json!(base.id);
        result["metadata"]["knowledge_base"] = json!(base.name);
    }
}

/// The texts of the results.
pub(super) fn passages(result: &Value) -> Vec<String> {
    let contents = results(result).iter().filter_map(|found| found["content"].as_str());
    contents.map(str::to_owned).collect()
}

/// Gives the passages that an answer cites; all of them when no model chose.
pub(super) fn citations(result: &Value, said: Option<&str>) -> Vec<Value> {
    (1..)
        .zip(results(result))
        .filter(|(number, _)| said.is_none_or(|text| cites(text, *number)))
        .map(|(number, found)| {
            json!({
                "number": number,
                "chunk_id": found["metadata"]["chunk_id"],
                "document_id": found["metadata"]["document_id"],
                "title": found["metadata"]["title"],
                "knowledge_base_id": found["metadata"]["knowledge_base_id"],
            })
        })
        .collect()
}

/// What a tool gave, as text for a reader. Links and pictures of the source are not live in it.
pub(super) fn plain(tool: ToolName, result: &Value) -> Vec<String> {
    let mut defuser = text::Defuser::default();
    plain_pieces(tool, result).iter().map(|piece| defuser.push(piece)).collect()
}

fn plain_pieces(tool: ToolName, result: &Value) -> Vec<String> {
    match tool {
        ToolName::SearchDocuments => {
            let found = passages(result);
            if found.is_empty() {
                return vec!["No results found".to_owned()];
            }
            (1..).zip(found).map(|(number, text)| format!("[{number}] {text}\n\n")).collect()
        }
        ToolName::GetKnowledgeBaseSummary => {
            let summary = result["summary"].as_str().unwrap_or_default();
            let count = |name: &str| result["statistics"][name].as_u64().unwrap_or_default();
            vec![
                format!("{summary}\n\n"),
                format!(
                    "documents: {}, collections: {}, chunks: {}",
                    count("total_documents"),
                    count("total_collections"),
                    count("total_chunks")
                ),
            ]
        }
        ToolName::NormalizeOcrText => {
            vec![result["normalized_text"].as_str().unwrap_or_default().to_owned()]
        }
    }
}

/// The results of a search.
fn results(result: &Value) -> &[Value] {
    result["results"].as_array().map(Vec::as_slice).unwrap_or_default()
}

/// Tells whether a text cites a passage, as `[2]` or among others, as `[1, 2]`.
fn cites(text: &str, number: usize) -> bool {
    text.split('[').skip(1).filter_map(|rest| rest.split_once(']')).any(|(inside, _)| {
        inside.split([',', ' ', ';', '、']).any(|cited| cited.trim().parse() == Ok(number))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn citations_are_read_from_the_answer() {
        let check = |text: &str, expected: &[usize]| {
            let cited: Vec<usize> = (1..=12).filter(|number| cites(text, *number)).collect();
            assert_eq!(cited, expected, "{text}");
        };
        check("Three days [1].", &[1]);
        check("Both say so [1, 3] and [2][11].", &[1, 2, 3, 11]);
        check("[12", &[]);
        check("a [b] 1 (2) [100]", &[]);
    }
}
