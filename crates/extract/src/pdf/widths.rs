//! Widths of the fonts that every reader has, for files that do not repeat them.

/// Gives the width of an ASCII character in thousandths of the size, by the name of the font.
pub(super) fn usual_width(font_name: &str, byte: u8) -> f32 {
    let name = font_name.to_ascii_lowercase();
    if name.contains("courier") || name.contains("mono") || name.contains("consol") {
        return 600.0;
    }
    let is_serif = name.contains("times") || name.contains("serif") || name.contains("roman");
    let table = if is_serif { &TIMES } else { &HELVETICA };
    let width = byte.checked_sub(0x20).and_then(|at| table.get(usize::from(at)));
    width.map_or(if is_serif { 500.0 } else { 556.0 }, |width| f32::from(*width))
}

const HELVETICA: [u16; 95] = [
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556,
    556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667,
    611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667,
    667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500,
    222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
];

const TIMES: [u16; 95] = [
    250, 333, 408, 500, 500, 833, 778, 180, 333, 333, 500, 564, 250, 333, 250, 278, 500, 500, 500,
    500, 500, 500, 500, 500, 500, 500, 278, 278, 564, 564, 564, 444, 921, 722, 667, 667, 722, 611,
    556, 722, 722, 333, 389, 722, 611, 889, 722, 722, 556, 722, 667, 556, 611, 722, 722, 944, 722,
    722, 611, 333, 278, 333, 469, 500, 333, 444, 500, 444, 500, 444, 333, 500, 500, 278, 278, 500,
    278, 778, 500, 500, 500, 500, 333, 389, 278, 500, 500, 722, 500, 500, 444, 480, 200, 480, 541,
];
