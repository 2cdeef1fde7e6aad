namespace Shop
{
    public class Basket
    {
        public void EmptyBasket() { }

        public static bool PayAll(Order order) //! Order
        {
            return order.PayNow(); //! Order.PayNow
        }
    }
}
