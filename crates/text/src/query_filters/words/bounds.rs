//! Words that bound years to one side, in all languages: comparatives beside the prepositions that
//! are in the rows, parts of a year, and what is left beside a year that was not understood.
//!
//! A word is worth having in [`BOUNDING`] even where another language uses it for something else:
//! a year beside it is then no filter, and is still looked for.

/// Parts of a year, between a bound and its year: `since Q3 2016`, `before the end of 2018`.
pub(in super::super) const PERIOD: &str = r"(?:(?:the|le|la|les|el|il|o|a|l['’]|den|dem|das|der|de)\s*)?(?:(?:[1-4]\.?\s*)?[qht][1-4]?|[1-4](?:st|nd|rd|th|er|e|º|ª|\.)?\s*(?:[qh]|quarter|half|quartal|halbjahr|trimestre|semestre|kwartaal|kvartal|kwartał)|(?:first|second|third|fourth|last)\s+(?:quarter|half)|early|mid|late|end|beginning|start|middle|close|quarter|fy|fiscal|spring|summer|autumn|fall|winter|anfang|mitte|ende|d[ée]but|fin|mi|principios|finales|fines|mediados|inizio|fine|met[àa]|in[íi]cio|fim|finais|meados|[îi]nceput(?:ul)?|sf[âa]r[sșş]it(?:ul)?|begin|eind(?:e)?|medio|slutet|b[öo]rjan|slutningen|starten|pocz[ąa]tk(?:u|iem)|ko[ńn]c(?:a|em)|konce|začátku|начал[ао]|конц[ае]|середин[ыа]|кінця|початку|τέλ(?:ος|η)|αρχ(?:ή|ές)|μέσα|نهاية|بداية|منتصف|cuối|đầu|giữa|akhir|awal|pertengahan|jan|feb|febr|mar|apr|jun|jul|aug|sept?|oct|nov|dec|okt|dez|mrt|janv|f[ée]vr|avr|juil|d[ée]c|ene|abr|ago|dic|fev|set|out|gen|mag|giu|lug|ott)\.?(?:\s+(?:of|de|del|di|do|da|d['’]|van|av|af|the|fiscal|year|a|lui))*(?:\s+|['’-])";

/// Is behind a year with "and" or "or" before it, and means that year and what is later.
pub(in super::super) const LATER: &str = r"later|newer|after(?:wards)?|onwards?|thereafter|beyond|above|up|since|sp[äa]ter|neuer|j[üu]nger|danach|darüber|après|suivant(?:e?s)?|ultérieure?s?|plus\s+(?:tard|récente?s?)|despu[ée]s|posteriore?s?|m[áa]s\s+(?:tarde|recientes?|nuev[oa]s?)|en\s+adelante|successiv[ioae]|oltre|dopo|più\s+(?:tardi|recent[ei])|depois|mais\s+(?:tarde|recentes?)|adiante|mai\s+(?:t[âa]rziu|noi|nou[ăa]?|recent[ăae]?)|dup[ăa]|ulterior|nieuwer|daarna|recenter|senare|nyare|därefter|senere|nyere|derefter|deretter|myöhem\p{L}+|uudem\p{L}+|p[óo]źniej(?:sze)?|nowsze|dalej|později|novější|novšie|neskôr|позже|позднее|далее|новее|после|пізніше|далі|новіші|sonrası|később|újabb|νεότερ\p{L}+|μετά|lebih\s+baru|seterusnya";

/// The same for what is earlier.
pub(in super::super) const EARLIER: &str = r"earlier|older|before|prior|below|früher|älter|davor|vorher|avant|antérieure?s?|plus\s+(?:tôt|ancien(?:ne)?s?)|précédente?s?|antes|anteriore?s?|m[áa]s\s+(?:temprano|antigu[oa]s?)|precedent[ei]|prima|più\s+vecchi[oae]?|mais\s+(?:cedo|antig[oa]s?)|mai\s+(?:devreme|vechi)|[iî]nainte|eerder|ouder|daarvoor|tidigare|äldre|tidligere|ældre|eldre|aiem\p{L}+|vanhem\p{L}+|wcześniej(?:sze)?|starsze|dříve|starší|skôr|раньше|ранее|старше|раніше|старіші|öncesi|korábbi|régebbi|πριν|παλαιότερ\p{L}+|sebelumnya";

