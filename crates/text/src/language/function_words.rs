//! How much a word of a query says about what is wanted: function words say little.
//!
//! A list of rare words is not enough to know this. In a rule book of ten documents `about` or
//! `について` may be rarer than the subject itself, and a query that holds nothing else must not
//! find anything with confidence. So the weight is a property of the word alone, the same for
//! every index, and rarity is multiplied in later.

use crate::analyze::{QueryWord, TokenKind};
use crate::language::{Language, is_small_word_of};

/// What a function word counts against a content word.
const FUNCTION: f64 = 0.12;
/// What a pair of characters counts of which one belongs to a function word.
const HALF_FUNCTION: f64 = 0.45;
/// What a compound counts beside its parts, which say the same once more.
const COMPOUND: f64 = 0.5;

/// Gives how much a word says about what is wanted, over 0 and up to 1. `language` is the one that
/// the query is in.
///
/// ```
/// use text::{Analyzer, Language, LanguageSet, content_weight};
///
/// let words = Analyzer::new().analyze_query("about castles", LanguageSet::all());
/// assert!(content_weight(&words[0], Language::English) < 0.2);
/// assert_eq!(content_weight(&words[1], Language::English), 1.0);
/// ```
pub fn content_weight(word: &QueryWord, language: Language) -> f64 {
    match word.kind {
        TokenKind::Private => 1.0,
        TokenKind::Compound => COMPOUND,
        TokenKind::Word | TokenKind::Part => match is_function_word(&word.folded, language) {
            true => FUNCTION,
            false => 1.0,
        },
        TokenKind::Character if KOREAN.contains(word.exact.as_str()) => FUNCTION,
        TokenKind::Bigram | TokenKind::Character => {
            let n_chars = word.exact.chars().count().max(1);
            let n_function = word.exact.chars().filter(|char| is_function_char(*char)).count();
            match n_chars - n_function.min(n_chars) {
                0 => FUNCTION,
                n_content if n_content < n_chars => HALF_FUNCTION,
                _ => 1.0,
            }
        }
    }
}

/// Tells whether a folded word only holds sentences of a language together.
pub fn is_function_word(folded: &str, language: Language) -> bool {
    let is_listed = is_small_word_of(folded, language);
    let more = MORE.iter().find(|(listed, _)| *listed == language).map_or("", |(_, words)| words);
    is_listed || more.split_ascii_whitespace().any(|word| word == folded)
}

/// Words of questions and requests that the short lists of detection leave out, folded.
const MORE: [(Language, &str); 8] = [
    (Language::English, ENGLISH),
    (Language::Romanian, ROMANIAN),
    (Language::German, GERMAN),
    (Language::French, FRENCH),
    (Language::Spanish, SPANISH),
    (Language::Italian, ITALIAN),
    (Language::Portuguese, PORTUGUESE),
    (Language::Dutch, DUTCH),
];

const ENGLISH: &str = "a an am i me us him her them she he whom whose did doing done being having \
    could should may might must shall just also only very so such some no nor not own same other \
    another both few most many much between during before after above below again further then \
    once here because until while against through up down out off over under too one ones \
    please tell explain describe show give find list know interested want like get make use used \
    using any anything something please let article articles information etc e.g i.e s t m re";

const ROMANIAN: &str = "cine cand cati cate cata carui carei caror oare vreau vrea rog spune \
    spuneti explica care ce la pana peste sub spre decat doar foarte tot toate toti alt alta alte \
    altii ii il le li ne va vor voi vom as ar ati este e esti fie fiind avea avut aveti avem \
    a ai cel cea ea el noi voi ele dintre dintr intr printr asa astfel atunci acolo aici \
    acestea acesti aceste acea acel acela aceea despre vreo vreun niste s l m i o";

const GERMAN: &str = "du er es man mich mir dich dir uns euch ihn ihm ihnen ihre ihren mein meine \
    meinen meinem meiner dein deine sein seine seinen unser unsere kein keine keinen wer was wann \
    wo wohin woher warum wieso weshalb welche welcher welches welchen wem wen wessen ob wenn dass \
    weil denn damit darf durfen konnen konnte muss mussen soll sollen sollte will wollen mochte \
    mochten wurden ware waren war bin bist gewesen habe hatte gibt da dort hier dann so sehr viel \
    viele mehr alle alles etwas nichts in an am um bis ab vor unter gegen ohne zwischen wahrend \
    ins vom beim bitte sag sage erklare erklaren zeig zeige zeigen finde finden suche liste thema \
    betreffend bezuglich schon immer jemand andere anderen einen einem";

const FRENCH: &str = "a ai as avons avez ont avait j je tu on me moi te toi lui eux y l d c s n m \
    t qu quel quelle quels quelles quoi quand comment pourquoi combien dont lequel laquelle puis \
    peux peut pouvez peuvent pouvons dois doit devez doivent faut veux veut voudrais suis es \
    sommes etes soit serait si ni donc car sans sous entre vers chez depuis pendant avant apres \
    tres aussi autre autres meme mon ma mes ton ta tes votre vos notre nos leurs cet cela ca ceci \
    celui celle ceux tous toute toutes quelque quelques chaque aucun aucune dites dire expliquez \
    montrez trouver cherche liste propos concernant sujet faire";

const SPANISH: &str = "a yo tu ella nosotros ellos me mi mis te ti nos os les si o u e ni quien \
    quienes cual cuales cuanto cuanta cuantos cuantas adonde porque puedo puede pueden podemos \
    podria debo debe deben tengo tienen hay he has han haber era eran estoy estan estar soy somos \
    sea hace hacer hago quiero quisiera necesito cada todo toda todos todas otro otra otros otras \
    mismo misma tan tanto ya aqui alli esto eso ese esa esos esas estos estas aquel unos unas \
    ante bajo contra durante segun tras hacia mediante dime explica muestra busca lista favor \
    acerca respecto tema";

