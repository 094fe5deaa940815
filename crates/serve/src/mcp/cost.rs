//! What `tools/list` costs an agent, before it has asked anything.
//!
//! A model sees the name, the description and the input schema of each tool; output schemas and
//! annotations are for its client.

use model::Caller;
use serde_json::json;
use tools::{Registry, Spec};

use super::translate::tool;

/// Gives each tool's name with the tokens that a model of the o200k vocabulary counts for it.
///
/// The vocabulary is loaded for the call and let go afterwards: a third of a second, and some
/// 40 MB that a server has a better use for.
pub fn list_cost(registry: &Registry, caller: &Caller) -> Vec<(String, usize)> {
    let Ok(vocabulary) = tiktoken_rs::o200k_base() else {
        // The vocabulary is part of the program, so this cannot happen; an estimate is still good.
        return list_estimate(registry, caller);
    };
    cost(registry, caller, |text| vocabulary.encode_ordinary(text).len())
}

/// Gives the same as [`list_cost`], estimated without a vocabulary.
pub(crate) fn list_estimate(registry: &Registry, caller: &Caller) -> Vec<(String, usize)> {
    cost(registry, caller, text::count_tokens)
}

fn cost(
    registry: &Registry,
    caller: &Caller,
    count: impl Fn(&str) -> usize,
) -> Vec<(String, usize)> {
    let listed = registry.list(caller);
    listed.iter().map(|listed| (listed.spec.name.clone(), count(&seen(&listed.spec)))).collect()
}

