//! Who may do what: another tenant's object does not exist, a stranger in the tenant is denied,
//! readers read, editors edit, owners own.

use serde_json::json;

use ingest::{JobService as _, ObjectError};

use super::{Fixture, admin, long, member, new_tool, soon};
use crate::{
    EndpointChange, Error, Member, NewEndpoint, NewProject, NodeRequest, ProjectChange, Result,
    Role, ToolChange, Upload,
};

#[derive(Debug, PartialEq)]
enum Outcome {
    Done,
    Denied,
    Missing,
}

fn outcome<T>(result: Result<T>) -> Outcome {
    match result {
        Ok(_) => Outcome::Done,
        Err(Error::Denied) => Outcome::Denied,
        Err(Error::Object(ObjectError::NotFound { .. })) => Outcome::Missing,
        Err(error) => panic!("{error:?}"),
    }
}

#[test]
fn every_call_asks_who_is_calling() {
    let world = Fixture::new();
    let ann = member("acme", "ann");
    let members = vec![
        Member { subject: "rita".to_owned(), role: Role::Reader },
        Member { subject: "ed".to_owned(), role: Role::Editor },
    ];
    let new = NewProject { name: "Docs".to_owned(), members };
    let project = world.service.create_project(&ann, &new).unwrap();
    let table = world.table(&ann, project.id.as_str(), &json!({ "a": long("harbour") }));
    let tool = world.tool(&ann, &table.id, "/a", "harbour");
    let endpoint =
        NewEndpoint { name: "Agent".to_owned(), tool_ids: vec![tool.id.clone()], project_id: None };
    let endpoint = world.service.create_endpoint(&ann, &endpoint).unwrap().endpoint;
    let file = world.file(&json!({ "a": long("harbour") }));
    let request = NodeRequest { json_path: String::new(), offset: 0, max_chars: 10 };

    let callers = [
        (member("acme", "rita"), Outcome::Done, Outcome::Denied, Outcome::Denied),
        (member("acme", "ed"), Outcome::Done, Outcome::Done, Outcome::Denied),
        (admin("acme"), Outcome::Done, Outcome::Done, Outcome::Done),
        (member("acme", "stranger"), Outcome::Denied, Outcome::Denied, Outcome::Denied),
        (member("other", "ann"), Outcome::Missing, Outcome::Missing, Outcome::Missing),
        (admin("other"), Outcome::Missing, Outcome::Missing, Outcome::Missing),
    ];
    for (caller, reads, edits, owns) in callers {
        let service = &world.service;
        let who = format!("{}/{}", caller.tenant, caller.subject);
        assert_eq!(outcome(service.get_project(&caller, &project.id)), reads, "{who}");
        assert_eq!(outcome(service.list_tables(&caller, &project.id)), reads, "{who}");
        assert_eq!(outcome(service.list_tools(&caller, &project.id)), reads, "{who}");
        assert_eq!(outcome(service.list_endpoints(&caller, &project.id)), reads, "{who}");
        assert_eq!(outcome(service.get_table(&caller, &table.id)), reads, "{who}");
        assert_eq!(outcome(service.get_tool(&caller, &tool.id)), reads, "{who}");
        assert_eq!(outcome(service.get_endpoint(&caller, &endpoint.id)), reads, "{who}");
        assert_eq!(outcome(service.search(&caller, &tool.id, "x", 5, &soon())), reads, "{who}");
        assert_eq!(
            outcome(service.get_node(&caller, &table.id, &request, &soon())),
            reads,
            "{who}"
        );
        assert_eq!(
            outcome(service.get_through(&caller, &tool.id, &request, &soon())),
            reads,
            "{who}"
        );

        let new = new_tool(&table.id, "/a", "another");
        assert_eq!(outcome(service.create_tool(&caller, &new)), edits, "{who}");
        let change = ToolChange { description: Some("x".to_owned()), ..ToolChange::default() };
        assert_eq!(outcome(service.update_tool(&caller, &tool.id, &change)), edits, "{who}");
        assert_eq!(outcome(service.reindex_tool(&caller, &tool.id)), edits, "{who}");
        let created = service.create_table(&caller, &project.id, "T", &file, &soon());
        assert_eq!(outcome(created), edits, "{who}");
        assert_eq!(outcome(service.stage(&caller, Upload::NewTable(&project.id))), edits, "{who}");
        assert_eq!(outcome(service.stage(&caller, Upload::Replacement(&table.id))), edits, "{who}");
        assert_eq!(
            outcome(service.replace_table(&caller, &table.id, &file, &soon())),
            edits,
            "{who}"
        );
        assert_eq!(outcome(service.rename_table(&caller, &table.id, "N")), edits, "{who}");
        let change = EndpointChange { name: Some("N".to_owned()), tool_ids: None };
        assert_eq!(
            outcome(service.update_endpoint(&caller, &endpoint.id, &change)),
            edits,
            "{who}"
        );
        assert_eq!(outcome(service.add_key(&caller, &endpoint.id)), edits, "{who}");
        let new =
            NewEndpoint { name: "x".to_owned(), tool_ids: vec![tool.id.clone()], project_id: None };
        assert_eq!(outcome(service.create_endpoint(&caller, &new)), edits, "{who}");

        let change = ProjectChange { name: Some("New".to_owned()), members: None };
        assert_eq!(outcome(service.update_project(&caller, &project.id, &change)), owns, "{who}");
        let n_listed = service.list_projects(&caller).unwrap().len();
        assert_eq!(n_listed, usize::from(reads == Outcome::Done), "{who}");
    }
    for stranger in [member("acme", "stranger"), admin("other")] {
        let service = &world.service;
        assert!(service.delete_tool(&stranger, &tool.id).is_err());
        assert!(service.delete_table(&stranger, &table.id).is_err());
        assert!(service.delete_endpoint(&stranger, &endpoint.id).is_err());
        assert!(service.revoke_key(&stranger, &endpoint.id, &endpoint.keys[0].id).is_err());
        assert!(service.delete_project(&stranger, &project.id).is_err());
        for job in world.jobs() {
            assert!(service.check_job(&stranger, &job).is_err());
            assert!(service.cancel_job(&stranger, &job.id).is_err());
        }
    }
}

#[test]
fn another_tenants_id_and_one_that_never_was_say_the_same() {
    let world = Fixture::new();
    let ann = member("acme", "ann");
    let project = world.project(&ann);
    let table = world.table(&ann, project.id.as_str(), &json!({ "a": long("harbour") }));
    let eve = admin("other");
    for id in [table.id.as_str(), "5ddbc2c6-e0a4-4ba1-a1a6-84c1b1b1a3cd", "", "../x"] {
        let error = world
            .service
            .create_tool(&eve, &new_tool(&crate::TableId::new(id), "", "x"))
            .unwrap_err();
        assert_eq!(error.to_string(), format!("Table not found: `{id}`"));
        let error = world.service.delete_table(&eve, &crate::TableId::new(id)).unwrap_err();
        assert_eq!(error.to_string(), format!("Table not found: `{id}`"));
    }
    for id in [project.id.as_str(), "none"] {
        let error = world.service.list_tables(&eve, &crate::ProjectId::new(id)).unwrap_err();
        assert_eq!(error.to_string(), format!("Project not found: `{id}`"));
    }
}

impl Fixture {
    fn jobs(&self) -> Vec<ingest::Job> {
        self.queue.list().unwrap()
    }
}
