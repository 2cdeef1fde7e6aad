pub struct Span {
    pub start: usize,
}

impl Span { //! two/src/lib.rs::Span
    pub fn new() -> Span { //! two/src/lib.rs::Span
        Span { start: 0 } //! two/src/lib.rs::Span; two/src/lib.rs::Span.start
    }
}

pub fn far(thing: &Thing) -> usize {
    thing.push(3);
    Span::new().start //! two/src/lib.rs::Span; two/src/lib.rs::Span.new; two/src/lib.rs::Span.start
}
