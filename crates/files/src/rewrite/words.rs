//! The words of requests, by language: each list is words between spaces, without capitals.
//!
//! Another language is more words here and nothing else.

/// Words that ask, and are found everywhere.
pub(super) const QUESTION_WORDS: &str = "\
    what which who whom whose when where why how please does did cine unde cum cand când cât \
    ce was wer wo wann warum wie welche welcher welches bitte que qui quoi où quand pourquoi \
    quel quelle quels quelles qué quién dónde cuándo cómo cuál cuáles dove quando perché \
    quale onde qual quais wat hoeveel waar wanneer waarom welke gdzie kiedy dlaczego który \
    która które jaki jaka jakie что где когда почему какой какая какие сколько де коли чому який \
    яка які скільки combien cuánto cuánta cuántos quanto quanta quanti quanto wieviel wieviele \
    câți câte cât câtă vad vem när hur varför vilken vilket vilka hvad hvem hvor hvornår hvordan \
    hvorfor hvilken hvilket hvilke hva når mikä mitkä kuka missä milloin miten miksi paljonko kdo \
    kde kdy proč který která které kolik mikor hogyan miért melyik mennyi τι ποιος ποια ποιο πού \
    πότε πώς γιατί πόσο nerede nasıl neden hangi hangisi kaç \
    кто кому чего чей чья каков какова каковы каким каком каких зачем откуда куда находится находятся \
    расположен расположена были была было хто куди звідки навіщо чи знаходиться знаходяться \
    розташований була були було кой коя кои къде кога защо какво какви намира \
    где када зашто како шта који која које колико налази gdje gde kada zašto kako tko koliko \
    που είναι ποιοι ποιες ποιον βρίσκεται βρίσκονται ο η οι το τα στην στον στο \
    ما ماذا متى أين اين كيف لماذا كم أي هل هي هو يوجد توجد تقع يقع من هم \
    چیست کجاست کجا چه چرا چگونه کدام چند است کیا کہاں کب کیوں کیسے کون ہے ہیں \
    איפה מה מי מתי למה מדוע איך כמה איזה איזו האם היכן \
    क्या कहाँ कहां कब क्यों कैसे कौन कितना कितने कितनी है हैं কি কী কোথায় কখন কেন কিভাবে কীভাবে কে কত আছে \
    எங்கே என்ன எப்போது ஏன் எப்படி யார் எவ்வளவு உள்ளது \
    đâu gì nào ở siapa kapan mengapa kenapa bagaimana berapa dimana fica ficam \
    dov qu czy mennyibe mennyiért honnan hova hová kinek meddig пожалуйста \
    누가 왜 뭐 뭐야 뭐예요 뭔가요 뭔 주세요 대해 대해서 대한 관해 관해서 관한 있는 있는지";

/// Korean words that ask, which have endings: a word that begins so says nothing. `대한` is not
/// among them, since `대한항공` is a name.
pub(super) const KOREAN_BEGINNINGS: &str = "\
    어디 언제 무엇 누구 어떤 어떻 어느 얼마 무슨 며칠 몇 있나요 있습니까 있어요 있나 되나요 \
    됩니까 하나요 합니까 알려줘 알려주 알려달 찾아줘 찾아주 보여줘 보여주 설명해 궁금";

/// Particles that Korean writes onto a noun, the longer ones first.
pub(super) const KOREAN_PARTICLES: &str =
    "에서는 에서 에게 에는 으로 까지 부터 이란 은 는 이 가 을 를 에 의";

/// Nouns that end as a particle does.
pub(super) const KOREAN_NOUNS: &str = "\
    휴가 평가 허가 국가 증가 단가 원가 물가 추가 인가 작가 참가 첨가 정가 전문가 어린이 고양이 \
    길이 높이 깊이 넓이 종이 회의 동의 합의 정의 주의 논의 협의 강의 문의 건의 결의 심의 유의 임의 \
    고의 명의 편의 상의 하는 있는 없는 되는";

/// What asks at the end of a Korean verb that is made of a noun: `관리합니까` is about `관리`.
pub(super) const KOREAN_ENDINGS: &str =
    "합니까 하나요 했나요 했습니까 하는지 됩니까 되나요 되었나요 해야하나요";

/// What a query begins with that only tells somebody to search.
pub(super) const COMMANDS: &str = "\
    find show list give tell get search do can could would should găsește gaseste arată \
    arată-mi dă-mi spune-mi arata finde zeig zeige gib suche trouve trouve-moi cherche \
    montre montre-moi donne-moi busca encuentra muestra muéstrame dime trova cerca mostra \
    zoek znajdź pokaż найди покажи знайди";

