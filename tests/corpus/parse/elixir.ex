defmodule Shop.Orders do   #? module Shop.Orders
  defguard is_paid(order) when order.paid   #? macro Shop.Orders.is_paid

  defdelegate total(order), to: Shop.Prices   #? function Shop.Orders.total

  def place(order) do   #? function Shop.Orders.place
    order
  end

  defmacrop checked(order) do   #? macro Shop.Orders.checked
    order
  end
end

defprotocol Shop.Priced do   #? interface Shop.Priced
end
