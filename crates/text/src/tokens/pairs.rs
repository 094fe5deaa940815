//! What pairs of letters say of a word's cost: words of a language that a vocabulary knows well have
//! pairs that are frequent there, and those of others fall into many pieces.
//!
//! A word costs a token, and what each of its pairs adds, the blank before and behind it counted as a
//! letter. The figures were fitted to the o200k vocabulary over messages of programs in ninety languages,
//! articles, abstracts, source code and random text; English, JSON and source code counted more
//! than the others. One sign of a row is one figure: `B` is nothing, each sign behind it is a 32nd
//! of a token more, and each before it less.

/// Latin letters: the edge of a word, `a` to `z`, letters of Latin-1 with accents, other letters.
const N_LATIN: usize = 29;

/// Cyrillic letters: the edge of a word, `а` to `я`, all others.
const N_CYRILLIC: usize = 34;

/// The sign of nothing.
const NOTHING: u8 = b'B';

const LATIN: [&str; N_LATIN] = [
    r"B?><?@>C>A<=?=AA@D?>@??;GABBG",
    r"BOEDG\NBOHSKCEGVIOEIFIKNGJKMZ",
    r"CGMJSCTWQKJTEZDFYeFFMJYUVNWWN",
    r"CCWHVBU\DDS=CY`COMFS?FW_XOOLP",
    r">G\LGDRETEXQLKKFOSNITFRI]OIQR",
    r"=DIDBKHILKRUIMFKJIEDKPGE>PS_W",
    r"BKZLRI?X]E]YMRNG^[JWEGYLVIXD=",
    r"<PMWWGXECKVRKRDO_`DLIJRVYNFTW",
    r"=JM]OITZ\GUPTJHG\\P\DKWL\LYRI",
    r"DHDDGIGHUXINHID=CNLHF[D\E]FQX",
    r"ELWf[K^Y_N_OWTQH\bbS_FUY\_]QP",
    r"?LMVLGUPPNDDTZTSYdZLBMVUdW\UR",
    r";HPTHGFRMEMNFNZI@[`DEJJ]eAVTO",
    r">FP]UEKS]HUUPH]EC\\CUHYQSTWKS",
    r"=HXBEFCBFHINKNPGLaYAAIHT`OOLU",
    r"ANGEKQDD[RPJEFEEG^DJJBI?ARR`P",
    r"=FUHTDYZCLZO=CTCD[CKCHFSTNWRP",
    r"BWYY``cX[O\^SYX]]Q\VQ<Ycbb]D]",
    r"<GGGECFETGUNIDGCJJJCJKGHYFXRN",
    r"=MaG`EN\CIaKRNOJIMO>DITMbGULM",
    r";HYHRCIS@B\KDFYEEbDEGI]=eGYLT",
    r"FHCCJESJVCZKHCG]EbFFFcS[PJOIL",
    r"DH\WY@[^]DTWKX^HSZST^L\[WW^NY",
    r"@IY^LHY]BIZ`N_CFTZCS_VWNWS_[F",
    r"?SDHSI[[`HQQVGR^IZ[\NXT^SKSOQ",
    r"7FPTPLZVaQ[YSTPDKbN?GHYI\[SVO",
    r"BLaS[EWXZR[YTWKRV`^\UHXNZ[IQO",
    r"DG^LTFUUNSWUOLM@XRTZT_SYONUDW",
    r"DTU?VNYakN]QQVK^QHQYYGofC[PRI",
];

