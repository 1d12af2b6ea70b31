//! Questions to an object store: `measure`, `compare`, `inspect` and `clean` of `s3://BUCKET[/PREFIX]`.

mod attribute;
mod calls;
mod compare;
mod inspect;
mod keys;
mod leftovers;
mod measure;
mod phase;
mod server;
mod site;
mod work;

pub use attribute::attribute;
pub use compare::{ObjectCompareOptions, compare, compare_names};
pub use inspect::{StoreFacts, inspect};
pub use leftovers::clean;
pub use measure::{ObjectOptions, measure};
