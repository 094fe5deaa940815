//! Words that questions and requests are made of, language by language: a uniform table.
//!
//! They are in the usual spelling; whoever compares folds them. The short lists of detection are not
//! repeated on purpose: a word here says that it holds sentences together, not that it tells the
//! language.

use crate::language::Language;

/// Each language with its words, separated by spaces.
pub(super) const FUNCTION_WORDS: &[(Language, &str)] = &[
    (
        Language::English,
        "a an am i me us him her them she he whom whose did doing done being having could \
         should may might must shall just also only very so such some no nor not own same \
         other another both few most many much between during before after above below again \
         further then once here because until while against through up down out off over \
         under too one ones please tell explain describe show give find list know interested \
         want like get make use used using any anything something let article articles \
         information etc e.g i.e s t m re yes would all",
    ),
    (
        Language::Romanian,
        "cine cand cati cate cata carui carei caror oare vreau vrea rog spune spuneti explica \
         care ce la pana peste sub spre decat doar foarte tot toate toti alt alta alte altii \
         ii il le li ne va vor voi vom as ar ati este e esti fie fiind avea avut aveti avem a \
         ai cel cea ea el noi ele dintre dintr intr printr asa astfel atunci acolo aici \
         acestea acesti aceste acea acel acela aceea despre vreo vreun niste s l m i o pot \
         poti poate putem puteti putea trebuie trebui imi iti isi ma te mi meu mea mei mele \
         tau nostru noastra voie cumva exista se fac face facem iar daca",
    ),
    (
        Language::German,
        "du er es man mich mir dich dir uns euch ihn ihm ihnen ihre ihren mein meine meinen \
         meinem meiner dein deine sein seine seinen unser unsere kein keine keinen wer was \
         wann wo wohin woher warum wieso weshalb welche welcher welches welchen wem wen \
         wessen ob wenn dass weil denn damit darf durfen konnen konnte muss mussen soll \
         sollen sollte will wollen mochte mochten wurden ware waren war bin bist gewesen habe \
         hatte gibt da dort hier dann so sehr viel viele mehr alle alles etwas nichts in an \
         am um bis ab vor unter gegen ohne zwischen wahrend ins vom beim bitte sag sage \
         erklare erklaren zeig zeige zeigen finde finden suche liste thema betreffend \
         bezuglich schon immer jemand andere anderen einen einem dies nein ja möchte",
    ),
    (
        Language::French,
        "a ai as avons avez ont avait j je tu on me moi te toi lui eux y l d c s n m t qu \
         quel quelle quels quelles quoi quand comment pourquoi combien dont lequel laquelle \
         puis peux peut pouvez peuvent pouvons dois doit devez doivent faut veux veut \
         voudrais suis es sommes etes soit serait si ni donc car sans sous entre vers chez \
         depuis pendant avant apres tres aussi autre autres meme mon ma mes ton ta tes votre \
         vos notre nos leurs cet cela ca ceci celui celle ceux tous toute toutes quelque \
         quelques chaque aucun aucune dites dire expliquez montrez trouver cherche liste \
         propos concernant sujet faire oui non dis",
    ),
    (
        Language::Spanish,
        "a yo tu ella nosotros ellos me mi mis te ti nos os les si o u e ni quien quienes \
         cual cuales cuanto cuanta cuantos cuantas adonde porque puedo puede pueden podemos \
         podria debo debe deben tengo tienen hay he has han haber era eran estoy estan estar \
         soy somos sea hace hacer hago quiero quisiera necesito cada todo toda todos todas \
         otro otra otros otras mismo misma tan tanto ya aqui alli esto eso ese esa esos esas \
         estos estas aquel unos unas ante bajo contra durante segun tras hacia mediante dime \
         explica muestra busca lista favor acerca respecto tema",
    ),
    (
        Language::Italian,
        "io tu lui lei noi voi mi ti ci vi ne chi cosa quale quali quanto quanta quanti \
         quante quando dove perche posso puo possono possiamo devo deve devono ho hai abbiamo \
         hanno era erano sia fa fare faccio voglio vorrei o se ogni tutto tutti tutta tutte \
         altro altra altri altre stesso qui li quello quella quelli quelle uno a da tra fra \
         sotto sopra dopo prima durante senza verso ai agli alle allo dello dagli dai nei \
         negli nelle sul sulla sui sulle mio mia miei tuo suo sua nostro vostro dimmi spiega \
         mostra cerca lista riguardo tema l d c",
    ),
    (
        Language::Portuguese,
        "eu tu ele ela eles voce me mim te lhe quem qual quais quanto quanta quantos quantas \
         quando onde aonde porque posso pode podem podemos devo deve devem tenho tem temos ha \
         havia era eram estou esta estao sou somos seja faz fazer quero queria preciso cada \
         todo toda todos todas outro outra outros outras mesmo ja aqui ali isto isso esse \
         essa este aquele uns umas ao aos na nas no nos pelo pela pelos pelas num numa sob \
         contra durante segundo ate entre meu minha meus seu sua nosso diga explique mostre \
         procure lista favor sobre respeito tema",
    ),
    (
        Language::Dutch,
        "ik jij je hij zij ze wij we jullie u mij me hem haar ons hun mijn jouw onze wie wat \
         waar waarheen wanneer waarom hoe welke welk hoeveel mag mogen kan kunnen moet moeten \
         zal zullen zou wil willen heb hebt heeft hebben had was waren ben bent wordt worden \
         er hier daar dit dat deze die een geen niet ook nog maar of als dan om uit over \
         onder tegen zonder tussen tijdens voor na bij naar van met op in aan door tot per \
         alle alles iets niets ander andere veel meer zeer zo graag vertel leg toon zoek vind \
         lijst",
    ),
    (
        Language::Swedish,
        "jag du han hon man mig dig oss er hans hennes min mitt mina din ditt dina sin sitt \
         sina vår vårt våra deras vem vad var vart varför hur vilken vilket vilka får fick \
         kan kunde ska skulle måste vill ville bör är blir finns finnas har hade gör göra den \
         det denna detta dessa ett inte också bara mycket många mer någon något några all \
         alla allt annan andra över under mellan utan innan efter där här när då så om eller \
         men tack snälla berätta förklara visa hitta sök lista angående",
    ),
    (
        Language::Danish,
        "jeg du han hun mig dig os jer hans hendes min mit mine din dit dine sin sit sine \
         vores deres hvem hvad hvor hvorfor hvordan hvilken hvilket hvilke hvornår må kan \
         kunne skal skulle vil ville bør er bliver findes har havde gør gøre denne dette \
         disse ikke også kun meget mange mere nogen noget nogle al alle alt anden andre over \
         under mellem uden før efter der her når da så om eller men tak venligst fortæl \
         forklar vis find søg liste angående",
    ),
    (
        Language::Norwegian,
        "jeg du han hun meg deg oss dere hans hennes min mitt mine din ditt dine sin sitt \
         sine vår vårt våre deres hvem hva hvor hvorfor hvordan hvilken hvilket hvilke når må \
         kan kunne skal skulle vil ville bør får er blir finnes har hadde gjør gjøre denne \
         dette disse ikke også bare mye mange mer noen noe all alle alt annen andre over \
         under mellom uten før etter der her da så om eller men takk vennligst fortell \
         forklar vis finn søk liste angående",
    ),
    (
        Language::Finnish,
        "minä sinä hän me te he minun sinun hänen meidän teidän heidän minut minulla kuka \
         mikä mitä missä minne mistä milloin koska miksi miten kuinka mitkä kumpi voinko \
         voiko voimmeko voitko saanko saako pitääkö täytyykö onko olenko ovatko voi voin saa \
         pitää täytyy on olen olet olemme tämä tuo nämä nuo ei eikä myös vain paljon monta \
         enemmän joku jokin jotain kaikki muu toinen yli ali ilman ennen jälkeen siellä \
         täällä sitten niin jos vai tai mutta kiitos kerro selitä näytä etsi löydä lista",
    ),
    (
        Language::Hungarian,
        "én te ő mi ti ők engem téged őt minket nekem neked neki ki mit hol hová honnan mikor \
         miért hogyan hogy milyen melyik mennyi hány lehet szabad kell tudok tudom tud tudunk \
         akarok szeretném van vannak volt lesz ez az ezek azok egy nem is csak sok több \
         valaki valami minden más másik alatt felett között nélkül előtt után ott itt akkor \
         így ha vagy de kérem mondja mondd magyarázd mutasd keress lista róla szóló",
    ),
    (
        Language::Turkish,
        "ben sen biz siz onlar beni seni bana sana bize benim senin bizim sizin onun kim ne \
         nerede nereye nereden neresi niçin neden niye nasıl hangi kaç kadar mı mi mu mü \
         mıyım miyim muyum müyüm mısın misin musun müsün mıyız miyiz var yok olur olabilir \
         gerekir gerek gerekiyor lazım istiyorum lütfen bu şu o bunlar şunlar değil ve ile \
         veya ama fakat için gibi çok az daha en her bazı hepsi başka diğer altında üstünde \
         arasında önce sonra orada burada söyle anlat açıkla göster bul ara liste hakkında \
         ilgili yapmalıyım yapılır",
    ),
    (
        Language::Polish,
        "ja ty on ona my wy oni mnie mi ciebie ci nas nam was wam jego jej ich mój moja moje \
         moi twój swój nasz wasz kto co czego czym gdzie dokąd skąd kiedy dlaczego czemu jak \
         jaki jaka jakie jacy który która które którzy ile czy mogę możesz może możemy mogą \
         można wolno muszę musi trzeba należy powinien powinna powinno chcę chciałbym jest są \
         był była było będzie to ten ta te tamten nie tak też tylko bardzo dużo wiele więcej \
         ktoś coś wszystko wszyscy inny inna inne pod nad między bez przed po tam tu tutaj \
         wtedy więc jeśli albo lub ale proszę powiedz powiedzieć wyjaśnij pokaż znajdź szukaj \
         lista dotyczący temat mam mieć masz się do w na z o",
    ),
    (
        Language::Czech,
        "já ty on ona my vy oni mě mně tě nás nám vás vám jeho její jejich můj moje tvůj svůj \
         náš váš kdo co čeho čím kde kam odkud kdy proč jak jaký jaká jaké který která které \
         kolik zda mohu můžu můžeš může můžeme mohou lze smím musím musí třeba měl bych chci \
         chtěl je jsou byl byla bylo bude to ten ta tento tato toto ne ano také jen velmi \
         mnoho více někdo něco vše všechno jiný jiná jiné pod nad mezi bez před po tam tady \
         zde tak pokud nebo ale prosím řekni řekněte vysvětli ukaž najdi hledej seznam \
         ohledně mám mít se do v na z o",
    ),
    (
        Language::Lithuanian,
        "aš tu jis ji mes jūs jie mane man mūsų jūsų kas ką kur kada kodėl kaip koks kokia \
         kokie kuris kuri kiek ar galiu gali galima galime reikia turiu turi noriu yra buvo \
         bus tai tas ta šis ši ne taip tik labai daug daugiau kažkas viskas kitas kita po \
         virš tarp be prieš ten čia jei arba bet prašau pasakyk paaiškink parodyk rask ieškok \
         sąrašas apie",
    ),
    (
        Language::Estonian,
        "mina sina tema meie teie nemad ma sa me te nad minu sinu kes mis mida kus kuhu kust \
         millal miks kuidas milline missugune mitu kui palju kas võin võib saan saab tohib \
         pean peab tahan on oli olema see too need ei ka ainult väga rohkem keegi miski kõik \
         muu teine all üle vahel ilma enne pärast seal siin siis nii või aga palun ütle \
         selgita näita leia otsi nimekiri kohta",
    ),
    (
        Language::Catalan,
        "jo tu ell ella nosaltres vosaltres ells em et ens us el la els les qui què quin \
         quina quins quines on quan per com quant quanta quants puc pot podem poden cal he ha \
         hem han vull és són era serà hi això aquest aquesta no sí també només molt més algú \
         alguna cosa tot tots totes altre altra altres sota sobre entre sense abans després \
         allà aquí si o però plau digues explica mostra troba cerca llista respecte",
    ),
    (
        Language::Indonesian,
        "saya aku kamu anda dia kami kita mereka apa apakah siapa mana dimana kemana kapan \
         mengapa kenapa bagaimana berapa yang bisa dapat boleh harus perlu mau ingin adalah \
         ialah ada ini itu tidak bukan juga hanya sangat banyak lebih seseorang sesuatu semua \
         lain bawah atas antara tanpa sebelum sesudah setelah sana sini jika kalau atau \
         tetapi tolong mohon beritahu jelaskan tunjukkan cari temukan daftar tentang mengenai \
         di ke dari untuk dengan",
    ),
    (
        Language::Vietnamese,
        "tôi bạn anh chị em ông bà nó chúng ta họ ai gì nào đâu khi bao giờ sao tại vì thế \
         làm như nhiêu mấy có thể được phải cần muốn là thì mà này kia đó ấy không cũng chỉ \
         rất nhiều hơn tất cả khác dưới trên giữa trước sau ở trong ngoài nếu hay hoặc nhưng \
         xin hãy cho biết nói giải thích về của và với các những một từ đến để bởi ra vào lại \
         rồi đã đang sẽ",
    ),
    (
        Language::Russian,
        "и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по \
         только ее её мне было вот от меня еще ещё нет о из ему теперь когда даже ну ли если \
         уже или ни быть был него до вас вам ведь там потом себя ничего ей может они тут где \
         есть надо ней для мы тебя их чем была сам чтоб без чего тоже себе под будет тогда \
         кто этот того потому этого какой какая какое какие этом один почти мой моя моё мое \
         мои тем чтобы нее неё сейчас были куда откуда зачем почему всех можно нельзя при \
         наконец об другой другая другие после над больше тот через эти нас нам про всего них \
         многие это эта сколько могу можем можете можешь могут должен должна должно должны \
         нужно нужен нужна нужны скажите скажи расскажите расскажи объясните объясни покажите \
         покажи найдите найди найти хочу хочет пожалуйста наш наша наше наши ваш ваша ваше \
         ваши свой своя свое свои который которая которое которые каков такое такой такая \
         такие делать",
    ),
    (
        Language::Ukrainian,
        "і й в у не що він на я з зі із як а то все вона так його але та ти до же ви за б би \
         по тільки її мені було від мене ще ні о про вже або чи бути був нього вас вам там \
         потім себе нічого їй може вони тут де є треба для ми тебе їх чим була сам щоб без \
         чого також собі під буде тоді хто цей того тому цього який яка яке які цьому мій моя \
         моє мої зараз були куди звідки навіщо чому всіх можна при інший інша інші після над \
         більше той через ці нас нам це ця скільки можу можемо можете можеш можуть повинен \
         повинна повинні потрібно потрібен скажіть скажи розкажіть розкажи поясніть поясни \
         покажіть покажи знайдіть знайди хочу будь ласка наш наша наше наші ваш свій своя \
         котрий якщо коли робити",
    ),
    (
        Language::Bulgarian,
        "и в във не че той на аз с със как а то всичко тя така го но да ти към у же вие за би \
         по само ѝ ми беше от мен още няма о из му сега когато дори ли ако вече или нито бъда \
         до вас ви там после себе нищо може те тук къде има трябва ние тях чрез без под ще \
         тогава кой коя кое кои този тази това тези какъв каква какво какви мой моя мое мои \
         сам откъде накъде защо всички при друг друга други след над повече през нас ни колко \
         мога можем можете можеш могат кажи кажете обясни обяснете покажи покажете намери \
         намерете искам моля наш ваш свой който която което които е съм са сте сме относно",
    ),
    (
        Language::Serbian,
        "ja ti on ona ono mi vi oni me mene te tebe ga njega mu ju nju joj nas nam vas vam ih \
         im moj moja moje tvoj svoj naš vaš njegov njen ko tko šta što gde gdje kuda odakle \
         kada kad zašto kako koji koja koje kakav kakva kakvo koliko da li mogu možeš može \
         možemo možete mora moram treba smem smijem hoću želim je su sam si smo ste bio bila \
         bilo biće to taj ta ovaj ova ovo ne takođe samo vrlo mnogo više neko nešto sve svi \
         drugi druga drugo pod iznad između bez pre prije posle poslije tamo ovde ovdje tada \
         tako ako ili ali molim reci recite objasni pokaži nađi traži lista o na u i za od sa \
         ја ти он она оно ми ви они ме мене га му нас нам вас вам их мој моја моје наш ваш ко \
         шта што где куда одакле када зашто како који која које какав колико да ли могу може \
         можемо можете мора морам треба је су сам бити то тај овај не само много више нешто \
         све други под без пре после тамо овде ако или али молим реци објасни покажи нађи о \
         на у и за од са",
    ),
    (
        Language::Greek,
        "εγώ εσύ αυτός αυτή αυτό εμείς εσείς αυτοί με σε τον την το μας σας τους μου σου του \
         της ο η οι τα τις ένας μία ένα των στο στη στην στον στα στις ποιος ποια ποιο ποιοι \
         τι πού που πότε γιατί πώς πως πόσο πόση πόσα μπορώ μπορείς μπορεί μπορούμε μπορείτε \
         πρέπει θέλω είμαι είναι ήταν θα να έχω έχει έχουμε υπάρχει υπάρχουν δεν δε μη μην \
         και κι ή αλλά αν όταν ότι επίσης μόνο πολύ περισσότερο κάποιος κάτι όλα όλοι άλλος \
         άλλη άλλο κάτω πάνω μεταξύ χωρίς πριν μετά εκεί εδώ τότε έτσι για από προς παρακαλώ \
         πες πείτε εξήγησε δείξε βρες λίστα σχετικά κάνω κάνετε",
    ),
    (
        Language::Arabic,
        "أنا أنت هو هي نحن هم من ما ماذا أين متى كيف لماذا كم أي هل يمكن يمكنني يمكننا يمكنك \
         يجوز يجب أستطيع أريد كان كانت يكون هذا هذه ذلك تلك هؤلاء الذي التي الذين لا ليس لم \
         لن نعم أيضا فقط جدا كثير أكثر شيء كل جميع آخر أخرى تحت فوق بين بدون قبل بعد هناك هنا \
         إذا أو ثم لكن في على إلى عن مع عند أن إن قد لي لنا لك له لها رجاء فضلك أخبرني قل \
         اشرح وضح أرني ابحث قائمة حول بخصوص أفعل تفعل و",
    ),
    (
        Language::Persian,
        "من تو او ما شما آنها ایشان چه چی کجا کی چرا چگونه چطور چند کدام آیا می توانم میتوانم \
         می‌توانم تواند توان باید خواهم است هست هستند بود شود این آن اینها نه هم فقط خیلی \
         بسیار بیشتر کسی چیزی همه دیگر زیر روی بین بدون قبل پیش بعد پس آنجا اینجا اگر یا اما \
         در به از که با برای را تا لطفا بگو بگویید توضیح بده نشان پیدا کن فهرست درباره مورد",
    ),
    (
        Language::Hebrew,
        "אני אתה את הוא היא אנחנו אתם הם הן מי מה איפה לאן מאין מתי למה מדוע איך כיצד כמה \
         איזה איזו האם יכול יכולה יכולים אפשר מותר צריך צריכה חייב רוצה יש אין היה הייתה יהיה \
         זה זאת זו אלה של לא כן גם רק מאוד הרבה יותר מישהו משהו כל הכל אחר אחרת אחרים תחת מעל \
         בין בלי לפני אחרי שם כאן אז אם או אבל על עם אל מן לי לנו לך בבקשה ספר הסבר הראה מצא \
         חפש רשימה אודות בנוגע",
    ),
    (
        Language::Hindi,
        "मैं तू तुम आप वह वे हम मुझे तुम्हें आपको हमें मेरा मेरी मेरे हमारा हमारी आपका आपकी \
         कौन क्या कहाँ कहां किधर कब क्यों कैसे कैसा कैसी कितना कितनी कितने किस सकता सकती सकते \
         चाहिए चाहता है हैं हूँ हूं हो था थी थे होगा यह ये इस उस जो नहीं न भी केवल सिर्फ बहुत \
         अधिक ज्यादा कोई कुछ सब सभी अन्य दूसरा नीचे ऊपर बीच बिना पहले बाद वहाँ यहाँ तब अगर \
         यदि या लेकिन और का की के में से को पर ने तक लिए कृपया बताएं बताओ बताइए समझाएं दिखाएं \
         खोजें सूची बारे करें करना",
    ),
];
