pub mod socket;

pub fn resolve_host() {}
