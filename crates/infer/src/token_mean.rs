//! The mean token vector of a model, which is taken off before token vectors are cut to bits.
//!
//! The token vectors of one model all point into the same narrow cone; what tells them apart is
//! their difference from the cone's middle. The middle is a property of the model, so it is made
//! once, from a fixed sample in many languages, and the write path and the read path share it.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use model::Deadline;
use parking_lot::Mutex;

use crate::{Embedder, EmbedderId, Result};

/// Models whose mean is remembered; a process uses one or two.
const MAX_REMEMBERED: usize = 8;

/// Sentences of many kinds in many languages. Changing one changes every kept blob's meaning.
const SAMPLE: [&str; 16] = [
    "The town council approved the new budget for schools and roads on Tuesday evening.",
    "Mice without the receptor showed a lower rate of tumour growth than the control group.",
    "To reset the device, hold the power button for ten seconds and wait for the light.",
    "Consiliul local a aprobat bugetul pentru școli și drumuri în ședința de marți.",
    "Râul izvorăște din munți și se varsă în Dunăre după trei sute de kilometri.",
    "市議会は火曜日の夜、学校と道路のための新しい予算を承認した。",
    "この川は北の山地に源を発し、三百キロメートルを流れて海に注ぐ。",
    "市議會週二晚上批准了學校和道路的新預算,居民表示歡迎。",
    "这条河发源于北部山区,流经三个省份,最后注入大海。",
    "Der Stadtrat hat am Dienstag den Haushalt für Schulen und Straßen beschlossen.",
    "Le conseil municipal a adopté le budget des écoles et des routes mardi soir.",
    "El ayuntamiento aprobó el martes el presupuesto para escuelas y carreteras.",
    "Городской совет во вторник утвердил бюджет на школы и дороги.",
    "وافق مجلس المدينة مساء الثلاثاء على ميزانية المدارس والطرق.",
    "시의회는 화요일 저녁 학교와 도로를 위한 새 예산을 승인했다.",
    "The treaty of 1848 ended the war; 2,500 soldiers returned home within 14 days.",
];

static REMEMBERED: LazyLock<Mutex<HashMap<EmbedderId, Arc<[f32]>>>> = LazyLock::new(Mutex::default);

/// Gives the mean token vector of a model. The first call of a process embeds a short sample;
/// later ones only look it up.
///
/// Fails when the embedder has no token vectors, or fails itself.
pub fn token_mean(embedder: &dyn Embedder, deadline: &Deadline) -> Result<Arc<[f32]>> {
    if let Some(mean) = REMEMBERED.lock().get(embedder.id()) {
        return Ok(Arc::clone(mean));
    }
    let mean: Arc<[f32]> = mean_of_sample(embedder, deadline)?.into();
    let mut remembered = REMEMBERED.lock();
    if remembered.len() >= MAX_REMEMBERED {
        remembered.clear();
    }
    remembered.insert(embedder.id().clone(), Arc::clone(&mean));
    Ok(mean)
}

fn mean_of_sample(embedder: &dyn Embedder, deadline: &Deadline) -> Result<Vec<f32>> {
    let embedded = embedder.embed_passages_with_tokens(&SAMPLE, deadline)?;
    let mut sum = vec![0.0_f64; embedder.dimensions()];
    let mut n_tokens = 0_u32;
    for token in embedded.iter().flat_map(|text| text.tokens.iter()) {
        n_tokens += 1;
        for (sum, value) in sum.iter_mut().zip(token) {
            *sum += f64::from(*value);
        }
    }
    let n_tokens = f64::from(n_tokens.max(1));
    Ok(sum.into_iter().map(|sum| (sum / n_tokens) as f32).collect())
}
