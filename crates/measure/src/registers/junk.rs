//! Words that no Romanian register holds must find nothing.

use std::path::Path;

use model::Report;

use crate::registers::data::entities;
use crate::registers::variants::Random;
use lookup::{Index, Request, Result};

const N_QUERIES: usize = 1000;

pub(crate) fn measure(folder: &Path, report: &mut Report) -> Result<()> {
    let index = Index::build(entities(folder)?);
    let mut n_empty = 0;
    for text in queries(N_QUERIES) {
        let answer = index.lookup(&Request { text: &text, locale: None, hint: None, limit: 3 });
        n_empty += usize::from(answer.matches.is_empty());
    }
    report.add_noted(
        "junk that finds nothing",
        n_empty as f64 / N_QUERIES as f64,
        "ratio",
        "one to three words of Finnish, Turkish, Swahili, German, Welsh, Basque, Japanese, \
         Icelandic, Estonian, English",
    );
    Ok(())
}

/// Gives one to three words each, the same every time.
pub(crate) fn queries(n_queries: usize) -> Vec<String> {
    let mut random = Random::new(7);
    (0..n_queries)
        .map(|_| {
            let n_words = 1 + random.below(3);
            let words: Vec<&str> = (0..n_words).map(|_| WORDS[random.below(WORDS.len())]).collect();
            words.join(" ")
        })
        .collect()
}

const WORDS: [&str; 149] = [
    "kirjasto",
    "lentokone",
    "sairaala",
    "omena",
    "talvella",
    "kukkaruukku",
    "hyvinvointi",
    "polkupyörä",
    "mansikka",
    "ystävyys",
    "kaupunki",
    "järvimaisema",
    "pöytäliina",
    "sukellus",
    "tuulimylly",
    "kelebek",
    "bilgisayar",
    "uçurtma",
    "gökkuşağı",
    "yastık",
    "çocukluk",
    "pencere",
    "buzdolabı",
    "karpuz",
    "deniz",
    "yıldız",
    "kütüphane",
    "arkadaş",
    "bahçıvan",
    "şemsiye",
    "kipepeo",
    "shule",
    "chakula",
    "mwanafunzi",
    "ndege",
    "samaki",
    "jua",
    "maji",
    "rafiki",
    "nyumba",
    "kitabu",
    "ukuta",
    "mlango",
    "tembo",
    "Schmetterling",
    "Regenschirm",
    "Handschuh",
    "Kühlschrank",
    "Flugzeug",
    "Zahnbürste",
    "Eichhörnchen",
    "Gemüse",
    "Wolkenbruch",
    "Bleistift",
    "Frühling",
    "Apfelkuchen",
    "Schlüssel",
    "Geburtstag",
    "pili-pala",
    "ysbyty",
    "llyfrgell",
    "cyfrifiadur",
    "gwyddoniaeth",
    "mynydd",
    "eglwys",
    "cwningen",
    "hiraeth",
    "bwrdd",
    "ffenestr",
    "tximeleta",
    "liburutegi",
    "ordenagailu",
    "hegazkin",
    "euritako",
    "mendia",
    "itsasontzi",
    "sagarra",
    "eguzkia",
    "elurra",
    "図書館",
    "冷蔵庫",
    "飛行機",
    "蝶々",
    "自転車",
    "傘",
    "山登り",
    "りんご",
    "コンピューター",
    "病院",
    "fiðrildi",
    "bókasafn",
    "sjúkrahús",
    "flugvél",
    "tölva",
    "regnhlíf",
    "jökull",
    "hestur",
    "vetur",
    "raamatukogu",
    "lennuk",
    "liblikas",
    "arvuti",
    "haigla",
    "õunakook",
    "jalgratas",
    "mägi",
    "vihmavari",
    "külmkapp",
    "sõprus",
    "butterfly",
    "umbrella",
    "refrigerator",
    "toothbrush",
    "squirrel",
    "bicycle",
    "strawberry",
    "windmill",
    "keyboard",
    "pumpkin",
    "lighthouse",
    "sandwich",
    "thunder",
    "blanket",
    "elbow",
    "giraffe",
    "harbour",
    "jigsaw",
    "kettle",
    "lemonade",
    "mushroom",
    "necklace",
    "octopus",
    "penguin",
    "quilt",
    "raincoat",
    "scissors",
    "tadpole",
    "unicorn",
    "velvet",
    "walrus",
    "xylophone",
    "yoghurt",
    "zeppelin",
    "whisper",
    "quokka",
    "blizzard",
    "chopsticks",
    "dragonfly",
    "eyebrow",
];
