//! Official names of one language against names of another, and junk beside them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use model::Report;

use crate::registers::data::{cell, entities, rows};
use crate::registers::forms::MISSES;
use lookup::{Entry, Index, Name, NameEmbedder, Request, Result};

/// Every so many institutions are embedded: each costs a vector.
const EVERY: usize = 3;

/// Words for what classifications hold, in languages that they are not written in.
const WORDS: [&str; 12] = [
    "教育",
    "enseñanza",
    "Bildung",
    "éducation",
    "здравоохранение",
    "保健",
    "Gesundheit",
    "santé",
    "transporte",
    "Landwirtschaft",
    "环境保护",
    "Verteidigung",
];

/// Asks English names of Romanian codes, and the other way round.
pub(crate) fn measure(
    folder: &Path,
    embedder: &Arc<dyn NameEmbedder>,
    report: &mut Report,
) -> Result<()> {
    for classification in ["functional", "economic"] {
        let codes = rows(&folder.join(format!("classifications/{classification}.tsv")), '\t')?;
        for (asked, held, label) in
            [(2, 1, "English names, Romanian held"), (1, 2, "Romanian names, English held")]
        {
            let pairs: Vec<(&str, &str, &str)> = codes
                .iter()
                .map(|row| (cell(row, 0), cell(row, asked), cell(row, held)))
                .filter(|(_, asked, held)| !asked.is_empty() && !held.is_empty() && asked != held)
                .collect();
            measure_pairs(&format!("{classification}, {label}"), &pairs, embedder, report);
        }
    }
    Ok(())
}

/// Asks a register of proper names about what no register holds: the more names, the nearer is
/// some of them to anything.
pub(crate) fn measure_register(
    folder: &Path,
    embedder: &Arc<dyn NameEmbedder>,
    report: &mut Report,
) -> Result<()> {
    let entries: Vec<Entry> = entities(folder)?.into_iter().step_by(EVERY).collect();
    let n_names = entries.len();
    let letters = Index::build(entries.clone());
    let mut index = Index::build(entries);
    if let Err(error) = index.add_vectors(Arc::clone(embedder)) {
        report.add_noted("institutions", 0.0, "ratio", error.to_string());
        return Ok(());
    }
    let found_in = |index: &Index| -> Vec<&str> {
        let finds = |text: &&str| {
            let request = Request { text, locale: None, hint: None, limit: 1 };
            !index.lookup(&request).matches.is_empty()
        };
        FAR.into_iter().filter(finds).collect()
    };
    let (by_letters, found) = (found_in(&letters), found_in(&index));
    report.add_noted(
        format!("junk that finds something, {n_names} institutions"),
        found.len() as f64 / FAR.len() as f64,
        "ratio",
        format!("{found:?} of {}; by letters alone {by_letters:?}", FAR.len()),
    );
    Ok(())
}