const CYRILLIC: [&str; N_CYRILLIC] = [
    r"B<5=B;H:A>N3<7?B>9>=B7:A:>7BAB<H8?",
    r"?NKJLNKMNUGNHOJPOIPMFRMJKNTJdBREVV",
    r"CLB_K{MB`KB3ERLGcTRYJT#BB$<PGjcB_T",
    r">KXFd>KbhLBMDSKNiWC9DNNT[U3NJKdBFU",
    r"CKBQBZE]BJB0QtVABD[VMBW?RdBB\BOBBJ",
    r"8M]YSMH\QSBMKGHNARNHUZ:5DUBOQVKB:Q",
    r"=^EWQH;QLTJLGDHQWG?GodS>ANJcBBB3Ya",
    r"HKRB)aDBBOB>OB?MLBXd\BBBQBBBSB2BBD",
    r":GSNJAQBBGB@NPJ@DMKgEB[/RKBSGcIdWI",
    r"?>UQQO>NNKOLQLIOQQHEBHTOLQkBBBW.AT",
    r"7RNcCLGPBHBIDWIABVTLBB]N+aBBOBBBXC",
    r"=KBXBNN2UKBBTBXJBWJ@OB]/jS=TPB_BBM",
    r"9KheLJNFJLBLT\NPFIJYKYLSuLBAO=IKKM",
    r"AK_;;OKMVMB.A@PM9]PQMBOBL>BBWBZBKR",
    r"9IQPQAMQ_HBUAb?JkF\AK:mRQQBMK]MMWO",
    r"=aFGDNGCQJKKGIS^INKKW_VYPM<BBB-[NT",
    r":EZcBBEBBJBZbB>G3F]ZJBULrcB_FL8X=^",
    r";KZTVKHRTJBMSCHIjVQJJONcRRBZL[W`?O",
    r"9P}Db9JBTKBKLPSKML@?K_DWQUB_F3VKMU",
    r"=MIFRSN[UNBQBYQKYJ=JN)[]?SB^L@^GPJ",
    r"??:FALLKWFSROKHoMRLZNhTgJIDBSBBJ`W",
    r"MWBBBFGBaLBBTPBBB_][IEBBB7BBXBFBBj",
    r"7UfO>I\DBP[BXX3KBE?\P~BIBBBBF@LB[V",
    r"QRBHBBLBBIB[]BSYB{S]ABj6BBBBSQbKRH",
    r"JUBIO\HBBKBVHPJn_JBGOBB`B<BBTBBBB]",
    r"=KlXObGQOQB[N\RKecBQORBBbBBWFBaBB?",
    r"<EBBBBMBBVBBBBAKBBBBYBBBBBBBBGBBB7",
    r";^VQUF9[XWBLK@gDY\CXBB[?OBeBBBBB@e",
    r"9CYLFS>BLB?NPCLBKK^VBeFOZ[BBBBBZ[L",
    r"5Bh^Z^MV0NB@mPM@aBK=BBBkBMBBBBB5TD",
    r"0U1nBWBHmB:UBJQ\dATABpI_S`BKZBYBBh",
    r"=BLNBNRBd[[XG_VBBObLHBBM;B/BBBBMBO",
    r"5SDPXN=BYVZLX>\BgShNVBGUMYG_BBB42A",
    r"AIROYPSfQNaWYLKSTOTUUSUXPXXAHBBSVR",
];

/// A script with a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Script {
    Latin,
    Cyrillic,
}

impl Script {
    /// The script of a letter that has a table.
    pub(super) fn of(char: char) -> Option<Script> {
        match char {
            'a'..='z' | 'A'..='Z' | '\u{c0}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}' | 'ə' => {
                Some(Script::Latin)
            }
            '\u{400}'..='\u{52f}' => Some(Script::Cyrillic),
            _ => None,
        }
    }

    /// The row of a letter; that of the edge of a word is 0.
    fn row(self, char: char) -> usize {
        let small = char.to_lowercase().next().unwrap_or(char);
        match (self, small) {
            (Script::Latin, 'a'..='z') => small as usize - 'a' as usize + 1,
            (Script::Latin, ..='\u{ff}') => 27,
            (Script::Latin, _) => 28,
            (Script::Cyrillic, 'а'..='я') => small as usize - 'а' as usize + 1,
            (Script::Cyrillic, _) => 33,
        }
    }

    /// What a pair of letters adds, in 32nds of a token; nothing stands for the edge of the word.
    pub(super) fn pair(self, first: Option<char>, second: Option<char>) -> i64 {
        let row = |letter: Option<char>| letter.map_or(0, |letter| self.row(letter));
        let table: &[&str] = match self {
            Script::Latin => &LATIN,
            Script::Cyrillic => &CYRILLIC,
        };
        let sign = table.get(row(first)).and_then(|line| line.as_bytes().get(row(second)));
        sign.map_or(0, |sign| i64::from(*sign) - i64::from(NOTHING))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_has_a_figure() {
        assert!(LATIN.iter().all(|line| line.len() == N_LATIN));
        assert!(CYRILLIC.iter().all(|line| line.len() == N_CYRILLIC));
        for (first, last) in [('a', 'z'), ('а', 'я')] {
            let script = Script::of(first).unwrap();
            let table: &[&str] = if script == Script::Latin { &LATIN } else { &CYRILLIC };
            let sign = |row: usize, column: usize| i64::from(table[row].as_bytes()[column]) - 66;
            assert_eq!(script.pair(None, Some(first)), sign(0, 1));
            assert_eq!(script.pair(Some(last), None), sign(last as usize - first as usize + 1, 0));
        }
        assert_eq!(Script::of('中'), None);
    }
}
