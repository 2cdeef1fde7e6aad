module Shop.Orders where   --? module Shop.Orders

newtype Price = Price Int   --? type Price

data (Show a) => Order a = Order a Price   --? type Order

class (Eq a) => Priced a where   --? interface Priced
  price :: a -> Price

placeOrder :: Order a -> Either String Price   --? function placeOrder
placeOrder (Order _ price) = Right price
