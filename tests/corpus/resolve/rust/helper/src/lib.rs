pub fn trim_name(name: &str) -> String {
    name.to_string()
}

pub struct Wire {
    pub width: u32,
}

impl Wire { //! Wire
    pub fn new(width: u32) -> Self {
        Wire { width } //! Wire
    }

    pub fn bend_wire(&self) -> u32 {
        self.straighten() //! Wire.straighten
    }

    fn straighten(&self) -> u32 {
        self.width
    }
}
