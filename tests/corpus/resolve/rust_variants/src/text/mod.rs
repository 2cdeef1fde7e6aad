pub enum Frame {
    Concat { text_tail: u8 },
    Leaf,
}

pub struct Machine {
    text_table: Table,
    frames: Vec<Frame>,
}

pub struct Table(Cells);

pub struct Cells {
    text_width: u8,
}

impl Machine {
    fn width(&self) -> u8 {
        self.text_table.0.text_width //! Machine.text_table; Cells.text_width
    }

    fn steps(&self) -> u8 {
        self.width() //! src/text/mod.rs::Machine.width
    }

    fn last(&self, frame: Frame) -> u8 {
        use Frame::*;
        match frame {
            Frame::Concat { text_tail } => text_tail, //! Frame.Concat.text_tail
            Leaf => 0, //! src/text/mod.rs::Frame.Leaf
        }
    }
}

fn make() -> Frame {
    Frame::Concat { text_tail: 1 } //! Frame.Concat.text_tail
}