/// Means the present at the end of a range: `between 2016 and now`.
pub(in super::super) const PRESENT: &str = r"now|today|the\s+present|present|heute|jetzt|aujourd['’]hui|maintenant|hoy|ahora|oggi|ora|hoje|agora|azi|ast[ăa]zi|acum|nu|heden|vandaag|i\s*dag|nå|dziś|teraz|dnes|сегодня|сейчас|сьогодні";

/// Bound years right beside one, before it or behind it.
pub(in super::super) const BOUNDING: &str = r"up|down|back(?:wards?)?|ago|more(?:\s+recent(?:ly)?)?|less|later|earlier|newer|older|post|pre|beyond|past|under|above|below|exceeding|than|minimum|maximum|min|max|at\s+(?:the\s+)?(?:latest|earliest|least|most)|inclusive(?:ly)?|exclusive(?:ly)?|incl|including|onwards?|forwards?|upwards?|thereafter|afterwards|around|circa|ca|approx(?:imately)?|roughly|preceding|following|predating|postdating|früher|später|älter|neuer|jünger|mindestens|höchstens|einschließlich|inkl|ungefähr|etwa|\p{L}+er\s+(?:als|dan)|tard|tôt|environ|inclus|(?:plus|más|mais|più|mai)\s+\p{L}+\s+(?:que|de|di|del|do\s+que)|tardar|temprano|adelante|oltre|entro|successiv[ioae]|precedent[ei]|eerder|ouder|nieuwer|uiterlijk|minstens|tidigare|senare|äldre|nyare|senast|tidigast|tidligst|framåt|tidligere|senere|ældre|eldre|nyere|senest|\p{L}+\s+(?:niż|než|чем|ніж|än|kuin|mint)|\p{L}+re\s+enn?d?|wcześniej\p{L}*|p[óo]źniej\p{L}*|starsz[eya]|nowsz[eya]|najpóźniej|najwcześniej|dříve|později|nejpozději|раньше|позже|позднее|ранее|старше|новее|включительно|раніше|пізніше|viimeistään|aikaisintaan|asti|saakka|kadar|arası\p{L}*|devreme|târziu|ulterio\p{L}+";

/// Bound years right before one; behind it they begin something else: `report 2016 to the board`.
pub(in super::super) const BOUNDING_BEFORE: &str = "through|thru|to|à|au|al|til";

/// Bound years with one other word between the two.
pub(in super::super) const BOUNDING_AHEAD: &str = r"since|before|after|until|till|prior|between|later\s+than|earlier\s+than|newer\s+than|older\s+than|seit|zwischen|frühestens|spätestens|depuis|avant|après|antérieure?s?|postérieure?s?|jusque|jusqu['’](?:à|en|au)|dès|desde|hasta|antes|despu[ée]s|posteriore?s?|anteriore?s?|partir|partire|dopo|prima|fino|depois|após|até|[îi]nainte|dup[ăa]|p[âa]n[ăa]|[îi]ncep[âa]nd|[îi]ntre|sinds|vanaf|vóór|tussen|sedan|efter|före|innan|mellan|siden|etter|før|indtil|mellem|mellom|przed|między|před|mezi|medzi|после|перед|между|начиная|після|між|починаючи|ennen|jälkeen|lähtien|alkaen|előtt|után|óta|között|önce(?:ki|si)?|sonra(?:ki|sı)?|beri|itibaren|πριν|μετά|μέχρι|έως|μεταξύ|قبل|بعد|منذ|حتى|بين|לפני|אחרי|מאז|עד|בין|trước|sau|từ|đến|ก่อน|หลัง|ตั้งแต่|จนถึง|sebelum|setelah|sesudah|sejak|hingga|sampai|antara|पहले|बाद|तक|पूर्व|पश्चात";

/// Bound a year right before it, in scripts that write no space between the two.
pub(in super::super) const WIDE_BEFORE: &str = "早于|晚于|早於|晚於|先于|大于|小于|大於|小於|超过|超過|截至|截止|直至|直到|自从|自|从|從|到|至|迄";

/// The same behind it, where the year and its particles end.
pub(in super::super) const WIDE_BEHIND: &str = "[超以未前後后起迄]|から|より|まで|之[前后後]|\\s*(?:초과|미만|이상|이하|이전|이후|까지|부터|[전후](?:$|[\\s에의]))";
