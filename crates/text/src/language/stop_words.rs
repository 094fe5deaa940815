//! Small words that give a language away, folded; the cheap path of detection.
//!
//! A short text seldom holds enough letters for statistics, but it often holds one of these. A
//! word that several languages share speaks for each of them a little.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::language::{Language, LanguageSet};

/// Gives the languages for which a folded word speaks.
pub(crate) fn languages_of(folded: &str) -> Option<LanguageSet> {
    BY_WORD.get(folded).copied()
}

static BY_WORD: LazyLock<HashMap<&'static str, LanguageSet, ahash::RandomState>> =
    LazyLock::new(|| {
        let mut by_word: HashMap<&'static str, LanguageSet, ahash::RandomState> =
            HashMap::default();
        for (language, words) in LISTS {
            for word in words.split_ascii_whitespace() {
                by_word.entry(word).or_default().insert(*language);
            }
        }
        by_word
    });

const LISTS: &[(Language, &str)] = &[
    (
        Language::English,
        "the of and to in is that it was for on are as with his they at be this from have or by \
         had not but what were when your can said there each which their will would if do how \
         about who has its been than these into my our where why does we you all any more",
    ),
    (
        Language::Romanian,
        "si in de la cu pe este sunt din care nu se ca pentru sau mai un o al ale lui fi prin fost \
         dar dupa iar cei cele acest aceasta acestui catre privind sa au fara daca are cum unde \
         intre asupra despre ce cat potrivit unei unor unui conform precum lor ei am era sint",
    ),
    (
        Language::French,
        "le la les de des du et en un une est que qui dans pour pas sur au aux avec ce cette par \
         plus sont ne se il elle nous vous ils leur ses son ete mais ou ces comme fait etre tout",
    ),
    (
        Language::German,
        "der die das und ist nicht ein eine einer eines den dem des zu mit auf fur von sich im \
         wird sind auch als bei nach wie aus oder aber wurde werden haben hat uber zum zur kann \
         ich sie wir ihr noch nur durch",
    ),
    (
        Language::Spanish,
        "el la los las de del y en un una es que por con para no se su al lo como mas pero sus le \
         ha este esta fue son entre sin sobre ser tiene tambien hasta desde muy donde cuando",
    ),
    (
        Language::Italian,
        "il lo la i gli le di del della dei delle e in un una che per con non si su al alla come \
         piu ma sono anche nel nella dal dalla questo questa ha essere stato ed loro cui degli",
    ),
    (
        Language::Portuguese,
        "o a os as de do da dos das e em um uma que por com para nao se no na nos nas ao pelo pela \
         como mais mas foi sao seu sua ser tem ou quando muito ja tambem entre isso esta",
    ),
    (
        Language::Dutch,
        "de het een en van in is dat die te niet op aan met voor zijn als er door om bij ook maar \
         uit naar dan nog worden wordt werd heeft hebben deze over ze hij wij kan of",
    ),
    (
        Language::Swedish,
        "och att det som en ett ar pa for med av den till inte om har de var fran men vi jag kan \
         sig vid nar ska eller efter blev mot under hade detta man",
    ),
    (
        Language::Danish,
        "og at det som en et er pa for med af den til ikke om har de var fra men vi jeg kan sig \
         ved nar skal eller efter blev mod under havde dette man der hvad ogsa",
    ),
    (
        Language::Norwegian,
        "og at det som en et er pa for med av den til ikke om har de var fra men vi jeg kan seg \
         ved nar skal eller etter ble mot under hadde dette man hva ogsa blir",
    ),
    (
        Language::Finnish,
        "ja on ei se etta oli han mutta ovat kun niin myos joka tai jos kuin sen ole hanen olla \
         mita tassa jotka siita mukaan vain",
    ),
    (
        Language::Estonian,
        "ja on ei see et oli ta kui aga ka mis oma seda siis voi nii ning veel kes kuid nagu \
         mida olid tema olnud",
    ),
    (
        Language::Hungarian,
        "a az es hogy nem is egy ez volt azt meg csak ha de mint van vagy mar el szerint amely \
         voltak lehet kell ami pedig azonban ezt minden",
    ),
    (
        Language::Turkish,
        "ve bir bu da de icin ile cok olarak daha gibi olan ne var kadar sonra en ya ama o \
         degil ise diye tarafindan her oldugu",
    ),
    (
        Language::Polish,
        "i w na z nie sie do jest to ze o jak po a co ale dla od przez przy lub oraz jego byc byl \
         byla ktory ktora ktore tym tego jako",
    ),
    (
        Language::Czech,
        "a v se na je ze to z s o do by i k ale jako za jsou pro jeho tak podle byl byla ktery \
         ktera ktere nebo aby pri jsem jeste",
    ),
    (
        Language::Lithuanian,
        "ir kad i is su buvo yra bet tai kaip nuo ne o apie po jo uz jis ar del tik iki buti savo \
         jau kuris",
    ),
    (
        Language::Catalan,
        "el la els les de del i en un una es que per amb no se al com mes pero dels aquest \
         aquesta va son entre sense sobre ser te tambe fins des molt on quan seva",
    ),
    (
        Language::Basque,
        "eta da ez du bat zen dira ere izan egin hau zuen baina beste baino dute hori den dela \
         bere edo",
    ),
    (
        Language::Irish,
        "agus an na ar is le go bhi do ata nach mar sin ag ach gur bhfuil seo aon leis bheith ina \
         chun",
    ),
    (
        Language::Indonesian,
        "yang dan di itu dengan untuk tidak ini dari dalam akan pada juga saya ke karena ada \
         adalah oleh atau mereka sebagai telah dapat bahwa",
    ),
    (
        Language::Esperanto,
        "la kaj de en estas al por ne mi vi ke kun oni sed li ankau estis tiu kiu per pli kiel tio",
    ),
    (
        Language::Serbian,
        "i je u na da se su za od sa kao koji ne ili ali iz bio bila koja sto po nije biti kada \
         samo ovo",
    ),
    (
        Language::Vietnamese,
        "va la cua co khong duoc trong cho cac mot nay voi nguoi nhung da tu khi den ve den o thi",
    ),
];
