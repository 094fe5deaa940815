//! Questions written for the choice of a tool, with the tool that should answer them.

use super::ToolName::{self, GetKnowledgeBaseSummary, NormalizeOcrText, SearchDocuments};
use super::{choose_by_rules, ocr_payload};

/// The share of questions that the rules must get right.
const LEAST_ACCURACY: f64 = 0.95;

const QUESTIONS: &[(&str, ToolName)] = &[
    // The contract's own rows.
    ("リモートワーク手当は？", SearchDocuments),
    ("このKBについて", GetKnowledgeBaseSummary),
    ("副業の規定を教えて", SearchDocuments),
    ("このKBには何件のドキュメントがある？", GetKnowledgeBaseSummary),
    ("OCR結果: マネ-ジャ-", NormalizeOcrText),
    // Specific information, Japanese.
    ("リモートワーク手当の金額は？", SearchDocuments),
    ("社員教育について", SearchDocuments),
    ("副業 許可 条件", SearchDocuments),
    ("有給休暇は何日もらえますか？", SearchDocuments),
    ("経費精算の締め切りはいつですか", SearchDocuments),
    ("このKBでリモートワーク手当を検索して", SearchDocuments),
    ("ナレッジベースの中から育児休業の規定を探して", SearchDocuments),
    ("出張申請に必要な書類はいくつありますか", SearchDocuments),
    ("セキュリティ研修の資料はどこにありますか", SearchDocuments),
    ("マイナビのアルムナイサービスについて教えて", SearchDocuments),
    ("OCRの精度はどのくらいですか？", SearchDocuments),
    ("OCR結果の保存期間は何年ですか？", SearchDocuments),
    ("文書管理規程の保存年限を教えて", SearchDocuments),
    ("契約書の概要を教えて", SearchDocuments),
    ("サ-バ-の再起動手順は？", SearchDocuments),
    ("健康診断の受診対象者は誰ですか", SearchDocuments),
    ("退職金の計算方法を説明してください", SearchDocuments),
    ("2024年度の売上はいくらですか", SearchDocuments),
    ("住宅手当の申請方法", SearchDocuments),
    // Specific information, English.
    ("What is the remote work allowance?", SearchDocuments),
    ("How many days of paid leave do employees get?", SearchDocuments),
    ("side job approval rules", SearchDocuments),
    ("Find the travel expense policy", SearchDocuments),
    ("What does this knowledge base say about parental leave?", SearchDocuments),
    ("Search the knowledge base for password rotation", SearchDocuments),
    ("Which documents are required for a visa application?", SearchDocuments),
    ("How do I normalize a database schema?", SearchDocuments),
    ("Who approves purchase orders above 10000 euros?", SearchDocuments),
    ("When was the safety manual last revised?", SearchDocuments),
    ("summary of the Q3 earnings call", SearchDocuments),
    ("Explain the onboarding process", SearchDocuments),
    ("how to fix a paper jam", SearchDocuments),
    ("e-mail retention period", SearchDocuments),
    // The knowledge base itself, Japanese.
    ("このナレッジベースについて教えて", GetKnowledgeBaseSummary),
    ("このKBの概要を教えてください", GetKnowledgeBaseSummary),
    ("このKBにはいくつのドキュメントがありますか？", GetKnowledgeBaseSummary),
    ("ナレッジベースの統計情報を見せて", GetKnowledgeBaseSummary),
    ("コレクションはいくつありますか", GetKnowledgeBaseSummary),
    ("登録されている文書の総数は？", GetKnowledgeBaseSummary),
    ("ドキュメント数を教えて", GetKnowledgeBaseSummary),
    ("チャンク数は？", GetKnowledgeBaseSummary),
    ("このナレッジベースには何が含まれていますか？", GetKnowledgeBaseSummary),
    ("このKBはどんな内容ですか", GetKnowledgeBaseSummary),
    ("ナレッジベースを要約して", GetKnowledgeBaseSummary),
    ("このナレッジベースの規模はどのくらいですか", GetKnowledgeBaseSummary),
    ("ＫＢの概要", GetKnowledgeBaseSummary),
    // The knowledge base itself, English.
    ("Tell me about this knowledge base", GetKnowledgeBaseSummary),
    ("Give me an overview of this KB", GetKnowledgeBaseSummary),
    ("How many documents are in this knowledge base?", GetKnowledgeBaseSummary),
    ("how many collections are there", GetKnowledgeBaseSummary),
    ("What is in this knowledge base?", GetKnowledgeBaseSummary),
    ("Summarize the knowledge base", GetKnowledgeBaseSummary),
    ("knowledge base statistics", GetKnowledgeBaseSummary),
    ("What topics does this knowledge base cover?", GetKnowledgeBaseSummary),
    ("Number of chunks stored", GetKnowledgeBaseSummary),
    ("Please describe this KB.", GetKnowledgeBaseSummary),
    // Text to be repaired.
    ("OCRテキストを正規化して: サ-ビス（service）のガイドライン", NormalizeOcrText),
    (
        "次のOCRテキストを修正してください\nマイナビキャリ-では、ユ-ザ-登録ができます。",
        NormalizeOcrText,
    ),
    ("「ユ-ザ-マニュアル」を正規化して", NormalizeOcrText),
    ("Normalize this OCR text: コンピュ-タ-", NormalizeOcrText),
    ("Fix the hyphens in this OCR output: マネ-ジャ-", NormalizeOcrText),
    ("マネ-ジャ-", NormalizeOcrText),
    ("スキャンしたデ-タの長音を直して：サ-バ- ル-タ-", NormalizeOcrText),
    ("OCR: フォルダ－とユ－ザ－", NormalizeOcrText),
    ("Normalize this OCR text: self-service", NormalizeOcrText),
    ("ocr結果「デ-タベ-ス」", NormalizeOcrText),
];

