//! Questions to an object store: `measure` and `clean` of `s3://BUCKET[/PREFIX]`.

mod keys;
mod leftovers;
mod measure;
mod server;
mod work;

pub use leftovers::clean;
pub use measure::{ObjectOptions, measure};
