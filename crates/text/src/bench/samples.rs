//! Sample texts, one for each script, made long by varying their words.
//!
//! A text that is only repeated would flatter a memory of words, so every sentence carries words
//! that occur nowhere else, about as often as new words occur in natural text.

const SAMPLES: &[(&str, &str, &[&str])] = &[
    (
        "english",
        "The council approved the budget for roads, schools and public transport after a long debate \
         in which the opposition asked for more money for hospitals. According to section 12 of the \
         report, spending rose by 3.4 percent in 2021, while income from taxes stayed the same. \
         The mayor said that the new contracts would be published on the website within ten days, \
         and that everyone could read them. ",
        &["river", "stone", "bright", "harbour", "winter", "garden", "silver", "meadow"],
    ),
    (
        "romanian",
        "Consiliul local a aprobat bugetul pentru drumuri, școli și transport public după o dezbatere \
         îndelungată în care opoziția a cerut mai mulți bani pentru spitale. Potrivit articolului 12 \
         din raport, cheltuielile au crescut cu 3,4 la sută în 2021, iar veniturile din impozite au \
         rămas aceleași. Primarul a declarat că noile contracte vor fi publicate în zece zile și că \
         oricine le poate citi. ",
        &["râul", "piatra", "lumină", "toamnă", "grădină", "câmpie", "șanț", "țară"],
    ),
    (
        "cyrillic",
        "Городской совет утвердил бюджет на дороги, школы и общественный транспорт после долгих \
         споров, в ходе которых оппозиция просила больше денег для больниц. Согласно отчёту, расходы \
         выросли на 3,4 процента, а доходы остались прежними. ",
        &["река", "камень", "светлый", "гавань", "зима", "сад", "серебро", "луг"],
    ),
    (
        "japanese",
        "市議会は長い議論のすえ、道路と学校と公共交通のための予算を承認した。野党は病院のために\
         もっと多くの資金を求めた。報告書の第12条によると、2021年の支出は3.4パーセント増え、税収は\
         変わらなかった。市長は、新しい契約をホームページで公開すると述べた。",
        &["川", "石", "光", "港", "冬", "庭", "銀", "野原"],
    ),
    (
        "chinese",
        "市议会经过长时间的辩论后批准了道路、学校和公共交通的预算，反对派要求为医院提供更多资金。\
         根据报告第12条，2021年的支出增长了百分之三点四，而税收保持不变。市长表示，新的合同将在十天内\
         公布在网站上，每个人都可以阅读。",
        &["河", "石头", "光明", "港口", "冬天", "花园", "白银", "草地"],
    ),
    (
        "korean",
        "시의회는 긴 토론 끝에 도로와 학교와 대중교통을 위한 예산을 승인했다. 야당은 병원을 위해 더 많은 \
         자금을 요구했다. 보고서에 따르면 지출은 늘었고 세수는 그대로였다. ",
        &["강", "돌", "빛", "항구", "겨울", "정원", "은", "들판"],
    ),
    (
        "code",
        "fn read_passage(store: &Store, passage_id: PassageId) -> Result<Passage, StoreError> { \
         let row = store.connection.query_row(\"SELECT text FROM passages WHERE id = ?1\", \
         [passage_id.as_str()])?; Ok(Passage { text: row.get(0)?, maxItems: 128, isReady: true }) }\n",
        &["river", "stone", "bright", "harbour", "winter", "garden", "silver", "meadow"],
    ),
];

/// How often, in sentences, a sample carries a word that is new.
const SENTENCES_PER_NEW_WORD: usize = 2;

/// Gives a text of about `n_bytes` for each script.
pub(super) fn all(n_bytes: usize) -> Vec<(&'static str, String)> {
    SAMPLES.iter().map(|(name, text, words)| (*name, grow(text, words, n_bytes))).collect()
}

fn grow(text: &str, words: &[&str], n_bytes: usize) -> String {
    let mut grown = String::with_capacity(n_bytes + text.len());
    let mut n_new = 0;
    while grown.len() < n_bytes {
        for (idx, sentence) in text.split_inclusive(['.', '。', '；']).enumerate() {
            grown.push_str(sentence);
            if idx % SENTENCES_PER_NEW_WORD == 0 {
                grown.push(' ');
                grown.push_str(&new_word(n_new, words));
                grown.push(' ');
                n_new += 1;
            }
        }
    }
    grown
}

/// Writes a number in words, so that every number is another word of the same script.
fn new_word(number: usize, words: &[&str]) -> String {
    let mut word = String::new();
    let mut rest = number + 1;
    while rest > 0 && !words.is_empty() {
        word.push_str(words.get(rest % words.len()).unwrap_or(&""));
        rest /= words.len();
    }
    word
}
