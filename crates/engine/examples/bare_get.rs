//! A loop of GET requests over one connection that signs, counts and times nothing: the floor for the engine `http`. It
//! sends a request of the usual length by one call, receives the answer by one call where the kernel has it whole, and
//! prints its CPU time per request, ns.
//!
//! Words: the server's address, the path of the object, its bytes, and the number of requests.
#![cfg_attr(target_os = "linux", expect(clippy::print_stdout, reason = "the figure is for the caller"))]

#[cfg(target_os = "linux")]
fn main() -> std::io::Result<()> {
    use std::io::{Error, Read, Write};

    let words: Vec<String> = std::env::args().skip(1).collect();
    let [address, path, bytes, requests] = words.as_slice() else {
        return Err(Error::other("words: ADDRESS PATH BYTES REQUESTS"));
    };
    let number = |word: &String| word.parse::<usize>().map_err(Error::other);
    let (bytes, requests) = (number(bytes)?, number(requests)?);
    let mut connection = std::net::TcpStream::connect(address)?;
    connection.set_nodelay(true)?;
    // A signature of version 4 and its fields take about as many bytes.
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: {}\r\n\r\n", "x".repeat(360));
    let mut inbox = vec![0; bytes + (8 << 10)];
    let begin_ns = cpu_ns();
    for _ in 0..requests {
        connection.write_all(request.as_bytes())?;
        let mut come = 0;
        loop {
            come += match connection.read(&mut inbox[come..])? {
                0 => return Err(Error::other("the server closed the connection")),
                part => part,
            };
            let head = inbox[..come].windows(4).position(|four| four == b"\r\n\r\n");
            if head.is_some_and(|head| come >= head + 4 + bytes) {
                break;
            }
        }
    }
    println!("{:.1}", (cpu_ns() - begin_ns) / requests as f64);
    Ok(())
}

#[cfg(target_os = "linux")]
fn cpu_ns() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

#[cfg(not(target_os = "linux"))]
fn main() {}