const ITALIAN: &str = "io tu lui lei noi voi mi ti ci vi ne chi cosa quale quali quanto quanta \
    quanti quante quando dove perche posso puo possono possiamo devo deve devono ho hai abbiamo \
    hanno era erano sia fa fare faccio voglio vorrei o se ogni tutto tutti tutta tutte altro \
    altra altri altre stesso qui li quello quella quelli quelle uno a da tra fra sotto sopra dopo \
    prima durante senza verso ai agli alle allo dello dagli dai nei negli nelle sul sulla sui \
    sulle mio mia miei tuo suo sua nostro vostro dimmi spiega mostra cerca lista riguardo tema l \
    d c";

const PORTUGUESE: &str = "eu tu ele ela eles voce me mim te lhe quem qual quais quanto quanta \
    quantos quantas quando onde aonde porque posso pode podem podemos devo deve devem tenho tem \
    temos ha havia era eram estou esta estao sou somos seja faz fazer quero queria preciso cada \
    todo toda todos todas outro outra outros outras mesmo ja aqui ali isto isso esse essa este \
    aquele uns umas ao aos na nas no nos pelo pela pelos pelas num numa sob contra durante \
    segundo ate entre meu minha meus seu sua nosso diga explique mostre procure lista favor sobre \
    respeito tema";

const DUTCH: &str = "ik jij je hij zij ze wij we jullie u mij me hem haar ons hun mijn jouw onze \
    wie wat waar waarheen wanneer waarom hoe welke welk hoeveel mag mogen kan kunnen moet moeten \
    zal zullen zou wil willen heb hebt heeft hebben had was waren ben bent wordt worden er hier \
    daar dit dat deze die een geen niet ook nog maar of als dan om uit over onder tegen zonder \
    tussen tijdens voor na bij naar van met op in aan door tot per alle alles iets niets ander \
    andere veel meer zeer zo graag vertel leg toon zoek vind lijst";

/// Tells whether a character of a script without spaces mostly belongs to function words:
/// hiragana (particles, endings, `について`) and the Chinese particles and question words.
fn is_function_char(char: char) -> bool {
    matches!(char, 'ぁ'..='ゖ') || CHINESE.contains(char)
}

const CHINESE: &str = "的了是在和与與及或吗嗎呢吧啊么麼什甚哪谁誰怎几幾为為何如请請问問被把从從\
    于於这這那其之而且但就都也还還很到由以所并並個个些多少沒没";

/// Korean particles, which say nothing by themselves. Inside a word the same syllables do (`은행`),
/// so that only a lone one is taken for a particle.
const KOREAN: &str = "은는이가을를의에도로와과만";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Analyzer, LanguageSet, detect_language};

    /// Gives the words of a query that count in full.
    fn content(query: &str) -> Vec<String> {
        let words = Analyzer::new().analyze_query(query, LanguageSet::all());
        let language = detect_language(query);
        let is_full = |word: &QueryWord| content_weight(word, language) >= 1.0;
        words.into_iter().filter(is_full).map(|word| word.exact).collect()
    }

    #[test]
    fn function_words_count_little_in_every_language() {
        assert_eq!(content("what is the budget of the town"), ["budget", "town"]);
        assert_eq!(
            content("care este bugetul orașului și cine îl aprobă"),
            ["bugetul", "orașului", "aprobă"]
        );
        assert_eq!(content("wo darf ich auf dem Gelände rauchen"), ["gelände", "rauchen"]);
        assert_eq!(
            content("qui est-ce qui paie les cours de formation"),
            ["paie", "cours", "formation"]
        );
        assert_eq!(content("cuándo puedo recoger los libros"), ["recoger", "libros"]);
        assert_eq!(
            content("quando posso ritirare i libri della biblioteca"),
            ["ritirare", "libri", "biblioteca"]
        );
        assert_eq!(content("副業について"), ["副", "副業", "業"]);
        assert_eq!(content("什么是预算"), ["预", "预算", "算"]);
        assert!(content("the of and").is_empty());
        assert!(content("とはなんですか").is_empty());
        assert!(content("은").is_empty());
        assert!(!content("은행").is_empty());
    }

    /// `die` found any rule of a German book with 0.89, and `cat` counted as a Romanian particle.
    #[test]
    fn what_a_query_does_not_show_the_documents_tell() {
        let check = |query: &str, documents: &[Language], expected: &[&str]| {
            let languages = LanguageSet::from_iter(documents.iter().copied());
            let language = crate::query_language(query, languages);
            let words = Analyzer::new().analyze_query(query, languages);
            let is_full = |word: &&QueryWord| content_weight(word, language) >= 1.0;
            let full: Vec<&str> = words.iter().filter(is_full).map(|word| &*word.exact).collect();
            assert_eq!(full, expected, "{query} over {documents:?}");
        };
        let (english, german, romanian) = (Language::English, Language::German, Language::Romanian);
        check("die", &[german], &[]);
        check("die", &[english, german], &[]);
        check("die", &[english], &["die"]);
        check("was ist", &[german], &[]);
        check("de la", &[romanian], &[]);
        check("is a cat allowed", &[english], &["cat", "allowed"]);
        check("cat", &[english], &["cat"]);
        check("cat costa", &[romanian], &["costa"]);
        check("my radiator is cold", &[romanian], &["radiator", "cold"]);
        check("wo rauchen", &[german], &["rauchen"]);
    }

    #[test]
    fn a_function_word_of_another_language_is_a_word() {
        assert!(is_function_word("die", Language::German));
        assert!(!is_function_word("die", Language::English));
    }
}
