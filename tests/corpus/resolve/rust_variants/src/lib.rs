pub mod text;
pub mod tree;
