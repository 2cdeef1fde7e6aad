pub mod net;

pub use net::socket::Socket; //! Socket
pub use shop_helper::trim_name as tidy; //! trim_name

pub trait Opens {
    fn open_now(&self) -> bool;
}

pub fn launch() -> bool {
    let socket = Socket::new(); //! Socket; Socket.new
    socket.open_now() //! Socket.open_now; Opens.open_now
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launches() {
        assert!(launch()); //! launch
        tidy("x"); //! trim_name
    }
}