/// Writes what a model sees of a tool.
fn seen(spec: &Spec) -> String {
    let entry = json!(tool(spec));
    json!({
        "name": entry["name"],
        "description": entry["description"],
        "input_schema": entry["inputSchema"],
    })
    .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_counted_with_a_vocabulary_and_the_estimate_is_near() {
        let tool = tools::knowledge::NormalizeOcrText::by_rules();
        let registry = Registry::new(vec![Box::new(tool)]);
        let caller = Caller::local_admin();
        let exact = list_cost(&registry, &caller);
        let estimate = list_estimate(&registry, &caller);
        assert_eq!(exact.len(), 1);
        let ((name, exact), (_, estimate)) = (&exact[0], &estimate[0]);
        assert_eq!(name, "normalize_ocr_text");
        assert!((50..400).contains(exact), "{exact}");
        assert!((95..=112).contains(&(*estimate * 100 / *exact)), "{estimate}, not {exact}");
    }

    /// Budgets, the audit and the console count by the estimate; of JSON it was 1.8 times too much.
    #[test]
    fn the_estimate_of_an_answer_is_what_the_vocabulary_counts() {
        let results: Vec<_> = (0..40)
            .map(|n| {
                json!({
                    "id": format!("fBt{n:02}vgiu7t4O8dUGvu{n}I"),
                    "title": "remote-work.md",
                    "url": format!("http://127.0.0.1:7700/open/fBt{n:02}vgiu7t4O8dUGvu{n}I"),
                    "text": "Everybody who works from home gets 45 EUR a month for the line.",
                    "score": 0.8731,
                    "source": "files",
                    "pointer": format!("line {n}"),
                })
            })
            .collect();
        let rows: Vec<_> = (0..40)
            .map(|n| {
                json!({
                    "level": "error",
                    "method": "GET",
                    "host": "api.example.com",
                    "pathname": "/v1/orders",
                    "latency": 17 * n,
                    "regions": ["ams", "fra"],
                    "date": format!("2024-03-{n:02}T10:{n:02}:00.000Z"),
                })
            })
            .collect();
        let texts = [
            (json!({ "results": results }).to_string(), 90..=110),
            (json!({ "rows": rows, "total": 40 }).to_string(), 90..=110),
            (include_str!("../../../../docs/guarantees.md").to_owned(), 90..=112),
            ("CONSILIUL LOCAL AL COMUNEI BĂLȚAȚI;4540127;Școala gimnazială\n".repeat(20), 75..=125),
            ("日本語の文書を検索するための道具である。".repeat(20), 80..=125),
            ("Все люди рождаются свободными и равными. ".repeat(20), 80..=125),
            // Scripts that the vocabulary hardly knows were counted as a fifth of what they cost.
            ("የሰው ልጅ ሁሉ ሲወለድ ነጻና በክብርና በመብትም እኩልነት ያለው ነው ".repeat(20), 75..=135),
            ("ມະນຸດທຸກຄົນເກີດມາມີກຽດສັກສີ, ສິດທິ, ເສຣີພາບແລະຄວາມສະເໝີພາບເທ ".repeat(20), 75..=135),
            ("འགྲོ་བ་མིའི་རིགས་རྒྱུད་ཡོངས་ལ་སྐྱེས་ཙམ་ཉིད་ནས་ཆེ་མཐོངས་དང༌། ".repeat(20), 75..=135),
            ("ᚠᛇᚻ᛫ᛒᛦᚦ᛫ᚠᚱᚩᚠᚢᚱ᛫ᚠᛁᚱᚪ᛫ᚷᛖᚻᚹᛦᛚᚳᚢᛗ ᛋᚳᛖᚪᛚ᛫ᚦᛖᚪᚻ᛫ᛗᚪᚾᚾᚪ᛫ᚷᛖᚻᚹᛦᛚᚳ᛫ᛗᛁᚳᛚᚢ ".repeat(20), 75..=135),
            ("ހުރިހާ އިންސާނުން ވެސް އުފަންވަނީ ދަރަޖަ އާއި ޙައްޤުތަކުގައި ".repeat(20), 75..=135),
            ("ସବୁ ମନୁଷ୍ୟ ଜନ୍ମକାଳରୁ ସ୍ବାଧୀନ ଏବଂ ମର୍ଯ୍ୟାଦା ଓ ଅଧିକାରରେ ସମାନ। ".repeat(20), 75..=135),
            ("सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन् ".repeat(20), 75..=135),
            ("មនុស្សទាំងអស់ កើតមកមានសេរីភាព និងសមភាព ក្នុងផ្នែកសេចក្ដីថ្លៃ ".repeat(20), 75..=135),
            ("ⵉⵎⴷⴰⵏⴻⵏ ⴰⴽⴽⴻⵏ ⵎⴰ ⵍⵍⴰⵏ ⵜⵜⵍⴰⵍⴻⵏ ⴷ ⵉⵍⴻⵍⵍⵉⵢⴻⵏ ⵎⵙⴰⵡⴰⵏ ⴷⵉ ⵍⵃⵡⴻⵕⵎⴰ ".repeat(20), 75..=135),
            ("😀😃 👩‍👩‍👧‍👦 🏳️‍🌈 🚀✨🔥 ✅ ❌ ⚠️ 🇷🇴🇯🇵 ".repeat(20), 75..=135),
            // Words and letters that are not those of English were counted as English ones are.
            ("Kaikki ihmiset syntyvät vapaina ja tasavertaisina arvoltaan ja oikeuksiltaan. Heille \
              on annettu järki ja omatunto, ja heidän on toimittava toisiaan kohtaan veljeyden \
              hengessä. ".repeat(20), 90..=130),
            ("Minden emberi lény szabadon születik és egyenlő méltósága és joga van. Az emberek, \
              ésszel és lelkiismerettel bírván, egymással szemben testvéri szellemben kell hogy \
              viseltessenek. ".repeat(20), 90..=130),
            ("Хүн бүр төрж мэндлэхдээ эрх чөлөөтэй, адилхан нэр төртэй, ижил эрхтэй байдаг. Оюун \
              ухаан, нандин чанар заяасан хүн гэгч өөр хоорондоо ахан дүүгийн үзэл санаагаар \
              харьцах учиртай. ".repeat(20), 90..=130),
            ("Genir pawb yn rhydd ac yn gydradd â'i gilydd mewn urddas a hawliau. Fe'u cynysgaeddir \
              â rheswm a chydwybod, a dylai pawb ymddwyn y naill at y llall mewn ysbryd \
              cymodlon. ".repeat(20), 90..=130),
            ("Binadamu wote wamezaliwa huru, hadhi na haki zao ni sawa. Wote wamejaliwa akili na \
              dhamiri, hivyo yapasa watendeane kindugu. ".repeat(20), 90..=130),
            ("Gizon-emakume guztiak aske jaiotzen dira, duintasun eta eskubide berberak dituztela; \
              eta ezaguera eta kontzientzia dutenez gero. ".repeat(20), 90..=130),
            ("ДОГОВОР ПОДРЯДА НА РЕМОНТ КРЫШИ И ФАСАДА ЗДАНИЯ ".repeat(20), 80..=130),
            ("l\u{301}i\u{301}g\u{323}h\u{301}t\u{308}h\u{301}o\u{301}u\u{323}s\u{301}e\u{301} \
              k\u{301}e\u{301}e\u{323}p\u{301}e\u{308}r\u{301} ".repeat(20), 80..=130),
            (random_base64(6_000), 90..=130),
            ("----------|-----|=====\n".repeat(40), 80..=130),
            ("ˈlaɪthaʊs ðə ˈkwɪk ˈbɹaʊn ˈfɑks ˈdʒʌmps ˈoʊvɚ ðə ˈleɪzi ˈdɔg ".repeat(20), 75..=135),
        ];
        let vocabulary = tiktoken_rs::o200k_base().unwrap();
        for (text, percent) in texts {
            let exact = vocabulary.encode_ordinary(&text).len();
            let estimate = text::count_tokens(&text);
            let start: String = text.chars().take(40).collect();
            assert!(
                percent.contains(&(estimate * 100 / exact)),
                "{start}: {estimate}, not {exact}"
            );
        }
    }

    /// Base64 of bytes that follow no rule.
    fn random_base64(n_chars: usize) -> String {
        const SIGNS: &[u8; 64] =
            b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let mut state = 7_u64;
        let sign = |_| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            char::from(SIGNS[(state >> 58) as usize])
        };
        (0..n_chars).map(sign).collect()
    }
}
