//! The picture of a chart in an agent's answer.

use draw::{Scale, render_png};
use filters::charts::{ChartId, Charts};
use model::{Caller, Warning};

use crate::{Answer, Image, ToolError};

/// The type of every picture that is drawn here.
pub(super) const PNG: &str = "image/png";

/// Adds a chart as an image, and the address of the same for those who read JSON alone.
pub fn with_chart_image(
    answer: Answer,
    charts: &Charts,
    caller: &Caller,
    chart_id: &ChartId,
) -> Result<Answer, ToolError> {
    let chart = charts
        .get(caller, chart_id)
        .map_err(|cause| ToolError::internal(format!("the chart could not be stored: {cause}")))?;
    let image = render_png(&chart, Scale::ForModels)
        .map_err(|cause| ToolError::internal(cause.to_string()))?;
    let mut answer = answer;
    answer.value["image_url"] = format!("{}.png", charts.url_of(chart_id)).into();
    if image.n_missing > 0 {
        let message = format!(
            "the image shows {} characters as boxes: no font of the server has them; install \
             one, such as `fonts-noto-cjk`",
            image.n_missing
        );
        answer = answer.with_warnings(&[Warning::new("characters_not_drawn", message)]);
    }
    Ok(answer.with_image(Image { mime_type: PNG, bytes: image.bytes }))
}
