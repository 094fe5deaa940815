//! Words that turn what is said into its opposite and belong to no row: behind what is not wanted,
//! without a space before it, and in languages that have no row.
//!
//! A filter for just what is not wanted is worse than none, so that a word is worth having here
//! even where another language uses it for something else: the query then has no filter.

/// Are behind what is not wanted: `PDF以外`, `pdf hariç`, `pdf 말고`.
pub(in super::super) const BEHIND: &str = "以外|之外|除外|でない|ではない|じゃない|(?:で|では|じゃ)なく|を?除(?:く|いた|いて|外)|のぞく|なし|抜き|は?(?:不要|いらない)|제외(?:하고|한)?|말고|빼고|아닌|아니라|없이|없는|이외|외(?:에|의|\\s|$)|değil|olmayan|olmadan|hariç|dışında|nélkül|kivéve|kivételével|नहीं|के\\s+(?:बिना|अलावा|सिवाय)|को\\s+छोड़कर|deyil|istisna|емес|გარდა|নয|ছাড়া|বাদে|தவிர|இல்லாமல்|அல்ல|نہیں|کے\\s+(?:بغیر|علاوہ|سوا)";

/// May be between what is not wanted and the word behind it.
pub(in super::super) const BEFORE_BEHIND: &str = "の|は|が|을|를|이|가|은|는|의|[\\s,]";

/// Are before what is not wanted, in scripts that write no space between the two.
pub(in super::super) const TOUCHING: &str = "除了|除去|除开|排除|剔除|去掉|不要|不是|不含|不包(?:括|含)|不用|不带|而非|没有|非|无|無|ไม่ใช่|ยกเว้น|ไม่เอา|ไม่รวม|นอกจาก|חוץ\\s+מ|פרט\\s+ל";

/// Are before what is not wanted, in languages that have no row.
pub(in super::super) const FURTHER: &str = "excepte|llevat\\s+de|tret\\s+de|agás|välja\\s+arvatud|izņemot|išskyrus|brez|osim|izuzev|осим|изузев|освен|përveç|isipokuwa|maliban\\s+sa|praeter|ekki|behalwe|ոչ|առանց|բացի|არა|نه|(?:به\\s*|ب)?جز|(?:به\\s+)?غیر\\s+از";

/// Are said of what is not wanted, with too many other uses to be read as a filter against it.
pub(in super::super) const DOUBTFUL: &str = "ignor(?:e|ing)|skip(?:ping)?|leav(?:e|ing)\\s+out|omit(?:ting)?|avoid(?:ing)?|minus|outside|besides|don['’]t|do\\s+not|neither|nor|ni|né|ngoài|weder|jamais|nunca|niemals|nigdy|никогда|excluyend[oa]|escludendo|za\\s+wyjątkiem";

/// The same right before what is not wanted alone: elsewhere they are other words.
pub(in super::super) const DOUBTFUL_BESIDE: &str = "sense|sen|ez|ilma|peale|nav|be|jo|pa|án|nema|gan|heb|nid|sine|razen|krom|sonder|hindi|walang|bila|!|！|¬";

/// The same behind it: "2021 excluded".
pub(in super::super) const DOUBTFUL_BEHIND: &str = "excluded|gabe|ez\\s+den(?:a|ak)|omitted|excepted|aside|ausgenommen|ausgeschlossen|exclus?(?:e|es)?|excluid[oa]s?|esclus[oaie]|excluíd[oa]s?|exceptat[ea]?|uitgezonderd|исключ\\p{L}+|wyłączon\\p{L}+|vyjma";
