//! An endpoint's key opens its bound tools and nothing else, as they are bound now.

use ingest::ObjectError;
use model::Identity;
use serde_json::json;

use super::{Fixture, admin, long, member, new_tool, soon};
use crate::{EndpointChange, Error, NewEndpoint, NewTool, NodeRequest, ToolChange, ToolKind};

fn endpoint(name: &str, tools: &[&str]) -> NewEndpoint {
    let tool_ids = tools.iter().map(|tool| crate::ToolId::new(*tool)).collect();
    NewEndpoint { name: name.to_owned(), tool_ids, project_id: None }
}

#[test]
fn a_key_opens_the_bound_tools_and_nothing_else() {
    let world = Fixture::new();
    let service = &world.service;
    let ann = member("acme", "ann");
    let project = world.project(&ann);
    let table = world.table(
        &ann,
        project.id.as_str(),
        &json!({ "a": long("harbour"), "b": long("castle") }),
    );
    let bound = world.tool(&ann, &table.id, "/a", "bound");
    let unbound = world.tool(&ann, &table.id, "/b", "unbound");
    let made = service.create_endpoint(&ann, &endpoint("Agent", &[bound.id.as_str()])).unwrap();
    let id = made.endpoint.id.clone();
    let open = |key: &str| service.open_endpoint(&id, Some(key)).unwrap();

    assert!(service.open_endpoint(&id, None).unwrap().is_none());
    assert!(open("").is_none() && open("dowse_wrong").is_none());
    assert!(open(&made.stored.sha256).is_none() && open(&made.stored.begins).is_none());
    assert!(
        service
            .open_endpoint(&crate::EndpointId::new("none"), Some(&made.api_key))
            .unwrap()
            .is_none()
    );

    let opened = open(&made.api_key).unwrap();
    assert_eq!(opened.caller.identity, Identity::Endpoint);
    let names: Vec<&str> = opened.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["bound"]);
    let agent = opened.caller;
    assert_eq!(world.search(&agent, &bound.id, "harbour").results.len(), 5);
    let request = NodeRequest { json_path: String::new(), offset: 0, max_chars: 4 };
    let node = service.get_through(&agent, &bound.id, &request, &soon()).unwrap();
    assert_eq!(node.text, "Line");
    // The place in the document, which results show as well.
    let request = NodeRequest { json_path: "/a".to_owned(), ..request };
    let node = service.get_through(&agent, &bound.id, &request, &soon()).unwrap();
    assert_eq!((node.text.as_str(), node.json_path.as_str()), ("Line", ""));
    let outside = NodeRequest { json_path: "/b".to_owned(), ..request };
    assert!(service.get_through(&agent, &bound.id, &outside, &soon()).is_err());
    for refused in [
        service.search(&agent, &unbound.id, "castle", 5, &soon()).map(|_| ()),
        service.get_tool(&agent, &bound.id).map(|_| ()),
        service.get_table(&agent, &table.id).map(|_| ()),
        service.get_node(&agent, &table.id, &request, &soon()).map(|_| ()),
        service.get_project(&agent, &project.id).map(|_| ()),
        service.add_key(&agent, &id).map(|_| ()),
        service.delete_tool(&agent, &bound.id).map(|_| ()),
    ] {
        assert!(matches!(refused, Err(Error::Object(ObjectError::NotFound { .. }))), "{refused:?}");
    }
    assert!(service.list_projects(&agent).unwrap().is_empty());

    let other = service.create_endpoint(&ann, &endpoint("Other", &[unbound.id.as_str()])).unwrap();
    assert!(open(&other.api_key).is_none(), "a key opens its own endpoint alone");
}

#[test]
fn keys_are_shown_once_and_can_be_taken_away() {
    let world = Fixture::new();
    let service = &world.service;
    let ann = member("acme", "ann");
    let project = world.project(&ann);
    let new = NewEndpoint { project_id: Some(project.id.clone()), ..endpoint("Agent", &[]) };
    let first = service.create_endpoint(&ann, &new).unwrap();
    let id = first.endpoint.id.clone();
    let second = service.add_key(&ann, &id).unwrap();
    let opens = |key: &str| service.open_endpoint(&id, Some(key)).unwrap().is_some();
    assert!(opens(&first.api_key) && opens(&second.api_key));
    let stored = serde_json::to_string(&service.get_endpoint(&ann, &id).unwrap()).unwrap();
    assert!(!stored.contains(&first.api_key) && !stored.contains(&second.api_key));
    service.revoke_key(&ann, &id, &first.stored.id).unwrap();
    assert!(!opens(&first.api_key) && opens(&second.api_key));
    assert!(service.revoke_key(&ann, &id, &first.stored.id).is_err());
    service.delete_endpoint(&ann, &id).unwrap();
    assert!(!opens(&second.api_key));
}

