//! A part of a job that many jobs may hold together.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// A value that is held once by all who have not changed it: who writes to it gets a copy of its own first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shared<T>(Arc<T>);

impl<T> From<T> for Shared<T> {
    fn from(value: T) -> Shared<T> {
        Shared(Arc::new(value))
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Clone> DerefMut for Shared<T> {
    fn deref_mut(&mut self) -> &mut T {
        Arc::make_mut(&mut self.0)
    }
}

impl<T: PartialEq> Shared<T> {
    /// Holds the other's value if it is equal.
    pub(super) fn share_with(&mut self, other: &Shared<T>) {
        if self.0 == other.0 {
            self.0 = Arc::clone(&other.0);
        }
    }

    /// Whether both hold one value.
    pub fn is_one_with(&self, other: &Shared<T>) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}
