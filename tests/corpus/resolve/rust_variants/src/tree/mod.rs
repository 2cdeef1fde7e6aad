pub enum Frame {
    Concat { tree_tail: u8 },
    Leaf,
}

pub struct Machine {
    tree_table: Table,
    frames: Vec<Frame>,
}

pub struct Table(Cells);

pub struct Cells {
    tree_width: u8,
}

impl Machine {
    fn width(&self) -> u8 {
        self.tree_table.0.tree_width //! Machine.tree_table; Cells.tree_width
    }

    fn steps(&self) -> u8 {
        self.width() //! src/tree/mod.rs::Machine.width
    }

    fn last(&self, frame: Frame) -> u8 {
        use Frame::*;
        match frame {
            Frame::Concat { tree_tail } => tree_tail, //! Frame.Concat.tree_tail
            Leaf => 0, //! src/tree/mod.rs::Frame.Leaf
        }
    }
}

fn make() -> Frame {
    Frame::Concat { tree_tail: 1 } //! Frame.Concat.tree_tail
}