/// Questions that no rule was written for: what the rules are worth on the questions of others.
const HELD_OUT: &[(&str, ToolName)] = &[
    ("社宅の入居条件を知りたい", SearchDocuments),
    ("ハラスメント相談窓口の電話番号は？", SearchDocuments),
    ("インフルエンザ予防接種の補助はありますか", SearchDocuments),
    ("名刺の発注手順", SearchDocuments),
    ("議事録のテンプレートはどれですか", SearchDocuments),
    ("VPN 接続できない 対処", SearchDocuments),
    ("定年は何歳ですか？", SearchDocuments),
    ("このナレッジベースで育休の取り方を調べて", SearchDocuments),
    ("どんなナレッジベースですか？", GetKnowledgeBaseSummary),
    ("このKBの文書はいくつ？", GetKnowledgeBaseSummary),
    ("全体でチャンクはいくつありますか", GetKnowledgeBaseSummary),
    ("ナレッジベースの内容を簡単にまとめて", GetKnowledgeBaseSummary),
    ("このテキストのハイフンを長音に直して「メ-ルサ-バ-」", NormalizeOcrText),
    ("OCRで読み取った文章です。正規化してください：プリンタ-のカバ-", NormalizeOcrText),
    ("エレベ-タ-", NormalizeOcrText),
    ("Where can I park my bicycle?", SearchDocuments),
    ("maximum reimbursement for hotel stays", SearchDocuments),
    ("Does the company match pension contributions?", SearchDocuments),
    ("List the steps to request a new laptop", SearchDocuments),
    ("How many documents do I need for the residence permit?", SearchDocuments),
    ("what is this knowledge base about?", GetKnowledgeBaseSummary),
    ("count of documents and chunks", GetKnowledgeBaseSummary),
    ("Can you summarise what this KB contains?", GetKnowledgeBaseSummary),
    ("How big is the knowledge base?", GetKnowledgeBaseSummary),
    ("Clean up this OCR output: デ-タセンタ-", NormalizeOcrText),
    ("Please repair the long vowels: キ-ボ-ド", NormalizeOcrText),
];

/// The share of the held-out questions that the rules must get right.
const LEAST_HELD_OUT_ACCURACY: f64 = 0.8;

#[track_caller]
fn check(name: &str, questions: &[(&str, ToolName)], least: f64) {
    let wrong: Vec<_> = questions
        .iter()
        .filter(|(question, expected)| choose_by_rules(question) != *expected)
        .map(|(question, _)| (question, choose_by_rules(question)))
        .collect();
    let accuracy = 1.0 - wrong.len() as f64 / questions.len() as f64;
    eprintln!("{name}: accuracy {accuracy:.3} over {} questions; {wrong:#?}", questions.len());
    assert!(accuracy >= least, "{name}: accuracy {accuracy:.3}, at least {least} is needed");
}

#[test]
fn rules_choose_the_right_tool() {
    assert!(QUESTIONS.len() >= 60);
    check("written for the rules", QUESTIONS, LEAST_ACCURACY);
    check("held out", HELD_OUT, LEAST_HELD_OUT_ACCURACY);
}

#[test]
fn rows_of_the_contract_are_right() {
    for (question, expected) in &QUESTIONS[..5] {
        assert_eq!(choose_by_rules(question), *expected, "{question}");
    }
}

#[test]
fn text_to_repair_is_found_in_the_request() {
    let check = |query, expected| assert_eq!(ocr_payload(query), expected, "{query}");
    check("OCR結果: マネ-ジャ-", "マネ-ジャ-");
    check("「ユ-ザ-」を正規化して", "ユ-ザ-");
    check("マネ-ジャ-", "マネ-ジャ-");
    check("Normalize this OCR text: a-b", "a-b");
    check("時刻: 10-12", "時刻: 10-12");
}
