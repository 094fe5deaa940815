//! Tells the kanji 一 that counts from the one that an OCR read for `ー`.
//!
//! Between katakana and a kanji it is the number or part of a name (`ビル一階`, `スズキ一朗`), unless
//! the word is one that is known to end in a long vowel (`エコ一検査`) or was plainly damaged
//! elsewhere (`オ一ブナ一材料`). At the end of a katakana word
//! it is the mark, unless the word is whole without one (`アジア一の`, `レベル一`).

use super::katakana::{Around, is_listed};
use super::words::{COUNTED, COUNTED_HIRAGANA, WHOLE};
use super::{Line, is_hiragana, is_kanji, is_katakana};

/// Words that start with 一 and are after katakana so often that nothing outweighs them.
const STRONG_SECONDS: &str = "覧般致括式緒斉概応旦貫律任郎朗";

/// Second characters of words and counts that start with 一.
const WEAK_SECONDS: &str = "位族番本部回人日月年度次時定体宮個箇枚台件点種方段級等戸家員同連環杯泊丸号行見新過\
                            票区丁条世流軍井色乗瀬周切瞬昨対歩言元向転例案面気生角団声手味名目間代巻冊軒食棟着匹頭羽章隻\
                            基曲幕階卓箱束袋缶瓶皿膳組足双艘両輪株口玉粒房斤合升斗坪畝反町里尺寸丈秒分週周期項文字語句節\
                            篇編通校社館室席列層重倍割厘機門挺丁振領帖張面幅筋滴片切塊山盛串貼錠服包夜晩朝昼夕季拍音打投球\
                            試勝敗敵撃騎座社寺院橋川島谷坂男夫樹也成平彦美子恵真輝馬雄義志弘博哉徳二三四五六七八九十百千万億";

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
    "定期", "定理", "定食", "級数", "等級", "区分", "区域", "条件", "条約", "案内", "例外", "万年",
    "文書", "文化", "文学", "文明", "字幕", "語学", "通信", "通知", "通話", "通路", "校正", "社員",
    "社会", "社長", "館長", "室内", "席上", "列車", "列島", "層別", "重量", "重視", "倍率", "機能",
    "機器", "機械", "機関", "門外", "領域", "領収", "張力", "幅広", "音楽", "音声", "音響", "音量",
    "打者", "投資", "投稿", "投手", "球団", "試験", "試合", "試作", "勝利", "敗北", "分析", "分布",
    "分類", "分野", "分解", "分割", "分子", "期間", "期限", "期待", "項目", "合成", "合金", "合計",
    "反応", "反射", "組織", "組合", "組立", "両面", "輪郭", "株式", "株価", "口座", "口径", "成分",
    "成長", "平均", "平面", "美術", "子会", "真空", "志向", "十字", "三角", "四角", "二次",
];

/// Tells whether the 一 at `idx`, which is after katakana, is a numeral or starts a word.
pub(super) fn is_numeral(line: &Line, idx: usize) -> bool {
    let source = &line.source;
    let at = |offset: usize| source.get(idx + offset).copied();
    if is_after_particle(source, idx) && !at(1).is_some_and(is_word_kana) {
        return true;
    }
    let around = Around::of(line, idx);
    let Some(next) = at(1) else { return ends_whole(&around) };
    let is_month = matches!(next, 'カ' | 'ケ' | 'か')
        && at(2).is_some_and(|char| matches!(char, '月' | '所' | '国' | '年' | '条' | '村'));
    if matches!(next, 'ヶ' | 'ヵ') || is_month {
        return true;
    }
    if is_katakana(next) {
        return counts_in_katakana(&around);
    }
    if is_hiragana(next) {
        return ends_whole(&around) || counts_in_hiragana(source, idx);
    }
    if matches!(next, '、' | '・' | '，' | ',') {
        let is_listed = at(2).is_some_and(|char| is_digit(char) && char != '一');
        return is_listed || ends_whole(&around);
    }
    if is_kanji(next) { counts(line, idx, &around) } else { ends_whole(&around) }
}

/// Tells what a 一 between katakana and a kanji is: the number or a name, unless something speaks
/// for the mark.
fn counts(line: &Line, idx: usize, around: &Around) -> bool {
    let at = |offset: usize| line.source.get(idx + offset).copied();
    let (Some(next), second) = (at(1), at(2)) else { return true };
    if STRONG_SECONDS.contains(next) || is_listed(WHOLE, &around.before) {
        return true;
    }
    let is_long = around.is_long_stem();
    let starts_word =
        second.is_some_and(|second| WORDS.iter().any(|word| word.chars().eq([next, second])));
    let counts = WEAK_SECONDS.contains(next) && !starts_word;
    // Words of three kana and more that end in an a or i vowel are written without the mark too.
    let has_short_form = around.before.chars().count() >= 3 && !around.ends_like_a_word();
    if is_long && (!counts || !has_short_form) {
        return false;
    }
    counts || around.ends_like_a_word() || !is_damaged(&line.source, idx)
}

/// Tells whether 一 begins a measure in katakana (`ビール一ケース`), or repeats one.
fn counts_in_katakana(around: &Around) -> bool {
    const LEAST_REPEATED_CHARS: usize = 3;
    if around.is_long_stem() {
        return false;
    }
    let is_thing = around.ends_like_a_word() || is_listed(WHOLE, &around.before);
    let is_measure =
        is_thing && COUNTED.contains(&around.after.as_str()) && around.before.chars().count() > 1;
    let is_things = around.after == "ツ" && around.before.chars().count() > 2;
    let repeats =
        around.before == around.after && around.before.chars().count() >= LEAST_REPEATED_CHARS;
    (is_measure && !around.has_core())
        || repeats
        || (is_things && !around.before.ends_with("スポ") && !around.before.ends_with("フル"))
}

fn counts_in_hiragana(line: &[char], idx: usize) -> bool {
    const FAR: usize = 5;
    let tail: String = line.get(idx + 1..).unwrap_or_default().iter().take(FAR).collect();
    COUNTED_HIRAGANA.iter().any(|counted| tail.starts_with(counted))
}

/// Tells whether a word that ends at 一 is whole without a long vowel.
fn ends_whole(around: &Around) -> bool {
    let is_short = around.before.chars().count() < 3;
    is_listed(WHOLE, &around.before)
        || (around.ends_like_a_word() && !is_short && !around.is_long_stem())
}

/// `岡ノ一`, `上ケ一町`: after a kana that joins kanji, 一 is part of a name.
fn is_after_particle(line: &[char], idx: usize) -> bool {
    let particle = idx.checked_sub(1).and_then(|idx| line.get(idx));
    let is_single = idx
        .checked_sub(2)
        .and_then(|idx| line.get(idx))
        // A 一 that was itself read for a mark is no kanji.
        .is_some_and(|char| is_kanji(*char) && *char != '一');
    matches!(particle, Some('ノ' | 'ケ' | 'ヶ' | 'ガ' | 'ツ')) && is_single
}

fn is_word_kana(char: char) -> bool {
    is_katakana(char) && !matches!(char, 'ツ' | 'ヶ' | 'ヵ')
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
    "〇一二三四五六七八九十百千万億".contains(char)
}
