//! The certificates of the authorities that the system trusts.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

/// Where distributions keep all of them in one file.
const FILES: [&str; 6] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/pki/tls/cacert.pem",
    "/etc/ssl/cert.pem",
];

/// Where they have a file each.
const FOLDERS: [&str; 2] = ["/etc/ssl/certs", "/etc/pki/tls/certs"];

/// A file of certificates is not longer.
const BYTES_MAX: u64 = fsdyno_os::files::SMALL_FILE_BYTES_MAX;

/// Those of the file and of the folders that these variables name, as OpenSSL takes them; without both those of the system.
pub(super) fn authorities(file: Option<OsString>, folders: Option<OsString>) -> Vec<CertificateDer<'static>> {
    let named = file.is_some() || folders.is_some();
    let mut all: Vec<_> = file.into_iter().flat_map(|file| in_file(Path::new(&file))).collect();
    if let Some(folders) = folders {
        all.extend(std::env::split_paths(&folders).flat_map(in_folder));
    }
    if named {
        return all;
    }
    let in_files = || FILES.iter().map(|file| in_file(Path::new(file)));
    let in_folders = FOLDERS.iter().map(|folder| in_folder(PathBuf::from(folder)));
    in_files().chain(in_folders).find(|found| !found.is_empty()).unwrap_or_default()
}

/// What is no certificate is passed over.
fn in_file(path: &Path) -> Vec<CertificateDer<'static>> {
    let text = fsdyno_os::files::read_whole(path, BYTES_MAX).unwrap_or_default();
    CertificateDer::pem_slice_iter(&text).flatten().collect()
}

fn in_folder(folder: PathBuf) -> Vec<CertificateDer<'static>> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.flat_map(|entry| in_file(&entry.path())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Neither reads what the bytes say: a certificate is judged when a connection needs it.
    const FIRST: &str = "-----BEGIN CERTIFICATE-----\nAAEC\n-----END CERTIFICATE-----\n";
    const SECOND: &str = "-----BEGIN CERTIFICATE-----\nAwQF\n-----END CERTIFICATE-----\n";

    fn bytes(file: Option<&Path>, folders: Option<&Path>) -> Vec<Vec<u8>> {
        let variable = |path: Option<&Path>| path.map(|path| path.as_os_str().to_owned());
        let mut all: Vec<_> =
            authorities(variable(file), variable(folders)).iter().map(|certificate| certificate.to_vec()).collect();
        all.sort();
        all
    }

    #[test]
    fn a_file_and_folders_that_are_named_stand_for_those_of_the_system() {
        let place = tempfile::TempDir::new().unwrap();
        let (file, folder) = (place.path().join("all.pem"), place.path().join("each"));
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(&file, format!("a comment\n{FIRST}{SECOND}")).unwrap();
        std::fs::write(folder.join("second.pem"), SECOND).unwrap();
        std::fs::write(folder.join("key.pem"), "-----BEGIN PRIVATE KEY-----\nAAEC\n-----END PRIVATE KEY-----\n")
            .unwrap();
        std::os::unix::fs::symlink("nowhere", folder.join("0a1b2c3d.0")).unwrap();
        let (first, second) = (vec![0, 1, 2], vec![3, 4, 5]);
        assert_eq!(bytes(Some(&file), None), [first.clone(), second.clone()]);
        assert_eq!(bytes(None, Some(&folder)), std::slice::from_ref(&second));
        assert_eq!(bytes(Some(&file), Some(&folder)), [first, second.clone(), second]);
        assert_eq!(bytes(Some(&place.path().join("none")), None), Vec::<Vec<u8>>::new(), "not those of the system");
    }
}