fn measure_pairs(
    label: &str,
    pairs: &[(&str, &str, &str)],
    embedder: &Arc<dyn NameEmbedder>,
    report: &mut Report,
) {
    let entries = pairs.iter().map(|(code, _, held)| Entry {
        value: (*code).to_owned(),
        code: Some((*code).to_owned()),
        names: vec![Name { locale: None, text: (*held).to_owned() }],
        ..Entry::default()
    });
    let mut index = Index::build(entries.collect());
    if let Err(error) = index.add_vectors(Arc::clone(embedder)) {
        report.add_noted("names of another language", 0.0, "ratio", error.to_string());
        return;
    }
    // Codes of one name cannot be told apart by it, in either language.
    let mut by_name: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (code, asked, held) in pairs {
        by_name.entry(asked).or_default().insert(code);
        by_name.entry(held).or_default().insert(code);
    }
    let (mut n_third, mut n_empty) = (0, 0);
    for (code, asked, held) in pairs {
        let request = Request { text: asked, locale: None, hint: None, limit: 3 };
        let answer = index.lookup(&request);
        let is_right = |value: &str| {
            value == *code || by_name[asked].contains(value) || by_name[held].contains(value)
        };
        let is_third = answer.matches.iter().any(|found| is_right(&index.entry(found.entry).value));
        n_third += usize::from(is_third);
        n_empty += usize::from(answer.matches.is_empty());
        if !is_third && std::env::var_os(MISSES).is_some() {
            let found: Vec<String> = answer
                .matches
                .iter()
                .map(|found| format!("{} {:.3} {:?}", found.matched, found.score.get(), found.how))
                .collect();
            eprintln!("LANGUAGE\t{label}\t{code}\t{asked}\t{held}\t{found:?}");
        }
    }
    let share = |n: usize, of: usize| n as f64 / of.max(1) as f64;
    report.add_noted(
        format!("hit@3, {label}"),
        share(n_third, pairs.len()),
        "ratio",
        format!("{n_empty} of {} found nothing", pairs.len()),
    );
    let finds = |text: &str| {
        let request = Request { text, locale: None, hint: None, limit: 1 };
        !index.lookup(&request).matches.is_empty()
    };
    let found: Vec<&str> = FAR.into_iter().filter(|text| finds(text)).collect();
    report.add_noted(
        format!("junk that finds something, {label}"),
        share(found.len(), FAR.len()),
        "ratio",
        format!("{found:?} of {}", FAR.len()),
    );
    let missing: Vec<&str> = WORDS.into_iter().filter(|text| !finds(text)).collect();
    report.add_noted(
        format!("words of six other languages that find something, {label}"),
        share(WORDS.len() - missing.len(), WORDS.len()),
        "ratio",
        format!("nothing for {missing:?}"),
    );
}

/// Queries about nothing that a classification of public money holds.
const FAR: [&str; 122] = [
    "butterfly",
    "umbrella",
    "toothbrush",
    "squirrel",
    "xylophone",
    "unicorn",
    "giraffe",
    "penguin",
    "octopus",
    "pumpkin",
    "lighthouse",
    "jigsaw",
    "kettle",
    "necklace",
    "quilt",
    "scissors",
    "tadpole",
    "velvet",
    "walrus",
    "yoghurt",
    "zeppelin",
    "whisper",
    "quokka",
    "eyebrow",
    "elbow",
    "dragonfly",
    "chopsticks",
    "mushroom soup",
    "strawberry jam",
    "apple pie recipe",
    "how to tie a tie",
    "guitar chords",
    "lyrics of a love song",
    "dragon and princess",
    "chess opening",
    "wedding dress",
    "birthday cake",
    "horoscope for today",
    "crossword puzzle",
    "haiku about frogs",
    "Schmetterling",
    "Regenschirm",
    "Eichhörnchen",
    "Handschuh",
    "Bleistift",
    "Apfelkuchen",
    "Geburtstag",
    "Zahnbürste",
    "Frühling",
    "kelebek",
    "uçurtma",
    "gökkuşağı",
    "yastık",
    "şemsiye",
    "karpuz",
    "yıldız",
    "perhonen",
    "mansikka",
    "kukkaruukku",
    "kipepeo",
    "tembo",
    "cwningen",
    "hiraeth",
    "pili-pala",
    "tximeleta",
    "sagarra",
    "elurra",
    "fiðrildi",
    "regnhlíf",
    "jökull",
    "hestur",
    "liblikas",
    "õunakook",
    "vihmavari",
    "蝶々",
    "傘",
    "りんご",
    "恐竜",
    "誕生日",
    "猫",
    "彩虹",
    "企鹅",
    "吉他",
    "折り紙",
    "papillon",
    "parapluie",
    "arc-en-ciel",
    "écureuil",
    "mariposa",
    "paraguas",
    "ardilla",
    "arcoíris",
    "бабочка",
    "радуга",
    "белка",
    "зонтик",
    "fluture",
    "curcubeu",
    "veveriță",
    "girafă",
    "pinguin",
    "lalele roșii",
    "poveste cu zmei",
    "chitară electrică",
    "glume cu Bulă",
    "tort de ciocolată",
    "horoscop zilnic",
    "pisică neagră",
    "blue velvet curtains",
    "seven samurai plot",
    "pirate ship",
    "magic wand",
    "sandcastle",
    "hamster wheel",
    "origami crane",
    "ballet shoes",
    "vampire novel",
    "time travel paradox",
    "snowman",
    "teddy bear",
    "campfire stories",
    "tongue twister",
];
