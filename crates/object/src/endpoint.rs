//! The address of a server.

/// The name or address of a server, and its port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// The name, or the address without the brackets of IPv6.
    pub host: String,
    /// The port.
    pub port: u16,
    /// The value of the header `Host`: it has no port when the port is the usual one.
    pub authority: String,
}

impl Endpoint {
    /// Reads `host`, `host:port`, `[::1]` or `[::1]:port`. Returns `None` for any other text.
    pub fn parse(text: &str, tls: bool) -> Option<Endpoint> {
        let usual = if tls { 443 } else { 80 };
        let (host, port) = match text.strip_prefix('[').map(|rest| rest.split_once(']')) {
            Some(Some((host, rest))) => (host, rest.strip_prefix(':').or(rest.is_empty().then_some(""))?),
            Some(None) => return None,
            None => text.split_once(':').unwrap_or((text, "")),
        };
        let is_name = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
        let is_address = text.starts_with('[') && host.parse::<std::net::Ipv6Addr>().is_ok();
        if host.is_empty() || !(is_address || !text.starts_with('[') && host.chars().all(is_name)) {
            return None;
        }
        let port = if port.is_empty() { usual } else { port.parse().ok().filter(|port| *port > 0)? };
        let named = if is_address { format!("[{host}]") } else { host.to_owned() };
        let authority = if port == usual { named } else { format!("{named}:{port}") };
        Some(Endpoint { host: host.to_owned(), port, authority })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_have_ports_and_brackets() {
        let shown = |text, tls| {
            Endpoint::parse(text, tls)
                .map(|endpoint| format!("{} {} {}", endpoint.host, endpoint.port, endpoint.authority))
        };
        for (text, plain, tls) in [
            ("localhost", "localhost 80 localhost", "localhost 443 localhost"),
            ("s3.example.com:443", "s3.example.com 443 s3.example.com:443", "s3.example.com 443 s3.example.com"),
            ("10.0.0.1:9000", "10.0.0.1 9000 10.0.0.1:9000", "10.0.0.1 9000 10.0.0.1:9000"),
            ("[::1]:9000", "::1 9000 [::1]:9000", "::1 9000 [::1]:9000"),
            ("[fe80::1]", "fe80::1 80 [fe80::1]", "fe80::1 443 [fe80::1]"),
        ] {
            assert_eq!((shown(text, false).as_deref(), shown(text, true).as_deref()), (Some(plain), Some(tls)));
        }
        for none in ["", ":80", "a b", "a\r\nX: y", "[::1", "[::1]x", "[name]", "h:0", "h:65536", "h:80:80", "http://h"]
        {
            assert_eq!(shown(none, false), None, "{none}");
        }
    }
}
