//! The lines of a file from its end: whoever wants the newest entries of a long record reads only
//! the part that holds them.

use std::io::{Read, Seek, SeekFrom};

/// Bytes that are read at once.
const BLOCK_BYTES: u64 = 64 * 1024;

/// Gives the lines of a file, the last one first, without their line ends.
pub(crate) struct LinesBack<R> {
    source: R,
    /// Where what was read begins in the file.
    start: u64,
    /// What was read and is not given yet: it begins at `start`.
    rest: Vec<u8>,
    is_over: bool,
}

impl<R: Read + Seek> LinesBack<R> {
    /// Begins at the end of a file.
    pub(crate) fn new(mut source: R) -> std::io::Result<Self> {
        let start = source.seek(SeekFrom::End(0))?;
        Ok(LinesBack { source, start, rest: Vec::new(), is_over: false })
    }

    fn read_block(&mut self) -> std::io::Result<()> {
        let n_bytes = self.start.min(BLOCK_BYTES);
        self.start -= n_bytes;
        self.source.seek(SeekFrom::Start(self.start))?;
        let mut block = vec![0; n_bytes as usize];
        self.source.read_exact(&mut block)?;
        block.append(&mut self.rest);
        self.rest = block;
        Ok(())
    }

    fn next_line(&mut self) -> std::io::Result<Option<Vec<u8>>> {
        // Only what a new block brings is searched again.
        let mut searched = 0;
        loop {
            let unsearched = self.rest.len() - searched;
            if let Some(at) = self.rest[..unsearched].iter().rposition(|byte| *byte == b'\n') {
                let line = self.rest.split_off(at + 1);
                self.rest.pop();
                return Ok(Some(line));
            }
            if self.start == 0 {
                self.is_over = true;
                return Ok(Some(std::mem::take(&mut self.rest)));
            }
            searched = self.rest.len();
            self.read_block()?;
        }
    }
}

impl<R: Read + Seek> Iterator for LinesBack<R> {
    type Item = std::io::Result<Vec<u8>>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.is_over {
            match self.next_line() {
                // The end of the last line is no line of its own.
                Ok(Some(line)) if line.is_empty() => {}
                Ok(line) => return line.map(Ok),
                Err(error) => {
                    self.is_over = true;
                    return Some(Err(error));
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    fn back(text: &str) -> Vec<String> {
        let lines = LinesBack::new(Cursor::new(text.as_bytes().to_vec())).unwrap();
        lines.map(|line| String::from_utf8(line.unwrap()).unwrap()).collect()
    }

    #[test]
    fn lines_longer_than_a_block_stay_whole() {
        let long = "x".repeat(3 * BLOCK_BYTES as usize);
        let text = format!("first\n{long}\nlast");
        assert_eq!(back(&text), ["last", &long, "first"]);
        assert_eq!(back(""), [] as [&str; 0]);
        assert_eq!(back("\n\n"), [] as [&str; 0]);
    }

    #[test]
    fn it_is_the_file_backwards() {
        for length in [1, 7, 4_095, 65_535, 65_536, 65_537] {
            let lines: Vec<String> = (0..9).map(|n| n.to_string().repeat(length)).collect();
            let mut given = back(&lines.iter().map(|line| format!("{line}\n")).collect::<String>());
            given.reverse();
            assert_eq!(given, lines, "{length}");
        }
    }
}
