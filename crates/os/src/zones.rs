//! The zones of a zoned block device, in bytes.

/// One zone as the device reports it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Zone {
    /// Its first byte on the device.
    pub start: u64,
    /// From its start to the start of the next zone.
    pub length: u64,
    /// The part of it, from its start, that can be written.
    pub capacity: u64,
    /// Bytes below the write pointer; the whole zone where there is none.
    pub written: u64,
    /// The state of the zone.
    pub state: ZoneState,
}

/// What can be done with a zone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ZoneState {
    /// No write pointer: it is written anywhere, like a disk.
    #[default]
    Conventional,
    /// Nothing is written.
    Empty,
    /// Partly written: it counts against the device's limits.
    Active,
    /// Nothing more can be written before a reset.
    Full,
    /// Read-only or offline.
    Unusable,
}

/// What a device does with a zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZoneAction {
    /// Its data is gone, and writes begin at its start.
    Reset,
    /// It counts as full.
    Finish,
}
