//! Tools of the files family.

mod answer;

mod index_folder;
mod list_files;
mod list_roots;
mod open_file;
mod resources;
mod rewrite_query;
mod search_files;
mod summarize_results;

pub use answer::error_of;
pub use index_folder::IndexFolder;
pub use list_files::ListFiles;
pub use list_roots::ListRoots;
pub use open_file::OpenFile;
pub use resources::FilePlaces;
pub use rewrite_query::RewriteQuery;
pub use search_files::SearchFiles;
pub use summarize_results::SummarizeResults;

#[cfg(test)]
mod tests;
