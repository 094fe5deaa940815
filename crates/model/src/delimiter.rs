//! What separates the cells of delimited text, guessed where nobody says.
//!
//! Documents and tables read the same files, so they must guess alike.

/// What may separate cells; of two that fit equally well, the first.
const CANDIDATES: [u8; 4] = [b',', b';', b'\t', b'|'];

/// How many records the guess looks at, and how many bytes.
const SAMPLE_RECORDS: usize = 20;
const SAMPLE_BYTES: usize = 64 << 10;

/// Lines above the names of the columns that are looked through: titles, remarks.
pub const MAX_LINES_ABOVE: usize = 20;

/// Gives what separates cells: what cuts the first records most evenly into most cells and is in
/// the first line, which names the columns. Rows with lists can have more of what separates the
/// values of a list. A first line that holds none of it, above lines that agree on one, is a title.
/// A comma when nothing separates.
///
/// `text` is the beginning of the file, in an encoding that keeps ASCII. What is between
/// quotes does not count for evenness.
pub fn guess_delimiter(text: &[u8]) -> u8 {
    let mut rest = text;
    for _ in 0..=MAX_LINES_ABOVE {
        let guessed = most_even(rest);
        let header = first_record(rest);
        let count = |wanted: u8| header.iter().filter(|byte| **byte == wanted).count();
        if count(guessed) > 0 {
            return guessed;
        }
        let in_header = CANDIDATES.into_iter().max_by_key(|candidate| count(*candidate));
        if let Some(separator) = in_header.filter(|candidate| count(*candidate) > 0) {
            return separator;
        }
        rest = rest.get(header.len() + 1..).unwrap_or_default();
    }
    most_even(text)
}

/// Gives the first record without its end; the first line, where a quote in it never closes.
fn first_record(text: &[u8]) -> &[u8] {
    let mut is_quoted = false;
    let sample = text.iter().take(SAMPLE_BYTES);
    let end = sample.enumerate().find(|(_, byte)| {
        is_quoted ^= **byte == b'"';
        **byte == b'\n' && !is_quoted
    });
    match end {
        Some((end, _)) => &text[..end],
        None => text.split(|byte| *byte == b'\n').next().unwrap_or_default(),
    }
}

/// Reads the first line of a file, which may name what separates its cells: `sep=;`, as
/// spreadsheets write it.
pub fn declared_delimiter(line: &[u8]) -> Option<u8> {
    match line.trim_ascii_end().strip_prefix(b"sep=") {
        Some([delimiter]) if delimiter.is_ascii() => Some(*delimiter),
        _ => None,
    }
}

/// Gives the byte that cuts the first records most evenly into most cells; a comma when none does.
fn most_even(text: &[u8]) -> u8 {
    let records = counts_by_record(&text[..text.len().min(SAMPLE_BYTES)]);
    let mut best = (CANDIDATES[0], 0.0);
    for (candidate_idx, candidate) in CANDIDATES.into_iter().enumerate() {
        let counts: Vec<usize> = records.iter().map(|counts| counts[candidate_idx]).collect();
        let most = counts.iter().copied().max().unwrap_or(0);
        if most == 0 {
            continue;
        }
        let n_even = counts.iter().filter(|count| Some(*count) == counts.first()).count();
        let evenness = n_even as f64 / counts.len() as f64;
        let weight = evenness * evenness * (1.0 + (most as f64).ln());
        if weight > best.1 {
            best = (candidate, weight);
        }
    }
    best.0
}

/// Counts the candidates in each of the first records that are not blank.
fn counts_by_record(text: &[u8]) -> Vec<[usize; CANDIDATES.len()]> {
    let mut records = Vec::new();
    let mut counts = [0; CANDIDATES.len()];
    let mut is_quoted = false;
    let mut is_blank = true;
    for byte in text {
        match byte {
            b'"' => is_quoted = !is_quoted,
            b'\n' if !is_quoted => {
                if !is_blank {
                    records.push(counts);
                }
                if records.len() == SAMPLE_RECORDS {
                    return records;
                }
                (counts, is_blank) = ([0; CANDIDATES.len()], true);
                continue;
            }
            byte if !is_quoted => {
                if let Some(idx) = CANDIDATES.iter().position(|candidate| candidate == byte) {
                    counts[idx] += 1;
                }
            }
            _ => {}
        }
        is_blank &= byte.is_ascii_whitespace();
    }
    // The last record may be cut by the end of the sample; alone, it is all there is.
    if !is_blank && (records.is_empty() || text.len() < SAMPLE_BYTES) {
        records.push(counts);
    }
    records
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: char) {
        assert_eq!(char::from(guess_delimiter(text.as_bytes())), expected, "{text:?}");
    }

    #[test]
    fn the_most_even_cut_wins() {
        check("", ',');
        check("one column\nof words\n", ',');
        check("a,b\n1,2\n", ',');
        check("a;b,c;d\n1;2;3\n", ';');
        check("a\tb, and more\n1\t2\n", '\t');
        check("a|b\n1|2", '|');
        // The header alone has more commas than semicolons.
        check("name, first, last;age\nPop;7\nIon;8\n", ';');
        // What is quoted does not count, nor do blank lines.
        check("\n\"a;b;c\",d\n\n\"e;f;g\",h\n", ',');
        check("\"a\nb,c,d\";1\nx;2\n", ';');
    }
}
