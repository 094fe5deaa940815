//! Proves that damage is repaired, that what is right stays, and that nothing else changes.

use proptest::prelude::*;

use super::*;

#[track_caller]
fn check(damaged: &str, expected: &str) {
    assert_eq!(repair_long_vowels(damaged), expected, "repair of `{damaged}`");
    check_stays(expected);
}

#[track_caller]
fn check_stays(text: &str) {
    assert_eq!(repair_long_vowels(text), text);
}

#[test]
fn katakana_words_get_their_marks() {
    check("サ-ビス", "サービス");
    check("コンピュ‐タ‑", "コンピューター");
    check("ユ−ザ–インタ—フェ―ス", "ユーザーインターフェース");
    check("デ－タベｰス", "データベース");
    check("ス─パ一マン", "スーパーマン");
    check("キャリ-", "キャリー");
    check("メ-ル・サ-バ-の設定", "メール・サーバーの設定");
    check("エラ一が出た。\nユ一ザ一は困る。", "エラーが出た。\nユーザーは困る。");
    check("エコ一検査", "エコー検査");
    check("ﾃﾞ-ﾀ", "ﾃﾞｰﾀ");
}

#[test]
fn hyphens_of_other_words_stay() {
    for text in [
        "α-ヘリックス",
        "β-カロテン",
        "DVD-R",
        "UTF-8",
        "Ｊ-ＰＯＰ",
        "X-ワイヤ",
        "タイプ-R",
        "モデル-1",
        "2019-2021",
        "2021-05-01",
        "03-1234-5678",
        "東京-大阪",
        "A-B",
        "e-ラーニング",
        "アーク-2",
        "ロンドン-パリ間",
        "セブン―イレブン・ジャパン",
        "データ - 概要",
        "－サービス－",
        "報告書－センター－",
        "それはテレビ――つまり箱だ",
        "そうだ——と言った",
        "――",
        "あさ-よる",
        "ひらがな-かたかな",
        "ｻｰﾋﾞｽ",
        "-5度",
        "",
        "\n-\n",
        "no kana - at all",
    ] {
        check_stays(text);
    }
}

#[test]
fn the_kanji_one_stays_where_it_counts() {
    for text in [
        "一ノ谷",
        "岡ノ一",
        "南一ケ岡",
        "第一テレビ",
        "ソニー一宮",
        "データ一覧",
        "パターン一致",
        "ヨーロッパ一位",
        "サービス一般",
        "コース一ヶ月",
        "プラン一カ月",
        "リンゴ一つ",
        "グループ一同",
        "アポロ一一号",
        "レベル一、二",
        "秋田ト一屋",
        "世界一のタワー",
        "一ツ橋",
        "統一ルール",
        "ビル一棟一式",
    ] {
        check_stays(text);
    }
    check("ズ一ル一族", "ズールー族");
    check("セ一ラ一万年筆", "セーラー万年筆");
    check("デ一タ一覧", "データ一覧");
}

#[test]
fn hiragana_that_is_drawn_out() {
    check("うわ-ん", "うわーん");
    check("ず－っと", "ずーっと");
    check("え−と、", "えーと、");
    check("ぜ–ぜ–言う", "ぜーぜー言う");
    check("あちゃ－", "あちゃー");
}

/// Text that mixes what OCR confuses.
fn soup() -> impl Strategy<Value = String> {
    let char = prop_oneof![
        4 => prop::sample::select("サビスンッーデタあえんっのｻﾞ".chars().collect::<Vec<_>>()),
        3 => prop::sample::select("-‐‑−–—―－ｰ─一".chars().collect::<Vec<_>>()),
        2 => prop::sample::select("東覧月A1α・、 \n".chars().collect::<Vec<_>>()),
        1 => any::<char>(),
    ];
    prop::collection::vec(char, 0..24).prop_map(|chars| chars.into_iter().collect())
}

proptest! {
    #[test]
    fn only_look_alikes_change_and_only_into_marks(text in soup()) {
        let repaired = repair_long_vowels(&text);
        prop_assert_eq!(repaired.chars().count(), text.chars().count());
        for (before, after) in text.chars().zip(repaired.chars()) {
            prop_assert!(before == after || (is_look_alike(before) && matches!(after, 'ー' | 'ｰ')));
        }
    }

    #[test]
    fn repaired_text_is_right(text in soup()) {
        let once = repair_long_vowels(&text);
        prop_assert_eq!(repair_long_vowels(&once), once.clone());
    }

    #[test]
    fn text_without_kana_is_untouched(text in "[-a-zA-Z0-9α-ω一東京、 −–—―－\\n]{0,40}") {
        prop_assert_eq!(repair_long_vowels(&text), text);
    }
}
