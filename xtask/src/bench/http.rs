//! A server of objects in this process, for the cases of the engine `http`: it answers each request at once, from memory.

use std::io::{IoSlice, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::OnceLock;

use super::counting::split;
use super::tool::Tool;

/// Most bytes of the head of a request.
const HEAD_BYTES_MAX: usize = 16 << 10;

/// The words of a job on the server's objects. It signs, as for a store; the server does not look at signatures.
pub(super) fn words(words: &str) -> Result<Vec<String>, String> {
    let address = server()?;
    Ok(split(&format!(
        "--name=http --thread --ioengine=http --http_mode=s3 --http_host={address} --http_s3_keyid=AKID \
         --http_s3_key=secret --filename=/bucket/object --size=64m {words}"
    )))
}

/// The server's address, and the path and the bytes of an object of this size.
pub(super) fn object(bytes: usize) -> Result<[String; 3], String> {
    Ok([server()?.to_string(), format!("/bucket/object_0_{bytes}"), bytes.to_string()])
}

/// Whether the tool has the engine.
pub(super) fn is_engine_of(tool: &Tool) -> bool {
    let engines = std::process::Command::new(&tool.program).arg("--enghelp").output();
    engines.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).lines().any(|line| line.trim() == "http"))
}

/// The address of the server, which lives as long as this process.
fn server() -> Result<SocketAddr, String> {
    static SERVER: OnceLock<Result<SocketAddr, String>> = OnceLock::new();
    SERVER.get_or_init(|| begin().map_err(|error| format!("no server can be started: {error}"))).clone()
}

fn begin() -> std::io::Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    std::thread::spawn(move || {
        for connection in listener.incoming().flatten() {
            // A client that leaves ends its connection.
            std::thread::spawn(move || drop(serve(connection)));
        }
    });
    Ok(address)
}

fn serve(mut connection: TcpStream) -> std::io::Result<()> {
    connection.set_nodelay(true)?;
    let (mut inbox, mut come) = (vec![0; HEAD_BYTES_MAX + (64 << 10)], 0);
    let object = vec![7; 1 << 20];
    loop {
        let end = loop {
            match inbox[..come].windows(4).position(|four| four == b"\r\n\r\n") {
                Some(at) => break at + 4,
                None if come > HEAD_BYTES_MAX => return Ok(()),
                None => match connection.read(&mut inbox[come..])? {
                    0 => return Ok(()),
                    bytes => come += bytes,
                },
            }
        };
        let request = Request::of(&String::from_utf8_lossy(&inbox[..end]));
        if request.waits {
            connection.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
        }
        // What has come behind the head belongs to the body: a client sends its next request after the answer.
        let mut left = request.body_bytes.saturating_sub(come - end);
        while left > 0 {
            match connection.read(&mut inbox)? {
                0 => return Ok(()),
                bytes => left = left.saturating_sub(bytes),
            }
        }
        come = 0;
        let body = &object[..request.object_bytes.min(object.len())];
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
        let sent = connection.write_vectored(&[IoSlice::new(head.as_bytes()), IoSlice::new(body)])?;
        connection.write_all(&head.as_bytes()[sent.min(head.len())..])?;
        connection.write_all(&body[sent.saturating_sub(head.len())..])?;
    }
}

/// What the server has to know of a request.
#[derive(Debug, PartialEq)]
struct Request {
    body_bytes: usize,
    /// Bytes of the object that is asked for: its name ends with them.
    object_bytes: usize,
    /// Whether the client waits before it sends the body.
    waits: bool,
}

impl Request {
    fn of(head: &str) -> Request {
        let lines = || head.lines().map(str::to_ascii_lowercase);
        let field = |name: &str| lines().find_map(|line| line.strip_prefix(name).map(|value| value.trim().to_owned()));
        let path = head.split(' ').nth(1).unwrap_or_default();
        let asked = head.starts_with("GET ").then(|| path.rsplit('_').next()?.parse().ok()).flatten();
        Request {
            body_bytes: field("content-length:").and_then(|digits| digits.parse().ok()).unwrap_or(0),
            object_bytes: asked.unwrap_or(0),
            waits: field("expect:").is_some(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_answered_with_the_bytes_of_its_object() {
        let mut client = TcpStream::connect(server().unwrap()).unwrap();
        let mut answer = |request: &[u8], end: &[u8]| {
            client.write_all(request).unwrap();
            let mut come = Vec::new();
            while !come.ends_with(end) {
                let mut part = [0; 4096];
                let bytes = client.read(&mut part).unwrap();
                come.extend_from_slice(&part[..bytes]);
            }
            String::from_utf8(come).unwrap()
        };
        let read = answer(b"GET /b/o_8192_5 HTTP/1.1\r\nHost: h\r\n\r\n", &[7; 5]);
        assert!(read.starts_with("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"), "{read}");
        let written = answer(b"PUT /b/o_0_3 HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc", b"0\r\n\r\n");
        assert!(written.contains("Content-Length: 0"), "{written}");
        let waits = answer(b"PUT /b/o_0_3 HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n", b"\r\n\r\n");
        assert!(waits.contains("100 Continue"), "{waits}");
    }
}
