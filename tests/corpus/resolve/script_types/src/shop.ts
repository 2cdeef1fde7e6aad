export interface Basket {
  items: Item[]; //! Item
  owner: string;
}
export interface Basket {
  total(): number;
}
export const Basket = { empty: 1 };
export interface Item {
  price: number;
}
export default function () {
  return 1;
}
export function sum({ items, owner }: Basket): number { //! Basket; Basket.items; Basket.owner
  let all = 0;
  for (const item of items) {
    all += item.price; //! Item.price
  }
  const made: Basket = { items: [], owner: "a", total: () => 2 }; //! Basket; Basket.items; Basket.owner
  const { owner: name } = made; //! Basket.owner
  return all;
}
