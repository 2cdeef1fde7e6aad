namespace Shop
{
    public interface IPayable
    {
        bool PayNow();
    }

    public class Order : IPayable //! IPayable
    {
        private readonly Basket basket = new Basket(); //! Basket

        public bool PayNow()
        {
            basket.EmptyBasket(); //! Basket.EmptyBasket
            return CheckTotal(); //! Order.CheckTotal
        }

        private bool CheckTotal()
        {
            return true;
        }
    }
}
