//! Tells the kanji 一 that counts from the one that an OCR read for `ー`.
//!
//! After katakana both are possible: `データ一覧` and `エコ一検査`. What follows decides: another
//! numeral, a counter, or a word that starts with 一 speaks for the kanji, unless the same word
//! was plainly damaged elsewhere (`ズ一ル一族`).

use super::{is_kanji, is_katakana};

/// Words that start with 一 and are after katakana so often that nothing outweighs them.
const STRONG_SECONDS: &str = "覧般致括式緒斉概応旦貫律任";

/// Second characters of words and counts that start with 一.
const WEAK_SECONDS: &str = "位族番本部回人日月年度次時定体宮個枚台件点種方段級等戸家員同連環杯泊丸号行見新過\
                            票区丁条世流軍井色乗瀬周切瞬昨対歩言元向転例案面気生角団声手味名目間代巻冊軒食棟着匹頭羽章隻基曲幕";

/// Pairs that are words of their own, so that the 一 before them counts nothing.
const WORDS: &[&str] = &[
    "回復", "回路", "回線", "回転", "回帰", "回収", "回答", "回避", "言語", "言葉", "次元", "方向",
    "方式", "方法", "部品", "部門", "部分", "部長", "部隊", "時間", "時計", "時代", "体験", "体操",
    "体制", "体系", "体質", "番組", "番号", "位置", "本体", "本社", "本部", "人気", "人間", "人形",
    "人口", "人生", "日本", "日記", "日程", "段階", "家族", "家庭", "家具", "家電", "連盟", "連合",
    "連絡", "連続", "連携", "連動", "環境", "台帳", "台本", "件名", "件数", "点検", "点灯", "点火",
    "行動", "行為", "行政", "行列", "流通", "流行", "流量", "流体", "軍隊", "軍事", "周波", "周辺",
    "周期", "切断", "切替", "切符", "世界", "世代", "歩行", "歩道", "元素", "転送", "転換", "転写",
    "転移", "種類", "種目", "度数", "枚数", "個人", "個別", "個室", "同期", "同時", "同盟", "同士",
    "新聞", "新型", "見学", "見本", "見積", "面積", "面接", "生産", "生活", "生成", "生物", "生誕",
    "手術", "手帳", "手数", "手法", "手段", "名称", "名簿", "目的", "目標", "代理", "代金", "代謝",
    "食品", "食事", "気象", "気体", "気圧", "角度", "団体", "対応", "対策", "対象", "定義", "定数",
    "定期", "定理", "定食", "級数", "等級", "区分", "区域", "条件", "条約", "案内", "例外",
];

/// Tells whether the 一 at `idx`, which is after katakana, is a numeral or starts a word.
pub(super) fn is_numeral(line: &[char], idx: usize) -> bool {
    let at = |offset: usize| line.get(idx + offset).copied();
    let Some(next) = at(1) else { return is_after_particle(line, idx) };
    let is_inside_katakana = is_katakana(next) && !matches!(next, 'ツ' | 'ヶ' | 'ヵ');
    let is_counter = matches!(next, 'ヶ' | 'ヵ' | 'つ')
        || (matches!(next, 'カ' | 'ケ' | 'か')
            && at(2).is_some_and(|char| matches!(char, '月' | '所' | '国' | '年' | '条' | '村')));
    if is_counter || (is_after_particle(line, idx) && !is_inside_katakana) {
        return true;
    }
    if matches!(next, '、' | '・' | '，') {
        return at(2).is_some_and(|char| is_digit(char) && char != '一');
    }
    if !is_kanji(next) {
        return false;
    }
    if STRONG_SECONDS.contains(next) {
        return true;
    }
    let is_lone_kana = is_single_kana_after_kanji(line, idx);
    let ends_name = is_lone_kana && !at(2).is_some_and(is_kanji);
    let starts_word =
        at(2).is_some_and(|second| WORDS.iter().any(|word| word.chars().eq([next, second])));
    let counts = is_digit(next) || (WEAK_SECONDS.contains(next) && !starts_word);
    (counts || ends_name) && !is_damaged(line, idx)
}

/// `岡ノ一`, `上ケ一町`: after a kana that joins kanji, 一 is part of a name.
fn is_after_particle(line: &[char], idx: usize) -> bool {
    let particle = idx.checked_sub(1).and_then(|idx| line.get(idx));
    matches!(particle, Some('ノ' | 'ケ' | 'ヶ' | 'ガ' | 'ツ'))
        && is_single_kana_after_kanji(line, idx)
}

fn is_single_kana_after_kanji(line: &[char], idx: usize) -> bool {
    // A 一 that was itself read for a mark is no kanji.
    idx.checked_sub(2)
        .and_then(|idx| line.get(idx))
        .is_some_and(|char| is_kanji(*char) && *char != '一')
}

/// Tells whether 一 is inside the same katakana word, where only damage puts it.
fn is_damaged(line: &[char], idx: usize) -> bool {
    /// No katakana word is longer; what is farther away belongs to another.
    const FAR: usize = 24;
    let head = line.get(..idx).unwrap_or_default();
    let word = head.iter().rev().take(FAR).take_while(|char| is_katakana(**char) || **char == '一');
    let word: Vec<char> = word.copied().collect();
    word.windows(3).any(|three| matches!(three, [after, '一', before] if is_katakana(*after) && is_katakana(*before)))
}

fn is_digit(char: char) -> bool {
    matches!(
        char,
        '〇' | '一'
            | '二'
            | '三'
            | '四'
            | '五'
            | '六'
            | '七'
            | '八'
            | '九'
            | '十'
            | '百'
            | '千'
            | '万'
            | '億'
    )
}
