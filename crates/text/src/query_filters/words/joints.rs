//! Words that join two formats, in languages that have no row.
//!
//! They are read between two formats alone, so that what they mean elsewhere does no harm. A list of
//! which one half was not understood would be a filter by the other half.

/// Join two formats of which either is meant.
pub(in super::super) const OR: &str = "ili|или|ali|alebo|nebo|anebo|arba|ar|vai|või|ehk|eða|eller|edo|ose|jew|neu|nó|au|ama|of\\s+anders|o\\s+bien|ou\\s+bien|o\\s+kaya|yoxsa|və\\s+ya|və\\s+yaxud|немесе|ё|або|ya|யா|அல்லது|لیکن\\s+یا|یا|কিংবা|বা|অথবা|లేదా|ಅಥವಾ|അല്ലെങ്കിൽ|અથવા|किंवा|ਜਾਂ|හෝ|ან|կամ|эсвэл|яки|ወይም";

/// Join two formats of which both are meant.
pub(in super::super) const AND: &str = "kao\\s+i|te|kot\\s+tudi|bei|un|ning|og|i|eta|agus|u|dhe|və|және|жана|va|dan|at|na|và|และ|و|और|اور|এবং|మరియు|மற்றும்|ಮತ್ತು|ഒപ്പം|અને|आणि|ਅਤੇ|සහ|და|և|болон|እና";

/// Nouns for files that are before the format in their language: `fichiers html sur …`.
pub(in super::super) const FILES: &str = "dateien|fichiers?|archivos?|ficheros?|arquivos?|ficheiros?|fi[sșş]iere(?:le)?|bestanden|filer|tiedostot|pliki|soubory|súbory|файлы|файли|датотеке|datoteke|fájlok|dosyalar|αρχεία|ملفات|קבצי|berkas|ไฟล์";

/// Articles and words for years that may be between a small word and a year: `tra il 2021 e il 2023`.
pub(in super::super) const THE_YEAR: &str = r"(?:(?:the|il|el|le|la|les|los|os|o|den|dem|das|de|het|το)\s+)?(?:(?:years?|anul|anii|anno|anni|an|ans|années?|años?|anos?|jahre?n?|jaar|jaren|lat|rok(?:u|iem|em|y)?|lety?|år(?:et|en)?|год(?:а|у|ом|ами)?|рок(?:у|ом|ами)?|έτος|έτους)\s+)?";
