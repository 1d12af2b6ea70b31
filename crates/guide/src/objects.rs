//! Questions to an object store: `measure`, `inspect` and `clean` of `s3://BUCKET[/PREFIX]`.

mod inspect;
mod keys;
mod leftovers;
mod measure;
mod server;
mod work;

pub use inspect::{StoreFacts, inspect};
pub use leftovers::clean;
pub use measure::{ObjectOptions, measure};
