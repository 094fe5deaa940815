//! Readings that are set beside letters (ruby, furigana): they come in brackets behind the word.
//!
//! Files put each reading between the letters it belongs to, often one for each letter, so that
//! plain reading gives `とう東きょう京`, which no search for `東京` finds.

/// Gathers readings until the word that they belong to is over.
#[derive(Debug, Default)]
pub(crate) struct Ruby {
    readings: String,
    in_reading: bool,
    /// The word may go on with another group of letters and their reading.
    has_ended: bool,
}

impl Ruby {
    /// Letters and their readings begin: a word, or more of one.
    pub(crate) fn begin(&mut self) {
        self.has_ended = false;
    }

    /// Texts from here on say how the letters sound: they are held back until the word is over.
    pub(crate) fn begin_reading(&mut self) {
        self.in_reading = true;
    }

    /// Texts from here on are letters again, of the same word unless it ends.
    pub(crate) fn end_reading(&mut self) {
        self.in_reading = false;
    }

    /// Letters and their readings end.
    pub(crate) fn end(&mut self) {
        (self.in_reading, self.has_ended) = (false, true);
    }

    /// Takes a text where it is a reading; else it is one of the document, and this gives what comes
    /// before it: the readings of a word that is over. White space alone ends no word.
    pub(crate) fn before(&mut self, text: &str) -> Option<String> {
        if self.in_reading {
            self.readings.push_str(text.trim());
            return None;
        }
        Some(if text.trim().is_empty() { String::new() } else { self.finish() })
    }

    /// Gives the readings in brackets where the word is over, as it is at the end of a paragraph.
    pub(crate) fn finish(&mut self) -> String {
        if !std::mem::take(&mut self.has_ended) || self.readings.is_empty() {
            return String::new();
        }
        format!("（{}）", std::mem::take(&mut self.readings))
    }
}

#[cfg(test)]
mod tests {
    use crate::{Caps, extract};

    #[track_caller]
    fn check(html: &str, expected: &str) {
        let (found, _) = extract(html.as_bytes(), "a.html", &Caps::standard());
        let blocks: Vec<&str> = found.blocks.iter().map(|block| block.text.as_str()).collect();
        assert_eq!(blocks.join("/"), expected, "{html}");
    }

    #[test]
    fn readings_come_behind_their_word() {
        check(
            "<p><ruby>東<rp>(</rp><rt>とう</rt><rp>)</rp>京<rp>(</rp><rt>きょう</rt><rp>)</rp></ruby>で会う",
            "東京（とうきょう）で会う",
        );
        check(
            "<p><ruby>東<rt>とう</rt></ruby>\n<ruby>京<rt>きょう</rt></ruby>\nまで",
            "東京（とうきょう）まで",
        );
        // The ends of readings may be left out.
        check("<p><ruby>漢<rt>かん<rp>)</rp>字<rt>じ</ruby><p>次", "漢字（かんじ）/次");
        check("<table><tr><td><ruby>字<rt>じ</rt></ruby><td>二</table>", "字（じ） | 二");
        check("<p><ruby>字<rt></rt></ruby>だ", "字だ");
        check("<p hidden><ruby>字<rt>じ</rt></ruby></p><p>見える", "見える");
    }
}
