//! Filters in words: the names behind the ids, as far as the caller may see their dimensions.

use model::Caller;

use crate::Service;
use crate::charts::chart::SeriesWords;
use crate::charts::request::{
    AccountCategory, Exclusion, Normalization, Selection, SeriesDefinition,
};

/// A line names at most this many values and counts the rest.
const MAX_NAMED: usize = 8;

/// Says what a series holds, one line for each field.
pub(crate) fn in_words(
    service: &Service,
    caller: &Caller,
    definition: &SeriesDefinition,
) -> SeriesWords {
    let filter = &definition.filter;
    let mut lines = vec![match filter.account_category {
        AccountCategory::Ch => "Spending".to_owned(),
        AccountCategory::Vn => "Revenue".to_owned(),
    }];
    lines[0].push_str(match filter.normalization {
        Normalization::Total => "",
        Normalization::PerCapita => ", for each inhabitant",
        Normalization::TotalEuro => ", in euro",
        Normalization::PerCapitaEuro => ", in euro for each inhabitant",
    });
    lines.push(match &filter.report_period.selection {
        Selection::Interval { start, end } if start == end => format!("Period: {start}"),
        Selection::Interval { start, end } => format!("Period: {start} to {end}"),
        Selection::Dates(dates) => {
            let dates: Vec<String> = dates.iter().map(ToString::to_string).collect();
            format!("Periods: {}", shortened(&dates))
        }
    });
    lines.extend(fields(service, caller, &filter.only, ""));
    lines.extend(fields(service, caller, &filter.exclude, "Without "));
    SeriesWords { label: definition.label.clone(), lines }
}

fn fields(service: &Service, caller: &Caller, named: &Exclusion, before: &str) -> Vec<String> {
    named
        .fields()
        .map(|field| {
            let values: Vec<String> = named
                .values(field)
                .iter()
                .map(|value| match service.name_of_value(caller, field, value) {
                    Some(name) => format!("{name} ({value})"),
                    None => value.clone(),
                })
                .collect();
            let heading = format!("{before}{}", heading(field));
            let (first, rest) = heading.split_at(1);
            format!("{}{rest}: {}", first.to_uppercase(), shortened(&values))
        })
        .collect()
}

fn heading(field: &str) -> &str {
    match field {
        "entity_cuis" => "institutions",
        "uat_ids" => "administrative units",
        "county_codes" => "counties",
        "functional_prefixes" => "functions, with all under them",
        "functional_codes" => "functions",
        "economic_prefixes" => "kinds of spending, with all under them",
        "economic_codes" => "kinds of spending",
        other => other,
    }
}

fn shortened(values: &[String]) -> String {
    let shown = values.iter().take(MAX_NAMED).cloned().collect::<Vec<_>>().join(", ");
    match values.len().saturating_sub(MAX_NAMED) {
        0 => shown,
        n_more => format!("{shown} and {n_more} more"),
    }
}
