use super::resolve_host; //! resolve_host
use crate::Opens; //! Opens
use shop_helper::{trim_name, Wire}; //! trim_name; Wire

pub struct Socket {
    wire: Wire, //! Wire
}

impl Socket { //! Socket
    pub fn new() -> Socket { //! Socket
        resolve_host(); //! resolve_host
        trim_name("a"); //! trim_name
        Socket { wire: Wire::new(1) } //! Socket; Wire; Wire.new
    }
}

impl Opens for Socket { //! Opens; Socket
    fn open_now(&self) -> bool {
        self.wire.bend_wire(); //! Wire.bend_wire
        crate::net::resolve_host(); //! resolve_host
        true
    }
}

pub fn open_all(all: &[Box<dyn Opens>], one: &dyn Opens) { //! Opens
    one.open_now(); //! Opens.open_now
}
