//! What the interfaces of a machine carried, together.

use results::{ReadWrite, sort};

/// No interface is a witness.
pub(crate) const NOTHING_CARRIED: &str = "no interface moved any bytes";

/// Names of interfaces as a witness, and all their bytes received and sent. `towards`: those that the traffic must take;
/// empty: nobody knows, and each counts that has ever carried anything. `None`: there is none.
pub(crate) fn together(
    interfaces: impl Iterator<Item = (String, ReadWrite<u64>)>,
    towards: &[String],
) -> Option<(String, ReadWrite<u64>)> {
    let (mut names, mut sum) = (Vec::new(), ReadWrite::default());
    for (name, bytes) in interfaces {
        if towards.contains(&name) || towards.is_empty() && bytes.sum() > 0 {
            names.push(name);
            sum = sum.plus(bytes);
        }
    }
    sort::by(&mut names, Ord::cmp);
    match &names[..] {
        [] => None,
        [name] => Some((format!("interface {name}"), sum)),
        _ => Some((format!("interfaces {}", names.join(", ")), sum)),
    }
}