/// What a request goes on with: to whom, and that it is wished.
pub(super) const WISHES: &str = "\
    me us need want looking searching like see know help mir uns brauche suche möchte moi \
    veux cherche mi mie nos mij ons мне нам мені";

/// What a request is for when it says nothing of it.
pub(super) const ANYTHING: &str = "\
    document documents file files docs papers information info details everything anything \
    something results dokumente dateien unterlagen informationen alles etwas fichiers \
    informations documentos archivos información documenti informazioni arquivos ficheiros \
    informações documenten bestanden informatie documente documentele fișiere fișierele \
    informații dokumenty pliki документы файлы информацию документи файли";

/// Words that turn what is said into its opposite; they are small, and stay.
pub(super) const NEGATIONS: &str = "\
    not no without never except excluding cannot isn't aren't doesn't don't nicht kein keine \
    keinen keiner ohne außer pas sans sauf sin salvo non senza não sem nu fără fara niet \
    geen zonder nie bez не без кроме крім inte utan ikke uden uten ilman nem nélkül değil \
    δεν χωρίς";

/// Words that ask in one language and are things in another: `cat`, `care`, `comment`.
pub(super) const HOMOGRAPHS: &str = "\
    cat care comment come hoe jak var co mi ki ne hol ile mana apa";

/// Verbs that say nothing right behind a word that asks, or at the end of what began with one: `hol
/// van a torony`, `gdzie jest latarnia`, `nerede … var`. Elsewhere they are things, or say something.
pub(super) const AFTER_ASKING: &str = "\
    van vannak volt jest są sa był była było znajduje vine vin află afla este sunt keeps keep kept \
    lies stays está están é è є е е jsou je se si trova נמצא נמצאת נמצאים var ada mevcut есть \
    befindet befinden liegt";

/// What asks at the end of text without spaces.
pub(super) const ENDINGS: &str = "\
    はどこにありますか がどこにありますか はどこにあるか がどこにあるか がありますか \
    はどこにある がどこにある はどうすればいいですか はどうすれば はいつまでですか \
    はどのくらいですか はどれですか について知りたいです について知りたい を知りたいです \
    を知りたい が知りたい が必要ですか が必要 がいますか をで探してください を探してください で探してください \
    を検索してください を見せてください はありますか をで探して を探して で探して を検索して \
    を見せて について教えて を教えて 教えて について教えてください を教えてください \
    教えてください はどこですか はいつですか はいくらですか はどうですか はなぜですか \
    は何年ですか は何日ですか は何月ですか は何時ですか は何人ですか は何円ですか は何回ですか \
    はいくつですか は誰ですか とは何ですか は何ですか とはなんですか ですか とは 인가요 입니까 \
    อยู่ที่ไหน อยู่ไหน คืออะไร เมื่อไหร่ เท่าไหร่ เท่าไร หรือไม่ ได้อย่างไร อย่างไร \
    是多长时间 是什么时候 是多少钱 多少钱 是什么 在哪里 在哪儿 是多少 需要多久 要多久 有多久 多久 是谁 怎么样 吗 呢";

/// What asks at its beginning.
pub(super) const BEGINNINGS: &str = "\
    我想知道关于 我想知道 请告诉我 告诉我 请问 什么是 为什么 如何 怎么 谁";

/// What asks at its beginning where it also asks at its end: elsewhere it is part of other words.
pub(super) const ASKING_BEGINNINGS: &str = "\
    どこに どこで どこの いつ なぜ どうして どうやって 誰が だれが 何が どの どんな どうすれば";

/// Tells whether a word is in a list.
pub(super) fn has(list: &'static str, word: &str) -> bool {
    each(list).any(|one| one == word)
}

/// Gives the words of a list.
pub(super) fn each(list: &'static str) -> impl Iterator<Item = &'static str> {
    list.split_ascii_whitespace()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_compared_as_they_are_written() {
        for list in
            [QUESTION_WORDS, COMMANDS, WISHES, ANYTHING, NEGATIONS, HOMOGRAPHS, AFTER_ASKING]
        {
            for word in each(list) {
                assert_eq!(word, word.to_lowercase());
            }
        }
        assert!(has(NEGATIONS, "not") && !has(NEGATIONS, "no "));
    }
}
