//! Ids are newtypes: a document's id can never be passed where a passage's is asked for.
//!
//! What a caller typed becomes an id at the edge, by the tool or route that knows which kind it
//! names; services take ids of their kind, and refuse those of which there is no object. On the wire
//! and in a catalogue an id is its text, which `as_str` gives and nothing gives unasked.

/// The id of a kind of object, whose text the rows of a catalogue are found by.
///
/// Kinds that have names instead of ids, such as hashes and words of a configuration, use `str`.
pub trait IdText {
    /// Gives the id's text.
    fn id_text(&self) -> &str;
}

impl IdText for str {
    fn id_text(&self) -> &str {
        self
    }
}

/// Defines an id that is only ever compared and written.
#[doc(hidden)]
#[macro_export]
macro_rules! plain_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(
            Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, ::serde::Serialize, ::serde::Deserialize,
        )]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// Takes the id's text as it is.
            pub fn new(id: impl Into<String>) -> Self {
                Self(id.into())
            }

            /// Gives the id's text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl $crate::IdText for $name {
            fn id_text(&self) -> &str {
                &self.0
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

/// Defines the type of the ids of one kind of object that people name in addresses and commands,
/// so that it is compared with what they wrote.
///
/// ```
/// model::object_id! {
///     /// A book of a library.
///     BookId
/// }
/// let book = BookId::new("7f2c");
/// assert_eq!(book, "7f2c");
/// assert_eq!(book.to_string(), "7f2c");
/// ```
///
/// It is no text by itself, or text would carry it to where the id of another kind is asked for;
/// whoever wants its text says `as_str`.
///
/// ```compile_fail
/// # model::object_id! {
/// #     /// A book of a library.
/// #     BookId
/// # }
/// fn shelf(text: &str) {}
/// shelf(&BookId::new("7f2c"));
/// ```
///
/// Nor is it made from another id.
///
/// ```compile_fail
/// # model::object_id! {
/// #     /// A book of a library.
/// #     BookId
/// # }
/// # model::object_id! {
/// #     /// A reader of a library.
/// #     ReaderId
/// # }
/// let reader = ReaderId::new(&BookId::new("7f2c"));
/// ```
#[macro_export]
macro_rules! object_id {
    ($(#[$doc:meta])* $name:ident) => {
        $crate::plain_id! { $(#[$doc])* $name }

        impl PartialEq<&str> for $name {
            fn eq(&self, text: &&str) -> bool {
                self.0 == **text
            }
        }
    };
}

plain_id! {
    /// An organisation whose objects no other organisation sees.
    TenantId
}
plain_id! {
    /// A set of documents that is indexed and searched together.
    NamespaceId
}
plain_id! {
    /// A document inside a namespace: a file, a JSON string node, an uploaded text.
    DocumentId
}
plain_id! {
    /// One passage of one version of a document; stable while its text is unchanged.
    PassageId
}

impl TenantId {
    /// The tenant of everyone who calls without authentication.
    pub fn local() -> Self {
        TenantId::new("local")
    }
}
