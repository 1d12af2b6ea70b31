//! Questions to an object store: `measure`, `compare`, `sweep`, `curve`, `inspect` and others of `s3://BUCKET[/PREFIX]`.

mod answers;
mod attribute;
mod calls;
mod compare;
mod cost;
mod functions;
mod inspect;
mod keys;
mod leftovers;
mod load;
mod measure;
mod parts;
mod phase;
mod plain;
mod server;
mod site;
mod work;

pub use attribute::attribute;
pub use compare::{ObjectCompareOptions, compare, compare_names};
pub use functions::with_objects;
pub use inspect::{StoreFacts, inspect};
pub use leftovers::clean;
pub use load::{ObjectLimits, curve, scale, sweep};
pub use measure::{ObjectOptions, measure};
