//! A run after the process has ended several times while the same job ran: documents are taken in
//! small groups, and each group is written down before it is begun.
//!
//! When the process ends again, the group is divided at the next try, until one document is alone.
//! One that ends the process alone, too, several times and a while after its start, is written
//! without text and with the reason; the others are never left out.

use std::collections::HashSet;
use std::thread;
use std::time::Instant;

use crossbeam_channel::bounded;
use model::{ReadOutcome, Warning};

use super::IngestReport;
use super::batch::Batch;
use super::run::{Read, Run};
use crate::progress::GroupLog;
use crate::{Crashes, Error, Item, ItemContent, Result, Source, limits};

impl Run<'_> {
    pub(super) fn in_groups(
        &self,
        source: &mut dyn Source,
        log: &dyn GroupLog,
    ) -> Result<IngestReport> {
        let mut suspects = Remaining::of(log.crashes());
        let (mut report, mut read) = (IngestReport::default(), Read::default());
        let counter = source.counter();
        thread::scope(|scope| {
            if let Some(counter) = counter {
                let progress = self.progress;
                scope.spawn(move || progress.set_total(crate::Stage::Writing, counter()));
            }
            let mut next = self.next_changed(source, &mut read);
            while let Some(first) = next.take() {
                // One of the suspects is in a group with other suspects alone, so that groups
                // become smaller from try to try.
                let is_suspect = suspects.has(&first.0);
                let max_documents =
                    suspects.group_size(is_suspect).min(self.pipeline.hooks.documents_per_commit());
                let mut n_bytes = first.1.n_bytes();
                let mut group = vec![first];
                next = self.next_changed(source, &mut read);
                while let Some((item, content)) = next.take_if(|(item, content)| {
                    group.len() < max_documents
                        && suspects.has(item) == is_suspect
                        && n_bytes + content.n_bytes() <= limits::MAX_WAITING_BYTES
                }) {
                    n_bytes += content.n_bytes();
                    group.push((item, content));
                    next = self.next_changed(source, &mut read);
                }
                if is_suspect && log.crashes().suspects.len() == 1 {
                    self.stay_calm();
                }
                if self.progress.is_cancelled() {
                    break;
                }
                log.begin(group.iter().map(|(item, _)| item.id.to_string()).collect())?;
                for (item, content) in &mut group {
                    if log.crashes().left_out.iter().any(|id| id == item.id.as_str()) {
                        *content = left_out();
                    }
                }
                suspects.pass(&group);
                self.take_group(group, &mut report)?;
            }
            Ok::<(), Error>(())
        })?;
        read.add_to(&mut report);
        Ok(report)
    }

    /// Lets a while pass before a document is tried again over which alone the process has ended. A process
    /// that is killed meanwhile has not begun the document, which is then not blamed: kills that
    /// come one after the other left out what had nothing to do with them.
    fn stay_calm(&self) {
        let until = Instant::now() + limits::CALM_BEFORE_SUSPECT;
        while Instant::now() < until && !self.progress.is_cancelled() {
            thread::sleep(limits::CANCEL_STEP);
        }
    }

    /// Reads a group and writes it.
    fn take_group(&self, group: Vec<(Item, ItemContent)>, report: &mut IngestReport) -> Result<()> {
        let n_extractors = self.pipeline.n_extractors.clamp(1, group.len());
        let (to_extract, extracting) = bounded(group.len());
        for (item, content) in group {
            self.in_flight.enter(content.n_bytes(), self.progress);
            // There is space for all of them, and the other end is here.
            let _ = to_extract.send((item, content));
        }
        drop(to_extract);
        let (to_write, writing) = bounded(limits::MAX_WAITING_DOCUMENTS);
        thread::scope(|scope| {
            let extractors: Vec<_> = (0..n_extractors)
                .map(|_| {
                    let (extracting, to_write) = (extracting.clone(), to_write.clone());
                    scope.spawn(move || self.extract_all(&extracting, &to_write))
                })
                .collect();
            drop(to_write);
            let mut batch = Batch::of_any_size(limits::DOCUMENTS_PER_GROUP);
            for prepared in writing {
                self.texts.leave(prepared.n_text_bytes());
                batch.push(prepared);
                if batch.is_full() {
                    // A reader that waits to hand its text over is let go.
                    self.write(&mut batch.take(), report)
                        .inspect_err(|_| self.progress.cancel())?;
                }
            }
            for extractor in extractors {
                let n_left_out = extractor.join();
                report.n_failed +=
                    n_left_out.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            }
            self.write(&mut batch.take(), report)
        })
    }
}

/// The documents of the group during which the process ended, as far as they did not pass yet.
struct Remaining {
    documents: HashSet<String>,
    n_documents: usize,
}

impl Remaining {
    fn of(crashes: &Crashes) -> Self {
        let documents: HashSet<String> = crashes.suspects.iter().cloned().collect();
        Remaining { n_documents: documents.len(), documents }
    }

    fn has(&self, item: &Item) -> bool {
        self.documents.contains(item.id.as_str())
    }

    /// Gives how many documents may be together.
    fn group_size(&self, is_suspect: bool) -> usize {
        match is_suspect {
            true => (self.n_documents / limits::GROUP_PARTS).max(1),
            false => limits::DOCUMENTS_PER_GROUP,
        }
    }

    fn pass(&mut self, group: &[(Item, ItemContent)]) {
        for (item, _) in group {
            self.documents.remove(item.id.as_str());
        }
    }
}

fn left_out() -> ItemContent {
    let message = format!(
        "the program ended {} times while it read this document alone; it is read again when it \
         changes",
        limits::CRASHES_PER_DOCUMENT
    );
    ItemContent::Nothing(ReadOutcome::Failed, Warning::new("failed", message))
}
