pub struct Span {
    pub start: usize,
    parts: Vec<usize>,
}

impl Span { //! one/src/lib.rs::Span
    pub fn new(start: usize) -> Span { //! one/src/lib.rs::Span
        let mut parts = Vec::new();
        parts.push(start);
        Span { start, parts } //! one/src/lib.rs::Span; one/src/lib.rs::Span.start; one/src/lib.rs::Span.parts
    }

    pub fn push(&mut self, part: usize) {
        self.parts.push(part); //! one/src/lib.rs::Span.parts
    }
}

pub fn grow(span: &mut Span) -> usize { //! one/src/lib.rs::Span
    span.push(1); //! one/src/lib.rs::Span.push
    let wrapped = Some(Span::new(2)); //! one/src/lib.rs::Span; one/src/lib.rs::Span.new
    span.start //! one/src/lib.rs::Span.start
}
