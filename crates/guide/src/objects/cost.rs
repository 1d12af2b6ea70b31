//! What requests cost at the list price of one store: those of others are not known here.

/// The most requests, and the most bytes that are read.
#[derive(Clone, Copy, Default)]
pub(super) struct Cost {
    /// PUT, POST and LIST.
    pub(super) puts: u64,
    /// GET and HEAD.
    pub(super) gets: u64,
    pub(super) read_bytes: u64,
}

/// Dollars for each request, and for each byte to the internet: AWS' price lists AmazonS3 20260928230416 and AWSDataTransfer
/// 20260916132208. DELETE is free.
const PUT: f64 = 0.005e-3;
const GET: f64 = 0.0004e-3;
const BYTE: f64 = 0.09e-9;

impl Cost {
    /// What is behind an estimate of requests; nothing for a store that is none of S3.
    pub(super) fn sentence(self, is_s3: bool) -> String {
        let requests = self.puts as f64 * PUT + self.gets as f64 * GET;
        let read = self.read_bytes as f64 * BYTE;
        let text = format!(
            ". At the list price of S3 Standard (us-east-1, September 2026) these are {} dollars at most, and {} more \
             where what is read leaves for the internet",
            in_cents(requests),
            in_cents(read)
        );
        if is_s3 { text } else { String::new() }
    }
}

/// Rounded up: a part of a cent is not nothing.
fn in_cents(dollars: f64) -> String {
    format!("{:.2}", (dollars * 100.0).ceil() / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of docs/object-storage.md.
    #[test]
    fn requests_have_their_list_price() {
        let cost = Cost { puts: 3_700, gets: 6_500, read_bytes: 5_036_000_000 };
        let text = cost.sentence(true);
        assert!(text.contains("these are 0.03 dollars at most, and 0.46 more where"), "{text}");
        assert_eq!(cost.sentence(false), "");
        assert!(Cost::default().sentence(true).contains("these are 0.00 dollars at most, and 0.00 more"));
    }
}
