//! `dowse://charts/{id}`: the figures of a kept chart, read as a resource; with `.png` behind the
//! id, its picture.

use std::sync::Arc;

use draw::{Scale, render_png};
use filters::charts::{ChartSummary, Charts, render_csv};
use model::{Caller, Deadline};

use super::chart_image::PNG;
use super::search_filters::refused;
use crate::{ResourceBody, ResourceContent, ResourceEntry, ResourcePattern, Resources, ToolError};

const PREFIX: &str = "dowse://charts/";
const CSV: &str = "text/csv";

/// Charts by address.
pub struct ChartFigures {
    charts: Arc<Charts>,
}

impl ChartFigures {
    /// Reads the charts of a service.
    pub fn new(charts: Arc<Charts>) -> Self {
        ChartFigures { charts }
    }

    /// Lists what the caller may see; nothing while it cannot be read, as for every resource.
    fn listed(&self, caller: &Caller) -> Vec<ChartSummary> {
        self.charts.list(caller).unwrap_or_else(|error| {
            tracing::warn!(error = &error as &dyn std::error::Error, "charts cannot be listed");
            Vec::new()
        })
    }
}

impl Resources for ChartFigures {
    fn family(&self) -> &str {
        "charts"
    }

    fn tool(&self) -> Option<&str> {
        Some("generate_chart_data")
    }

    fn list(&self, caller: &Caller, after: Option<&str>, limit: usize) -> Vec<ResourceEntry> {
        let mut entries: Vec<ResourceEntry> = self
            .listed(caller)
            .into_iter()
            .map(|chart| ResourceEntry {
                uri: format!("{PREFIX}{}", chart.id),
                name: chart.title,
                mime_type: Some(CSV.to_owned()),
            })
            .filter(|entry| after.is_none_or(|after| entry.uri.as_str() > after))
            .collect();
        entries.sort_unstable_by(|one, other| one.uri.cmp(&other.uri));
        entries.truncate(limit);
        entries
    }

    fn patterns(&self, caller: &Caller) -> Vec<ResourcePattern> {
        if !self.charts.may_use(caller) && self.listed(caller).is_empty() {
            return Vec::new();
        }
        vec![
            ResourcePattern {
                pattern: format!("{PREFIX}{{id}}"),
                name: "A chart".to_owned(),
                description: "The figures of a chart; `id` is a `chart_id`.".to_owned(),
                mime_type: Some(CSV.to_owned()),
            },
            ResourcePattern {
                pattern: format!("{PREFIX}{{id}}.png"),
                name: "A chart as a picture".to_owned(),
                description: "The picture of a chart; `id` is a `chart_id`.".to_owned(),
                mime_type: Some(PNG.to_owned()),
            },
        ]
    }

    fn read(
        &self,
        caller: &Caller,
        uri: &str,
        _deadline: &Deadline,
    ) -> Result<Option<ResourceContent>, ToolError> {
        let Some(id) = uri.strip_prefix(PREFIX) else { return Ok(None) };
        let (id, is_picture) = id.strip_suffix(".png").map_or((id, false), |id| (id, true));
        let chart = match self.charts.get(caller, &filters::charts::ChartId::new(id)) {
            Ok(chart) => chart,
            Err(error @ filters::Error::Store(_)) => return Err(refused(&error)),
            // Whatever cannot be had does not exist for this caller.
            Err(_) => return Ok(None),
        };
        if is_picture {
            let image = render_png(&chart, Scale::ForModels)
                .map_err(|cause| ToolError::internal(cause.to_string()))?;
            let body = ResourceBody::Bytes(image.bytes);
            return Ok(Some(ResourceContent { mime_type: PNG.to_owned(), body }));
        }
        Ok(Some(ResourceContent {
            mime_type: CSV.to_owned(),
            body: ResourceBody::OwnText(render_csv(&chart)),
        }))
    }
}
