//! What `dowse kb` takes.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use model::Clearance;

use crate::commands::ObjectArgs;
use crate::files_cli::at_least_one;

/// Flags of `dowse kb`.
#[derive(Debug, Clone, Args)]
pub(crate) struct KbArgs {
    #[command(flatten)]
    pub(crate) objects: ObjectArgs,
    #[command(subcommand)]
    pub(crate) command: KbCommand,
}

/// What to do with knowledge bases. KB is an id, or a name that only one has.
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum KbCommand {
    /// Make a knowledge base and print its id
    Create {
        /// What people call it
        name: String,
        /// What it is about
        #[arg(long, default_value = "")]
        description: String,
        /// Let everyone in the tenant read it
        #[arg(long)]
        public: bool,
    },
    /// List knowledge bases
    List,
    /// Change a knowledge base
    Update {
        /// The knowledge base
        kb: String,
        /// Another name
        #[arg(long)]
        name: Option<String>,
        /// Another description
        #[arg(long)]
        description: Option<String>,
        /// Let everyone in the tenant read it
        #[arg(long, conflicts_with = "private")]
        public: bool,
        /// Let its owner and administrators alone read it
        #[arg(long)]
        private: bool,
    },
    /// Delete a knowledge base with all that is in it
    Delete {
        /// The knowledge base
        kb: String,
    },
    /// Collections of a knowledge base
    #[command(subcommand)]
    Collection(CollectionCommand),
    /// Add files or a text, and wait until they can be found
    Add(AddArgs),
    /// List the documents of a collection
    Documents {
        /// Its id, its name where only one has it, or `BASE/NAME`
        collection: String,
    },
    /// Put the content of a file in the place of what a document holds
    Replace {
        /// The id of the document
        document: String,
        /// A file in any format that can be read
        file: PathBuf,
        /// Repair hyphens that OCR read for long vowel marks
        #[arg(long)]
        normalize_ocr: bool,
    },
    /// Change the title, tags or metadata of a document
    Set {
        /// The id of the document
        document: String,
        /// Another title
        #[arg(long)]
        title: Option<String>,
        /// A tag, in the place of all before; once for each, empty for none
        #[arg(long = "tag")]
        tags: Vec<String>,
        /// A JSON object, in the place of the metadata before
        #[arg(long)]
        metadata: Option<String>,
    },
    /// Delete a document
    Remove {
        /// The id of the document
        document: String,
    },
    /// Search a knowledge base
    Search {
        /// The knowledge base
        kb: String,
        /// What to look for
        query: String,
        /// The least relevance, 0 to 1
        #[arg(long, default_value_t = 0.6)]
        threshold: f64,
        /// How many results
        #[arg(long, default_value_t = 10, value_parser = at_least_one)]
        max_results: usize,
    },
    /// Print what a knowledge base is about and how much is in it
    Summary {
        /// The knowledge base
        kb: String,
        /// Print every version of the summary of each collection
        #[arg(long)]
        versions: bool,
    },
    /// List jobs, the latest first
    Jobs,
}

/// What to do with collections.
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum CollectionCommand {
    /// Make a collection and print its id
    Create {
        /// The knowledge base
        kb: String,
        /// What people call it
        name: String,
        /// What it is about
        #[arg(long, default_value = "")]
        description: String,
        /// How far a reader must be trusted
        #[arg(long, default_value = "internal")]
        clearance: Clearance,
        /// The department it is for; all when absent
        #[arg(long)]
        department: Option<String>,
    },
    /// List the collections of a knowledge base
    List {
        /// The knowledge base
        kb: String,
    },
    /// Change a collection
    Update {
        /// Its id, its name where only one has it, or `BASE/NAME`
        collection: String,
        /// Another name
        #[arg(long)]
        name: Option<String>,
        /// Another description
        #[arg(long)]
        description: Option<String>,
        /// Another clearance
        #[arg(long)]
        clearance: Option<Clearance>,
        /// Another department; an empty one is for all
        #[arg(long)]
        department: Option<String>,
    },
    /// Delete a collection with its documents
    Delete {
        /// Its id, its name where only one has it, or `BASE/NAME`
        collection: String,
    },
}

/// Flags of `dowse kb add`.
#[derive(Debug, Clone, Args)]
pub(crate) struct AddArgs {
    /// The knowledge base
    pub(crate) kb: String,
    /// Files in any format that can be read
    #[arg(required_unless_present = "text")]
    pub(crate) files: Vec<PathBuf>,
    /// A text to add, beside the files
    #[arg(long)]
    pub(crate) text: Option<String>,
    /// The title of the text
    #[arg(long, default_value = "", requires = "text")]
    pub(crate) title: String,
    /// The id or the name of the collection; it is made when there is none
    #[arg(long, default_value = "documents")]
    pub(crate) collection: String,
    /// The clearance of a collection that is made
    #[arg(long, default_value = "internal")]
    pub(crate) clearance: Clearance,
    /// The department of a collection that is made
    #[arg(long)]
    pub(crate) department: Option<String>,
    /// Repair hyphens that OCR read for long vowel marks
    #[arg(long)]
    pub(crate) normalize_ocr: bool,
}

impl KbCommand {
    /// Tells whether the command changes nothing.
    pub(crate) fn is_reading(&self) -> bool {
        matches!(
            self,
            KbCommand::List
                | KbCommand::Documents { .. }
                | KbCommand::Search { .. }
                | KbCommand::Collection(CollectionCommand::List { .. })
        )
    }
}
