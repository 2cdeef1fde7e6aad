//! A crate of shapes.

use std::collections::{self, HashMap, hash_map::{Entry as Slot, *}};  //? import std collections; import std::collections HashMap; import std::collections::hash_map Entry as Slot; import std::collections::hash_map *
use crate::near::Thing;  //? import crate::near Thing
pub use self::inner::deep as shallow;  //? import self::inner deep as shallow exported
extern crate serde as s;  //? import serde as s
mod outside;  //? import self outside

/// A shape in the plane.
///
/// More about it.
#[derive(Debug, Clone)]  //? decorator derive; read Debug; read Clone
pub struct Shape<'a, T: Named> {  //? struct Shape doc="A shape in the plane."; type Named
    pub name: &'a str,  //? field Shape.name
    pub(crate) size: Size<T>,  //? field Shape.size internal; type Size
    sides: Vec<Side>,  //? field Shape.sides private; type Vec; type Side
}

pub enum Color {  //? enum Color
    Red,  //? constant Color.Red
    Custom { code: u32 },  //? constant Color.Custom; field Color.Custom.code
    Other(Box<Color>),  //? constant Color.Other; type Box; type Color
}

pub trait Draw: Named + fmt::Debug {  //? trait Draw bases=Named,fmt::Debug; inherit Named; inherit fmt; inherit Debug on fmt
    type Output;  //? type Draw.Output
    const DEPTH: usize = 3;  //? constant Draw.DEPTH const
    fn draw(&self, on: &mut Canvas) -> Self::Output;  //? method Draw.draw; type Canvas; type Output on Self
    fn twice(&self) { self.draw(&mut Canvas::new()); }  //? method Draw.twice; call draw on self; read Canvas; call new on Canvas
}

impl<'a, T: Named> Shape<'a, T> {  //? impl Shape; type Named; type Shape
    pub const LIMIT: usize = 10;  //? constant Shape.LIMIT const

    /// Makes one.
    pub async fn new(name: &'a str, size: usize) -> Result<Self, Error> {  //? method Shape.new async doc="Makes one."; type Result; type Error
        let mut local = compute::<T>(size)?;  //? call compute
        let Some(found) = local.find(|item| item.weight > Self::LIMIT) else {  //? call find on local; read weight on item; read LIMIT on Self
            return Err(Error::Missing(name.to_string()));  //? read Error; call Missing on Error; call to_string on name
        };
        for (index, side) in local.sides().iter().enumerate() {  //? call sides on local; call iter on local.sides(); call enumerate on local.sides().iter()
            println!("{} {}", index, side.length);  //? call println; read length on side
        }
        match found {
            Color::Red => Ok(Shape { name, size: found.into(), sides: vec![] }),  //? read Color; read Red on Color; call Shape; call into on found; write sides on Shape{}; read name on Shape{}; call vec
            Color::Custom { code } if code > 1 => helper(code),  //? read Color; type Custom on Color; call helper
            other => inner::deep(other),  //? read inner; call deep on inner
        }
    }

    unsafe fn hidden(self) -> u8 { self.sides[0].code }  //? method Shape.hidden private unsafe; read sides on self; read code on self.sides[]
}

impl<T> Draw for Shape<'_, T> {  //? impl Shape bases=Draw; inherit Draw; type Shape
    type Output = ();  //? type Shape.Output
    fn draw(&self, on: &mut Canvas) -> () { on.line(self.name) }  //? method Shape.draw; type Canvas; call line on on; read name on self
}

pub(crate) mod inner {  //? module inner internal
    use super::*;  //? import super *
    pub fn deep(color: Color) -> Thing { Thing::from(color) }  //? function inner.deep; type Color; type Thing; read Thing; call from on Thing
}

static COUNTER: AtomicUsize = AtomicUsize::new(0);  //? variable COUNTER private; type AtomicUsize; read AtomicUsize; call new on AtomicUsize
type Alias<T> = HashMap<String, T>;  //? type Alias private; type HashMap; type String

#[macro_export]  //? decorator macro_export
macro_rules! shape {  //? macro shape
    ($x:expr) => { Shape::new($x) };  //? read Shape; call new on Shape
}

fn helper(code: u32) -> Alias<u32> { shape!(code) }  //? function helper private; type Alias; call shape

#[cfg(test)]  //? decorator cfg; read test
mod tests {  //? module tests private test
    #[tokio::test]  //? read tokio; read test on tokio
    async fn has_area() { assert_eq!(helper(1).len(), 1); }  //? function tests.has_area private async test; call assert_eq; call helper; call len on helper()
}

#[derive(  //? decorator derive
    Clone,  //? read Clone
)]
/// Told below an attribute of several lines.
struct Marked;  //? struct Marked private doc="Told below an attribute of several lines."