#[test]
fn keys_that_are_made_at_once_are_all_made() {
    let fixture = Fixture::new();
    let service = &fixture.service;
    let ann = member("acme", "ann");
    let project = fixture.project(&ann);
    let new = NewEndpoint { project_id: Some(project.id.clone()), ..endpoint("Agent", &[]) };
    let id = service.create_endpoint(&ann, &new).unwrap().endpoint.id;
    let n_callers = crate::limits::MAX_KEYS - 1;
    let together = std::sync::Barrier::new(n_callers);
    let keys: Vec<String> = std::thread::scope(|scope| {
        let callers: Vec<_> = (0..n_callers)
            .map(|_| {
                scope.spawn(|| {
                    together.wait();
                    service.add_key(&ann, &id).unwrap().api_key
                })
            })
            .collect();
        callers.into_iter().map(|caller| caller.join().unwrap()).collect()
    });
    for key in &keys {
        assert!(service.open_endpoint(&id, Some(key)).unwrap().is_some());
    }
    let refused = service.add_key(&ann, &id).unwrap_err();
    assert!(matches!(refused, Error::Object(ObjectError::TooLarge { .. })), "{refused:?}");
}

#[test]
fn bindings_change_at_once_and_names_stay_unique() {
    let world = Fixture::new();
    let service = &world.service;
    let ann = member("acme", "ann");
    let project = world.project(&ann);
    let table = world.table(&ann, project.id.as_str(), &json!({ "a": long("harbour") }));
    let make = |name: &str, kind: ToolKind| {
        let new = NewTool { kind, ..new_tool(&table.id, "/a", name) };
        service.create_tool(&ann, &new).unwrap().0
    };
    let one = make("one", ToolKind::Search);
    let same = make("one", ToolKind::Search);
    let reader = make("read", ToolKind::Get);
    assert!(reader.search_index.is_none());
    let made = service.create_endpoint(&ann, &endpoint("Agent", &[one.id.as_str()])).unwrap();
    let id = &made.endpoint.id;
    let names = || -> Vec<String> {
        let opened = service.open_endpoint(id, Some(&made.api_key)).unwrap().unwrap();
        opened.tools.into_iter().map(|tool| tool.name).collect()
    };
    let bind = |tools: &[&str]| {
        let tool_ids = Some(tools.iter().map(|tool| crate::ToolId::new(*tool)).collect());
        service.update_endpoint(&ann, id, &EndpointChange { name: None, tool_ids })
    };
    bind(&[reader.id.as_str(), one.id.as_str()]).unwrap();
    assert_eq!(names(), ["read", "one"]);
    let clash = bind(&[one.id.as_str(), same.id.as_str()]).unwrap_err();
    assert_eq!(clash.to_string(), "the endpoint `Agent` has a tool called `one` already");
    let rename = |tool: &str, name: &str| {
        let change = ToolChange { name: Some(name.to_owned()), ..ToolChange::default() };
        service.update_tool(&ann, &crate::ToolId::new(tool), &change)
    };
    assert!(matches!(rename(reader.id.as_str(), "one"), Err(Error::NameTaken { .. })));
    rename(one.id.as_str(), "two").unwrap();
    assert_eq!(names(), ["read", "two"]);
    rename(reader.id.as_str(), "one").unwrap();
    assert!(matches!(
        bind(&[one.id.as_str(), one.id.as_str()]),
        Err(Error::Object(ObjectError::BadRequest { .. }))
    ));
    service.delete_tool(&ann, &one.id).unwrap();
    assert_eq!(names(), ["one"]);
    assert_eq!(service.get_endpoint(&ann, id).unwrap().tool_ids, std::slice::from_ref(&reader.id));

    let elsewhere = world.project(&ann);
    let table = world.table(&ann, elsewhere.id.as_str(), &json!({}));
    let (foreign, _) = service.create_tool(&ann, &new_tool(&table.id, "", "foreign")).unwrap();
    assert!(matches!(
        bind(&[foreign.id.as_str()]),
        Err(Error::Object(ObjectError::BadRequest { .. }))
    ));
    let stolen = service.create_endpoint(&admin("other"), &endpoint("Eve", &[reader.id.as_str()]));
    let refused = stolen.unwrap_err().to_string();
    assert!(refused.starts_with("Tool not found: `"), "{refused}");
    for name in ["", "with space", "ümlaut", "a.b", &"x".repeat(65)] {
        assert!(
            matches!(
                rename(reader.id.as_str(), name),
                Err(Error::Object(ObjectError::BadRequest { .. }))
            ),
            "{name}"
        );
    }
}
