//! The fixture prompts.

use rmcp::ErrorData;
use rmcp::model::{
    ContentBlock, GetPromptRequestParams, GetPromptResponse, GetPromptResult, ImageContent, Prompt,
    PromptArgument, PromptMessage, ResourceContents, Role,
};

use super::content::PIXEL;
use super::rounds;

/// Gives every prompt.
pub(super) fn list() -> Vec<Prompt> {
    let plain = |name: &str, description: &str| Prompt::new(name, Some(description), None);
    let argument =
        |name: &str| PromptArgument::new(name).with_description("a text").with_required(true);
    vec![
        plain("test_simple_prompt", "A sentence"),
        Prompt::new(
            "test_prompt_with_arguments",
            Some("A sentence with two arguments"),
            Some(vec![argument("arg1"), argument("arg2")]),
        ),
        plain("test_prompt_with_embedded_resource", "A sentence and a resource"),
        plain("test_prompt_with_image", "A sentence and an image"),
        plain("test_input_required_result_prompt", "A prompt that needs a context first"),
    ]
}

pub(super) fn get(params: &GetPromptRequestParams) -> Result<GetPromptResponse, ErrorData> {
    let argument = |name: &str| {
        let arguments = params.arguments.as_ref();
        arguments.and_then(|given| given.get(name)?.as_str()).unwrap_or_default().to_owned()
    };
    let say = |text: String| PromptMessage::new_text(Role::User, text);
    let messages = match params.name.as_str() {
        "test_simple_prompt" => vec![say("This is a simple prompt for testing.".to_owned())],
        "test_prompt_with_arguments" => vec![say(format!(
            "Prompt with arguments: arg1='{}', arg2='{}'",
            argument("arg1"),
            argument("arg2")
        ))],
        "test_prompt_with_embedded_resource" => {
            let uri = match argument("resourceUri") {
                uri if uri.is_empty() => "test://static-text".to_owned(),
                uri => uri,
            };
            vec![PromptMessage::new(Role::User, resource(uri)), say("Read it.".to_owned())]
        }
        "test_prompt_with_image" => {
            let image = ContentBlock::Image(ImageContent::new(PIXEL, "image/png"));
            vec![PromptMessage::new(Role::User, image), say("Look at it.".to_owned())]
        }
        "test_input_required_result_prompt" => {
            match rounds::prompt_context(params.input_responses.as_ref()) {
                Ok(context) => vec![say(format!("Context: {context}"))],
                Err(needed) => return Ok((*needed).into()),
            }
        }
        other => {
            return Err(ErrorData::invalid_params(format!("unknown prompt `{other}`"), None));
        }
    };
    Ok(GetPromptResult::new(messages).into())
}

fn resource(uri: String) -> ContentBlock {
    ContentBlock::resource(ResourceContents::TextResourceContents {
        uri,
        mime_type: Some("text/plain".to_owned()),
        text: "Embedded resource content for testing.".to_owned(),
        meta: None,
    })
}
